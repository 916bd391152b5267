//! Runs that do not end by themselves: no process of them stays, their work is kept, and they are tried again.

use serde_json::{Value, json};
use symphony_core::Timestamp;

use crate::support::{
    Project, WORKER, agents_of, bash, call, commit, hang, is_there, kill, moment, scenario,
    scenarios, supervisor_of, text, turn, until,
};

/// Starts what is hard to end: a plain background child, one in a session of its own that ignores SIGTERM, and one that its
/// parents left. Their numbers go to `pids.txt`.
const HARD_TO_END: &str = r#"
sleep 3600 & echo $! >> pids.txt
setsid bash -c 'trap "" TERM; echo $$ >> pids.txt; while :; do sleep 3600; done' &
(setsid bash -c 'sleep 3600 & echo $! >> pids.txt' &)
until [ "$(wc -l < pids.txt)" -eq 3 ]; do sleep 0.02; done
"#;

/// Time limits of an agent that makes its children first: what is enough on most machines, and then more.
const LIMITS_MS: [u64; 4] = [6_000, 12_000, 24_000, 240_000];

fn project(config: &Value) -> Project {
    let when = json!({ "match_system": WORKER });
    let project = Project::new(
        "a project",
        &scenarios([scenario("hangs", &when, [bash(HARD_TO_END), hang()])]),
        config,
    );
    project.add_issue("Take for ever");
    project
}

/// The numbers that the script wrote, from wherever they are now.
fn pids(text: &str) -> Vec<i32> {
    let pids: Vec<i32> = text.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(pids.len(), 3, "{text}");
    pids
}

/// Asserts that a run left no process, kept its work on the branch, and is tried again later.
fn assert_ended(project: &Project, run: &Value, class: &str) {
    let id = text(&run["id"]);
    assert_eq!(
        json!([run["status"], run["error"]["class"]]),
        json!([class, class]),
        "{run:#}"
    );
    assert_eq!(agents_of(&id), [""; 0]);
    let subject = project.git(&["log", "-1", "--format=%s", "symphony/SYM-1"]);
    assert_eq!(subject, "symphony(SYM-1): work in progress");
    let written = pids(&project.git(&["show", "symphony/SYM-1:pids.txt"]));
    assert!(
        !written.iter().any(|pid| is_there(*pid, &id)),
        "{written:?}"
    );
    let issue = project.issue("SYM-1");
    assert_eq!(
        json!([
            issue["status"],
            issue["consecutive_failures"],
            issue["total_runs"]
        ]),
        json!(["todo", 1, 1]),
        "{issue:#}"
    );
    let retries = project.retries();
    assert_eq!(retries.len(), 1, "{retries:#?}");
    assert_eq!(
        json!([
            retries[0]["issue"],
            retries[0]["profile"],
            retries[0]["kind"]
        ]),
        json!(["SYM-1", "worker", "backoff"])
    );
    assert!(
        moment(&retries[0]["due_at"]) > moment(&run["ended_at"]),
        "{retries:#?}"
    );
    // a machine may be so slow that the retry comes due while it is looked at
    let plan = project.json(&["tick", "--dry-run"]);
    assert!(
        plan["actions"] == json!([]) || moment(&retries[0]["due_at"]) <= Timestamp::now(),
        "the retry is not due: {plan:#}"
    );
    assert!(project.lock_is_free(&id));
    until("the end of the supervisor, too", || {
        project.processes().is_empty().then_some(())
    });
}

#[test]
fn a_time_out_leaves_no_process() {
    let timed_out = |limit_ms: u64| {
        let project = project(&json!({ "turn_timeout_ms": limit_ms }));
        let run = project.tick_one("worker", "timed_out");
        let log = project.run_file(&text(&run["id"]), "log.txt");
        // else the machine was too slow to get so far within the limit
        log.contains("[tool_result]").then_some((project, run))
    };
    let (project, run) = LIMITS_MS.into_iter().find_map(timed_out).unwrap();
    assert_ended(&project, &run, "timed_out");
}

#[test]
fn the_tick_after_a_killed_supervisor_sweeps_keeps_the_work_and_tries_again() {
    let project = project(&json!({}));
    let id = project.tick_start();
    until("the agent's children", || {
        project.run_log_has(&id, "[tool_result]").then_some(())
    });
    let written =
        pids(&std::fs::read_to_string(project.worktree("SYM-1").join("pids.txt")).unwrap());
    assert!(written.iter().all(|pid| is_there(*pid, &id)), "{written:?}");
    assert!(!project.lock_is_free(&id));

    kill(supervisor_of(&id).expect("the run has a supervisor"));
    until("the lock's release", || {
        project.lock_is_free(&id).then_some(())
    });
    let status = text(&project.run(&id)["status"]);
    assert_eq!(status, "running", "nobody has noticed yet");

    let tick = project.json(&["tick", "--wait"]);
    assert_eq!(
        json!([
            tick["actions"][0]["action"],
            tick["actions"][0]["run"],
            tick["runs"]
        ]),
        json!(["finish_crashed", id, []]),
        "{tick:#}"
    );
    let run = until("the end of the crashed run", || {
        let run = project.run(&id);
        (run["status"] != "running" && project.lock_is_free(&id)).then_some(run)
    });
    assert_ended(&project, &run, "crashed");
    project.assert_sound();
}

#[test]
fn a_persons_command_does_the_exit_handling_of_a_killed_supervisor() {
    let project = project(&json!({}));
    let id = project.tick_start();
    until("the agent's children", || {
        project.run_log_has(&id, "[tool_result]").then_some(())
    });
    kill(supervisor_of(&id).expect("the run has a supervisor"));
    until("the lock's release", || {
        project.lock_is_free(&id).then_some(())
    });
    project.ok(&["issue", "close", "SYM-1", "--cancelled", "--reason", "no"]);
    assert_eq!(project.issue("SYM-1")["status"], "cancelled");
    assert_ne!(project.run(&id)["status"], "running");
    assert!(project.processes().is_empty());
    project.assert_sound();
}

#[test]
fn a_person_ends_a_live_run() {
    let scenarios = scenarios([scenario(
        "works",
        &json!({ "match_system": WORKER }),
        [commit("work.txt", "work"), hang()],
    )]);
    let project = Project::new("project", &scenarios, &json!({}));
    project.add_issue("Take long");
    let at_work = |run: &str| {
        until("the agent's commit", || {
            project.run_log_has(run, "[tool_result]").then_some(())
        });
        assert!(!agents_of(run).is_empty());
    };

    let first = project.tick_start();
    at_work(&first);
    let cancelled = project.json(&["runs", "cancel", "SYM-1"]);
    assert_eq!(
        json!([
            cancelled["id"],
            cancelled["status"],
            cancelled["error"]["class"]
        ]),
        json!([first, "cancelled", "cancelled"])
    );
    assert_eq!(agents_of(&first), [""; 0]);
    let issue = project.issue("SYM-1");
    assert_eq!(
        json!([issue["status"], issue["consecutive_failures"]]),
        json!(["todo", 0]),
        "{issue:#}"
    );
    assert_eq!(project.git(&["show", "symphony/SYM-1:work.txt"]), "work");

    let second = project.tick_start();
    at_work(&second);
    let moved = project.json(&["issue", "move", "SYM-1", "cancelled"]);
    assert_eq!(moved["status"], "cancelled");
    assert_eq!(project.run(&second)["status"], "cancelled");
    assert_eq!(agents_of(&second), [""; 0]);
    assert_eq!(project.retries(), [Value::Null; 0]);

    // the branch has work that nobody merged: it is kept, the worktree is not
    project.json(&["tick"]);
    assert!(!project.worktree("SYM-1").exists());
    assert_eq!(project.git(&["show", "symphony/SYM-1:work.txt"]), "work");
    project.assert_sound();
}

#[test]
fn one_call_that_is_repeated_is_told_apart_from_work() {
    let same = turn(call("Bash", json!({ "command": "true" })));
    let scenarios = scenarios([scenario(
        "loops",
        &json!({ "match_system": WORKER }),
        [json!({ "content": same["content"], "repeat": 6 }), hang()],
    )]);
    let project = Project::new("project", &scenarios, &json!({ "loop_repeats": 4 }));
    project.add_issue("Loop");
    let run = project.tick_one("worker", "looping");
    assert_eq!(run["error"]["class"], "looping");
    assert_eq!(agents_of(run["id"].as_str().unwrap()), [""; 0]);
    assert_eq!(project.retries()[0]["kind"], "backoff");
}
