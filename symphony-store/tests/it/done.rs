//! Proposals that nothing is left to do: made, judged, confirmed, sent back; each in one transaction.

use symphony_core::agent::AgentType;
use symphony_core::done::{
    BaseEffect, BaseNow, DoneEvidence, EvidenceKind, MovedProposal, StaleLook, StaleProposal,
};
use symphony_core::gates::ConfiguredGate;
use symphony_core::issue::{Issue, IssueEvent, IssueStatus, Resolution};
use symphony_core::pull_request::{PrState, PullRequest, VerdictKind, VerifiedGate, VerifiedGates};
use symphony_core::review_point::{PointChanges, PointMove, PointState};
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_store::{IssueEnd, NewIssue, NewProposal, NewVerdict, PublishWish, Store};

use crate::support::{
    add, assert_sound, by, finish, human, moved, new_issue, new_pr, project, store, system,
    try_claim, worker,
};

fn proposal(issue: &Issue) -> NewProposal {
    NewProposal {
        issue: issue.id.clone(),
        branch: format!("symphony/{}", issue.id),
        base: "main".into(),
        base_commit: "b1".into(),
        reason: "It is all there.".into(),
        evidence: vec![DoneEvidence {
            kind: EvidenceKind::File,
            reference: "src/a.rs".into(),
            note: String::new(),
            files: vec!["src/a.rs".into()],
            touches_all: false,
        }],
    }
}

fn propose(store: &mut Store, run: &str, issue: &Issue) -> PullRequest {
    let run = worker(store, run, &issue.id);
    let made = store.propose_done(&by(&run, 3), &proposal(issue)).unwrap();
    store
        .finish_run(&system(4), &finish(&run, RunStatus::Succeeded, None))
        .unwrap();
    made
}

fn judge(store: &mut Store, name: &str, found: &PullRequest) -> Run {
    let target = RunTarget::PullRequest(found.of.clone(), found.id);
    try_claim(store, name, target, AgentType::Judge).unwrap()
}

fn gates(store: &mut Store, found: &PullRequest) {
    let passed = VerifiedGate {
        name: "test".into(),
        required: true,
        passed: true,
        exit_code: Some(0),
        duration_ms: 1,
        output: String::new(),
        cached: false,
        definition: Some("as it was".into()),
        failed_tries: Vec::new(),
    };
    let gates = VerifiedGates {
        results: vec![passed],
        ..VerifiedGates::none_on(&found.head_commit)
    };
    store.record_gates(&system(5), found.id, &gates).unwrap();
}

/// A base that is where the proposal left it, with one gate.
fn base() -> BaseNow {
    BaseNow {
        name: "main".into(),
        head: "b1".into(),
        effect: BaseEffect::Stands,
        gates: vec![ConfiguredGate {
            name: "test".into(),
            required: true,
            definition: "as it was".into(),
        }],
    }
}

fn status(store: &Store, issue: &Issue) -> IssueStatus {
    store.issue(&issue.id).unwrap().state.status()
}

#[test]
fn a_proposal_is_judged_on_its_recorded_base_and_confirmed_once() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let found = propose(&mut store, "r1", &issue);
    assert_eq!(status(&store, &issue), IssueStatus::Review);
    assert_eq!(
        (&found.head_commit, &found.base_commit),
        (&"b1".to_owned(), &"b1".to_owned())
    );
    gates(&mut store, &found);
    // Symphony waits for the judge, and an agent confirms nothing
    let error = store
        .confirm_done(&system(5), found.id, &base())
        .unwrap_err();
    assert!(
        error.to_string().contains("no judge has approved it"),
        "{error}"
    );
    let run = judge(&mut store, "j1", &found);
    assert!(store.confirm_done(&by(&run, 5), found.id, &base()).is_err());
    let wrong = store.record_review(
        &by(&run, 5),
        found.id,
        &NewVerdict::plain(VerdictKind::Approved, "b2", ""),
    );
    assert!(wrong.is_err());
    store
        .record_review(
            &by(&run, 5),
            found.id,
            &NewVerdict::plain(VerdictKind::Approved, "b1", "so"),
        )
        .unwrap();
    store
        .finish_run(&system(6), &finish(&run, RunStatus::Succeeded, None))
        .unwrap();
    for _ in 0..2 {
        let confirmed = store.confirm_done(&system(7), found.id, &base()).unwrap();
        assert_eq!(confirmed.state, PrState::Confirmed);
    }
    assert_eq!(status(&store, &issue), IssueStatus::Done);
    assert_sound(&mut store);
}

/// A proposal that a judge has approved and gates verified.
fn judged(store: &mut Store, issue: &Issue) -> PullRequest {
    let found = propose(store, "r1", issue);
    gates(store, &found);
    let run = judge(store, "j1", &found);
    store
        .record_review(
            &by(&run, 5),
            found.id,
            &NewVerdict::plain(VerdictKind::Approved, "b1", "so"),
        )
        .unwrap();
    store
        .finish_run(&system(6), &finish(&run, RunStatus::Succeeded, None))
        .unwrap();
    found
}

fn refusal(store: &mut Store, found: &PullRequest) -> String {
    let refused = store.confirm_done(&system(9), found.id, &base());
    refused.unwrap_err().to_string()
}

#[test]
fn a_person_who_says_something_after_the_judge_read_has_a_judge_look_again() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let found = judged(&mut store, &issue);
    assert!(!store.done_record(found.id).unwrap().changed_since_verdict);
    store
        .add_comment(&system(7), &issue.id, "Symphony says something.")
        .unwrap();
    assert!(!store.done_record(found.id).unwrap().changed_since_verdict);
    store
        .add_comment(&human(8), &issue.id, "b.txt is needed, too.")
        .unwrap();
    let told = refusal(&mut store, &found);
    assert!(told.contains("edited or commented"), "{told}");

    let stale = StaleProposal {
        project: project(),
        issue: issue.id.clone(),
        pr: found.id,
        what: StaleLook::Verdict,
    };
    assert!(store.refresh_proposal(&system(9), &stale).unwrap());
    let open = store.pr(found.id).unwrap();
    assert_eq!((open.state, open.verdict), (PrState::Open, None));
    assert!(open.verified_gates.is_some());
    let run = judge(&mut store, "j2", &found);
    assert!(
        !store.refresh_proposal(&system(10), &stale).unwrap(),
        "a run is live"
    );
    let ended = finish(&run, RunStatus::Cancelled, None);
    store.finish_run(&system(11), &ended).unwrap();
    assert_sound(&mut store);
}

#[test]
fn a_reopened_sub_task_is_in_the_way_of_its_parent() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let found = judged(&mut store, &issue);
    let part = store
        .add_issue(
            &human(7),
            &NewIssue {
                parent: Some(issue.id.clone()),
                ..new_issue("part")
            },
        )
        .unwrap();
    let told = refusal(&mut store, &found);
    assert!(
        told.contains(&format!("sub-task {} has not ended", part.id)),
        "{told}"
    );
    let by_person = store.confirm_done(&human(9), found.id, &base());
    assert!(by_person.is_err());
    assert_sound(&mut store);
}

#[test]
fn gates_that_are_too_old_are_due_again_and_the_verdict_stays() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let found = judged(&mut store, &issue);
    let stale = StaleProposal {
        project: project(),
        issue: issue.id.clone(),
        pr: found.id,
        what: StaleLook::Gates,
    };
    assert!(store.refresh_proposal(&system(8), &stale).unwrap());
    let now = store.pr(found.id).unwrap();
    assert_eq!(now.verified_gates, None);
    assert_eq!(now.state, PrState::Approved);
    assert!(now.verdict.is_some());
    let told = refusal(&mut store, &found);
    assert!(told.contains("its gates have not run"), "{told}");
    assert_sound(&mut store);
    let target = RunTarget::Gates(found.of.clone(), found.id);
    try_claim(&mut store, "g1", target, AgentType::Gates).unwrap();
}

#[test]
fn whoever_declares_the_issue_done_confirms_its_proposal() {
    let mut store = store();
    for (run, event) in [
        ("r1", IssueEvent::Finished),
        (
            "r2",
            IssueEvent::Closed {
                resolution: Resolution::Done,
                reason: "seen".into(),
            },
        ),
    ] {
        let issue = add(&mut store, run);
        let found = propose(&mut store, run, &issue);
        let end = IssueEnd {
            event,
            comment: None,
            dependents: symphony_core::issue::DependentsFate::Keep,
        };
        store.end_issue(&human(7), &issue.id, &end).unwrap();
        assert_eq!(
            store.pr(found.id).unwrap().state,
            PrState::Confirmed,
            "{run}"
        );
    }
    assert_sound(&mut store);
}

#[test]
fn the_third_rejection_in_a_row_opens_the_breaker() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let mut seen = Vec::new();
    for number in 1..=3_u32 {
        // the waits between are over
        let found = propose(&mut store, &format!("r{number}"), &issue);
        gates(&mut store, &found);
        let run = judge(&mut store, &format!("j{number}"), &found);
        let points = store.review_points(&found.of).unwrap();
        assert_eq!(points.len(), number as usize - 1);
        store
            .record_review(
                &by(&run, 5),
                found.id,
                &NewVerdict::plain(VerdictKind::Rejected, "b1", "no"),
            )
            .unwrap();
        store
            .finish_run(&system(6), &finish(&run, RunStatus::Succeeded, None))
            .unwrap();
        // a person answers for the worker, so that it may hand in again
        for point in store.review_points(&found.of).unwrap() {
            let moved = PointMove {
                number: point.number,
                to: PointState::Closed,
                remark: None,
            };
            let changes = PointChanges {
                new: Vec::new(),
                moved: vec![moved],
            };
            if point.is_open() {
                store.change_points(&human(7), &found.of, &changes).unwrap();
            }
        }
        let now = store.issue(&issue.id).unwrap();
        seen.push((now.state.status(), now.counts.consecutive_failures));
    }
    assert_eq!(
        seen,
        [
            (IssueStatus::Todo, 0),
            (IssueStatus::Todo, 1),
            (IssueStatus::Backlog, 0),
        ]
    );
    assert_sound(&mut store);
}

#[test]
fn a_proposal_whose_base_moved_is_closed_and_its_issue_goes_back() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let found = propose(&mut store, "r1", &issue);
    gates(&mut store, &found);
    let moved = MovedProposal {
        project: project(),
        issue: issue.id.clone(),
        pr: found.id,
        why: "`main` has moved".into(),
    };
    let run = judge(&mut store, "j1", &found);
    assert!(
        !store.return_proposal(&system(5), &moved).unwrap(),
        "a run is live"
    );
    store
        .finish_run(&system(6), &finish(&run, RunStatus::Cancelled, None))
        .unwrap();
    assert!(store.return_proposal(&system(7), &moved).unwrap());
    assert!(!store.return_proposal(&system(8), &moved).unwrap());
    assert_eq!(status(&store, &issue), IssueStatus::Todo);
    assert_eq!(store.pr(found.id).unwrap().state, PrState::Closed);
    assert_sound(&mut store);
}

#[test]
fn a_proposal_is_neither_merged_nor_published_nor_looked_for_outside() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let found = propose(&mut store, "r1", &issue);
    gates(&mut store, &found);
    assert!(store.record_merge(&human(6), found.id, "m1").is_err());
    assert!(
        store
            .record_merge_intent(&human(6), &found, moved("b1", "m1"))
            .is_err()
    );
    assert!(
        store
            .begin_publication(&human(6), found.id, PublishWish::Opened)
            .is_err()
    );
    assert!(store.unpublished_prs(&project()).unwrap().is_empty());
    assert!(!store.has_prs_to_look_for(&project(), "main", "b1").unwrap());
    assert!(store.open_into(&project()).unwrap().is_empty());
    assert_eq!(store.open_proposals(&project()).unwrap().len(), 1);
}

#[test]
fn a_pull_request_and_a_proposal_do_not_stand_side_by_side() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let run = worker(&mut store, "r1", &issue.id);
    let first = store.propose_done(&by(&run, 3), &proposal(&issue)).unwrap();
    // the worker says more: the same record
    let again = store.propose_done(&by(&run, 3), &proposal(&issue)).unwrap();
    assert_eq!(first.id, again.id);
    let pr = store
        .create_pr(&by(&run, 4), &new_pr(&issue.id, "c1"))
        .unwrap();
    assert!(pr.proposal.is_none());
    assert_eq!(store.pr(first.id).unwrap().state, PrState::Closed);
    let error = store
        .propose_done(&by(&run, 5), &proposal(&issue))
        .unwrap_err();
    assert!(error.to_string().contains("is open"), "{error}");
}
