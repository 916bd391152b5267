//! Issues that are to repair a gate: an agent is paid only for one that is red on the base as it is now, and that an agent can repair.

use serde_json::{Value, json};

use crate::support::{Project, commit, create_pr, scenarios, text, worker};

fn project(command: &str) -> Project {
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    Project::new(
        "project",
        &scenarios([worker(turns)]),
        &json!({
            "gates": [{ "name": "hello", "command": command }, { "name": "other", "command": "true" }],
            "judge_enabled": false,
            "max_retry_backoff_ms": 1,
        }),
    )
}

fn repair(project: &Project, gate: &str) {
    project.json(&["issue", "add", "Repair it", "--fixes-gate", gate]);
}

fn profiles(project: &Project) -> Vec<String> {
    let runs = project.tick_wait();
    runs.iter().map(|run| text(&run["profile"])).collect()
}

/// What the inbox says of an entry of a kind, and what it offers.
fn entry(project: &Project, kind: &str) -> (String, Vec<String>) {
    let item = project.first_waiting(kind);
    let answers = item["answers"].as_array().unwrap();
    (text(&item["text"]), answers.iter().map(text).collect())
}

fn explained(project: &Project, what: &str) {
    let explained = project.ok(&["explain", "SYM-1"]);
    assert!(explained.contains(what), "{explained}");
}

#[test]
fn a_repair_of_a_gate_that_passes_pays_nobody_and_says_so() {
    let project = project("true");
    repair(&project, "hello");
    explained(
        &project,
        "gate hello has not passed on the base with the current configuration: it is tried there first",
    );
    assert_eq!(profiles(&project), ["gates"]);
    assert_eq!(profiles(&project), [""; 0]);
    let passes = "hello passes on the base, so there is nothing to fix";
    explained(&project, passes);
    let (said, offered) = entry(&project, "undispatched");
    assert_eq!(said, passes);
    assert_eq!(
        offered,
        [
            "symphony issue close SYM-1 --done --reason TEXT",
            "symphony issue edit SYM-1 --remove-label 'fixes-gate:hello'"
        ]
    );
    project.assert_sound();
    // the base may have become red: it is tried again before anybody is paid
    project.commit_files(&[("README.md", "hello\n")]);
    assert_eq!(profiles(&project), ["gates"]);
    assert_eq!(profiles(&project), [""; 0]);
    assert_eq!(project.issue("SYM-1")["total_runs"], 0);
    project.ok(&[
        "issue",
        "edit",
        "SYM-1",
        "--remove-label",
        "fixes-gate:hello",
    ]);
    assert_eq!(profiles(&project)[..1], ["worker"]);
    project.assert_sound();
}

#[test]
fn a_repair_starts_when_its_gate_is_red_and_no_other_is_offered_once_the_base_has_moved() {
    let project = project("test -e hello.txt");
    repair(&project, "hello");
    repair(&project, "other");
    assert_eq!(profiles(&project), ["gates"]);
    let (_, offered) = entry(&project, "hold");
    assert!(
        offered.contains(&"symphony issue show SYM-1".to_owned()),
        "{offered:?}"
    );
    // the other gate passes: its repair waits
    assert_eq!(profiles(&project)[..1], ["worker"]);
    assert_eq!(project.issue("SYM-2")["total_runs"], 0);
    assert_eq!(
        entry(&project, "undispatched").0,
        "other passes on the base, so there is nothing to fix"
    );
    project.assert_sound();
    project.ok(&["pr", "merge", "SYM-1"]);
    let (said, offered) = entry(&project, "hold");
    let next = "the base or its gates have changed since then: the next tick tries them";
    assert!(said.ends_with(next), "{said}");
    assert_eq!(offered[0], "symphony tick");
    let other = project.add_issue("Something else");
    let explained = project.ok(&["explain", &other]);
    assert!(explained.replace("\n  ", " ").contains(next), "{explained}");
    assert!(
        !json!(offered).to_string().contains("--fixes-gate"),
        "{offered:?}"
    );
    assert_eq!(profiles(&project), ["gates"]);
    assert_eq!(project.json(&["status"])["holds"], Value::Array(Vec::new()));
    project.assert_sound();
}

#[test]
fn a_repair_of_a_gate_whose_program_is_missing_pays_nobody_and_says_what_a_person_does() {
    let project = project("no-such-linter --check");
    repair(&project, "hello");
    assert_eq!(profiles(&project), ["gates"]);
    assert_eq!(profiles(&project), [""; 0]);
    explained(
        &project,
        "gate hello needs a program that is missing on this machine, and no agent can install it",
    );
    let (said, offered) = entry(&project, "hold");
    let persons = "no agent can install a program: install it, or change the command of the gate";
    assert!(said.contains(persons), "{said}");
    assert_eq!(
        offered[1],
        "symphony config set 'gates[0].command' 'COMMAND'"
    );
    assert!(
        !json!(offered).to_string().contains("--fixes-gate"),
        "{offered:?}"
    );
    assert_eq!(project.issue("SYM-1")["total_runs"], 0);
    project.assert_sound();
}
