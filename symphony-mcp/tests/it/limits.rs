//! Limits and malformed arguments: refused by name, and nothing is written.

use serde_json::{Value, json};
use symphony_core::tools::Role;

use crate::support::{Desk, done, identity, person, refused};

const TEXT_BYTES: usize = 64 * 1024;

fn text(bytes: usize) -> String {
    "x".repeat(bytes)
}

fn paths(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("src/{i}.rs")).collect()
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{i:0>300}")).collect()
}

fn labels(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("label-{i}")).collect()
}

#[tokio::test]
async fn what_is_over_a_limit_is_refused_by_its_name() {
    let mut desk = Desk::new();
    let (_, run) = desk.worker();
    let client = desk.client(identity(&run, Role::Worker)).await;
    let before = desk.events();
    let too_long = |field: &str| format!("{field} is 65537 bytes long; the limit is 65536");
    let over = text(TEXT_BYTES + 1);
    let table: Vec<(&str, Value, String)> = vec![
        (
            "create_issue",
            json!({ "title": "ä".repeat(301) }),
            "title is 301 characters long; the limit is 300".into(),
        ),
        (
            "create_issue",
            json!({ "title": " " }),
            "title must not be empty".into(),
        ),
        (
            "create_issue",
            json!({ "title": "one\ntwo" }),
            "title must be one line without control characters".into(),
        ),
        (
            "create_issue",
            json!({ "title": "t", "description": over }),
            too_long("description"),
        ),
        (
            // one of them is the phase that Symphony adds
            "create_issue",
            json!({ "title": "t", "labels": labels(50) }),
            "labels has 51 items; the limit is 50".into(),
        ),
        (
            "create_issue",
            json!({ "title": "t", "labels": [" "] }),
            "label ` ` must not be empty".into(),
        ),
        (
            "add_comment",
            json!({ "content": over }),
            too_long("content"),
        ),
        (
            "add_comment",
            json!({ "content": "" }),
            "content must not be empty".into(),
        ),
        (
            "add_finding",
            json!({ "kind": "note", "text": over }),
            too_long("text"),
        ),
        (
            "add_finding",
            json!({ "kind": "note", "text": "t", "files": paths(101) }),
            "files has 101 items; the limit is 100".into(),
        ),
        (
            "add_learning",
            json!({ "pattern": "ä".repeat(601) }),
            "pattern is 601 characters long; the limit is 600. State the rule and when it applies, in one or two sentences. \
             Leave out how you found it, name files in `applies_to`, and record anything else as a separate learning"
                .into(),
        ),
        (
            "add_learning",
            json!({ "pattern": "p", "applies_to": paths(101) }),
            "applies_to has 101 items; the limit is 100".into(),
        ),
        (
            "search_learnings",
            json!({ "query": over }),
            too_long("query"),
        ),
        (
            "search_learnings",
            json!({ "query": " " }),
            "query must not be empty".into(),
        ),
        (
            "search_learnings",
            json!({ "query": "q", "limit": 101 }),
            "limit is 101; it must be from 1 to 100".into(),
        ),
        (
            "list_issues",
            json!({ "limit": 0 }),
            "limit is 0; it must be from 1 to 100".into(),
        ),
        ("list_issues", json!({ "text": over }), too_long("text")),
        (
            "list_issues",
            json!({ "cursor": "7" }),
            "cursor must be a `next_cursor` that this tool returned".into(),
        ),
        (
            "record_test_health",
            json!({ "test_count": 1, "duration_ms": 1, "names": vec!["t"; 10_001] }),
            "names has 10001 items; the limit is 10000".into(),
        ),
        (
            "record_test_health",
            json!({ "test_count": 1, "duration_ms": 1, "names": [text(301)] }),
            "names is 301 characters long; the limit is 300".into(),
        ),
        (
            "record_test_health",
            json!({ "test_count": 10_000_001, "duration_ms": 1 }),
            "test_count is 10000001; the limit is 10000000".into(),
        ),
        (
            "update_issue_status",
            json!({ "status": "todo", "reason": over }),
            too_long("reason"),
        ),
        (
            "update_issue_status",
            json!({ "status": "blocked", "reason": over }),
            too_long("reason"),
        ),
    ];
    for (tool, arguments, expected) in table {
        assert_eq!(refused(&client, tool, arguments).await, expected, "{tool}");
    }
    assert_eq!(desk.events(), before);
}

#[tokio::test]
async fn what_is_at_its_limit_is_taken() {
    let mut desk = Desk::new();
    let (_, run) = desk.worker();
    let client = desk.client(identity(&run, Role::Worker)).await;
    let most = text(TEXT_BYTES);
    for (tool, arguments) in [
        (
            "create_issue",
            json!({ "title": "ä".repeat(300), "description": most, "labels": labels(49) }),
        ),
        ("add_comment", json!({ "content": most })),
        (
            "add_finding",
            json!({ "kind": "note", "text": most, "files": paths(100) }),
        ),
        (
            "add_learning",
            json!({ "pattern": "ä".repeat(600), "applies_to": paths(100) }),
        ),
        ("list_issues", json!({ "limit": 100 })),
        (
            "record_test_health",
            json!({ "test_count": 10_000_000, "duration_ms": 604_800_000, "names": names(10_000) }),
        ),
    ] {
        done(&client, tool, arguments).await;
    }
}

#[tokio::test]
async fn a_run_files_twenty_issues_and_a_person_any_number() {
    let mut desk = Desk::new();
    let (issue, run) = desk.worker();
    let client = desk.client(identity(&run, Role::Worker)).await;
    for i in 0..20 {
        done(
            &client,
            "create_issue",
            json!({ "title": format!("Found {i}") }),
        )
        .await;
    }
    let text = refused(&client, "create_issue", json!({ "title": "One more" })).await;
    assert_eq!(
        text,
        "a run may add at most 20 issues; put the rest into a finding"
    );
    let client = desk.client(person(Some(&issue.id))).await;
    done(&client, "create_issue", json!({ "title": "One more" })).await;
}

#[tokio::test]
async fn a_run_writes_a_hundred_comments() {
    let mut desk = Desk::new();
    let (issue, run) = desk.worker();
    let client = desk.client(identity(&run, Role::Worker)).await;
    for i in 0..100 {
        done(
            &client,
            "add_comment",
            json!({ "content": format!("note {i}") }),
        )
        .await;
    }
    let text = refused(&client, "add_comment", json!({ "content": "again" })).await;
    assert!(text.ends_with("the limit is 100 a run"), "{text}");
    // a move whose reason cannot be written down is not made
    let text = refused(
        &client,
        "update_issue_status",
        json!({ "status": "todo", "reason": "r" }),
    )
    .await;
    assert!(text.ends_with("the limit is 100 a run"), "{text}");
    let shown = done(&client, "get_issue", json!({})).await;
    assert_eq!(shown["issue"]["status"], "in_progress");
    assert_eq!(shown["comments"].as_array().unwrap().len(), 20);
    assert_eq!(desk.store.comments(&issue.id, 200).unwrap().len(), 100);
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_what_was_expected() {
    let mut desk = Desk::new();
    let (_, run) = desk.worker();
    let client = desk.client(identity(&run, Role::Worker)).await;
    let before = desk.events();
    let mut told = Vec::new();
    for (tool, arguments) in [
        ("add_comment", json!({})),
        ("add_comment", json!({ "content": 7 })),
        ("add_comment", json!({ "content": "c", "author": "human" })),
        ("add_finding", json!({ "kind": "gate", "text": "t" })),
        ("update_issue_status", json!({ "status": "finished" })),
        ("list_issues", json!({ "limit": -1 })),
        ("create_issue", json!({ "title": "t", "labels": "bug" })),
        ("create_issue", json!({ "title": "t", "priority": "asap" })),
        (
            "create_pr",
            json!({ "title": "t", "body": "b", "gate_results": [{ "name": "test" }] }),
        ),
    ] {
        told.push(format!(
            "{tool}: {}",
            refused(&client, tool, arguments).await
        ));
    }
    assert_eq!(desk.events(), before);
    insta::assert_snapshot!(told.join("\n"), @r#"
    add_comment: invalid arguments: missing field `content`
    add_comment: invalid arguments: `content`: found integer `7`, expected a string
    add_comment: invalid arguments: unknown field `author`, expected `content` or `issue`
    add_finding: invalid arguments: `kind`: unknown variant `gate`, expected one of `note`, `approach`, `gap`, `bug`, `risk`, `review`
    update_issue_status: invalid arguments: `status`: unknown variant `finished`, expected one of `backlog`, `todo`, `in_progress`, `review`, `blocked`, `done`, `cancelled`
    list_issues: invalid arguments: `limit`: found integer `-1`, expected a whole number, zero or more
    create_issue: invalid arguments: `labels`: found string "bug", expected a list
    create_issue: invalid arguments: `priority`: unknown variant `asap`, expected one of `urgent`, `high`, `medium`, `low`, `none`
    create_pr: invalid arguments: `gate_results[0]`: missing field `passed`
    "#);
}

#[tokio::test]
async fn reported_gates_are_bounded() {
    let mut desk = Desk::new();
    let (_, run) = desk.worker();
    let client = desk.client(identity(&run, Role::Worker)).await;
    let gates = vec![json!({ "name": "test", "passed": true }); 51];
    let arguments = json!({ "title": "t", "body": "b", "gate_results": gates });
    assert_eq!(
        refused(&client, "create_pr", arguments).await,
        "gate_results has more than 50 items"
    );
}
