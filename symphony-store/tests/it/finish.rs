//! The end of a run: counts, retries, the breaker, holds, gates.

use symphony_core::failure::ErrorClass;
use symphony_core::issue::{CommentAuthor, FindingKind, IssueStatus};
use symphony_core::pull_request::{PrState, VerifiedGate, VerifiedGates};
use symphony_core::retry::RetryKind;
use symphony_core::run::RunStatus;
use symphony_core::tick::HoldScope;
use symphony_store::NewHold;

use crate::support::{LIMITS, add, at, by, finish, new_pr, store, system, worker};

#[test]
fn a_failure_makes_an_appointment() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let run = worker(&mut store, "r1", &issue.id);
    let end = finish(&run, RunStatus::TimedOut, Some(ErrorClass::TimedOut));
    let done = store.finish_run(&system(100), &end).unwrap();
    assert_eq!(done.run.status, RunStatus::TimedOut);
    let issue = done.issue.unwrap();
    assert_eq!(issue.state.status(), IssueStatus::Todo);
    assert_eq!(
        (issue.counts.consecutive_failures, issue.counts.total_runs),
        (1, 1)
    );
    let retry = &store.retries(None).unwrap()[0];
    assert_eq!(retry.kind, RetryKind::Backoff);
    let delay = retry.due_at.as_second() - at(100).as_second();
    assert!((9..=11).contains(&delay), "{delay}");
}

#[test]
fn ending_a_run_twice_does_no_harm() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let run = worker(&mut store, "r1", &issue.id);
    let end = finish(&run, RunStatus::Failed, Some(ErrorClass::AgentFailed));
    let first = store.finish_run(&system(100), &end).unwrap();
    let second = store.finish_run(&system(200), &end).unwrap();
    assert_eq!(first.run, second.run);
    assert_eq!(second.issue.unwrap().counts.total_runs, 1);
}

#[test]
fn the_breaker_opens_with_one_notice() {
    let mut store = store();
    let issue = add(&mut store, "a");
    for i in 0..3 {
        let run = worker(&mut store, &format!("r{i}"), &issue.id);
        let mut end = finish(&run, RunStatus::Failed, Some(ErrorClass::AgentFailed));
        end.limits.max_retries = 3;
        store.finish_run(&system(100 * (i + 1)), &end).unwrap();
    }
    let issue = store.issue(&issue.id).unwrap();
    assert_eq!(issue.state.status(), IssueStatus::Backlog);
    let comments = store.comments(&issue.id, 10).unwrap();
    assert_eq!(comments.len(), 1);
    assert_eq!(comments[0].author, CommentAuthor::System);
    assert!(
        comments[0].content.contains("it went wrong"),
        "{}",
        comments[0].content
    );
    assert!(
        comments[0].content.ends_with("tail"),
        "{}",
        comments[0].content
    );
}

#[test]
fn a_hold_uses_no_attempt_and_grows_with_failed_probes() {
    let mut store = store();
    let issue = add(&mut store, "a");
    for (i, expected) in [60, 120, 240].into_iter().enumerate() {
        let run = worker(&mut store, &format!("r{i}"), &issue.id);
        let mut end = finish(&run, RunStatus::Failed, Some(ErrorClass::Overloaded));
        end.hold = Some(NewHold {
            scope: HoldScope::Provider("scripted".into()),
            class: ErrorClass::Overloaded,
            reason: "529".into(),
            until: None,
            first_ms: 60_000,
        });
        store.finish_run(&system(0), &end).unwrap();
        let hold = &store.holds().unwrap()[0];
        assert_eq!(hold.until.as_second() - at(0).as_second(), expected);
        assert_eq!(hold.canary, None);
    }
    let issue = store.issue(&issue.id).unwrap();
    assert_eq!(
        (issue.state.status(), issue.counts.total_runs),
        (IssueStatus::Todo, 0)
    );
}

fn gates(commit: &str, passed: bool) -> VerifiedGates {
    VerifiedGates {
        commit: commit.into(),
        results: vec![VerifiedGate {
            name: "test".into(),
            required: true,
            passed,
            exit_code: Some(i32::from(!passed)),
            duration_ms: 5,
            output: "1 failed".into(),
        }],
    }
}

#[test]
fn a_red_required_gate_sends_the_issue_back_with_its_output() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let run = worker(&mut store, "r1", &issue.id);
    let pr = store
        .create_pr(&by(&run, 3), &new_pr(&issue.id, "c1"))
        .unwrap();
    let mut end = finish(&run, RunStatus::Succeeded, None);
    end.gates = Some(gates("c1", false));
    let done = store.finish_run(&system(4), &end).unwrap();
    assert_eq!(done.run.status, RunStatus::Succeeded);
    assert_eq!(done.issue.unwrap().state.status(), IssueStatus::Todo);
    let pr = store.pr(pr.id).unwrap();
    assert_eq!(pr.state, PrState::Rejected);
    assert_eq!(pr.verdict.unwrap().author, CommentAuthor::System);
    let findings = store.findings(&issue.id, 5).unwrap();
    assert_eq!(findings[0].kind, FindingKind::Gate);
    assert!(findings[0].text.contains("1 failed"));
}

#[test]
fn gates_of_another_commit_do_not_count() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let run = worker(&mut store, "r1", &issue.id);
    let pr = store
        .create_pr(&by(&run, 3), &new_pr(&issue.id, "c2"))
        .unwrap();
    let mut end = finish(&run, RunStatus::Succeeded, None);
    end.gates = Some(gates("c1", true));
    end.limits = LIMITS;
    store.finish_run(&system(4), &end).unwrap();
    assert_eq!(store.pr(pr.id).unwrap().verified_gates, None);
}
