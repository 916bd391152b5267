//! `create_subtask`: by a planner and by a person, and what is refused.

use serde_json::json;
use symphony_core::agent::AgentType;
use symphony_core::issue::IssueStatus;
use symphony_core::run::{RunStatus, RunTarget};
use symphony_core::tools::Role;

use crate::support::{Desk, done, identity, person, refused};

#[tokio::test]
async fn a_planner_splits_its_issue() {
    let mut desk = Desk::new();
    let parent = desk.issue("Large");
    let run = desk.run(AgentType::Planner, RunTarget::Issue(parent.id.clone()));
    let client = desk.client(identity(&run, Role::Planner)).await;
    let first = done(
        &client,
        "create_subtask",
        json!({ "title": "One", "description": "first" }),
    )
    .await;
    insta::assert_json_snapshot!(first, @r#"
    {
      "issue": {
        "depends_on": [],
        "identifier": "DEM-2",
        "labels": [
          "phase:ready"
        ],
        "parent": "DEM-1",
        "phase": "ready",
        "priority": "none",
        "size": null,
        "status": "todo",
        "title": "One"
      },
      "message": "created DEM-2, a sub-task of DEM-1, which now waits until all its sub-tasks have ended",
      "parent": {
        "identifier": "DEM-1",
        "status": "blocked"
      }
    }
    "#);
    let second = done(
        &client,
        "create_subtask",
        json!({ "title": "Two", "description": "second", "priority": "high", "size": "medium", "depends_on": ["DEM-2"] }),
    )
    .await;
    insta::assert_json_snapshot!(second["issue"], @r#"
    {
      "depends_on": [
        "DEM-2"
      ],
      "identifier": "DEM-3",
      "labels": [
        "phase:ready"
      ],
      "parent": "DEM-1",
      "phase": "ready",
      "priority": "high",
      "size": "medium",
      "status": "todo",
      "title": "Two"
    }
    "#);
    let shown = done(&client, "get_issue", json!({})).await;
    assert_eq!(shown["issue"]["blocked"]["by"], "subtasks");
    assert_eq!(shown["children"].as_array().unwrap().len(), 2);

    desk.finish(&run);
    assert_eq!(
        desk.store.run(&run.id).unwrap().status,
        RunStatus::Succeeded
    );
    assert_eq!(
        desk.store.issue(&parent.id).unwrap().state.status(),
        IssueStatus::Blocked
    );
}

#[tokio::test]
async fn what_does_not_fit_is_refused_and_makes_nothing() {
    let mut desk = Desk::new();
    let parent = desk.issue("Large");
    let run = desk.run(AgentType::Planner, RunTarget::Issue(parent.id.clone()));
    let client = desk.client(identity(&run, Role::Planner)).await;
    let before = desk.events();
    let with = |dependency: &str| json!({ "title": "One", "description": "d", "depends_on": [dependency] });
    for (arguments, text) in [
        (
            json!({ "title": "One" }),
            "invalid arguments: missing field `description`",
        ),
        (
            json!({ "title": "One", "description": " " }),
            "description must not be empty",
        ),
        (
            json!({ "title": " ", "description": "d" }),
            "title must not be empty",
        ),
        (
            json!({ "title": "large ", "description": "d" }),
            "DEM-1 is open and has the same title: add a comment or a finding there instead",
        ),
        (
            with("one"),
            "depends_on: `one` is not an issue identifier such as SYM-12",
        ),
        (
            with("DEM-9"),
            "there is no issue `DEM-9`. Use `list_issues` to find identifiers.",
        ),
        (
            with("DEM-1"),
            "a sub-task of DEM-1 cannot depend on DEM-1: it would wait for itself",
        ),
    ] {
        assert_eq!(refused(&client, "create_subtask", arguments).await, text);
    }
    assert_eq!(desk.events(), before);
    let nobody = desk.client(person(None)).await;
    let arguments = json!({ "title": "One", "description": "d" });
    assert_eq!(
        refused(&nobody, "create_subtask", arguments).await,
        "this run has no issue of its own"
    );
}

#[tokio::test]
async fn issues_and_subtasks_count_together() {
    let mut desk = Desk::new();
    let parent = desk.issue("Large");
    let run = desk.run(AgentType::Planner, RunTarget::Issue(parent.id));
    // a row that holds both: no profile has it, a person's client does
    let client = desk.client(identity(&run, Role::Human)).await;
    for i in 0..10 {
        let issue = json!({ "title": format!("Found {i}") });
        done(&client, "create_issue", issue).await;
        let part = json!({ "title": format!("Part {i}"), "description": "d" });
        done(&client, "create_subtask", part).await;
    }
    let arguments = json!({ "title": "One more", "description": "d" });
    assert_eq!(
        refused(&client, "create_subtask", arguments).await,
        "a run may add at most 20 issues; put the rest into a finding"
    );
}
