//! What each role sees is what it may call, and nothing else.

use std::collections::BTreeMap;

use serde_json::json;
use symphony_core::agent::AgentType;
use symphony_core::issue::IssueStatus;
use symphony_core::run::RunTarget;
use symphony_core::tools::{Role, Tool, ToolSet};
use symphony_core::wording::with_article;
use symphony_mcp::Verdicts;

use crate::support::{Client, Desk, call, done, identity, person, pr_of, refused};

async fn listed(client: &Client) -> Vec<String> {
    let tools = client.list_all_tools().await.unwrap();
    tools
        .into_iter()
        .map(|tool| tool.name.to_string())
        .collect()
}

#[tokio::test]
async fn a_list_is_the_roles_row_of_the_table() {
    let mut desk = Desk::new();
    let (_, run) = desk.worker();
    for role in Role::ALL {
        let client = desk.client(identity(&run, *role)).await;
        let expected = role.allowed().names();
        assert_eq!(listed(&client).await, expected, "{role}");
    }
}

#[tokio::test]
async fn what_is_not_listed_is_refused_and_writes_nothing() {
    let mut desk = Desk::new();
    let (_, run) = desk.worker();
    let before = desk.events();
    for role in Role::ALL {
        let client = desk.client(identity(&run, *role)).await;
        let own = role.allowed();
        let outside = ToolSet::ALL.difference(own);
        let names = outside
            .iter()
            .map(Tool::name)
            .chain(["Bash", "", "GET_ISSUE"]);
        for name in names {
            let arguments = json!({ "title": "t", "feedback": "f", "content": "c" });
            let text = refused(&client, name, arguments).await;
            let has = own.to_string();
            assert_eq!(
                text,
                format!(
                    "{} has no tool `{name}`; it has: {has}",
                    with_article(role.name())
                )
            );
        }
    }
    assert_eq!(desk.events(), before);
}

#[tokio::test]
async fn a_status_is_offered_to_a_role_exactly_when_it_may_set_it() {
    let refusal = "cannot move an issue to";
    for role in Role::ALL.iter().filter(|role| **role != Role::Human) {
        if !role.allowed().contains(Tool::UpdateIssueStatus) {
            continue;
        }
        for status in IssueStatus::ALL {
            let mut desk = Desk::new();
            let (_, run) = desk.worker();
            let client = desk.client(identity(&run, *role)).await;
            let tools = client.list_all_tools().await.unwrap();
            let tool = tools
                .iter()
                .find(|tool| tool.name == "update_issue_status")
                .unwrap();
            let properties = tool.input_schema.get("properties").unwrap();
            let offered = properties["status"]["enum"].as_array().unwrap();
            let arguments = json!({ "status": status, "reason": "a key is missing" });
            let answer = call(&client, "update_issue_status", arguments).await;
            let text = format!("{answer:?}");
            assert_eq!(
                offered.contains(&json!(status)),
                !text.contains(refusal),
                "{role} {status}: {offered:?}, {text}"
            );
        }
    }
}

#[tokio::test]
async fn a_profile_narrows_its_row_and_never_widens_it() {
    let mut desk = Desk::new();
    let (_, run) = desk.worker();
    let mut identity = identity(&run, Role::Scanner);
    identity.tools = ToolSet::of(&[Tool::GetIssue, Tool::ApprovePr]);
    let client = desk.client(identity).await;
    assert_eq!(listed(&client).await, ["get_issue"]);
    let text = refused(&client, "approve_pr", json!({})).await;
    assert_eq!(
        text,
        "a scanner has no tool `approve_pr`; it has: get_issue"
    );
}

#[tokio::test]
async fn every_tool_does_something() {
    let mut desk = Desk::new();
    let (issue, judge, review) = desk.judge();
    let mut judge = identity(&judge, Role::JudgePr);
    judge.review = Some(review);
    let judge = desk.client(judge).await;
    let human = desk.client(person(Some(&issue.id))).await;
    let mut calls: BTreeMap<&str, serde_json::Value> = BTreeMap::from([
        ("get_issue", json!({})),
        ("list_issues", json!({ "status": "review" })),
        ("search_learnings", json!({ "query": "parser" })),
        ("add_finding", json!({ "kind": "risk", "text": "slow" })),
        (
            "add_learning",
            json!({ "pattern": "Run the parser's tests first" }),
        ),
        ("add_comment", json!({ "content": "seen" })),
        ("create_issue", json!({ "title": "Another one" })),
        (
            "record_coverage",
            json!({ "file": "src/a.rs", "concept": "locks" }),
        ),
        (
            "record_test_health",
            json!({ "test_count": 3, "duration_ms": 20 }),
        ),
        ("configure_project", json!({ "gates": [] })),
    ]);
    for (name, arguments) in &calls {
        done(&human, name, arguments.clone()).await;
    }
    // what they do to a proposal is tested where worktrees are made; this is a change
    for tool in ["approve_done", "reject_done"] {
        let text = refused(&human, tool, json!({})).await;
        assert_eq!(
            text,
            "pull request 1 is a change: `approve_pr` and `reject_pr` decide on it"
        );
    }
    done(&judge, "approve_pr", json!({ "comment": "good" })).await;
    done(&judge, "reject_pr", json!({ "feedback": "no test" })).await;
    done(
        &human,
        "update_issue_status",
        json!({ "status": "backlog" }),
    )
    .await;
    // the point of the rejection comes first
    let text = refused(&human, "create_pr", json!({ "title": "t", "body": "b" })).await;
    assert!(text.starts_with("review point 1 is not answered"), "{text}");
    done(
        &human,
        "answer_review_point",
        json!({ "point": 1, "answer": "declined", "text": "by design" }),
    )
    .await;
    // what `create_pr` does with a repository is tested where worktrees are made
    let text = refused(&human, "create_pr", json!({ "title": "t", "body": "b" })).await;
    assert_eq!(
        text,
        "DEM-1 has no worktree, so there is nothing to open a pull request from"
    );
    let evidence = json!([{ "kind": "file", "reference": "a" }]);
    let proposal = json!({ "reason": "it is there", "evidence": evidence });
    let text = refused(&human, "propose_done", proposal).await;
    assert_eq!(text, "DEM-1 has no worktree: its base cannot be looked at");
    done(&human, "update_issue_status", json!({ "status": "todo" })).await;
    done(
        &human,
        "create_subtask",
        json!({ "title": "Part", "description": "do it" }),
    )
    .await;
    for name in [
        "create_subtask",
        "answer_review_point",
        "approve_pr",
        "reject_pr",
        "complete_phase",
        "approve_phase",
        "reject_phase",
        "update_issue_status",
        "create_pr",
        "propose_done",
        "approve_done",
        "reject_done",
    ] {
        calls.insert(name, json!({}));
    }
    let mut every = ToolSet::ALL.names();
    every.sort_unstable();
    assert_eq!(calls.into_keys().collect::<Vec<_>>(), every);
}

#[tokio::test]
async fn a_verdict_comes_from_the_judge_of_that_pull_request_only() {
    let mut desk = Desk::new();
    let (issue, judge, review) = desk.judge();
    // a role that promises more than the run is
    let other = desk.issue("Other");
    let worker = desk.run(AgentType::Worker, RunTarget::Issue(other.id));
    let mut forged = identity(&worker, Role::JudgePr);
    forged.review = Some(review.clone());
    let client = desk.client(forged).await;
    let text = refused(&client, "approve_pr", json!({})).await;
    assert_eq!(
        text,
        "only a judge's run on pull request 1 may judge it; this is a run of a worker"
    );
    // a judge that was shown another commit
    let mut stale = identity(&judge, Role::JudgePr);
    let pr = pr_of(&review);
    stale.review = Some(symphony_mcp::ReviewTarget::PullRequest {
        subject: symphony_mcp::Reviewed::Change,
        pr,
        commit: "c0".into(),
    });
    let client = desk.client(stale).await;
    let text = refused(&client, "approve_pr", json!({})).await;
    assert_eq!(
        text,
        "the verdict is about commit c0, but the head of pull request 1 is c1"
    );
    // a server that an agent started on the database
    let mut inside = person(Some(&issue.id));
    inside.verdicts = Verdicts::Refused;
    let client = desk.client(inside).await;
    for (tool, arguments) in [
        ("approve_pr", json!({})),
        ("reject_pr", json!({ "feedback": "no" })),
    ] {
        let text = refused(&client, tool, arguments).await;
        assert!(
            text.starts_with("verdicts are refused here: an agent started this server"),
            "{text}"
        );
    }
    // a judge without anything to review
    let client = desk.client(identity(&judge, Role::JudgePr)).await;
    assert_eq!(
        refused(&client, "approve_pr", json!({})).await,
        "this run reviews no pull request"
    );
    assert_eq!(desk.store.pr(pr).unwrap().verdict, None);
}
