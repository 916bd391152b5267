//! Eight ticks at once, many times: never two live runs on an issue.

use std::process::Stdio;

use serde_json::{Value, json};

use super::rounds;
use crate::support::{Answer, Project, WORKER, hang, scenario, scenarios};

/// Rounds in CI.
const ROUNDS: usize = 10;
/// Ticks at once.
const TICKS: usize = 8;

#[test]
fn eight_ticks_at_once_start_each_issue_once() {
    let when = json!({ "match_system": WORKER });
    let project = Project::new(
        "project",
        &scenarios([scenario("works", &when, [hang()])]),
        &json!({ "max_concurrent_agents": 8 }),
    );
    let wanted = rounds(ROUNDS);
    for round in 0..wanted {
        let issue = project.add_issue("Once");
        let ticks: Vec<_> = (0..TICKS)
            .map(|_| {
                let mut tick = project.command(&["tick", "--json"]);
                tick.stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        let mut started = 0;
        for tick in ticks {
            let answer = Answer::from(tick.wait_with_output().unwrap());
            assert_eq!(answer.code, 0, "round {round}: {answer:#?}");
            started += answer.json()["runs"].as_array().unwrap().len();
        }
        let runs = project.json(&["runs", "list", "--issue", &issue]);
        let runs: &Vec<Value> = runs["items"].as_array().unwrap();
        assert_eq!((started, runs.len()), (1, 1), "round {round}: {runs:#?}");
        // ends the run, so that the next round has its slot
        project.json(&["issue", "move", &issue, "cancelled"]);
    }
    println!("{wanted} times {TICKS} ticks at once: one run an issue");
}
