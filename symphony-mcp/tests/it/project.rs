//! Setting a project up, and sorting its backlog.

use serde_json::{Value, json};
use symphony_core::agent::AgentType;
use symphony_core::issue::{IssueStatus, Priority, Size};
use symphony_core::project::WizardState;
use symphony_core::run::RunTarget;
use symphony_core::tools::Role;
use symphony_store::{IssueEdit, NewIssue};

use crate::support::{Desk, done, human, identity, new_issue, person, project, refused};

fn gates() -> Value {
    json!([
        { "name": "test", "command": "make test", "timeout_ms": 60000 },
        { "name": "lint", "command": ["make", "lint"], "required": true },
    ])
}

#[tokio::test]
async fn the_wizard_sets_its_project_up() {
    let mut desk = Desk::new();
    let run = desk.run(AgentType::Wizard, RunTarget::Project);
    let client = desk.client(identity(&run, Role::Wizard)).await;
    let listed = client.list_all_tools().await.unwrap();
    let names: Vec<&str> = listed.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["configure_project"]);
    insta::assert_json_snapshot!("configure_project", listed[0].input_schema);
    let answer = done(
        &client,
        "configure_project",
        json!({
            "gates": gates(),
            "setup": "make deps",
            "sensitive_paths": ["db/**"],
            "risk": { "high": { "files": 20 } },
            "worker_instructions": "Use tabs.",
        }),
    )
    .await;
    assert_eq!(
        answer["message"],
        "configured demo: the gates test, lint. Where the project's configuration file differs, the file wins"
    );
    let found = desk.store.project(&project("demo")).unwrap();
    assert_eq!(found.wizard, WizardState::Completed);
    assert_eq!(
        found.settings,
        json!({
            "gates": gates(),
            "worktree": { "setup": "make deps" },
            "sensitive_paths": ["db/**"],
            "risk": { "high": { "files": 20 } },
        })
    );
    let layers = desk
        .store
        .overrides(&AgentType::Worker, &project("demo"))
        .unwrap();
    assert_eq!(
        layers.effective().custom_instructions.as_deref(),
        Some("Use tabs.")
    );
    // the other project of the installation is not touched
    let other = desk.store.project(&project("other")).unwrap();
    assert_eq!(other.wizard, WizardState::Pending);
}

#[tokio::test]
async fn a_wrong_setup_is_told_whole_and_changes_nothing() {
    let mut desk = Desk::new();
    let run = desk.run(AgentType::Wizard, RunTarget::Project);
    let client = desk.client(identity(&run, Role::Wizard)).await;
    let many: Vec<Value> = (0..21)
        .map(|i| json!({ "name": format!("g{i}"), "command": "x" }))
        .collect();
    for (arguments, parts) in [
        (json!({}), vec!["missing field `gates`"]),
        (
            json!({ "gates": [{ "name": "a", "command": "x" }, { "name": "a", "command": "" }], "risk": { "high": { "files": 99_999_999 } } }),
            vec!["gates[1].name", "gates[1].command", "risk.high.files"],
        ),
        (
            json!({ "gates": [{ "name": "a", "command": "x", "required": false }] }),
            vec!["gates[0].required is false, but only a person makes a gate optional"],
        ),
        (
            json!({ "gates": many }),
            vec!["gates has 21 items; the limit is 20"],
        ),
        (
            json!({ "gates": [], "sensitive_paths": vec!["x"; 101] }),
            vec!["sensitive_paths has 101 items; the limit is 100"],
        ),
        (
            json!({ "gates": [], "judge_instructions": "x".repeat(70_000) }),
            vec!["judge_instructions is 70000 bytes long"],
        ),
        (
            json!({ "gates": [], "model": "x" }),
            vec!["unknown field `model`"],
        ),
    ] {
        let text = refused(&client, "configure_project", arguments).await;
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    let found = desk.store.project(&project("demo")).unwrap();
    assert_eq!(
        (found.wizard, found.settings),
        (WizardState::Pending, json!({}))
    );
}

#[tokio::test]
async fn intake_sorts_an_issue_and_leaves_its_status() {
    let mut desk = Desk::new();
    let new = NewIssue {
        status: IssueStatus::Backlog,
        labels: vec!["ui".into()],
        ..new_issue("The button is gone")
    };
    let issue = desk.store.add_issue(&human(), &new).unwrap();
    let run = desk.run(AgentType::Intake, RunTarget::Issue(issue.id.clone()));
    let client = desk.client(identity(&run, Role::Intake)).await;
    let sort = "update_issue_status";
    for (arguments, text) in [
        (
            json!({}),
            "nothing to change: pass `labels`, `size`, `priority`, `phase` or `status`",
        ),
        (
            json!({ "labels": ["phase:ready"] }),
            "remove the label `phase:ready` and pass `\"phase\": \"ready\"` instead",
        ),
        (
            json!({ "size": "small", "status": "todo" }),
            "an intake cannot move an issue to `todo`: only `blocked`, with a reason",
        ),
        (
            json!({ "size": "small", "status": "backlog" }),
            "an intake cannot move an issue to `backlog`: only `blocked`, with a reason",
        ),
        (
            json!({ "status": "blocked" }),
            "`blocked` needs a `reason` that says what a person has to do",
        ),
        (
            json!({ "labels": ["bug"], "size": "small" }),
            "a person set the label `ui`: keep it in `labels`",
        ),
    ] {
        assert_eq!(refused(&client, sort, arguments).await, text);
    }
    let labels = |desk: &Desk| desk.store.issue(&issue.id).unwrap().labels;
    for (arguments, expected) in [
        (
            json!({ "labels": ["bug", "ui"], "phase": "research" }),
            ["bug", "phase:research", "ui"].as_slice(),
        ),
        (json!({ "phase": "ready" }), &["bug", "phase:ready", "ui"]),
        // its own label it may take back
        (json!({ "labels": ["ui"] }), &["phase:ready", "ui"]),
        (
            json!({ "size": "large", "priority": "high" }),
            &["phase:ready", "ui"],
        ),
    ] {
        done(&client, sort, arguments).await;
        assert_eq!(labels(&desk), expected);
    }
    let sorted = desk.store.issue(&issue.id).unwrap();
    assert_eq!(
        (sorted.state.status(), sorted.size, sorted.priority),
        (IssueStatus::Backlog, Some(Size::Large), Priority::High)
    );
    // a person decides otherwise meanwhile
    let edit = IssueEdit {
        priority: Some(Priority::Low),
        labels: Some(vec!["ui".into(), "phase:architecture".into()]),
        ..IssueEdit::default()
    };
    desk.store.edit_issue(&human(), &issue.id, &edit).unwrap();
    for (arguments, text) in [
        (
            json!({ "priority": "urgent" }),
            "a person set the priority `low`: leave out `priority`",
        ),
        (
            json!({ "phase": "ready" }),
            "a person set the phase `architecture`: leave out `phase`",
        ),
    ] {
        assert_eq!(refused(&client, sort, arguments).await, text);
    }
    done(
        &client,
        sort,
        json!({ "priority": "low", "labels": ["ui", "css"] }),
    )
    .await;
}

#[tokio::test]
async fn others_only_move_their_issue() {
    let mut desk = Desk::new();
    let (_, run) = desk.worker();
    let client = desk.client(identity(&run, Role::Worker)).await;
    let arguments = json!({ "status": "todo", "size": "small" });
    let text = refused(&client, "update_issue_status", arguments).await;
    assert!(text.contains("unknown field `size`"), "{text}");
}

#[tokio::test]
async fn a_persons_client_files_an_issue_once() {
    let mut desk = Desk::new();
    desk.issue("Fix the parser");
    let client = desk.client(person(None)).await;
    let arguments = json!({ "title": "fix  the PARSER" });
    let text = refused(&client, "create_issue", arguments).await;
    assert!(
        text.contains("DEM-1 is open and has the same title"),
        "{text}"
    );
}
