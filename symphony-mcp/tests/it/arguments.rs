//! What does not fit a tool's parameters is named by its field, in the words of JSON.

use serde_json::{Value, json};
use symphony_core::tools::Role;

use crate::support::{Desk, identity, person, refused};

#[tokio::test]
async fn what_does_not_fit_is_named_in_the_words_of_json() {
    let mut desk = Desk::new();
    let (issue, run) = desk.worker();
    let agent = desk.client(identity(&run, Role::PlanWorker)).await;
    let person = desk.client(person(Some(&issue.id))).await;
    let artifacts = |artifacts: Value| json!({ "outcome": "complete", "artifacts": artifacts });
    let mut told = Vec::new();
    for arguments in [
        artifacts(json!(["Readme.md"])),
        artifacts(json!([{ "type": "note" }, 7])),
        artifacts(json!([{ "type": "file", "path": "a" }])),
        artifacts(json!("Readme.md")),
        json!({ "outcome": { "complete": true } }),
        json!({ "result": "complete" }),
    ] {
        told.push(refused(&agent, "complete_phase", arguments).await);
    }
    for (tool, arguments) in [
        ("configure_project", json!({ "gates": ["cargo test"] })),
        (
            "configure_project",
            json!({ "gates": [{ "name": "test", "command": 7 }] }),
        ),
        ("reject_pr", json!({ "comment": "no" })),
        ("reject_pr", json!({ "feedback": ["no"] })),
        ("list_issues", json!({ "limit": -1 })),
        ("list_issues", json!({ "limit": 1.5 })),
        // values that core's sets have, and that agents cannot name
        (
            "add_finding",
            json!({ "kind": "phase_verdict", "text": "x" }),
        ),
        (
            "answer_review_point",
            json!({ "point": 1, "answer": "remark", "text": "x" }),
        ),
    ] {
        told.push(refused(&person, tool, arguments).await);
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    invalid arguments: `artifacts[0]`: found string "Readme.md", expected an object such as {"type": "file_created", "path": "src/a.rs"}
    invalid arguments: `artifacts[1]`: found integer `7`, expected an object such as {"type": "file_created", "path": "src/a.rs"}
    invalid arguments: `artifacts[0].type`: unknown variant `file`, expected one of `file_created`, `file_modified`, `file_deleted`, `export`, `note`
    invalid arguments: `artifacts`: found string "Readme.md", expected a list
    invalid arguments: `outcome`: found an object, expected a string
    invalid arguments: unknown field `result`, expected one of `outcome`, `error`, `artifacts`, `absorb`
    invalid arguments: `gates[0]`: found string "cargo test", expected an object such as {"name": "test", "command": "cargo test"}
    invalid arguments: `gates[0].command`: expected a command as a string
    invalid arguments: unknown field `comment`, expected `feedback` or `points`
    invalid arguments: `feedback`: found a list, expected a string
    invalid arguments: `limit`: found integer `-1`, expected a whole number, zero or more
    invalid arguments: `limit`: found floating point `1.5`, expected a whole number, zero or more
    invalid arguments: `kind`: unknown variant `phase_verdict`, expected one of `note`, `approach`, `gap`, `bug`, `risk`, `review`
    invalid arguments: `answer`: unknown variant `remark`, expected one of `fixed`, `declined`, `question`
    "#);
}
