//! Review points through the tools: raised and closed by a verdict, answered by the author.

use serde_json::{Value, json};
use symphony_core::agent::AgentType;
use symphony_core::issue::{Issue, IssueStatus};
use symphony_core::run::{Run, RunTarget};
use symphony_core::tools::Role;

use crate::support::{Client, Desk, done, identity, refused};

/// A judge's client and run, and the issue that it reviews.
async fn reviewing(desk: &mut Desk) -> (Client, Run, Issue) {
    let (issue, run, review) = desk.judge();
    let mut judge = identity(&run, Role::JudgePr);
    judge.review = Some(review);
    (desk.client(judge).await, run, issue)
}

#[tokio::test]
async fn points_come_with_a_verdict_and_what_does_not_fit_is_named() {
    let mut desk = Desk::new();
    let (judge, _, issue) = reviewing(&mut desk).await;
    for (points, said) in [
        (
            json!([{ "severity": "must" }]),
            "points[0]: a new point needs `text`, an earlier one `id` and `state`",
        ),
        (
            json!([{ "id": 1 }]),
            "points[0]: an earlier point (`id`) needs `state`: closed or reopened",
        ),
        (
            json!([{ "state": "closed" }]),
            "points[0]: `state` needs the `id` of an earlier point; a new point is always open",
        ),
        (
            json!([{ "text": "a", "lines": "3" }]),
            "points[0]: `lines` needs `file`",
        ),
        (
            json!([{ "text": "a", "file": "a", "lines": "x" }]),
            "points[0]: lines: `x` is not a range of lines; write `12` or `12-20`",
        ),
        (json!([{ "id": 4, "state": "closed" }]), "a rejection needs"),
        (
            json!(["no test"]),
            "invalid arguments: `points[0]`: found string \"no test\", expected an object such as",
        ),
        (
            json!([{ "text": "a", "severity": "grave" }]),
            "invalid arguments: `points[0].severity`: unknown variant `grave`",
        ),
        (
            json!([{ "text": "é".repeat(2_001) }]),
            "the text of a review point or an answer is 2001 characters long",
        ),
    ] {
        let text = refused(
            &judge,
            "reject_pr",
            json!({ "points": points, "feedback": "" }),
        )
        .await;
        assert!(
            text.starts_with(said) || text.starts_with("there is no review point 4"),
            "{text}"
        );
    }
    assert!(
        refused(&judge, "reject_pr", json!({}))
            .await
            .starts_with("feedback must not be empty")
    );
    let points = json!([
        { "text": "no test", "file": "src/a.rs", "lines": "12-20" },
        { "text": "say why", "severity": "should" },
    ]);
    done(
        &judge,
        "reject_pr",
        json!({ "points": points, "feedback": "Nearly." }),
    )
    .await;
    let stored = desk.store.issue(&issue.id).unwrap();
    assert_eq!(stored.state.status(), IssueStatus::Todo);
    let shown = done(&judge, "get_issue", json!({})).await;
    let point = |shown: &Value, at: usize| {
        let point = &shown["review_points"][at];
        format!(
            "{} {} {} {}",
            point["id"], point["severity"], point["file"], point["text"]
        )
    };
    assert_eq!(point(&shown, 0), r#"1 "must" "src/a.rs" "no test""#);
    assert_eq!(point(&shown, 1), r#"2 "should" null "say why""#);
    assert!(
        shown["comments"][0]["content"]
            .as_str()
            .unwrap()
            .ends_with("(review points 1 and 2): Nearly."),
        "{shown:#}"
    );
}

#[tokio::test]
async fn a_worker_answers_before_it_hands_in() {
    let mut desk = Desk::new();
    let (judge, judging, issue) = reviewing(&mut desk).await;
    done(
        &judge,
        "reject_pr",
        json!({ "points": [{ "text": "no test" }, { "text": "no limit" }] }),
    )
    .await;
    desk.finish(&judging);
    let run = desk.run(AgentType::Worker, RunTarget::Issue(issue.id.clone()));
    let worker = desk.client(identity(&run, Role::Worker)).await;
    let new = json!({ "title": "t", "body": "b" });
    let text = refused(&worker, "create_pr", new.clone()).await;
    assert!(
        text.starts_with("review points 1 and 2 are not answered yet"),
        "{text}"
    );
    // kept with its kind: runs that are refused over and over are seen by it
    let run = desk.store.run(&run.id).unwrap();
    assert_eq!(
        run.metadata["refused_create_pr"]["kind"],
        "unanswered_points"
    );
    let answer =
        |point: u32, answer: &str| json!({ "point": point, "answer": answer, "text": "so" });
    let said = done(&worker, "answer_review_point", answer(1, "fixed")).await;
    assert_eq!(said["point"]["answered"], true);
    assert!(
        said["message"]
            .as_str()
            .unwrap()
            .contains("review point 2 is not answered"),
        "{said:#}"
    );
    let text = refused(&worker, "answer_review_point", answer(9, "fixed")).await;
    assert_eq!(
        text,
        "there is no review point 9; known: review points 1 and 2"
    );
    let said = done(&worker, "answer_review_point", answer(2, "question")).await;
    assert!(
        said["message"]
            .as_str()
            .unwrap()
            .contains("waits for a person's reply"),
        "{said:#}"
    );
    let state = desk.store.issue(&issue.id).unwrap().state;
    assert_eq!(state.block().unwrap().by.name(), "question");
}
