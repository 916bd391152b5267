//! A person closes, cancels and deletes issues, from wherever they are.

use serde_json::{Value, json};
use symphony_core::issue::IssueEvent;

use crate::records::{open_pr, store};
use crate::support::{
    Project, Terminal, WORKER, agents_of, commit, hang, scenario, scenarios, until,
};
use crate::transcript::{Transcript, assert_transcript};

fn add_after(project: &Project, title: &str, before: &str) -> String {
    let added = project.json(&["issue", "add", title, "--depends-on", before]);
    added["identifier"].as_str().unwrap().to_owned()
}

#[test]
fn an_issue_is_closed_from_wherever_it_is() {
    let project = Project::recorded();
    let waiting = project.add_issue("Wait");
    let reviewed = project.add_issue("Say hello");
    open_pr(&project, &reviewed, "Say hello");
    let shelved = project.json(&["issue", "add", "Later", "--status", "backlog"]);
    assert_eq!(shelved["identifier"], "SYM-3");
    let asks = project.add_issue("Ask");
    let reason = "which one?".to_owned();
    store(&project)
        .move_issue(
            &symphony_store::Context::human(symphony_core::Timestamp::now()),
            &symphony_core::id::IssueId::parse(&asks).unwrap(),
            &IssueEvent::AgentBlocked { reason },
        )
        .unwrap();
    let transcript = Transcript::of(&project)
        .run(&["issue", "move", &waiting, "done"])
        .run(&["issue", "close", &waiting, "--done"])
        .run(&["issue", "close", &waiting, "--reason", "Fixed by hand"])
        .run(&["issue", "close", &waiting, "--done", "--reason", " "])
        .run(&[
            "issue",
            "close",
            &waiting,
            "--done",
            "--reason",
            "Fixed by hand",
        ])
        .run(&[
            "issue",
            "close",
            &reviewed,
            "--cancelled",
            "--reason",
            "Not wanted",
        ])
        .run(&[
            "issue",
            "close",
            "SYM-3",
            "--cancelled",
            "--reason",
            "Not wanted",
        ])
        .run(&[
            "issue",
            "close",
            &asks,
            "--done",
            "--reason",
            "Answered elsewhere",
        ])
        .run(&["issue", "close", &asks, "--cancelled", "--reason", "Again"])
        .run(&["issue", "list"])
        .run(&["pr", "list"])
        .run(&["inbox"]);
    assert_transcript!("issues_close", transcript);
    assert_eq!(project.git(&["show", "symphony/SYM-2:SYM-2.txt"]), "hello");
    project.assert_sound();
}

#[test]
fn cancelling_says_what_happens_to_the_issues_that_depend_on_it() {
    let project = Project::recorded();
    let gone = project.add_issue("Gone");
    let next = add_after(&project, "Next", &gone);
    add_after(&project, "Last", &next);
    let more = project.add_issue("More");
    add_after(&project, "After more", &more);
    let kept = project.add_issue("Kept");
    add_after(&project, "After kept", &kept);
    let transcript = Transcript::of(&project)
        .run(&["issue", "move", &gone, "cancelled"])
        .run(&["issue", "close", &gone, "--cancelled", "--reason", "r"])
        .run(&[
            "issue",
            "close",
            &gone,
            "--done",
            "--reason",
            "r",
            "--dependents",
            "cancel",
        ])
        .run(&["issue", "move", &gone, "todo", "--dependents", "cancel"])
        .run(&[
            "issue",
            "move",
            &gone,
            "cancelled",
            "--dependents",
            "cancel",
        ])
        .run(&[
            "issue",
            "close",
            &more,
            "--cancelled",
            "--reason",
            "r",
            "--dependents",
            "release",
        ])
        .run(&["issue", "move", &kept, "cancelled", "--dependents", "keep"])
        .run(&["issue", "list"])
        .run(&["inbox"])
        .run(&["issue", "show", "SYM-5"]);
    assert_transcript!("issues_dependents", transcript);
    project.assert_sound();
}

#[test]
fn a_terminal_asks_what_happens_to_the_issues_that_depend_on_it() {
    let project = Project::recorded();
    let gone = project.add_issue("Gone");
    add_after(&project, "Next", &gone);
    let mut terminal = Terminal::start(&project, 80, &["issue", "move", &gone, "cancelled"]);
    terminal.until_seen("the question", |lines| {
        lines
            .first()
            .is_some_and(|line| line == "SYM-2 depends on SYM-1. What happens now?")
    });
    terminal.press("what?\n");
    terminal.until_seen("the second question", |lines| {
        lines
            .iter()
            .any(|line| line == "Answer with one of k, c, r.")
    });
    terminal.press("r\n");
    let (code, lines) = terminal.end();
    assert_eq!(code, 0, "{lines:#?}");
    assert_eq!(
        lines.last().unwrap(),
        "SYM-1 is now cancelled. SYM-2 no longer depends on SYM-1."
    );
    assert_eq!(project.issue("SYM-2")["depends_on"], json!([]));
}

fn hanging_project() -> Project {
    let work = [commit("work.txt", "work\n"), hang()];
    let scenarios = scenarios([scenario("works", &json!({ "match_system": WORKER }), work)]);
    Project::new("project", &scenarios, &json!({}))
}

fn at_work(project: &Project) -> String {
    let run = project.tick_start();
    until("the agent's commit", || {
        project.run_log_has(&run, "[tool_result]").then_some(())
    });
    run
}

#[test]
fn closing_ends_a_live_run_and_keeps_its_work() {
    let project = hanging_project();
    project.add_issue("Take long");
    let run = at_work(&project);
    let closed = project.json(&["issue", "close", "SYM-1", "--done", "--reason", "by hand"]);
    assert_eq!(closed["status"], "done", "{closed:#}");
    assert_eq!(project.run(&run)["status"], "cancelled");
    assert_eq!(agents_of(&run), [""; 0]);
    assert_eq!(project.retries(), [Value::Null; 0]);
    project.json(&["tick"]);
    assert!(!project.worktree("SYM-1").exists());
    assert_eq!(project.git(&["show", "symphony/SYM-1:work.txt"]), "work");
    project.assert_sound();
}

#[test]
fn deleting_ends_a_live_run_and_loses_no_work() {
    let mut project = hanging_project();
    project.add_issue("A mistake");
    let run = at_work(&project);
    std::fs::write(project.worktree("SYM-1").join("late.txt"), "late\n").unwrap();
    let unasked = project.symphony(&["issue", "delete", "SYM-1"]);
    assert_eq!(unasked.code, 2, "{unasked:#?}");
    assert_eq!(project.run(&run)["status"], "running");
    project.set_variable("SYMPHONY_RUN_ID", &run);
    let refused = project.symphony(&["issue", "delete", "SYM-1", "--yes"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    project.unset_variable("SYMPHONY_RUN_ID");

    let deleted = project.ok(&["issue", "delete", "SYM-1", "--yes"]);
    assert!(
        deleted.starts_with("Deleted SYM-1 (A mistake): "),
        "{deleted}"
    );
    assert_eq!(agents_of(&run), [""; 0]);
    assert!(!project.worktree("SYM-1").exists());
    assert_eq!(project.git(&["branch", "--list", "symphony/*"]), "");
    let rescues = project.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/symphony/rescue",
    ]);
    let saved: Vec<String> = rescues
        .lines()
        .map(|rescue| project.git(&["ls-tree", "--name-only", rescue]))
        .collect();
    for file in ["work.txt", "late.txt"] {
        assert!(
            saved.iter().any(|files| files.contains(file)),
            "{file} {saved:#?}"
        );
    }
    assert_eq!(project.symphony(&["issue", "show", "SYM-1"]).code, 3);
    assert_eq!(project.add_issue("Another"), "SYM-2");
    project.json(&["tick", "--dry-run"]);
    project.assert_sound();
}

#[test]
fn an_issue_that_others_name_is_deleted_only_with_their_links() {
    let project = Project::recorded();
    let gone = project.add_issue("Gone");
    add_after(&project, "Next", &gone);
    let merged = project.add_issue("Say hello");
    open_pr(&project, &merged, "Say hello");
    project.ok(&["pr", "merge", &merged]);
    let transcript = Transcript::of(&project)
        .run(&["issue", "delete", &gone, "--yes"])
        .run(&["issue", "delete", &gone, "--yes", "--detach"])
        .run(&["issue", "delete", &gone, "--yes"])
        .run(&["issue", "delete", &merged, "--yes"])
        .run(&["issue", "list"]);
    assert_transcript!("issues_delete", transcript);
    project.assert_sound();
}

#[test]
fn a_person_can_say_no_to_a_deletion() {
    let project = Project::recorded();
    project.add_issue("Stay");
    let mut terminal = Terminal::start(&project, 80, &["issue", "delete", "SYM-1"]);
    terminal.until_seen("the question", |lines| {
        lines
            .first()
            .is_some_and(|line| line.starts_with("Delete SYM-1 (Stay)"))
    });
    terminal.press("n\n");
    let (code, lines) = terminal.end();
    assert_eq!(
        (code, lines.last().unwrap().as_str()),
        (0, "Nothing was deleted.")
    );
    project.issue("SYM-1");
}
