//! The pull request of a plan: opened once, gated and judged like an issue's, and what its end does to the plan.

use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::gates::{BaseComparison, FailurePrint};
use symphony_core::id::{PlanId, PrId};
use symphony_core::inbox::PlanWaitsFor;
use symphony_core::plan::PlanOptions;
use symphony_core::plan::state::{
    PhaseOutcome, PhaseStatus, PhaseWork, PlanStatus, abort_all, retry_phase,
};
use symphony_core::pull_request::{
    PrState, PullRequest, PullRequestOf, VerdictKind, VerifiedGate, VerifiedGates,
};
use symphony_core::review_point::{
    AnswerKind, NewPoint, PointChanges, PointMove, PointNumber, PointState, Severity,
};
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_core::tick::{GatesState, ReviewCandidate, ReviewSubject};
use symphony_store::{
    ClaimRefusal, GatesAtEnd, GatesFound, NewAnswer, NewPullRequest, NewVerdict, PlanRefusal,
    PrFilter, PublishWish, RecordedOutcome, Store, StoreError, fold_plan,
};

use crate::plans::{claim, create, document, end, id, plan_id, report};
use crate::queries::snapshot_request;
use crate::support::{at, by, finish, human, new_pr, project, store, system, try_claim};

fn of_plan() -> PullRequestOf {
    PullRequestOf::Plan(plan_id())
}

fn request_at(head: &str) -> NewPullRequest {
    let any = symphony_core::id::IssueId::parse("SYM-1").unwrap();
    NewPullRequest {
        of: of_plan(),
        ..new_pr(&any, head)
    }
}

fn complete_phase(store: &mut Store, run: &str, phase: &str) {
    let run = claim(store, run, phase).unwrap();
    report(store, &run, PhaseOutcome::Complete);
    let end = end(&run, RunStatus::Succeeded, None, PhaseWork::InPlace);
    store.finish_run(&system(3), &end).unwrap();
}

fn complete_plan() -> Store {
    let mut store = store();
    create(
        &mut store,
        document(&[("a", &[]), ("b", &["a"])]),
        PlanOptions::default(),
    );
    complete_phase(&mut store, "run-a", "a");
    complete_phase(&mut store, "run-b", "b");
    store
}

fn in_review() -> (Store, PullRequest) {
    let mut store = complete_plan();
    let pr = store.create_pr(&system(4), &request_at("c1")).unwrap();
    (store, pr)
}

fn status(store: &mut Store) -> PlanStatus {
    let record = store.plan(&plan_id()).unwrap();
    let log = store.events_of_plan(&plan_id()).unwrap();
    assert_eq!(
        fold_plan(&log).unwrap().status,
        record.state.status,
        "the log says so, too"
    );
    record.state.status
}

fn start(store: &mut Store, run: &str, pr: PrId, agent: AgentType) -> Result<Run, ClaimRefusal> {
    let target = match agent {
        AgentType::Gates => RunTarget::Gates(of_plan(), pr),
        _ => RunTarget::PullRequest(of_plan(), pr),
    };
    try_claim(store, run, target, agent)
}

fn gates(passed: bool) -> VerifiedGates {
    VerifiedGates {
        merged_with: None,
        commit: "c1".into(),
        results: vec![VerifiedGate {
            name: "test".into(),
            required: true,
            passed,
            exit_code: Some(i32::from(!passed)),
            duration_ms: 1,
            output: "out".into(),
            cached: false,
            definition: None,
            failed_tries: Vec::new(),
        }],
    }
}

fn end_gates(store: &mut Store, run: &Run, passed: bool, base: BaseComparison) {
    let mut end = finish(run, RunStatus::Succeeded, None);
    end.gates = GatesAtEnd::Found(GatesFound::Ran {
        gates: gates(passed),
        tree: "t".into(),
        print: (!passed).then(|| FailurePrint::stored("p")),
        base,
    });
    store.finish_run(&system(6), &end).unwrap();
}

fn verdict(store: &mut Store, kind: VerdictKind, comment: &str) -> PullRequest {
    let pr = store.open_pr_of(&of_plan()).unwrap().unwrap();
    store
        .record_review(&human(7), pr.id, &NewVerdict::plain(kind, "c1", comment))
        .unwrap()
}

fn order(store: &mut Store, phase: &str) {
    store
        .change_plan(&human(8), &plan_id(), |record, _| {
            Ok((retry_phase(&record.state, &id(phase))?.events, ()))
        })
        .unwrap();
}

fn candidate(store: &mut Store) -> ReviewCandidate {
    let snapshot = store.load_snapshot(snapshot_request(), at(20)).unwrap();
    snapshot.reviews.into_iter().next().unwrap()
}

fn open_requests(store: &Store) -> usize {
    let filter = PrFilter {
        plan: Some(plan_id()),
        ..PrFilter::default()
    };
    let prs = store.prs(&filter).unwrap();
    prs.iter().filter(|pr| pr.state.is_open()).count()
}

#[test]
fn a_complete_plan_waits_for_its_pull_request_and_has_one() {
    let mut store = complete_plan();
    let record = store.plan(&plan_id()).unwrap();
    assert_eq!(record.state.status, PlanStatus::Running);
    assert!(record.state.awaits_review(record.completion()));
    let pr = store.create_pr(&system(4), &request_at("c1")).unwrap();
    assert_eq!((&pr.of, pr.state), (&of_plan(), PrState::Open));
    assert_eq!(status(&mut store), PlanStatus::Review);
    // whoever asks again may have died before it heard the answer
    let again = store.create_pr(&system(5), &request_at("c1")).unwrap();
    assert_eq!(again.id, pr.id);
    assert_eq!(open_requests(&store), 1);
    let review = candidate(&mut store);
    let subject = ReviewSubject::PullRequest(pr.id);
    assert_eq!((review.of, review.subject), (of_plan(), subject));
}

#[test]
fn a_plan_with_phases_to_do_opens_none() {
    let mut store = store();
    create(&mut store, document(&[("a", &[])]), PlanOptions::default());
    let refused = store.create_pr(&system(4), &request_at("c1")).unwrap_err();
    assert!(
        matches!(
            refused,
            StoreError::Plan(PlanRefusal::NothingToReview { .. })
        ),
        "{refused}"
    );
    assert_eq!(store.prs(&PrFilter::default()).unwrap(), []);
}

#[test]
fn its_runs_are_claimed_like_those_of_issues_one_at_a_time() {
    let (mut store, pr) = in_review();
    let run = start(&mut store, "g1", pr.id, AgentType::Gates).unwrap();
    assert_eq!(run.target, RunTarget::Gates(of_plan(), pr.id));
    let second = start(&mut store, "j1", pr.id, AgentType::Judge);
    assert_eq!(second, Err(ClaimRefusal::AlreadyRunning(run.id.clone())));
    // the project's own runs are others
    try_claim(&mut store, "base", RunTarget::Project, AgentType::Gates).unwrap();
    end_gates(&mut store, &run, true, BaseComparison::NotMade);
    assert!(store.pr(pr.id).unwrap().gates_of_head().unwrap().green());
    let again = start(&mut store, "g2", pr.id, AgentType::Gates);
    assert_eq!(again, Err(ClaimRefusal::ReviewEnded));
    let judge = start(&mut store, "j1", pr.id, AgentType::Judge).unwrap();
    store
        .record_review(
            &by(&judge, 7),
            pr.id,
            &NewVerdict::plain(VerdictKind::Approved, "c1", "good"),
        )
        .unwrap();
    let ended = store
        .finish_run(&system(8), &finish(&judge, RunStatus::Succeeded, None))
        .unwrap();
    assert_eq!(
        (ended.run.status, ended.issue),
        (RunStatus::Succeeded, None)
    );
    assert_eq!(store.pr(pr.id).unwrap().state, PrState::Approved);
    let intent = store.begin_publication(&human(8), pr.id, PublishWish::Human);
    assert!(intent.unwrap().is_some());
}

#[test]
fn red_gates_stop_the_review_and_a_red_base_only_delays_it() {
    for (base, recorded) in [
        (BaseComparison::Green, true),
        (BaseComparison::SomeRed, true),
        (BaseComparison::AllRed, false),
    ] {
        let (mut store, pr) = in_review();
        let run = start(&mut store, "g1", pr.id, AgentType::Gates).unwrap();
        end_gates(&mut store, &run, false, base);
        let pr = store.pr(pr.id).unwrap();
        assert_eq!(
            (pr.state, pr.gates_of_head().is_some()),
            (PrState::Open, recorded)
        );
        assert_eq!(status(&mut store), PlanStatus::Review);
        let gates = candidate(&mut store).gates;
        assert_eq!(gates == GatesState::Red, recorded, "{gates:?}");
        // a person has them run again
        store.request_gates(&human(9), pr.id).unwrap();
        start(&mut store, "g2", pr.id, AgentType::Gates).unwrap();
    }
}

#[test]
fn a_judge_without_a_verdict_has_failed_and_global_conditions_do_not_count() {
    let (mut store, pr) = in_review();
    for (run, class, expected, counted) in [
        ("j1", None, RunStatus::Failed, (1, 0)),
        (
            "j2",
            Some(ErrorClass::Overloaded),
            RunStatus::Failed,
            (1, 0),
        ),
        ("j3", Some(ErrorClass::Crashed), RunStatus::Failed, (1, 1)),
        ("j4", Some(ErrorClass::Stalled), RunStatus::Failed, (2, 1)),
    ] {
        let judge = start(&mut store, run, pr.id, AgentType::Judge).unwrap();
        let status = class.map_or(RunStatus::Succeeded, |_| RunStatus::Failed);
        let ended = store
            .finish_run(&system(8), &finish(&judge, status, class))
            .unwrap();
        assert_eq!(ended.run.status, expected);
        let judges = candidate(&mut store).judges;
        assert_eq!((judges.by_themselves, judges.killed), counted, "{run}");
    }
    assert_eq!(status(&mut store), PlanStatus::Review);
}

#[test]
fn a_rejection_waits_for_a_person_whose_phase_opens_another_pull_request() {
    let (mut store, pr) = in_review();
    verdict(&mut store, VerdictKind::Rejected, "no test");
    assert_eq!(store.pr(pr.id).unwrap().state, PrState::Rejected);
    assert_eq!(status(&mut store), PlanStatus::AwaitingUserDecision);
    let waiting = store.waiting_plans(&project(), at(9)).unwrap();
    let why = PlanWaitsFor::Decision {
        comment: "no test".into(),
    };
    assert_eq!(
        (waiting.len(), &waiting[0].why, waiting[0].pr),
        (1, &why, pr.id)
    );
    // nobody opens another one before a person has acted
    assert!(store.create_pr(&system(9), &request_at("c1")).is_err());
    order(&mut store, "a");
    let record = store.plan(&plan_id()).unwrap();
    assert_eq!(record.state.phase_status(&id("a")), PhaseStatus::Ready);
    assert_eq!(record.state.phase_status(&id("b")), PhaseStatus::Complete);
    assert_eq!(store.waiting_plans(&project(), at(9)).unwrap(), []);
    assert_eq!(record.state.status, PlanStatus::Running);
    let run = claim(&mut store, "run-a2", "a").unwrap();
    answer(&mut store, &run, 1);
    report(&mut store, &run, PhaseOutcome::Complete);
    end_phase(&mut store, &run);
    let second = store.create_pr(&system(10), &request_at("c2")).unwrap();
    assert_ne!(second.id, pr.id);
    assert_eq!(status(&mut store), PlanStatus::Review);
    assert_eq!(open_requests(&store), 1);
}

fn end_phase(store: &mut Store, run: &Run) {
    let end = end(run, RunStatus::Succeeded, None, PhaseWork::InPlace);
    store.finish_run(&system(9), &end).unwrap();
}

fn answer(store: &mut Store, run: &Run, point: u32) {
    let new = NewAnswer {
        point: PointNumber::new(point),
        kind: AnswerKind::Fixed,
        commit: None,
        text: "done".into(),
    };
    store.answer_point(&by(run, 5), &of_plan(), &new).unwrap();
}

fn says(store: &mut Store, run: &Run, outcome: PhaseOutcome) -> Result<(), String> {
    let recorded = RecordedOutcome {
        outcome,
        artifacts: vec![],
    };
    let said = store.record_phase_outcome(&by(run, 5), &run.id, &recorded);
    said.map_err(|error| error.to_string())
}

/// What others are at work on, they may answer; whoever reports last answers what is left, before its own work is merged or theirs.
#[test]
fn the_last_phase_that_reports_answers_what_is_left() {
    let mut store = store();
    let phases = document(&[("a", &[]), ("b", &[])]);
    create(&mut store, phases, PlanOptions::default());
    let point = |severity| NewPoint {
        severity,
        text: "no test".into(),
        place: None,
    };
    let changes = PointChanges {
        new: vec![point(Severity::Must), point(Severity::Should)],
        moved: vec![],
    };
    store
        .change_points(&human(2), &of_plan(), &changes)
        .unwrap();
    let a = claim(&mut store, "run-a", "a").unwrap();
    let b = claim(&mut store, "run-b", "b").unwrap();
    says(&mut store, &a, PhaseOutcome::Complete).unwrap();
    let refused = says(&mut store, &b, PhaseOutcome::Complete).unwrap_err();
    assert!(
        refused.starts_with("review point 1 is not answered yet: call answer_review_point"),
        "{refused}"
    );
    // a phase that failed hands nothing in
    let failed = PhaseOutcome::Failed {
        error: "no disk".into(),
    };
    says(&mut store, &b, failed).unwrap();
    answer(&mut store, &b, 1);
    says(&mut store, &b, PhaseOutcome::Complete).unwrap();
    for run in [a, b] {
        end_phase(&mut store, &run);
    }
    assert!(store.plan(&plan_id()).unwrap().state.is_complete());
}

#[test]
fn a_person_approves_what_was_rejected() {
    let (mut store, pr) = in_review();
    verdict(&mut store, VerdictKind::Rejected, "no test");
    store.resume_rejected_review(&human(8), pr.id).unwrap();
    assert_eq!(status(&mut store), PlanStatus::Review);
    // what they asked for themselves, they close
    let closed = PointMove {
        number: PointNumber::new(1),
        to: PointState::Closed,
        remark: None,
    };
    let approval = NewVerdict {
        force: false,
        points: PointChanges {
            new: vec![],
            moved: vec![closed],
        },
        ..NewVerdict::plain(VerdictKind::Approved, "c1", "good enough")
    };
    let pr = store.record_review(&human(8), pr.id, &approval).unwrap();
    assert_eq!(pr.state, PrState::Approved);
    // gone on meanwhile: the old work is not the plan's any more
    verdict(&mut store, VerdictKind::Rejected, "no, wait");
    order(&mut store, "a");
    let refused = store.resume_rejected_review(&human(9), pr.id).unwrap_err();
    assert!(refused.to_string().contains("has continued"), "{refused}");
}

#[test]
fn a_merge_completes_the_plan_and_leaves_its_branches_to_be_removed() {
    let (mut store, pr) = in_review();
    assert_eq!(
        store.plans_to_clean_up(&project()).unwrap(),
        Vec::<PlanId>::new()
    );
    let pr = store.record_merge(&human(8), pr.id, "m1").unwrap();
    assert_eq!(pr.state, PrState::Merged);
    assert_eq!(status(&mut store), PlanStatus::Completed);
    let record = store.plan(&plan_id()).unwrap();
    assert_eq!(record.merged_commit.as_deref(), Some("m1"));
    assert_eq!(store.plans_to_clean_up(&project()).unwrap(), [plan_id()]);
    store.record_plan_cleaned(&system(9), &plan_id()).unwrap();
    assert_eq!(
        store.plans_to_clean_up(&project()).unwrap(),
        Vec::<PlanId>::new()
    );
    assert_eq!(store.stopped_plans(None).unwrap(), []);
}

#[test]
fn whoever_goes_on_or_gives_up_closes_the_pull_request_and_ends_its_run() {
    for (gives_up, expected) in [(true, PlanStatus::Aborted), (false, PlanStatus::Running)] {
        let (mut store, pr) = in_review();
        let judge = start(&mut store, "j1", pr.id, AgentType::Judge).unwrap();
        if gives_up {
            store
                .change_plan(&human(8), &plan_id(), |record, _| {
                    Ok((abort_all(&record.state, at(8)).events, ()))
                })
                .unwrap();
        } else {
            order(&mut store, "b");
        }
        assert_eq!(status(&mut store), expected);
        assert_eq!(store.pr(pr.id).unwrap().state, PrState::Closed);
        assert!(store.cancel_requested(&judge.id).unwrap());
    }
}

#[test]
fn a_plan_with_nothing_to_merge_completes_without_a_pull_request() {
    let mut store = complete_plan();
    store
        .record_plan_merged(&system(4), &plan_id(), "c0")
        .unwrap();
    assert_eq!(status(&mut store), PlanStatus::Completed);
    assert_eq!(store.prs(&PrFilter::default()).unwrap(), []);
}
