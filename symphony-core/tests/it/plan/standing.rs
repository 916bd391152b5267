//! No plan is stranded: every status, whoever carries it on, wherever its phases are.

use symphony_core::agent::AgentType;
use symphony_core::id::{PlanId, PlanPhaseId};
use symphony_core::inbox::{InboxItem, plan_item, waiting_plan_item};
use symphony_core::plan::state::{
    Completion, PhaseState, PlanEvent, PlanState, PlanStatus, apply_all, retry_phase, settle,
    settle_now,
};
use symphony_core::standing::{Observed, OpenItems, Standing, standings};
use symphony_core::tick::{
    LiveRun, OpenPhase, OpenPlan, PlanDriver, ReviewCandidate, Snapshot, plan_tick,
};

use super::{id, plan};
use crate::tick::support::{NOW, at, live, project, review, run_id, snapshot};

const RUN: &str = "r1";

fn phase_states() -> [PhaseState; 9] {
    [
        PhaseState::Pending,
        PhaseState::Ready,
        PhaseState::Running {
            run: Some(run_id(RUN)),
            since: at(1),
        },
        PhaseState::Retrying {
            due_at: at(NOW + 60),
        },
        PhaseState::AwaitingDecision { asked_at: at(1) },
        PhaseState::Complete { skipped: false },
        PhaseState::Failed,
        PhaseState::Blocked,
        PhaseState::Aborted,
    ]
}

fn open_plan(
    (status, driver): (PlanStatus, PlanDriver),
    completion: Completion,
    phases: [&PhaseState; 2],
) -> OpenPlan {
    let named = ["a", "b"].into_iter().zip(phases);
    OpenPlan {
        plan: PlanId::parse("p1").unwrap(),
        project: project("a"),
        path: "PLAN.md".into(),
        status,
        started_at: at(1),
        phases: named
            .map(|(name, state)| OpenPhase {
                phase: PlanPhaseId::parse(name).unwrap(),
                state: state.clone(),
            })
            .collect(),
        completion,
        driver,
    }
}

/// Everything that the inbox has about a plan whose phases are so.
fn inbox(plan: &OpenPlan, live: &[LiveRun]) -> Vec<InboxItem> {
    let asks = |phase: &&OpenPhase| matches!(phase.state, PhaseState::AwaitingDecision { .. });
    let questions = plan.phases.iter().filter(asks);
    let questions = questions
        .map(|phase| plan_item(&plan.plan, &phase.phase, &plan.project, "it broke", at(1)));
    waiting_plan_item(plan, live)
        .into_iter()
        .chain(questions)
        .collect()
}

fn standing(plan: &OpenPlan) -> Standing {
    let runs = |phase: &OpenPhase| matches!(phase.state, PhaseState::Running { .. });
    let is_running = plan.phases.iter().any(runs);
    let live = is_running.then(|| live(RUN, None, AgentType::Worker));
    let live: Vec<LiveRun> = live.into_iter().collect();
    let inbox = inbox(plan, &live);
    let reviews = (plan.status == PlanStatus::Review).then(|| ReviewCandidate {
        of: plan.plan.clone().into(),
        ..review(1)
    });
    let snapshot = Snapshot {
        plans: vec![plan.clone()],
        reviews: reviews.into_iter().collect(),
        live,
        ..snapshot()
    };
    let decided = plan_tick(&snapshot, at(NOW));
    let observed = Observed {
        snapshot: &snapshot,
        schedule: &decided,
        inbox: &inbox,
        open: &OpenItems::default(),
        now: at(NOW),
    };
    let mut found = standings(&observed).into_values();
    found.next().unwrap()
}

#[test]
fn no_plan_that_has_not_ended_is_stranded() {
    use PlanStatus::{AwaitingUserDecision, Paused, Review, Running};
    let states = phase_states();
    let complete = PhaseState::Complete { skipped: false };
    let mut looked_at = 0;
    for status in [Running, Paused, AwaitingUserDecision, Review] {
        for driver in [PlanDriver::Command, PlanDriver::Tick, PlanDriver::None] {
            for completion in [Completion::Ends, Completion::OpensPullRequest] {
                for (a, b) in states
                    .iter()
                    .flat_map(|a| states.iter().map(move |b| (a, b)))
                {
                    // a plan is under review only while every phase is complete
                    if status == Review && (*a != complete || *b != complete) {
                        continue;
                    }
                    let plan = open_plan((status, driver), completion, [a, b]);
                    let found = standing(&plan);
                    let is_stranded = matches!(found, Standing::Stranded { .. });
                    assert!(!is_stranded, "{plan:?}: {found}");
                    looked_at += 1;
                }
            }
        }
    }
    assert_eq!(looked_at, 3 * 3 * 2 * 81 + 3 * 2);
}

/// A plan whose work was rejected.
fn rejected() -> PlanState {
    let mut state = PlanState::new(&[id("a"), id("b")], at(1));
    for progress in state.phases.values_mut() {
        progress.state = PhaseState::Complete { skipped: false };
    }
    state.status = PlanStatus::AwaitingUserDecision;
    state
}

#[test]
fn a_phase_that_begins_again_after_a_rejection_moves_the_plan_on() {
    let dag = symphony_core::plan::Dag::new(&plan(&[("a", &[]), ("b", &["a"])]).phases).unwrap();
    let mut state = rejected();
    assert_eq!(settle(&dag, &state, at(2)), [], "it waits for a person");
    let decision = retry_phase(&state, &id("a")).unwrap();
    apply_all(&mut state, &decision.events).unwrap();
    let events = settle_now(&dag, &mut state, at(2)).unwrap();
    assert_eq!(events.last(), Some(&PlanEvent::Continued));
    assert_eq!(state.status, PlanStatus::Running);
    assert_eq!(settle(&dag, &state, at(3)), [], "said once");
}

#[test]
fn a_plan_whose_phase_still_awaits_a_decision_stays_where_it_is() {
    let dag = symphony_core::plan::Dag::new(&plan(&[("a", &[]), ("b", &["a"])]).phases).unwrap();
    let mut state = rejected();
    let asks = PhaseState::AwaitingDecision { asked_at: at(1) };
    state.phases.get_mut(&id("a")).unwrap().state = asks;
    state.phases.get_mut(&id("b")).unwrap().state = PhaseState::Pending;
    assert_eq!(settle(&dag, &state, at(2)), []);
}
