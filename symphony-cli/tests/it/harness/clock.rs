//! The clock jumps by thirty days, forth and back: nothing waits for a month, and nothing is done twice.
//!
//! Needs the program `faketime`, which `.ci/run harness` installs.

use serde_json::{Value, json};

use crate::support::{Answer, Project, WORKER, bash, hang, scenario, scenarios, text, until};

/// Runs a command of Symphony in another time.
fn at(project: &Project, jump: &str, arguments: &[&str]) -> Value {
    let mut command = project.program("faketime");
    command
        .args(["-f", jump, env!("CARGO_BIN_EXE_symphony")])
        .args(arguments)
        .arg("--json");
    let answer = Answer::from(command.output().expect("faketime is installed"));
    assert_eq!(answer.code, 0, "{jump} {arguments:?}: {answer:#?}");
    answer.json()
}

fn project() -> Project {
    let when = json!({ "match_system": WORKER });
    let turns = [bash("echo $SYMPHONY_RUN_ID >> work.txt")];
    let project = Project::new(
        "a project",
        &scenarios([scenario("works", &when, turns)]),
        &json!({ "max_retry_backoff_ms": 2000 }),
    );
    project.add_issue("Go on");
    project
}

/// Ticks until a run is started; no retry may be further away than its longest wait, which `until` outlives.
fn next_run(project: &Project, command: &[&str]) -> String {
    until("a run that is not put off for a month", || {
        let tick = project.json(command);
        Some(text(tick["runs"].as_array()?.first()?.get("id")?))
    })
}

#[test]
fn a_retry_made_in_the_future_is_not_waited_for() {
    let project = project();
    let first = at(&project, "+30d", &["tick", "--wait"]);
    assert_eq!(first["runs"].as_array().unwrap().len(), 1, "{first:#}");
    // the clock is right again: the appointment lies a month ahead
    next_run(&project, &["tick", "--wait"]);
}

#[test]
fn a_clock_that_jumps_while_a_run_is_live_leaves_it_alone() {
    let project = project();
    next_run(&project, &["tick", "--wait"]);
    let ahead = at(&project, "+30d", &["tick", "--wait"]);
    assert_eq!(
        ahead["runs"].as_array().unwrap().len(),
        1,
        "a due retry is started: {ahead:#}"
    );
    let back = at(&project, "-30d", &["tick", "--wait"]);
    assert!(back["runs"].as_array().unwrap().len() <= 1, "{back:#}");
    next_run(&project, &["tick", "--wait"]);
    let noted = project.git(&["show", "symphony/SYM-1:work.txt"]);
    let runs = project.json(&["runs", "list"]);
    let runs = runs["items"].as_array().unwrap();
    assert_eq!(
        noted.lines().count(),
        runs.len(),
        "each run worked once: {noted}"
    );
}

/// A suspended machine: the wall clock is far ahead when it wakes, the clock of the watchdog stood still.
#[test]
fn a_machine_that_was_suspended_finds_its_supervisors_in_time() {
    let when = json!({ "match_system": WORKER });
    let project = Project::new(
        "a project",
        &scenarios([scenario(
            "hangs",
            &when,
            [bash("echo work > work.txt"), hang()],
        )]),
        &json!({
            "turn_timeout_ms": 600_000,
            "watchdog": { "grace_ms": 1_000, "step_timeout_ms": 60_000 },
        }),
    );
    project.add_issue("Take long");
    let run = next_run(&project, &["tick"]);
    until("the agent's work", || {
        project.run_log_has(&run, "[tool_result]").then_some(())
    });
    for jump in ["+30d", "+31d", "-30d", "-31d"] {
        let tick = at(&project, jump, &["tick"]);
        let actions = tick["actions"].as_array().unwrap();
        let watches = |action: &&Value| {
            ["suspect", "end_stuck"].contains(&action["action"].as_str().unwrap())
        };
        assert_eq!(actions.iter().find(watches), None, "{jump}: {tick:#}");
        std::thread::sleep(std::time::Duration::from_millis(1_100));
    }
    assert_eq!(project.run(&run)["status"], "running");
    project.json(&["runs", "cancel", &run]);
}
