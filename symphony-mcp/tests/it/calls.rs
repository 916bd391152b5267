//! What calls answer, and in whose name they write.

use serde_json::json;
use symphony_core::agent::AgentType;
use symphony_core::id::LearningId;
use symphony_core::issue::{CommentAuthor, IssueStatus};
use symphony_core::learning::LearningState;
use symphony_core::run::RunTarget;
use symphony_core::tools::Role;
use symphony_store::{LearningFilter, NewIssue};

use crate::support::{Desk, done, human, identity, new_issue, person, pr_of, project, refused};

#[tokio::test]
async fn get_issue_shows_everything_that_belongs_to_it() {
    let mut desk = Desk::new();
    let first = desk.issue("First");
    let mut second = new_issue("Second");
    second.depends_on = vec![first.id.clone()];
    let second = desk.store.add_issue(&human(), &second).unwrap();
    let mut child = new_issue("Child");
    child.parent = Some(second.id.clone());
    desk.store.add_issue(&human(), &child).unwrap();
    desk.store
        .add_comment(&human(), &second.id, "look here")
        .unwrap();
    let client = desk.client(person(Some(&second.id))).await;
    let mut shown = done(&client, "get_issue", json!({})).await;
    shown["comments"][0]["created_at"] = json!("then");
    insta::assert_json_snapshot!("get_issue", shown);
    let named = done(&client, "get_issue", json!({ "issue": "DEM-1" })).await;
    assert_eq!(named["issue"]["title"], "First");
}

#[tokio::test]
async fn an_issue_of_another_project_is_out_of_reach() {
    let mut desk = Desk::new();
    let (_, run) = desk.worker();
    let other = NewIssue {
        project: project("other"),
        ..new_issue("Secret")
    };
    let other = desk.store.add_issue(&human(), &other).unwrap();
    let client = desk.client(identity(&run, Role::Worker)).await;
    let before = desk.events();
    for (tool, arguments, text) in [
        (
            "get_issue",
            json!({ "issue": "OTH-1" }),
            "OTH-1 belongs to another project",
        ),
        (
            "add_comment",
            json!({ "issue": "OTH-1", "content": "hi" }),
            "OTH-1 belongs to another project",
        ),
        (
            "get_issue",
            json!({ "issue": "DEM-99" }),
            "there is no issue `DEM-99`. Use `list_issues` to find identifiers.",
        ),
        (
            "get_issue",
            json!({ "issue": "dem 1" }),
            "`dem 1` is not an issue identifier such as SYM-12",
        ),
    ] {
        assert_eq!(refused(&client, tool, arguments).await, text);
    }
    let listed = done(&client, "list_issues", json!({})).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    assert_eq!(desk.store.comments(&other.id, 5).unwrap(), []);
    assert_eq!(desk.events(), before);
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let mut desk = Desk::new();
    for i in 1..=5 {
        let labels = vec![if i % 2 == 0 { "even" } else { "odd" }.to_owned()];
        desk.store
            .add_issue(
                &human(),
                &NewIssue {
                    labels,
                    ..new_issue(&format!("Issue {i}"))
                },
            )
            .unwrap();
    }
    let client = desk.client(person(None)).await;
    let ids = |answer: &serde_json::Value| -> Vec<String> {
        let items = answer["items"].as_array().unwrap();
        items
            .iter()
            .map(|item| item["identifier"].as_str().unwrap().to_owned())
            .collect()
    };
    let first = done(
        &client,
        "list_issues",
        json!({ "label": "odd", "limit": 2 }),
    )
    .await;
    assert_eq!(ids(&first), ["DEM-1", "DEM-3"]);
    let next = json!({ "label": "odd", "limit": 2, "cursor": first["next_cursor"] });
    let second = done(&client, "list_issues", next).await;
    assert_eq!(
        (ids(&second), second["next_cursor"].is_null()),
        (vec!["DEM-5".to_owned()], true)
    );
    let text = done(&client, "list_issues", json!({ "text": "iSSUE 4" })).await;
    assert_eq!(ids(&text), ["DEM-4"]);
    let none = done(&client, "list_issues", json!({ "status": "done" })).await;
    assert_eq!(none["message"], "no issue matches");
}

#[tokio::test]
async fn a_write_carries_its_run() {
    let mut desk = Desk::new();
    let (issue, run) = desk.worker();
    let client = desk.client(identity(&run, Role::Worker)).await;
    done(&client, "add_comment", json!({ "content": "working" })).await;
    done(
        &client,
        "add_finding",
        json!({ "kind": "bug", "text": "off by one", "files": ["a.rs"] }),
    )
    .await;
    done(
        &client,
        "add_learning",
        json!({ "pattern": "Count from zero", "learning_type": "gotcha" }),
    )
    .await;
    let agent = CommentAuthor::Agent(AgentType::Worker);
    assert_eq!(desk.store.comments(&issue.id, 5).unwrap()[0].author, agent);
    let finding = &desk.store.findings(&issue.id, 5).unwrap()[0];
    assert_eq!(
        (&finding.author, finding.run.as_ref()),
        (&agent, Some(&run.id))
    );
    let proposed = LearningFilter {
        states: vec![LearningState::Proposed],
        ..LearningFilter::default()
    };
    let learning = &desk.store.learnings(&proposed).unwrap()[0];
    assert_eq!(
        (&learning.issue, &learning.run),
        (&Some(issue.id), &Some(run.id))
    );
    // the run itself finds what it proposed; the same text once more is no second learning
    let again = done(
        &client,
        "add_learning",
        json!({ "pattern": "count from ZERO" }),
    )
    .await;
    assert_eq!(
        (&again["id"], &again["state"]),
        (&json!(learning.learning.id), &json!("proposed"))
    );
    let found = done(
        &client,
        "search_learnings",
        json!({ "query": "count zero" }),
    )
    .await;
    assert_eq!(found["items"][0]["pattern"], "Count from zero");
}

#[tokio::test]
async fn a_known_learning_is_refused_with_its_id() {
    let mut desk = Desk::new();
    let (_, run) = desk.worker();
    let client = desk.client(identity(&run, Role::Worker)).await;
    let add = || json!({ "pattern": "Count from zero" });
    let id = done(&client, "add_learning", add()).await["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let ids = [LearningId::parse(&id).unwrap()];
    let now = human();
    desk.store.accept_learnings(&now, &ids).unwrap();
    let known = refused(&client, "add_learning", json!({ "pattern": "from zero!" })).await;
    assert_eq!(
        known,
        format!(
            "learning {id} already says this: Count from zero\nRecord only what it does not say, or nothing"
        )
    );
    desk.store.retire_learnings(&now, &ids).unwrap();
    let retired = refused(&client, "add_learning", add()).await;
    assert_eq!(
        retired,
        format!("learning {id} says the same, and a person has retired it; do not record it again")
    );
}

#[tokio::test]
async fn the_write_of_a_run_that_is_over_is_refused_and_recorded_once() {
    let mut desk = Desk::new();
    let (issue, run) = desk.worker();
    let client = desk.client(identity(&run, Role::Worker)).await;
    desk.finish(&run);
    let before = desk.events();
    for (tool, arguments) in [
        ("add_comment", json!({ "content": "late" })),
        ("add_finding", json!({ "kind": "note", "text": "late" })),
        ("add_learning", json!({ "pattern": "late" })),
        ("create_issue", json!({ "title": "late" })),
        (
            "update_issue_status",
            json!({ "status": "blocked", "reason": "late" }),
        ),
    ] {
        let text = refused(&client, tool, arguments).await;
        let over = format!(
            "run {} has ended: nothing more can be recorded for it.",
            run.id
        );
        assert_eq!(
            text,
            format!("{over} Stop working: another run took over."),
            "{tool}"
        );
    }
    assert_eq!(desk.events(), before + 1);
    assert_eq!(
        desk.store.issue(&issue.id).unwrap().state.status(),
        IssueStatus::Todo
    );
}

#[tokio::test]
async fn a_worker_gives_back_or_asks_for_a_human() {
    for (arguments, status, comments) in [
        (json!({ "status": "todo" }), IssueStatus::Todo, vec![]),
        (
            json!({ "status": "todo", "reason": "half done" }),
            IssueStatus::Todo,
            vec!["Moved to todo: half done"],
        ),
        (
            json!({ "status": "blocked", "reason": "no key" }),
            IssueStatus::Blocked,
            vec!["Moved to blocked: no key"],
        ),
    ] {
        let mut desk = Desk::new();
        let (issue, run) = desk.worker();
        let client = desk.client(identity(&run, Role::Worker)).await;
        done(&client, "update_issue_status", arguments).await;
        let found = desk.store.issue(&issue.id).unwrap();
        assert_eq!(found.state.status(), status);
        let written = desk.store.comments(&issue.id, 5).unwrap();
        assert_eq!(
            written
                .iter()
                .map(|c| c.content.as_str())
                .collect::<Vec<_>>(),
            comments
        );
        assert!(desk.store.run(&run.id).unwrap().moved_issue);
    }
}

#[tokio::test]
async fn moves_that_a_role_may_not_make_say_which_it_may() {
    let mut desk = Desk::new();
    let (issue, run) = desk.worker();
    let before = desk.events();
    let worker = desk.client(identity(&run, Role::Worker)).await;
    let planner = desk.client(identity(&run, Role::Planner)).await;
    for status in ["backlog", "in_progress", "review", "done", "cancelled"] {
        let text = refused(
            &worker,
            "update_issue_status",
            json!({ "status": status, "reason": "r" }),
        )
        .await;
        let expected = format!(
            "you cannot move an issue to `{status}`: use `todo` to give it back, `blocked` to ask for a person, and \
             `create_pr` when the work is done"
        );
        assert_eq!(text, expected);
        let text = refused(
            &planner,
            "update_issue_status",
            json!({ "status": status, "reason": "r" }),
        )
        .await;
        let expected =
            format!("a planner cannot move an issue to `{status}`: only `blocked`, with a reason");
        assert_eq!(text, expected);
    }
    let text = refused(
        &worker,
        "update_issue_status",
        json!({ "status": "blocked" }),
    )
    .await;
    assert_eq!(
        text,
        "`blocked` needs a `reason` that says what a person has to do"
    );
    let client = desk.client(person(Some(&issue.id))).await;
    let text = refused(&client, "update_issue_status", json!({ "status": "done" })).await;
    assert_eq!(
        text,
        "an issue in `in_progress` cannot move to `done`; a person can move it to `backlog`, `todo` or `cancelled`"
    );
    assert_eq!(desk.events(), before);
}

#[tokio::test]
async fn what_agents_file_starts_with_research() {
    let mut desk = Desk::new();
    let (_, run) = desk.worker();
    let client = desk.client(identity(&run, Role::Worker)).await;
    let filed = done(
        &client,
        "create_issue",
        json!({ "title": "Slow start", "labels": ["perf"] }),
    )
    .await;
    assert_eq!(filed["issue"]["labels"], json!(["perf", "phase:research"]));
    assert_eq!(filed["issue"]["status"], "backlog");
    let text = refused(
        &client,
        "create_issue",
        json!({ "title": "Skip", "labels": ["phase:ready"] }),
    )
    .await;
    assert_eq!(
        text,
        "remove the label `phase:ready`: issues filed by agents start in `phase:research`"
    );
    let text = refused(&client, "create_issue", json!({ "title": " slow   START" })).await;
    assert_eq!(
        text,
        "DEM-2 is open and has the same title: add a comment or a finding there instead"
    );
    let client = desk.client(person(None)).await;
    let filed = done(
        &client,
        "create_issue",
        json!({ "title": "By hand", "labels": ["phase:ready"] }),
    )
    .await;
    assert_eq!(filed["issue"]["labels"], json!(["phase:ready"]));
}

#[tokio::test]
async fn a_run_without_an_issue_names_one() {
    let mut desk = Desk::new();
    desk.issue("First");
    let run = desk.run(AgentType::Scanner, RunTarget::Project);
    let client = desk.client(identity(&run, Role::Scanner)).await;
    let text = refused(&client, "get_issue", json!({})).await;
    assert_eq!(
        text,
        "this run has no issue of its own: name one with `issue`"
    );
    done(&client, "get_issue", json!({ "issue": "DEM-1" })).await;
    // what it finds is about the project
    let note = json!({ "kind": "note", "text": "t" });
    let answer = done(&client, "add_finding", note).await;
    assert_eq!(
        answer["message"],
        "recorded a finding of kind note on the project"
    );
}

#[tokio::test]
async fn verdicts_move_the_issue() {
    let mut desk = Desk::new();
    let (issue, run, review) = desk.judge();
    let pr = pr_of(&review);
    let mut judge = identity(&run, Role::JudgePr);
    judge.review = Some(review);
    let client = desk.client(judge).await;
    assert_eq!(
        refused(&client, "reject_pr", json!({ "feedback": " " })).await,
        "feedback must not be empty"
    );
    let answer = done(&client, "reject_pr", json!({ "feedback": "no test" })).await;
    assert_eq!(answer["state"], "rejected");
    assert_eq!(
        desk.store.issue(&issue.id).unwrap().state.status(),
        IssueStatus::Todo
    );
    let text = refused(&client, "approve_pr", json!({})).await;
    assert_eq!(
        text,
        format!("pull request {pr} is rejected: there is nothing to judge")
    );
}

#[tokio::test]
async fn a_judge_asks_for_a_human() {
    let mut desk = Desk::new();
    let (issue, run, _) = desk.judge();
    let client = desk.client(identity(&run, Role::JudgePr)).await;
    done(
        &client,
        "update_issue_status",
        json!({ "status": "blocked", "reason": "is this wanted?" }),
    )
    .await;
    let state = desk.store.issue(&issue.id).unwrap().state;
    assert_eq!(state.block().unwrap().by.name(), "human");
}

#[tokio::test]
async fn a_call_waits_for_another_process_and_answers() {
    let mut desk = Desk::new();
    let (issue, run) = desk.worker();
    let client = desk.client(identity(&run, Role::Worker)).await;
    let conn = rusqlite::Connection::open(desk.database()).unwrap();
    conn.execute_batch("BEGIN IMMEDIATE").unwrap();
    let write = done(&client, "add_comment", json!({ "content": "patient" }));
    let release = async {
        // reads do not wait for the writer: the session goes on meanwhile
        let other = desk.client(person(Some(&issue.id))).await;
        done(&other, "get_issue", json!({})).await;
        conn.execute_batch("COMMIT").unwrap();
    };
    tokio::join!(write, release);
    assert_eq!(desk.store.comments(&issue.id, 5).unwrap().len(), 1);
}
