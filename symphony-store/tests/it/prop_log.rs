//! Any sequence of operations, legal or refused: the log folds to the row (I12), and what must always hold does.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::select;
use symphony_core::agent::AgentType;
use symphony_core::contract::DeliveryState;
use symphony_core::failure::ErrorClass;
use symphony_core::gates::{BaseComparison, FailurePrint};
use symphony_core::id::IssueId;
use symphony_core::issue::{
    BlockedBy, BreakerTarget, IssueEvent, IssueStatus, NextPhase, Resolution,
};
use symphony_core::pull_request::{PullRequestOf, VerdictKind, VerifiedGate, VerifiedGates};
use symphony_core::review_point::{
    AnswerKind, PointChanges, PointMove, PointState, pending_question,
};
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_store::{
    Context, GatesAtEnd, GatesFound, IssueEdit, IssueFilter, NewAnswer, NewVerdict, Settlement,
    Store, fold_issue,
};

use crate::queries::snapshot_request;
use crate::support::{
    at, by, finish, human, new_claim, new_issue, new_pr, store, system, try_claim,
};

#[derive(Debug, Clone)]
enum Step {
    Move(IssueEvent),
    Depend(Vec<u64>),
    Claim(AgentType),
    OpenPr,
    Judge(VerdictKind),
    Close,
    Merge,
    Finish(RunStatus, Option<ErrorClass>, bool),
    ClearCounts,
    /// A claim of the issue's phase; one that waits for a judge, or not; settled, or left as submitted.
    ClaimPhase(Settlement, bool),
    JudgePhase(VerdictKind),
    Advance,
    Relabel(&'static str),
    /// A write in the name of a run that may be over.
    Comment,
    /// An answer to every review point.
    Answer(AnswerKind),
    /// A person closes every review point.
    ClosePoints,
}

fn gates_found(commit: String, green: bool) -> GatesFound {
    let gate = VerifiedGate {
        name: "test".into(),
        required: true,
        passed: green,
        exit_code: Some(i32::from(!green)),
        duration_ms: 1,
        output: String::new(),
        cached: false,
        definition: None,
        failed_tries: Vec::new(),
    };
    GatesFound::Ran {
        tree: commit.clone(),
        gates: VerifiedGates {
            merged_with: None,
            commit,
            results: vec![gate],
        },
        print: (!green).then(|| FailurePrint::stored("same")),
        base: BaseComparison::NotMade,
    }
}

fn steps() -> impl Strategy<Value = Step> {
    let reason = || "r".to_owned();
    let event = select(vec![
        IssueEvent::Queued,
        IssueEvent::Reopened,
        IssueEvent::PhaseDelivered,
        IssueEvent::PhaseAccepted {
            next: NextPhase::Follows,
        },
        IssueEvent::HandedBack,
        IssueEvent::AgentBlocked { reason: reason() },
        IssueEvent::SubtasksOpened,
        IssueEvent::SubtasksClosed,
        IssueEvent::CapReached { reason: reason() },
        IssueEvent::Finished,
        IssueEvent::ReviewResumed,
        IssueEvent::BreakerOpened {
            to: BreakerTarget::Todo,
            reason: None,
        },
        IssueEvent::Shelved,
        IssueEvent::Cancelled,
        IssueEvent::Closed {
            resolution: Resolution::Done,
            reason: "by hand".to_owned(),
        },
    ]);
    let end = (
        select(vec![
            RunStatus::Succeeded,
            RunStatus::Failed,
            RunStatus::Cancelled,
            RunStatus::Tampered,
        ]),
        proptest::option::of(select(vec![
            ErrorClass::AgentFailed,
            ErrorClass::Overloaded,
        ])),
        any::<bool>(),
    );
    prop_oneof![
        4 => event.prop_map(Step::Move),
        2 => proptest::collection::vec(1_u64..4, 0..3).prop_map(Step::Depend),
        5 => select(vec![AgentType::Worker, AgentType::Judge, AgentType::Gates]).prop_map(Step::Claim),
        3 => Just(Step::OpenPr),
        2 => select(VerdictKind::ALL.to_vec()).prop_map(Step::Judge),
        1 => Just(Step::Close),
        1 => Just(Step::Merge),
        5 => end.prop_map(|(status, class, green)| Step::Finish(status, class, green)),
        1 => Just(Step::ClearCounts),
        1 => Just(Step::Comment),
        2 => select(AnswerKind::ALL.to_vec()).prop_map(Step::Answer),
        1 => Just(Step::ClosePoints),
        5 => (select(vec![Settlement::Accepted, Settlement::AwaitingJudge]), proptest::bool::weighted(0.8))
            .prop_map(|(settlement, settled)| Step::ClaimPhase(settlement, settled)),
        4 => select(VerdictKind::ALL.to_vec()).prop_map(Step::JudgePhase),
        2 => Just(Step::Advance),
        2 => select(vec!["research", "architecture", "ready", "ready"]).prop_map(Step::Relabel),
    ]
}

/// A store with three issues, and the runs made on them.
struct World {
    store: Store,
    runs: BTreeMap<IssueId, Run>,
    clock: i64,
}

impl World {
    fn new() -> Self {
        let mut store = store();
        for (title, phase) in [("a", "research"), ("b", "research"), ("c", "ready")] {
            let mut new = new_issue(title);
            new.labels = vec![format!("phase:{phase}")];
            store.add_issue(&human(1), &new).unwrap();
        }
        Self {
            store,
            runs: BTreeMap::new(),
            clock: 10,
        }
    }

    /// Does a step on an issue. A refusal is as good as a success, but the end of a run is never refused.
    fn step(&mut self, id: &IssueId, step: &Step) {
        self.clock += 1;
        let (second, store) = (self.clock, &mut self.store);
        let run = self.runs.get(id);
        let in_its_name = || -> Context { run.map_or(human(second), |run| by(run, second)) };
        let pr = store.open_pr(id).unwrap();
        let claim = store.open_delivery(id).unwrap();
        let accepted = match (step, pr) {
            (Step::ClaimPhase(settlement, settled), _) => {
                let new = new_claim(store, id);
                let submitted = store.submit_delivery(&in_its_name(), &new);
                submitted.is_ok_and(|claim| {
                    let commit = format!("c{second}");
                    let context = in_its_name();
                    let mut settle =
                        || store.settle_delivery(&context, claim.id, *settlement, &commit, &[]);
                    !settled || settle().is_ok()
                })
            }
            (Step::JudgePhase(kind), _) => claim.is_some_and(|claim| {
                let commit = claim.head_commit.unwrap_or_default();
                let verdict = store.record_phase_review(
                    &in_its_name(),
                    claim.id,
                    &NewVerdict::plain(*kind, &commit, "why"),
                );
                verdict.is_ok()
            }),
            (Step::Advance, _) => store.advance_phase(&system(second), id).is_ok(),
            (Step::Relabel(phase), _) => {
                let edit = IssueEdit {
                    labels: Some(vec![format!("phase:{phase}")]),
                    ..IssueEdit::default()
                };
                store.edit_issue(&human(second), id, &edit).is_ok()
            }
            (Step::Move(event), _) => store.move_issue(&human(second), id, event).is_ok(),
            (Step::Depend(on), _) => {
                let on = on.iter().map(|n| IssueId::new("DEM", *n).unwrap());
                let edit = IssueEdit {
                    depends_on: Some(on.collect()),
                    ..IssueEdit::default()
                };
                store.edit_issue(&human(second), id, &edit).is_ok()
            }
            (Step::Claim(agent), pr) => {
                let target = match (agent, pr) {
                    (AgentType::Judge, Some(pr)) => {
                        RunTarget::PullRequest(id.clone().into(), pr.id)
                    }
                    (AgentType::Gates, Some(pr)) => RunTarget::Gates(id.clone().into(), pr.id),
                    (AgentType::Gates, None) => return,
                    (AgentType::Judge, None) if claim.is_some() => {
                        RunTarget::Delivery(id.clone(), claim.unwrap().id)
                    }
                    _ => RunTarget::Issue(id.clone()),
                };
                let granted = try_claim(store, &format!("r{second}"), target, agent.clone());
                granted.is_ok_and(|run| self.runs.insert(id.clone(), run).is_none())
            }
            (Step::OpenPr, _) => {
                let new = new_pr(id, &format!("c{second}"));
                store.create_pr(&in_its_name(), &new).is_ok()
            }
            (Step::Judge(kind), Some(pr)) => {
                let head = pr.head_commit;
                let verdict = store.record_review(
                    &in_its_name(),
                    pr.id,
                    &NewVerdict::plain(*kind, &head, "why"),
                );
                verdict.is_ok()
            }
            (Step::Close, Some(pr)) => store.close_pr(&human(second), pr.id).is_ok(),
            (Step::Merge, Some(pr)) => store.record_merge(&human(second), pr.id, "m").is_ok(),
            (Step::Judge(_) | Step::Close | Step::Merge, None) => false,
            (Step::Finish(status, class, green), pr) => {
                let Some(run) = run else { return };
                let mut end = finish(run, *status, *class);
                end.limits.max_retries = 3;
                end.gates = match pr.filter(|_| run.agent == AgentType::Gates) {
                    Some(pr) => GatesAtEnd::Found(gates_found(pr.head_commit, *green)),
                    None if *green => GatesAtEnd::NoneConfigured,
                    None => GatesAtEnd::Due,
                };
                let ended = store.finish_run(&system(second), &end).unwrap();
                !ended.run.status.is_live()
            }
            (Step::ClearCounts, _) => store.clear_counts(&human(second), id).is_ok(),
            (Step::Answer(kind), _) => {
                let of = PullRequestOf::from(id.clone());
                let points = store.review_points(&of).unwrap();
                points.iter().any(|point| {
                    let answer = NewAnswer {
                        point: point.number,
                        kind: *kind,
                        commit: None,
                        text: "so".into(),
                    };
                    store.answer_point(&in_its_name(), &of, &answer).is_ok()
                })
            }
            (Step::ClosePoints, _) => {
                let of = PullRequestOf::from(id.clone());
                let points = store.review_points(&of).unwrap();
                let moved = points.iter().map(|point| PointMove {
                    number: point.number,
                    to: PointState::Closed,
                    remark: None,
                });
                let changes = PointChanges {
                    new: vec![],
                    moved: moved.collect(),
                };
                store.change_points(&human(second), &of, &changes).is_ok()
            }
            (Step::Comment, _) => store.add_comment(&in_its_name(), id, "note").is_ok(),
        };
        // what was refused wrote nothing but, at most once a run, that it was
        let refusals = store.events_of_issue(id).unwrap();
        let mut seen = BTreeSet::new();
        for refusal in refusals.iter().filter(|e| e.kind == "write_refused") {
            assert!(seen.insert(refusal.run.clone()), "{accepted} {refusal:?}");
        }
    }

    fn check(&mut self) -> Result<(), TestCaseError> {
        let page = self.store.list_issues(&IssueFilter::default()).unwrap();
        let live = self.store.live_runs().unwrap();
        let mut busy = BTreeSet::new();
        for run in &live {
            prop_assert!(
                busy.insert(run.target.issue().cloned()),
                "two runs live: {run:?}"
            );
        }
        for issue in &page.items {
            let log = self.store.events_of_issue(&issue.id).unwrap();
            prop_assert_eq!(&fold_issue(&log).unwrap(), &issue.state);
            // an open delivery is of the phase that the issue is in, and an issue that has ended has none
            if let Some(claim) = self.store.open_delivery(&issue.id).unwrap() {
                prop_assert_eq!(Some(claim.phase.clone()), issue.phase());
                prop_assert!(!issue.state.status().is_terminal());
                let unsettled = claim.state == DeliveryState::Submitted;
                prop_assert!(
                    !unsettled || busy.contains(&Some(issue.id.clone())),
                    "{claim:?}"
                );
            }
            // an issue waits for a reply only while something is asked
            let of = PullRequestOf::from(issue.id.clone());
            let points = self.store.review_points(&of).unwrap();
            let block = issue.state.block();
            if block.is_some_and(|block| block.by == BlockedBy::Question) {
                prop_assert!(pending_question(&points).is_some(), "{points:?}");
            }
            // an open pull request is of the last phase
            if self.store.open_pr(&issue.id).unwrap().is_some() {
                prop_assert!(issue.phase().is_none_or(|phase| phase.is_ready()));
            }
            // nobody is said to be at work who is not
            if issue.state.status() == IssueStatus::InProgress {
                prop_assert!(busy.contains(&Some(issue.id.clone())), "{}", issue.id);
            }
        }
        // a tick sees exactly the issues in `todo` whose dependencies are done and whose time has come
        let retries = self.store.retries(None).unwrap();
        let now = at(self.clock);
        let snapshot = self.store.load_snapshot(snapshot_request(), now).unwrap();
        let seen: BTreeSet<_> = snapshot.candidates.into_iter().map(|c| c.issue).collect();
        let done = |id: &IssueId| {
            let found = page.items.iter().find(|issue| issue.id == *id);
            found.is_some_and(|issue| issue.state.status() == IssueStatus::Done)
        };
        let expected: BTreeSet<_> = page
            .items
            .iter()
            .filter(|issue| issue.state.status() == IssueStatus::Todo)
            .filter(|issue| issue.depends_on.iter().all(done))
            .filter(|issue| {
                let retry = retries.iter().find(|retry| retry.issue == issue.id);
                retry.is_none_or(|retry| retry.due_at <= now)
            })
            .map(|issue| issue.id.clone())
            .collect();
        prop_assert_eq!(seen, expected);
        // what is accepted in `review` goes on with the next tick, or when its judge has ended
        let accepted: Vec<_> = snapshot.accepted.into_iter().map(|a| a.issue).collect();
        for issue in page
            .items
            .iter()
            .filter(|i| i.state.status() == IssueStatus::Review)
        {
            let claim = self.store.open_delivery(&issue.id).unwrap();
            let waits = claim.is_some_and(|claim| claim.awaits_step());
            prop_assert_eq!(waits, accepted.contains(&issue.id));
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_log_folds_to_the_row(script in proptest::collection::vec((1_u64..4, steps()), 1..40)) {
        let mut world = World::new();
        for (number, step) in script {
            world.step(&IssueId::new("DEM", number).unwrap(), &step);
            world.check()?;
        }
    }
}
