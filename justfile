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
    bash .ci/run failpoints

# The harnesses whole: 1,000 kills, 200 time-outs and killed supervisors, 200 times eight ticks.
soak:
    SYMPHONY_HARNESS_ROUNDS=20 bash .ci/run harness

# The documentation, without warnings.
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Crate arrows, purity, file sizes.
tidy:
    cargo test -p symphony-cli --test it tidy

# The main job, offline.
demo:
    cargo run --release -p symphony-cli -- demo

# Benchmarks beside their limits.
bench:
    cargo bench -p symphony-learning
    cargo bench -p symphony-prompt
    cargo bench -p symphony-runner
    cargo bench -p symphony-cli

# Much more of what the tests do in small: a million simulated ticks.
soak:
    SYMPHONY_SIMULATION_TICKS=1000000 cargo test -p symphony-runner --release --test it -- --nocapture simulation::whatever
