# What CI runs, one step at a time. `just` lists them.

default:
    @just --list

# Format the sources.
fmt:
    cargo fmt --all

# Fail on any warning.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# All tests that need only cargo and git.
test:
    cargo test --workspace

# Tests that need Python, npm packages or the real CLIs; `.ci/run` installs them.
test-real:
    bash .ci/run real

# Symphony killed between every intent, its effect and its outcome; prints what repaired it.
failpoints:
    SYMPHONY_DEATHS_PART=1/1 bash .ci/run failpoints

# The harnesses whole (1,000 kills, 200 time-outs and killed supervisors, 200 times eight ticks), a million simulated
# ticks, 1,000 interleavings with trackers,
# 2,000 issues on 8 hosts under 70 faults, each guard of that fleet taken out, 10,000 live runs for half an hour, runs that a Temporal service gives out while it is killed, the same fleet with runs that Temporal gives out, 10,000 learnings against the naive reference, and properties on input that no run has seen.
soak: explore
    SYMPHONY_HARNESS_ROUNDS=20 bash .ci/run harness
    bash .ci/run soak_agents
    cargo test -p symphony-learning --release
    SYMPHONY_INTERLEAVINGS=1000 cargo test -p symphony-cli --features failpoints --test it -- interleavings --nocapture
    SYMPHONY_TEST_KILLS=100 SYMPHONY_TEST_BEATS=10000x1800 bash .ci/run postgres
    SYMPHONY_TEST_FLEET=whole bash .ci/run fleet
    bash .ci/run guards
    SYMPHONY_TEST_FLEET=whole bash .ci/run temporal
    SYMPHONY_SIMULATION_TICKS=1000000 cargo test -p symphony-runner --release --test it -- --nocapture simulation::whatever

# The tests of the crates without processes on random input that no run has seen, 20 times: a finding is saved beside its
# test, to be mended and committed.
explore:
    for round in $(seq 20); do \
        PROPTEST_RNG_SEED=$(od -An -N7 -tu8 /dev/urandom | tr -d ' ') cargo test --quiet \
            -p symphony-core -p symphony-prompt -p symphony-learning -p symphony-store -p symphony-workspace || exit 1; \
    done
