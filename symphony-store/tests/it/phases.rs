//! Phase claims: submitted, settled, judged, and the step to the next phase.

use symphony_core::agent::AgentType;
use symphony_core::contract::{Delivery, DeliveryState};
use symphony_core::failure::ErrorClass;
use symphony_core::id::{IssueId, PhaseName, PrId};
use symphony_core::issue::{AttemptCounts, FindingKind, IssueEvent, IssueStatus, phase_of};
use symphony_core::pull_request::{PrState, VerdictKind};
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_store::{IssueEdit, NewVerdict, Settlement, Store, SupersededReview};

use crate::queries::snapshot_request;
use crate::support::{
    at, by, finish, human, new_claim, new_issue, new_pr, store, system, try_claim, worker,
};

/// An issue in a phase, and a live run on it.
fn in_phase(phase: &str) -> (Store, IssueId, Run) {
    let mut store = store();
    let mut new = new_issue("a");
    new.labels = vec!["big".into(), format!("phase:{phase}")];
    let issue = store.add_issue(&human(1), &new).unwrap().id;
    let run = worker(&mut store, "r1", &issue);
    (store, issue, run)
}

fn claimed(store: &mut Store, run: &Run, settlement: Settlement) -> Delivery {
    let issue = run.target.issue().unwrap();
    let new = new_claim(store, issue);
    let claim = store.submit_delivery(&by(run, 3), &new).unwrap();
    assert_eq!((claim.state, claim.open), (DeliveryState::Submitted, true));
    store
        .settle_delivery(&by(run, 3), claim.id, settlement, "c1", &[])
        .unwrap()
}

fn end(store: &mut Store, run: &Run) -> Run {
    let finish = finish(run, RunStatus::Succeeded, None);
    store.finish_run(&system(4), &finish).unwrap().run
}

fn judge(store: &mut Store, claim: &Delivery) -> Run {
    let target = RunTarget::Delivery(claim.issue.clone(), claim.id);
    try_claim(store, "judge", target, AgentType::Judge).unwrap()
}

fn standing(store: &Store, issue: &IssueId) -> (IssueStatus, Vec<String>) {
    let issue = store.issue(issue).unwrap();
    (issue.state.status(), issue.labels)
}

#[test]
fn an_accepted_claim_takes_its_issue_to_the_next_phase_when_the_run_ends() {
    let (mut store, issue, run) = in_phase("research");
    let claim = claimed(&mut store, &run, Settlement::Accepted);
    assert!(claim.awaits_step());
    // not while the run lives
    let labels = |phase: &str| vec!["big".to_owned(), format!("phase:{phase}")];
    assert_eq!(
        standing(&store, &issue),
        (IssueStatus::InProgress, labels("research"))
    );
    let error = store.advance_phase(&system(4), &issue).unwrap_err();
    assert!(error.to_string().contains("a run is live"), "{error}");
    assert_eq!(end(&mut store, &run).status, RunStatus::Succeeded);
    assert_eq!(
        standing(&store, &issue),
        (IssueStatus::Todo, labels("architecture"))
    );
    assert_eq!(
        store.issue(&issue).unwrap().counts,
        AttemptCounts::default()
    );
    let claim = store.delivery(claim.id).unwrap();
    assert_eq!((claim.state, claim.open), (DeliveryState::Accepted, false));
    assert_eq!(store.retries(None).unwrap(), []);
    // once
    assert_eq!(store.advance_phase(&system(5), &issue).unwrap(), None);
}

#[test]
fn an_accepted_claim_outlives_the_failure_of_its_run() {
    let (mut store, issue, run) = in_phase("research");
    claimed(&mut store, &run, Settlement::Accepted);
    let failed = finish(&run, RunStatus::Failed, Some(ErrorClass::AgentFailed));
    store.finish_run(&system(4), &failed).unwrap();
    let issue = store.issue(&issue).unwrap();
    assert_eq!(issue.phase(), PhaseName::parse("architecture").ok());
    assert_eq!(issue.counts, AttemptCounts::default());
}

#[test]
fn the_last_phase_leaves_its_issue_in_review_for_a_human() {
    let (mut store, issue, run) = in_phase("research");
    let mut new = new_claim(&store, &issue);
    new.next_phase = None;
    let claim = store.submit_delivery(&by(&run, 3), &new).unwrap();
    store
        .settle_delivery(&by(&run, 3), claim.id, Settlement::Accepted, "c1", &[])
        .unwrap();
    end(&mut store, &run);
    let labels = vec!["big".to_owned(), "phase:research".to_owned()];
    assert_eq!(standing(&store, &issue), (IssueStatus::Review, labels));
    assert!(!store.has_open_review(&issue).unwrap());
}

#[test]
fn a_judge_approves_and_the_step_comes_with_the_end_of_its_run() {
    let (mut store, issue, run) = in_phase("research");
    let claim = claimed(&mut store, &run, Settlement::AwaitingJudge);
    assert_eq!(standing(&store, &issue).0, IssueStatus::Review);
    end(&mut store, &run);
    let judge = judge(&mut store, &claim);
    let approved = store
        .record_phase_review(
            &by(&judge, 5),
            claim.id,
            &NewVerdict::plain(VerdictKind::Approved, "c1", "sound"),
        )
        .unwrap();
    assert!(approved.awaits_step());
    assert_eq!(standing(&store, &issue).0, IssueStatus::Review);
    assert_eq!(end(&mut store, &judge).status, RunStatus::Succeeded);
    assert_eq!(standing(&store, &issue).0, IssueStatus::Todo);
    assert_eq!(
        store.issue(&issue).unwrap().phase(),
        PhaseName::parse("architecture").ok()
    );
    let findings = store.findings(&issue, 9).unwrap();
    let told: Vec<_> = findings.iter().map(|f| (f.kind, f.text.as_str())).collect();
    assert_eq!(
        told,
        [(
            FindingKind::PhaseVerdict,
            "Approved the phase research (delivery 1) on commit c1: sound"
        )]
    );
}

#[test]
fn a_rejection_needs_feedback_and_sends_the_issue_back() {
    let (mut store, issue, run) = in_phase("research");
    let claim = claimed(&mut store, &run, Settlement::AwaitingJudge);
    end(&mut store, &run);
    let judge = judge(&mut store, &claim);
    let mut verdict = |text| {
        let kind = VerdictKind::Rejected;
        store.record_phase_review(
            &by(&judge, 5),
            claim.id,
            &NewVerdict::plain(kind, "c1", text),
        )
    };
    let error = verdict(" ").unwrap_err();
    assert_eq!(error.to_string(), "feedback must not be empty");
    let rejected = verdict("no risks named").unwrap();
    assert_eq!(rejected.state, DeliveryState::Rejected);
    assert_eq!(rejected.reasons, ["no risks named"]);
    assert_eq!(standing(&store, &issue).0, IssueStatus::Todo);
    let comments = store.comments(&issue, 9).unwrap();
    assert_eq!(
        comments[0].content,
        "Rejected the phase research (review point 1): no risks named"
    );
    end(&mut store, &judge);
    assert_eq!(standing(&store, &issue).0, IssueStatus::Todo);
}

#[test]
fn a_human_decides_at_once_when_no_run_is_live() {
    let (mut store, issue, run) = in_phase("research");
    let claim = claimed(&mut store, &run, Settlement::AwaitingJudge);
    end(&mut store, &run);
    let claim = store
        .record_phase_review(
            &human(5),
            claim.id,
            &NewVerdict::plain(VerdictKind::Approved, "c1", ""),
        )
        .unwrap();
    assert!(!claim.open);
    assert_eq!(standing(&store, &issue).0, IssueStatus::Todo);
}

#[test]
fn only_a_judge_of_this_delivery_and_this_commit_counts() {
    let (mut store, issue, run) = in_phase("research");
    let claim = claimed(&mut store, &run, Settlement::AwaitingJudge);
    let approve = VerdictKind::Approved;
    let error = store
        .record_phase_review(
            &by(&run, 4),
            claim.id,
            &NewVerdict::plain(approve, "c1", ""),
        )
        .unwrap_err();
    assert!(error.to_string().contains("only a judge's run"), "{error}");
    end(&mut store, &run);
    let error = store
        .record_phase_review(&human(5), claim.id, &NewVerdict::plain(approve, "c0", ""))
        .unwrap_err();
    assert!(error.to_string().contains("about commit c0"), "{error}");
    let judge = judge(&mut store, &claim);
    // a commit that came later is judged instead
    store
        .move_delivery_head(&system(6), claim.id, "c2")
        .unwrap();
    let error = store
        .record_phase_review(
            &by(&judge, 7),
            claim.id,
            &NewVerdict::plain(approve, "c1", ""),
        )
        .unwrap_err();
    assert!(
        error.to_string().contains("the head of delivery 1 is c2"),
        "{error}"
    );
    assert_eq!(store.delivery(claim.id).unwrap().verdict, None);
    assert_eq!(standing(&store, &issue).0, IssueStatus::Review);
}

#[test]
fn a_claim_of_another_phase_is_superseded() {
    let (mut store, issue, run) = in_phase("research");
    let mut new = new_claim(&store, &issue);
    new.phase = PhaseName::parse("grooming").unwrap();
    for refused in [
        store.submit_delivery(&by(&run, 3), &new),
        store.refuse_delivery(&by(&run, 3), &new, &[]),
    ] {
        assert_eq!(
            refused.unwrap_err().to_string(),
            "the delivery of `grooming` is superseded: DEM-1 is in the phase `research` now"
        );
    }
    // a label that a human changes under an open delivery ends its review
    let claim = claimed(&mut store, &run, Settlement::AwaitingJudge);
    end(&mut store, &run);
    let edit = IssueEdit {
        labels: Some(vec!["phase:grooming".into()]),
        ..IssueEdit::default()
    };
    store.edit_issue(&human(5), &issue, &edit).unwrap();
    let claim = store.delivery(claim.id).unwrap();
    assert_eq!(
        (claim.state, claim.reasons),
        (
            DeliveryState::Rejected,
            vec!["superseded: the issue is in the phase `grooming` now".to_owned()]
        )
    );
    assert_eq!(standing(&store, &issue).0, IssueStatus::Todo);
}

/// Gives an issue these labels.
fn relabel(store: &mut Store, issue: &IssueId, labels: &[&str]) {
    let edit = IssueEdit {
        labels: Some(labels.iter().map(|&label| label.to_owned()).collect()),
        ..IssueEdit::default()
    };
    store.edit_issue(&human(6), issue, &edit).unwrap();
}

/// An issue of the phase `ready`, or of none, whose worker has opened a pull request; the run lives.
fn with_pr(labels: &[&str]) -> (Store, IssueId, Run, PrId) {
    let mut store = store();
    let mut new = new_issue("a");
    new.labels = labels.iter().map(|&label| label.to_owned()).collect();
    let issue = store.add_issue(&human(1), &new).unwrap().id;
    let run = worker(&mut store, "r1", &issue);
    let pr = store
        .create_pr(&by(&run, 3), &new_pr(&issue, "c1"))
        .unwrap();
    (store, issue, run, pr.id)
}

#[test]
fn a_pull_request_ends_with_the_phase_that_made_it() {
    let table: [(&[&str], &[&str], PrState, IssueStatus); 6] = [
        (&[], &["phase:research"], PrState::Closed, IssueStatus::Todo),
        (
            &["phase:ready"],
            &["phase:own"],
            PrState::Closed,
            IssueStatus::Todo,
        ),
        (&[], &["phase:ready"], PrState::Open, IssueStatus::Review),
        (&["phase:ready"], &[], PrState::Open, IssueStatus::Review),
        (
            &["phase:ready"],
            &["phase:ready", "b"],
            PrState::Open,
            IssueStatus::Review,
        ),
        (&["a"], &["b"], PrState::Open, IssueStatus::Review),
    ];
    for (before, after, state, status) in table {
        for approved in [false, true] {
            let (mut store, issue, run, pr) = with_pr(before);
            end(&mut store, &run);
            if approved {
                let kind = VerdictKind::Approved;
                store
                    .record_review(&human(5), pr, &NewVerdict::plain(kind, "c1", "good"))
                    .unwrap();
            }
            let phase = phase_of(&after.iter().map(|&l| l.to_owned()).collect::<Vec<_>>());
            let told = store.superseded_by(&issue, phase.as_ref()).unwrap();
            let closed = state == PrState::Closed;
            let expected = closed.then(|| Box::new(store.pr(pr).unwrap()));
            assert_eq!(told, expected.map(SupersededReview::PullRequest));
            relabel(&mut store, &issue, after);
            let state = if approved && !closed {
                PrState::Approved
            } else {
                state
            };
            assert_eq!(
                (store.pr(pr).unwrap().state, standing(&store, &issue).0),
                (state, status),
                "{before:?} {after:?} {approved}"
            );
            let comments = store.comments(&issue, 5).unwrap();
            let comments: Vec<&str> = comments.iter().map(|c| c.content.as_str()).collect();
            let told = format!("Pull request {pr} is closed: the issue is in the phase `");
            assert_eq!(comments.iter().any(|c| c.starts_with(&told)), closed);
        }
    }
}

#[test]
fn a_phase_that_a_person_asks_for_begins_with_all_its_attempts() {
    let (mut store, issue, run) = in_phase("research");
    let failed = finish(&run, RunStatus::Failed, Some(ErrorClass::AgentFailed));
    store.finish_run(&system(4), &failed).unwrap();
    let counts = |store: &Store| store.issue(&issue).unwrap().counts.total_runs;
    relabel(&mut store, &issue, &["phase:research", "more"]);
    assert_eq!(counts(&store), 1, "it is the same phase");
    relabel(&mut store, &issue, &["phase:architecture"]);
    assert_eq!(counts(&store), 0);
    assert_eq!(store.audit(&crate::audit::request()).unwrap(), Vec::new());
    // without a label it is as in `ready`
    relabel(&mut store, &issue, &["phase:ready"]);
    let run = worker(&mut store, "r2", &issue);
    let failed = finish(&run, RunStatus::Failed, Some(ErrorClass::AgentFailed));
    store.finish_run(&system(8), &failed).unwrap();
    relabel(&mut store, &issue, &[]);
    assert_eq!(counts(&store), 1);
    // what opened the breaker of a shelved issue stays told
    store
        .move_issue(&human(9), &issue, &IssueEvent::Shelved)
        .unwrap();
    relabel(&mut store, &issue, &["phase:research"]);
    assert_eq!(counts(&store), 1);
}

#[test]
fn a_pull_request_of_a_phase_that_was_left_is_no_more() {
    // its worker still lives, and cannot open another one
    let (mut store, issue, run, pr) = with_pr(&["phase:ready"]);
    relabel(&mut store, &issue, &["phase:research"]);
    let error = store
        .create_pr(&by(&run, 7), &new_pr(&issue, "c2"))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the pull request is superseded: DEM-1 is in the phase `research` now. What is committed stays on the branch; end your turn"
    );
    end(&mut store, &run);
    assert_eq!(store.pr(pr).unwrap().state, PrState::Closed);
    assert_eq!(standing(&store, &issue).0, IssueStatus::Todo);
    // a shelved issue's is closed too, and the issue stays where it is
    let (mut store, issue, run, pr) = with_pr(&[]);
    end(&mut store, &run);
    store
        .move_issue(&human(5), &issue, &IssueEvent::Shelved)
        .unwrap();
    relabel(&mut store, &issue, &["phase:research"]);
    assert_eq!(store.pr(pr).unwrap().state, PrState::Closed);
    assert_eq!(standing(&store, &issue).0, IssueStatus::Backlog);
    // nobody judges or merges it any more
    let judged = store.record_review(
        &human(8),
        pr,
        &NewVerdict::plain(VerdictKind::Approved, "c1", ""),
    );
    assert!(judged.unwrap_err().to_string().contains("is closed"));
    let merged = store.record_merge(&human(8), pr, "m").unwrap_err();
    assert!(merged.to_string().contains("cannot be merged"), "{merged}");
}

#[test]
fn what_a_run_left_unsettled_does_not_count() {
    for (status, class, reason) in [
        (
            RunStatus::Crashed,
            ErrorClass::Crashed,
            "its run ended before the delivery was settled",
        ),
        (
            RunStatus::Tampered,
            ErrorClass::Tampered,
            "its run changed configuration that runs programs",
        ),
    ] {
        let (mut store, issue, run) = in_phase("research");
        let new = new_claim(&store, &issue);
        let claim = store.submit_delivery(&by(&run, 3), &new).unwrap();
        let finish = finish(&run, status, Some(class));
        store.finish_run(&system(4), &finish).unwrap();
        assert_eq!(store.delivery(claim.id).unwrap().reasons, [reason]);
        assert_eq!(
            store.issue(&issue).unwrap().phase(),
            PhaseName::parse("research").ok()
        );
    }
}

#[test]
fn a_delivery_and_a_pull_request_end_together_when_the_phase_changes() {
    let (mut store, issue, run) = in_phase("ready");
    // a delivery that is not settled keeps no agent from opening a pull request
    let delivery = store
        .submit_delivery(&by(&run, 3), &new_claim(&store, &issue))
        .unwrap();
    let pr = store
        .create_pr(&by(&run, 3), &new_pr(&issue, "c1"))
        .unwrap();
    relabel(&mut store, &issue, &["phase:research"]);
    assert_eq!(store.open_delivery(&issue).unwrap(), None);
    assert_eq!(store.open_pr(&issue).unwrap(), None);
    let ended = store.delivery(delivery.id).unwrap();
    assert_eq!(
        ended.reasons,
        ["superseded: the issue is in the phase `research` now"]
    );
    assert_eq!(store.pr(pr.id).unwrap().state, PrState::Closed);
    assert_eq!(standing(&store, &issue).0, IssueStatus::Todo);
}

#[test]
fn one_claim_is_open_and_a_later_run_takes_its_place() {
    let (mut store, issue, run) = in_phase("research");
    let first = claimed(&mut store, &run, Settlement::AwaitingJudge);
    let new = new_claim(&store, &issue);
    let error = store.submit_delivery(&by(&run, 3), &new).unwrap_err();
    assert!(error.to_string().contains("is `review`"), "{error}");
    end(&mut store, &run);
    for event in [IssueEvent::Shelved, IssueEvent::Queued] {
        store.move_issue(&human(5), &issue, &event).unwrap();
    }
    assert_eq!(store.open_delivery(&issue).unwrap().unwrap().id, first.id);
    let run = worker(&mut store, "r2", &issue);
    let second = claimed(&mut store, &run, Settlement::Accepted);
    let error = store.submit_delivery(&by(&run, 3), &new).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("has already claimed `research` (delivery 2, accepted)"),
        "{error}"
    );
    let states: Vec<_> = store
        .deliveries(&issue, None, 9)
        .unwrap()
        .into_iter()
        .map(|claim| (claim.id, claim.state))
        .collect();
    assert_eq!(
        states,
        [
            (first.id, DeliveryState::Rejected),
            (second.id, DeliveryState::Accepted)
        ]
    );
}

#[test]
fn a_tick_sees_what_waits_for_a_judge_and_what_is_accepted() {
    let (mut store, issue, run) = in_phase("research");
    let claim = claimed(&mut store, &run, Settlement::AwaitingJudge);
    end(&mut store, &run);
    let snapshot = store.load_snapshot(snapshot_request(), at(9)).unwrap();
    assert_eq!(snapshot.reviews.len(), 1);
    assert_eq!(snapshot.reviews[0].last_judged_at, None);
    // one that was cancelled before it began has not judged
    let target = RunTarget::Delivery(claim.issue.clone(), claim.id);
    let cancelled = try_claim(&mut store, "cancelled", target, AgentType::Judge).unwrap();
    let cancel = finish(
        &cancelled,
        RunStatus::Cancelled,
        Some(ErrorClass::Cancelled),
    );
    store.finish_run(&system(4), &cancel).unwrap();
    let snapshot = store.load_snapshot(snapshot_request(), at(9)).unwrap();
    assert_eq!(snapshot.reviews[0].last_judged_at, None);
    let judge = judge(&mut store, &claim);
    store
        .record_phase_review(
            &by(&judge, 5),
            claim.id,
            &NewVerdict::plain(VerdictKind::Approved, "c1", ""),
        )
        .unwrap();
    let snapshot = store.load_snapshot(snapshot_request(), at(9)).unwrap();
    assert_eq!(snapshot.reviews, []);
    assert_eq!(snapshot.accepted.len(), 1);
    assert_eq!(snapshot.accepted[0].issue, issue);
}

#[test]
fn an_issue_that_has_ended_leaves_no_open_claim() {
    for event in [IssueEvent::Finished, IssueEvent::Cancelled] {
        let (mut store, issue, run) = in_phase("research");
        claimed(&mut store, &run, Settlement::AwaitingJudge);
        end(&mut store, &run);
        store.move_issue(&human(5), &issue, &event).unwrap();
        assert_eq!(store.open_delivery(&issue).unwrap(), None, "{event:?}");
    }
}

#[test]
fn an_accepted_phase_is_not_worked_on_again_when_its_issue_comes_to_todo_otherwise() {
    let labels = vec!["big".to_owned(), "phase:architecture".to_owned()];
    // handed back by the agent itself
    let (mut store, issue, run) = in_phase("research");
    claimed(&mut store, &run, Settlement::Accepted);
    store
        .move_issue(&by(&run, 4), &issue, &IssueEvent::HandedBack)
        .unwrap();
    assert_eq!(store.issue(&issue).unwrap().phase(), run.phase);
    end(&mut store, &run);
    assert_eq!(
        standing(&store, &issue),
        (IssueStatus::Todo, labels.clone())
    );
    assert_eq!(
        store.issue(&issue).unwrap().counts,
        AttemptCounts::default()
    );
    // blocked by the agent, and put back by a human
    let (mut store, issue, run) = in_phase("research");
    let claim = claimed(&mut store, &run, Settlement::Accepted);
    let reason = "a question".to_owned();
    store
        .move_issue(&by(&run, 4), &issue, &IssueEvent::AgentBlocked { reason })
        .unwrap();
    end(&mut store, &run);
    assert!(store.delivery(claim.id).unwrap().awaits_step());
    store
        .move_issue(&human(5), &issue, &IssueEvent::Queued)
        .unwrap();
    assert_eq!(standing(&store, &issue), (IssueStatus::Todo, labels));
    assert!(!store.delivery(claim.id).unwrap().open);
    assert_eq!(store.advance_phase(&system(6), &issue).unwrap(), None);
}
