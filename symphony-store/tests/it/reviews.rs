//! Verdicts: whose count, and on which commit.

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::inbox::WaitsFor;
use symphony_core::issue::IssueStatus;
use symphony_core::news::GatesProgress;
use symphony_core::pull_request::{PrState, VerdictKind};
use symphony_core::run::{ProtectionLevel, Run, RunStatus, RunTarget};
use symphony_core::tick::HoldScope;
use symphony_store::{IssueEdit, NewHold, NewVerdict, PublishOutcome, PublishWish, Store};

use crate::support::{
    add, at, by, finish, human, new_pr, project, store, system, try_claim, worker,
};

fn with_pr() -> (
    Store,
    symphony_core::issue::Issue,
    symphony_core::pull_request::PullRequest,
) {
    let mut store = store();
    let issue = add(&mut store, "a");
    let run = worker(&mut store, "r1", &issue.id);
    let pr = store
        .create_pr(&by(&run, 3), &new_pr(&issue.id, "c1"))
        .unwrap();
    store
        .finish_run(&system(4), &finish(&run, RunStatus::Succeeded, None))
        .unwrap();
    (store, issue, pr)
}

fn judge(store: &mut Store, pr: &symphony_core::pull_request::PullRequest) -> Run {
    let target = RunTarget::PullRequest(pr.of.clone(), pr.id);
    try_claim(store, "judge", target, AgentType::Judge).unwrap()
}

#[test]
fn gates_that_wait_for_a_red_base_are_looked_at_as_held() {
    let (mut store, issue, _) = with_pr();
    let gates = |store: &Store| store.look_at_prs(None).unwrap().prs.remove(0).gates;
    assert_eq!(gates(&store), GatesProgress::Waiting { problem: None });
    let red = NewHold {
        scope: HoldScope::Gates(project()),
        class: ErrorClass::BaseGatesFailed,
        reason: "`test` fails".to_owned(),
        until: None,
        first_ms: 60_000,
        tried: None,
    };
    store
        .record_base_trial(&human(5), &project(), Some(&red))
        .unwrap();
    let why = format!(
        "project {} is on hold until its gates pass on the base: `test` fails",
        project()
    );
    assert_eq!(gates(&store), GatesProgress::Held { why });
    // what repairs the gate does not wait for it
    let edit = IssueEdit {
        labels: Some(vec!["fixes-gate:test".to_owned()]),
        ..IssueEdit::default()
    };
    store.edit_issue(&human(6), &issue.id, &edit).unwrap();
    assert_eq!(gates(&store), GatesProgress::Waiting { problem: None });
}

#[test]
fn a_judge_approves_and_a_human_merges() {
    let (mut store, issue, pr) = with_pr();
    let run = judge(&mut store, &pr);
    let pr = store
        .record_review(
            &by(&run, 5),
            pr.id,
            &NewVerdict::plain(VerdictKind::Approved, "c1", "good"),
        )
        .unwrap();
    assert_eq!(pr.state, PrState::Approved);
    assert_eq!(
        pr.verdict_on_head().unwrap().protection,
        ProtectionLevel::None
    );
    let done = store
        .finish_run(&system(6), &finish(&run, RunStatus::Succeeded, None))
        .unwrap();
    assert_eq!(done.run.status, RunStatus::Succeeded);
    let pr = store.record_merge(&human(7), pr.id, "m1").unwrap();
    assert_eq!(
        (pr.state, pr.merged_commit.as_deref()),
        (PrState::Merged, Some("m1"))
    );
    assert_eq!(
        store.issue(&issue.id).unwrap().state.status(),
        IssueStatus::Done
    );
}

#[test]
fn a_rejection_needs_feedback_and_sends_the_issue_back() {
    let (mut store, issue, pr) = with_pr();
    let run = judge(&mut store, &pr);
    let error = store
        .record_review(
            &by(&run, 5),
            pr.id,
            &NewVerdict::plain(VerdictKind::Rejected, "c1", " "),
        )
        .unwrap_err();
    assert_eq!(error.to_string(), "feedback must not be empty");
    store
        .record_review(
            &by(&run, 5),
            pr.id,
            &NewVerdict::plain(VerdictKind::Rejected, "c1", "no test"),
        )
        .unwrap();
    let issue = store.issue(&issue.id).unwrap();
    assert_eq!(issue.state.status(), IssueStatus::Todo);
    assert!(
        store.comments(&issue.id, 5).unwrap()[0]
            .content
            .ends_with("no test")
    );
}

#[test]
fn a_worker_can_not_judge_and_a_stale_verdict_does_not_count() {
    let (mut store, issue, pr) = with_pr();
    let error = store
        .record_review(
            &human(5),
            pr.id,
            &NewVerdict::plain(VerdictKind::Approved, "c0", ""),
        )
        .unwrap_err();
    assert!(error.to_string().contains("about commit c0"), "{error}");
    store.close_pr(&human(6), pr.id).unwrap();
    let run = worker(&mut store, "r2", &issue.id);
    let pr = store
        .create_pr(&by(&run, 7), &new_pr(&issue.id, "c2"))
        .unwrap();
    let error = store
        .record_review(
            &by(&run, 8),
            pr.id,
            &NewVerdict::plain(VerdictKind::Approved, "c2", ""),
        )
        .unwrap_err();
    assert!(error.to_string().contains("only a judge's run"), "{error}");
    assert_eq!(store.pr(pr.id).unwrap().verdict, None);
}

#[test]
fn a_new_head_voids_gates_and_verdict() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let run = worker(&mut store, "r1", &issue.id);
    let first = store
        .create_pr(&by(&run, 3), &new_pr(&issue.id, "c1"))
        .unwrap();
    store
        .record_review(
            &human(4),
            first.id,
            &NewVerdict::plain(VerdictKind::Approved, "c1", "fine"),
        )
        .unwrap();
    let second = store
        .create_pr(&by(&run, 5), &new_pr(&issue.id, "c2"))
        .unwrap();
    assert_eq!(second.id, first.id);
    assert_eq!((second.state, second.verdict), (PrState::Open, None));
}

#[test]
fn an_issue_that_a_human_ends_leaves_no_open_pull_request() {
    use symphony_core::issue::IssueEvent;
    for event in [IssueEvent::Finished, IssueEvent::Cancelled] {
        let (mut store, issue, pr) = with_pr();
        store.move_issue(&human(5), &issue.id, &event).unwrap();
        assert_eq!(store.pr(pr.id).unwrap().state, PrState::Closed, "{event:?}");
        assert_eq!(store.open_pr(&issue.id).unwrap(), None);
    }
}

/// What waits of publications at a second: since when, and the problem.
fn unpublished(store: &Store, second: i64) -> Vec<(Timestamp, String)> {
    let waiting = store.waiting_issues(&project(), 15, at(second)).unwrap();
    let found = waiting.into_iter().filter_map(|waiting| match waiting.why {
        WaitsFor::Publication { problem, .. } => Some((waiting.since, problem)),
        _ => None,
    });
    found.collect()
}

#[test]
fn a_publication_that_failed_waits_for_a_human_and_so_does_one_that_nobody_saw_end() {
    let (mut store, _, pr) = with_pr();
    let wait = |since, problem: &str| vec![(at(since), problem.to_owned())];
    let ends = [
        (
            Some(7),
            "pushing\nno network\n[exit code 7]\n",
            "exit code 7: no network",
        ),
        (Some(1), "[exit code 1]\n", "exit code 1"),
        (None, "pushing\n", "pushing"),
        (None, " \n", "it was ended"),
    ];
    for (second, (exit_code, output, expected)) in (100..).step_by(10).zip(ends) {
        let begun = store.begin_publication(&human(second), pr.id, PublishWish::Human);
        // at work, it waits for nobody
        assert_eq!(unpublished(&store, second + 1), []);
        let outcome = PublishOutcome {
            published: false,
            exit_code,
            url: None,
            output: output.to_owned(),
        };
        let id = begun.unwrap().unwrap();
        store
            .end_publication(&system(second + 2), pr.id, id, &outcome)
            .unwrap();
        assert_eq!(unpublished(&store, second + 3), wait(second + 2, expected));
    }
    let begun = store.begin_publication(&human(200), pr.id, PublishWish::Human);
    assert!(matches!(begun, Ok(Some(_))), "{begun:?}");
    assert_eq!(unpublished(&store, 200 + 15 * 60 - 1), []);
    let unseen = wait(200, "its result was not recorded");
    assert_eq!(unpublished(&store, 200 + 15 * 60), unseen);
    // once it is merged, nobody publishes it any more
    store.record_merge(&human(300), pr.id, "m1").unwrap();
    assert_eq!(unpublished(&store, 200 + 15 * 60), []);
}
