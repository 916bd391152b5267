//! The backlog on the command line.

use serde_json::json;

use crate::records::{failed_run, open_pr};
use crate::support::Project;
use crate::transcript::{Transcript, assert_transcript};

#[test]
fn issues_are_added_listed_shown_and_changed() {
    let project = Project::recorded();
    let transcript = Transcript::of(&project)
        .run(&["issue", "list"])
        .run(&[
            "issue",
            "add",
            "Greet in German",
            "--description",
            "`hello -l de` prints Hallo.",
            "--label",
            "i18n",
            "--priority",
            "high",
            "--size",
            "small",
        ])
        .run(&[
            "issue",
            "add",
            "Greet in French",
            "--depends-on",
            "sym-1",
            "--status",
            "backlog",
            "--external-id",
            "GH-7",
        ])
        .run(&["issue", "list"])
        .run(&["issue", "list", "--status", "todo", "--label", "i18n"])
        .run(&["issue", "list", "--text", "french", "-n", "1"])
        .run(&["issue", "show", "SYM-2"])
        .run(&[
            "issue",
            "edit",
            "SYM-1",
            "--add-label",
            "easy",
            "--remove-label",
            "i18n",
            "--priority",
            "low",
            "--no-size",
            "--title",
            "Say it in German",
        ])
        .run(&["issue", "comment", "SYM-1", "Mind the umlauts."])
        .run(&["issue", "show", "SYM-1"])
        .run(&["issue", "edit", "SYM-2", "--no-dependencies"])
        .run(&["issue", "show", "SYM-2"]);
    assert_transcript!("issues", transcript);
}

#[test]
fn an_added_issue_is_answered_in_json() {
    let project = Project::recorded();
    let issue = project.json(&[
        "issue",
        "add",
        "Title",
        "--label",
        "phase:research",
        "--size",
        "large",
    ]);
    assert_eq!(
        json!({
            "identifier": issue["identifier"], "title": issue["title"], "description": issue["description"],
            "status": issue["status"], "priority": issue["priority"], "size": issue["size"], "labels": issue["labels"],
            "parent": issue["parent"], "depends_on": issue["depends_on"], "phase": issue["phase"],
        }),
        json!({
            "identifier": "SYM-1", "title": "Title", "description": "", "status": "todo", "priority": "none",
            "size": "large", "labels": ["phase:research"], "parent": null, "depends_on": [], "phase": "research",
        })
    );
    let created = issue["created_at"].as_str().unwrap();
    assert!(
        created.ends_with('Z') && created.parse::<symphony_core::Timestamp>().is_ok(),
        "{created}"
    );
    let list = project.json(&["issue", "list"]);
    assert_eq!(list["items"][0], without_version(&issue));
}

fn without_version(value: &serde_json::Value) -> serde_json::Value {
    let mut value = value.clone();
    value.as_object_mut().unwrap().remove("version");
    value
}

#[test]
fn a_description_comes_from_standard_input() {
    let project = Project::recorded();
    let mut command =
        assert_cmd::Command::from_std(project.command(&["issue", "add", "T", "-d", "-", "--json"]));
    let output = command
        .write_stdin("two\nlines\n\n")
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    let issue: serde_json::Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(issue["description"], "two\nlines");
}

#[test]
fn what_a_rule_forbids_is_refused() {
    let project = Project::recorded();
    project.add_issue("One");
    let long = "x".repeat(301);
    let transcript = Transcript::of(&project)
        .run(&["issue", "add", ""])
        .run(&["issue", "add", &long])
        .run(&["issue", "add", "T", "--status", "done"])
        .run(&["issue", "add", "T", "--status", "nonsense"])
        .run(&["issue", "add", "T", "--depends-on", "SYM-9"])
        .run(&["issue", "add", "T", "--depends-on", "nine"])
        .run(&[
            "issue", "add", "T", "--label", "phase:a", "--label", "phase:b",
        ])
        .run(&["issue", "edit", "SYM-1"])
        .run(&["issue", "edit", "SYM-1", "--depends-on", "SYM-1"])
        .run(&["issue", "show", "SYM-9"])
        .run(&["issue", "comment", "SYM-1", " "]);
    assert_transcript!("issues_refused", transcript);
}

#[test]
fn issues_move_as_the_table_of_a_human_says() {
    let project = Project::recorded();
    project.add_issue("One");
    let transcript = Transcript::of(&project)
        .run(&["issue", "move", "SYM-1", "done"])
        .run(&["issue", "move", "SYM-1", "backlog"])
        .run(&["explain", "SYM-1"])
        .run(&["issue", "retry", "SYM-1"])
        .run(&["issue", "move", "SYM-1", "todo"])
        .run(&["issue", "move", "SYM-1", "backlog", "--delete-branch"])
        .run(&["issue", "move", "SYM-1", "cancelled", "--delete-branch"])
        .run(&["explain", "SYM-1"])
        .run(&["issue", "retry", "SYM-1"])
        .run(&["issue", "move", "SYM-1", "todo"]);
    assert_transcript!("issues_move", transcript);
}

#[test]
fn an_ended_issue_leaves_no_open_pull_request() {
    let project = Project::recorded();
    let issue = project.add_issue("One");
    open_pr(&project, &issue, "A change");
    let transcript = Transcript::of(&project)
        .run(&["issue", "move", &issue, "todo"])
        .run(&["issue", "move", &issue, "cancelled"])
        .run(&["pr", "list"]);
    assert_transcript!("issues_end_review", transcript);
}

#[test]
fn a_retry_clears_the_count_and_the_appointment() {
    let project = Project::recorded();
    let issue = project.add_issue("One");
    failed_run(&project, &issue);
    assert_eq!(project.retries().len(), 1);
    let before = project.issue(&issue);
    assert_eq!(
        (&before["total_runs"], &before["consecutive_failures"]),
        (&json!(1), &json!(1))
    );
    project.ok(&["issue", "retry", &issue]);
    let after = project.issue(&issue);
    assert_eq!(
        (&after["total_runs"], &after["status"]),
        (&json!(0), &json!("todo"))
    );
    assert!(project.retries().is_empty());
}

#[test]
fn the_parent_of_a_sub_task_waits_for_it() {
    let project = Project::recorded();
    let parent = project.add_issue("All of it");
    let child = project.json(&["issue", "add", "A part", "--parent", &parent]);
    assert_eq!(child["parent"], parent.as_str());
    let waits = project.issue(&parent);
    assert_eq!(
        (&waits["status"], &waits["blocked_by"]),
        (&json!("blocked"), &json!("subtasks"))
    );
    let never = project.symphony(&[
        "issue",
        "add",
        "Another",
        "--parent",
        &parent,
        "--depends-on",
        &parent,
    ]);
    assert_eq!(never.code, 4, "{never:#?}");
    assert!(
        never.stderr.contains("it would wait for itself"),
        "{never:#?}"
    );
}
