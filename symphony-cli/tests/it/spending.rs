//! Spending caps, as an agent's stream comes in: the run ends, the issue is blocked, the project is on hold.

use serde_json::{Value, json};

use crate::support::{
    Project, WORKER, bash, commit, create_pr, hang, on_one_day, scenario, scenarios, text,
};

/// A project whose first agent uses 5,000 tokens and would then hang; the second one does its work.
fn project(spending: &Value) -> Project {
    let when = json!({ "match_system": WORKER, "uses": 1 });
    let mut dear = bash("echo at work");
    dear["usage"] = json!({ "input_tokens": 4980, "output_tokens": 20 });
    let project = Project::new(
        "dear",
        &scenarios([
            scenario("dear", &when, [dear, hang()]),
            scenario(
                "cheap",
                &json!({ "match_system": WORKER }),
                [commit("hello.txt", "hello"), create_pr("Say hello")],
            ),
        ]),
        &json!({ "spending": spending, "judge_enabled": false, "turn_timeout_ms": 30000 }),
    );
    project.add_issue("Say hello");
    project
}

fn error(run: &Value) -> (String, String) {
    (text(&run["error"]["class"]), text(&run["error"]["message"]))
}

/// Status, what blocks it, and the counts of the issue.
fn issue(project: &Project) -> Value {
    let issue = project.issue("SYM-1");
    json!([
        issue["status"],
        issue["blocked_by"],
        issue["consecutive_failures"],
        issue["total_runs"]
    ])
}

#[test]
fn the_cap_of_a_run_ends_it_as_a_failure() {
    let project = project(&json!({ "run": { "tokens": 3000 } }));
    let run = project.tick_one("worker", "failed");
    let cap = "ended: spending cap of the run reached: 4981 of 3000 tokens (spending.run.tokens)";
    assert_eq!(error(&run), ("budget_exhausted".into(), cap.into()));
    assert_eq!(issue(&project), json!(["todo", null, 1, 1]));
    assert_eq!(project.retries().len(), 1);
}

#[test]
fn the_cap_of_an_issue_blocks_it_until_a_human_raises_the_cap() {
    let project = project(&json!({ "issue": { "tokens": 3000 } }));
    project.tick_one("worker", "failed");
    assert_eq!(issue(&project), json!(["blocked", "cap", 0, 0]));
    let shown = project.issue("SYM-1");
    let comment = text(&shown["comments"][0]["content"]);
    assert!(comment.contains("(spending.issue.tokens)"), "{comment}");
    assert!(
        comment.contains("symphony issue move SYM-1 todo"),
        "{comment}"
    );

    // with the same cap the next run ends before it begins
    project.ok(&["issue", "move", "SYM-1", "todo"]);
    let run = project.tick_one("worker", "failed");
    assert_eq!(run["usage"]["input_tokens"], 0, "{run:#}");
    assert_eq!(issue(&project), json!(["blocked", "cap", 0, 0]));

    project.ok(&["config", "set", "spending.issue.tokens", "20000"]);
    project.ok(&["issue", "move", "SYM-1", "todo"]);
    project.tick_one("worker", "succeeded");
    assert_eq!(issue(&project), json!(["review", null, 0, 1]));
}

#[test]
fn the_cap_of_a_day_holds_the_project_and_uses_no_attempt() {
    on_one_day(hold_for_a_day);
}

fn hold_for_a_day() {
    let project = project(&json!({ "day": { "tokens": 3000 } }));
    project.tick_one("worker", "failed");
    assert_eq!(issue(&project), json!(["todo", null, 0, 0]));
    assert_eq!(project.tick_wait(), [Value::Null; 0]);
    let hold = project.json(&["status"])["holds"][0].clone();
    assert_eq!(
        json!([hold["scope"], hold["name"], hold["class"]]),
        json!(["project", "dear", "budget_exhausted"])
    );
    assert!(text(&hold["until"]).ends_with("T00:00:00.000Z"), "{hold}");
    let explained = project.ok(&["explain", "SYM-1"]);
    assert!(
        explained.contains("project dear is on hold: "),
        "{explained}"
    );
    assert!(explained.contains("of 3000 tokens (spending.day.tokens)"));
    // since it was reached, not since the day began
    let item = project.json(&["inbox"])["items"][0].clone();
    let run = project.json(&["runs", "list"])["items"][0].clone();
    assert_eq!(item["since"], run["ended_at"], "{item}");

    project.ok(&["config", "set", "spending.day.tokens", "20000"]);
    project.tick_one("worker", "succeeded");
}

#[test]
fn the_cap_of_a_project_holds_it_until_a_human_raises_the_cap() {
    let project = project(&json!({ "project": { "usd": 0.000_001 } }));
    // this provider tells its cost with its result only
    let scenario = scenario(
        "cheap",
        &json!({ "match_system": WORKER }),
        [commit("hello.txt", "hello"), create_pr("Say hello")],
    );
    std::fs::write(
        project.beside.join("scenario.json"),
        scenarios([scenario]).to_string(),
    )
    .unwrap();
    project.add_issue("Say hello again");
    project.ok(&["issue", "move", "SYM-2", "backlog"]);
    project.tick_one("worker", "succeeded");
    assert_eq!(issue(&project), json!(["review", null, 0, 1]));
    project.ok(&["issue", "move", "SYM-2", "todo"]);
    assert_eq!(project.tick_wait(), [Value::Null; 0]);
    let explained = project.ok(&["explain", "SYM-2"]);
    assert!(
        explained.contains("- project dear is on hold: spending cap of the project reached: $"),
        "{explained}"
    );
    let hold = project.json(&["status"])["holds"][0].clone();
    assert_eq!(hold["until"], Value::Null);
}
