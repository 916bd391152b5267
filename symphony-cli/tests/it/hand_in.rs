//! Work that agents cannot hand in: runs whose `create_pr` is refused over and over are seen, wait longer and end.

use serde_json::{Value, json};

use crate::support::{
    JUDGE, PLANNER, Project, bash, call, commit, create_pr, scenario, scenarios, text, turn, until,
    worker,
};

/// Starts the next run, as soon as its retry is due.
fn next(project: &Project) -> Value {
    let mut runs = until("the next run", || {
        Some(project.tick_wait()).filter(|runs| !runs.is_empty())
    });
    runs.remove(0)
}

#[test]
fn a_hand_in_that_is_refused_over_and_over_is_a_failure_and_then_a_persons_affair() {
    // never the same files, always the same refusal
    let project = Project::new(
        "project",
        &scenarios([worker([
            bash("date +%s%N > \"left-$(date +%N).txt\""),
            create_pr("Never committed"),
        ])]),
        &json!({ "judge_enabled": false, "max_retry_backoff_ms": 1 }),
    );
    project.add_issue("Say hello");
    let first = next(&project);
    assert_eq!(first["status"], "succeeded", "{first:#}");
    let issue = project.issue("SYM-1");
    assert_eq!(issue["consecutive_failures"], 0, "{issue:#}");
    // wherever a person looks, the first refusal is named with its reason
    let why = "`create_pr`, which opens the pull request, was refused: the worktree has uncommitted changes (left-";
    let run = text(&first["id"]);
    for look in [
        ["explain", "SYM-1"].as_slice(),
        &["issue", "show", "SYM-1"],
        &["runs", "show", &run],
    ] {
        let shown = project.ok(look).replace('\n', " ");
        assert!(shown.contains(why), "{look:?}: {shown}");
    }
    assert_eq!(issue["last_failure"]["class"], "no_outcome", "{issue:#}");

    let second = next(&project);
    assert_eq!(second["error"]["class"], "no_outcome", "{second:#}");
    let issue = project.issue("SYM-1");
    assert_eq!(issue["consecutive_failures"], 1, "{issue:#}");
    let shown = project.ok(&["explain", "SYM-1"]);
    let why = "`create_pr` was refused in 2 runs in a row: the worktree has uncommitted changes";
    assert!(shown.contains(why), "{shown}");
    let shown = project.ok(&["issue", "show", "SYM-1"]);
    assert!(shown.contains("Its last run failed"), "{shown}");
    assert!(shown.replace('\n', " ").contains(why), "{shown}");

    next(&project);
    let issue = project.issue("SYM-1");
    assert_eq!(issue["status"], "backlog", "{issue:#}");
    assert_eq!(issue["total_runs"], 3, "{issue:#}");
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    let inbox = project.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap();
    let breaker = items.iter().find(|item| item["kind"] == "breaker");
    let breaker = breaker.unwrap_or_else(|| panic!("{inbox:#}"));
    assert!(text(&breaker["text"]).contains("3 runs"), "{breaker:#}");
    let comments = issue["comments"].as_array().unwrap();
    let notice = text(&comments.last().unwrap()["content"]);
    assert!(
        notice.contains("`create_pr` was refused in 3 runs in a row"),
        "{notice}"
    );
    project.assert_sound();
}

#[test]
fn a_refusal_that_the_same_run_put_right_is_no_failure() {
    let project = Project::new(
        "project",
        &scenarios([worker([
            bash("echo hello > hello.txt"),
            create_pr("Too early"),
            commit("hello.txt", "hello"),
            create_pr("Say hello"),
        ])]),
        &json!({ "judge_enabled": false }),
    );
    project.add_issue("Say hello");
    let run = next(&project);
    assert_eq!(run["status"], "succeeded", "{run:#}");
    let issue = project.issue("SYM-1");
    assert_eq!(issue["status"], "review", "{issue:#}");
    assert_eq!(issue["last_failure"], Value::Null, "{issue:#}");
    let shown = project.ok(&["runs", "show", &text(&run["id"])]);
    assert!(!shown.contains("refused"), "{shown}");
    project.assert_sound();
}

#[test]
fn a_judge_whose_verdict_was_refused_is_reported_with_the_refusal() {
    let reject = call(
        "mcp__symphony__reject_pr",
        json!({ "comment": "Too short." }),
    );
    let judge = scenario("judge", &json!({ "match_system": JUDGE }), [turn(reject)]);
    let project = Project::new(
        "project",
        &scenarios([
            worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
            judge,
        ]),
        &json!({}),
    );
    project.add_issue("Say hello");
    next(&project);
    let run = next(&project);
    assert_eq!(run["profile"], "judge", "{run:#}");
    let why = "its last call of `reject_pr` was refused: invalid arguments: unknown field `comment`, expected `feedback` or `points`";
    let message = text(&run["error"]["message"]);
    assert!(message.contains(why), "{message}");
    let id = text(&run["id"]);
    assert!(
        message.contains(&format!("symphony runs logs {id}")),
        "{message}"
    );
    let shown = project.ok(&["explain", "SYM-1"]).replace('\n', " ");
    assert!(shown.contains(why), "{shown}");
    project.assert_sound();
}

#[test]
fn a_planner_whose_sub_tasks_were_all_refused_is_reported_with_the_refusal() {
    let subtask = |input| turn(call("mcp__symphony__create_subtask", input));
    let refused = subtask(json!({ "title": "One", "body": "Do it." }));
    let planner = |turns: Vec<Value>| {
        let when = json!({ "match_system": PLANNER });
        scenarios([scenario("planner", &when, turns)])
    };
    let project = Project::new(
        "project",
        &planner(vec![refused.clone()]),
        &json!({ "planner_enabled": true, "max_retry_backoff_ms": 1 }),
    );
    project.add_issue("Split it");
    project.ok(&["issue", "edit", "SYM-1", "--add-label", "needs-planning"]);
    let run = next(&project);
    assert_eq!(run["profile"], "planner", "{run:#}");
    let why =
        "its last call of `create_subtask` was refused: invalid arguments: unknown field `body`";
    let message = text(&run["error"]["message"]);
    assert!(message.contains(why), "{message}");
    let shown = project.ok(&["runs", "show", &text(&run["id"])]);
    assert!(
        shown.contains("`create_subtask`, which files a sub-task, was refused"),
        "{shown}"
    );
    project.assert_sound();

    // one that was put right is forgotten
    let fine = json!({ "title": "One", "description": "Do it." });
    let project = Project::new(
        "project",
        &planner(vec![refused, subtask(fine)]),
        &json!({ "planner_enabled": true }),
    );
    project.add_issue("Split it");
    project.ok(&["issue", "edit", "SYM-1", "--add-label", "needs-planning"]);
    let run = next(&project);
    assert_eq!(run["status"], "succeeded", "{run:#}");
    let shown = project.ok(&["runs", "show", &text(&run["id"])]);
    assert!(!shown.contains("refused"), "{shown}");
}
