#!/usr/bin/env python3
"""Benchmark of gates in a pristine checkout: one whole run, and the gates of one pull request.

    symphony-cli/benches/gates/pristine.py NEW [--old OLD] [--files 20] [--rounds 9] [--agent-seconds 0]

NEW is a program `symphony`; OLD one of before gates were jobs (commit 1370f9b~1), whose gates run in the agent's worktree. Each
round adds an issue, and times `symphony tick --wait` until the run of a scripted agent that commits one file and the gate are
over; old and new take turns (A B A B …). The agent takes no time of its own unless `--agent-seconds` says so. Then `pr check` is
timed, which makes the checkout and runs the gate (`true`) again, and a bare `tick` with nothing to do: what a tree whose gates
have passed costs.
"""
import argparse, json, os, random, shutil, statistics, subprocess, sys, tempfile, time


def make(binary, files, folder, agent_seconds):
    home, root = os.path.join(folder, "home"), os.path.join(folder, "p")
    os.makedirs(home), os.makedirs(root)
    env = {"HOME": home, "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "SYMPHONY_CONFIG": ""}
    run = lambda *a: subprocess.run(a, cwd=root, env=env, check=True, capture_output=True, text=True)
    run("git", "init", "-q", "-b", "main")
    run("git", "config", "user.name", "Bench"), run("git", "config", "user.email", "bench@example.com")
    r = random.Random(1)  # sizes as in source trees: half below 3 kB, a few of 100 kB
    for i in range(files):
        path = os.path.join(root, "src", f"d{i // 100}")
        os.makedirs(path, exist_ok=True)
        size = int(min(200_000, max(200, r.lognormvariate(8, 1.1))))
        with open(os.path.join(path, f"f{i}.txt"), "w") as out:
            out.write("".join(f"{i} {j} {'x' * 60}\n" for j in range(max(1, size // 70))))
    run("git", "add", "-A"), run("git", "commit", "-qm", "begin")
    scenario = {"scenarios": [{"name": "worker", "turns": [
        {"content": [{"type": "tool_use", "name": "Bash", "input": {
            "command": f"sleep {agent_seconds}; n=$(basename $PWD); echo hello > $n.txt && git add -A && "
                       "git commit -qm work"}}]},
        {"content": [{"type": "tool_use", "name": "mcp__symphony__create_pr", "input": {"title": "Work", "body": "x"}}]},
    ]}]}
    place = os.path.join(folder, "scenario.json")
    json.dump(scenario, open(place, "w"))
    try:
        run(binary, "init", "--prefix", "SYM", "--no-try", "--sandbox", "off")
    except subprocess.CalledProcessError:
        run(binary, "init", "--prefix", "SYM", "--sandbox", "off")
    config = {"provider": "scripted", "providers": {"scripted": {"scenario": place}}, "judge_enabled": False,
              "gates": [{"name": "check", "command": "true"}]}
    json.dump(config, open(os.path.join(root, "symphony.config.json"), "w"))
    try:  # gates that a person has just changed are tried on the base first: this is not what is timed
        run(binary, "config", "set", "try_changed_gates", "false")
    except subprocess.CalledProcessError:
        pass  # an old program does not know the key, and does not try gates
    return run


def timed(call):
    begun = time.monotonic()
    call()
    return (time.monotonic() - begun) * 1000


def told(name, values):
    v = sorted(values)
    print(f"{name:<34} median {statistics.median(v):7.0f} ms   min {v[0]:7.0f}   max {v[-1]:7.0f}   n={len(v)}", flush=True)
    return statistics.median(v)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("new"), p.add_argument("--old"), p.add_argument("--files", type=int, default=20)
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--agent-seconds", type=float, default=0)
    a = p.parse_args()
    folder = tempfile.mkdtemp(prefix="pristine-")
    try:
        programs = {"new": a.new} | ({"old": a.old} if a.old else {})
        run = {n: make(b, a.files, os.path.join(folder, n), a.agent_seconds) for n, b in programs.items()}
        whole, check, idle = {n: [] for n in run}, [], []
        for i in range(a.rounds):
            for name, binary in programs.items():
                run[name](binary, "issue", "add", f"Work {i}")
                whole[name].append(timed(lambda: run[name](binary, "tick", "--wait")))
                pr = json.loads(run[name](binary, "pr", "show", f"SYM-{i + 1}", "--json").stdout)
                assert "green" in json.dumps(pr) or "passed" in json.dumps(pr), pr
            check.append(timed(lambda: run["new"](a.new, "pr", "check", f"SYM-{i + 1}")))
            idle.append(timed(lambda: run["new"](a.new, "tick")))
        print(f"{a.files} files, load {os.getloadavg()[0]:.1f}")
        new = told("one run and its gates (new)", whole["new"])
        if a.old:
            old = told("one run and its gates (old)", whole["old"])
            pairs = [n / o for n, o in zip(whole["new"], whole["old"])]
            print(f"{'new / old, pair by pair':<34} median {statistics.median(pairs):.2f}   of medians {new / old:.2f}")
        told("the gates again (pr check)", check)
        told("tick with all gates passed", idle)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
