//! Probes rotate: whatever waits for a hold gets its turn, however urgent the others are.

use std::collections::BTreeMap;

use proptest::prelude::*;
use symphony_core::agent::AgentType;
use symphony_core::hold::{ProbeItem, Trials, YIELD_MS};
use symphony_core::id::{PlanId, PlanPhaseId};
use symphony_core::issue::Priority;
use symphony_core::plan::state::{Completion, PhaseState, PlanStatus};
use symphony_core::retry::after;
use symphony_core::tick::{
    Action, AskedModels, Candidate, HoldScope, OpenPhase, OpenPlan, PlanDriver, Snapshot, StartRun,
    phases_turn, plan_tick, probe_candidates,
};

use super::support::{NOW, at, candidate, hold, plan, project, review, snapshot, started};

fn provider() -> HoldScope {
    HoldScope::Provider("claude-cli".into())
}

fn model(name: &str) -> HoldScope {
    HoldScope::Model {
        provider: "claude-cli".into(),
        model: Some(name.into()),
    }
}

fn starts(snapshot: &Snapshot) -> Vec<StartRun> {
    let actions = plan_tick(snapshot, at(NOW)).actions.into_iter();
    actions
        .filter_map(|action| match action {
            Action::StartRun(start) => Some(start),
            _ => None,
        })
        .collect()
}

/// Lets the runs of a plan fail as probes.
fn fail(snapshot: &mut Snapshot, starts: &[StartRun], fence: i64) {
    for hold in &mut snapshot.holds {
        let mut trials = Trials::new(std::mem::take(&mut hold.trials));
        for start in starts.iter().filter(|s| s.probes.contains(&hold.scope)) {
            trials.begin(&start.item(), fence);
            trials.fail(&start.item(), fence);
        }
        hold.trials = trials.as_slice().to_vec();
    }
}

#[test]
fn a_poisonous_item_that_comes_first_does_not_starve_the_others() {
    let mut snapshot = snapshot();
    snapshot.candidates = vec![candidate(1), candidate(2)];
    snapshot.reviews = vec![review(3)];
    snapshot.holds = vec![hold(provider(), NOW)];
    let mut order = Vec::new();
    for fence in 1..=7 {
        let starts = starts(&snapshot);
        order.push(starts[0].item().to_string());
        fail(&mut snapshot, &starts, fence);
    }
    assert_eq!(
        order,
        [
            "SYM-3", "SYM-1", "SYM-2", "SYM-3", "SYM-1", "SYM-2", "SYM-3"
        ]
    );
}

#[test]
fn what_asks_for_another_model_is_not_held() {
    let mut snapshot = snapshot();
    let mut models = AskedModels::default();
    models.set(AgentType::Judge, None, None, "haiku".into());
    let ready = symphony_core::id::PhaseName::parse("ready").ok();
    models.set(AgentType::Worker, ready, None, "opus".into());
    snapshot.projects.get_mut(&project("a")).unwrap().models = models;
    snapshot.candidates = vec![candidate(1)];
    snapshot.reviews = vec![review(3)];
    for (scope, expected) in [
        (model("opus"), vec!["SYM-3"]),
        (model("haiku"), vec!["SYM-1"]),
        (
            HoldScope::Model {
                provider: "claude-cli".into(),
                model: None,
            },
            vec!["SYM-3", "SYM-1"],
        ),
        (provider(), vec![]),
    ] {
        snapshot.holds = vec![hold(scope.clone(), NOW + 60)];
        assert_eq!(started(&snapshot), expected, "{scope}");
    }
    snapshot.holds = vec![hold(model("opus"), NOW + 60)];
    assert_eq!(
        plan(&snapshot)[1],
        "wait SYM-1: model opus of provider claude-cli is on hold: 529; next try at 1970-01-01T02:47:40.000Z"
    );
}

fn open_plan(phases: &[&str], driver: PlanDriver) -> OpenPlan {
    let phase = |id: &&str| OpenPhase {
        phase: PlanPhaseId::parse(*id).unwrap(),
        state: PhaseState::Ready,
    };
    OpenPlan {
        plan: PlanId::parse("p1").unwrap(),
        project: project("a"),
        path: "PLAN.md".into(),
        status: PlanStatus::Running,
        started_at: at(0),
        phases: phases.iter().map(phase).collect(),
        completion: Completion::Ends,
        driver,
    }
}

#[test]
fn a_tick_leaves_the_probe_to_a_phase_that_was_tried_less_recently() {
    let mut snapshot = snapshot();
    snapshot.candidates = vec![candidate(1)];
    snapshot.holds = vec![hold(provider(), NOW)];
    let first = starts(&snapshot);
    fail(&mut snapshot, &first, 1);
    // alone it goes on; so it does beside a plan that nothing carries on, or without a phase that is ready
    assert_eq!(starts(&snapshot).len(), 1);
    snapshot.plans = vec![open_plan(&["x"], PlanDriver::None)];
    assert_eq!(starts(&snapshot).len(), 1);
    snapshot.plans = vec![open_plan(&["x"], PlanDriver::Command)];
    assert_eq!(
        plan(&snapshot),
        [
            "wait SYM-1: provider claude-cli is on hold: 529 (a phase of a plan probes first); next try at 1970-01-01T02:48:10.000Z"
        ]
    );
    // nobody came: the plan's driver may hang
    let later = after(at(NOW), YIELD_MS);
    assert_eq!(plan_tick(&snapshot, later).actions.len(), 1);
    // the phase had its turn
    let phase = ProbeItem::Phase(
        PlanId::parse("p1").unwrap(),
        PlanPhaseId::parse("x").unwrap(),
    );
    let mut trials = Trials::new(snapshot.holds[0].trials.clone());
    trials.fail(&phase, 2);
    snapshot.holds[0].trials = trials.as_slice().to_vec();
    assert_eq!(starts(&snapshot).len(), 1);
}

#[test]
fn a_plan_sees_the_turns_of_the_backlog_and_of_other_plans() {
    let mut snapshot = snapshot();
    snapshot.candidates = vec![candidate(1), candidate(2)];
    snapshot.holds = vec![hold(provider(), NOW)];
    let seen: Vec<String> = probe_candidates(&snapshot, at(NOW))
        .into_iter()
        .map(|(item, probes)| format!("{item} {}", probes.len()))
        .collect();
    assert_eq!(seen, ["SYM-1 1", "SYM-2 1"]);
    snapshot.plans = vec![open_plan(&["x"], PlanDriver::Tick)];
    let own = PlanId::parse("p1").unwrap();
    let other = PlanId::parse("p2").unwrap();
    let turn = |but| phases_turn(&snapshot, &snapshot.holds[0], but);
    assert_eq!(turn(Some(&own)), None);
    assert_eq!(turn(Some(&other)), Some(0));
    let of_another = hold(HoldScope::Provider("codex-cli".into()), NOW);
    assert_eq!(phases_turn(&snapshot, &of_another, None), None);
    let cap = hold(HoldScope::Project(project("a")), NOW);
    assert_eq!(phases_turn(&snapshot, &cap, None), None);
}

fn waiting() -> impl Strategy<Value = Vec<(u8, u8, bool)>> {
    let item = (0_u8..5, 0_u8..2, any::<bool>());
    proptest::collection::vec(item, 1..12)
}

proptest! {
    /// No item waits for ever: with N items, each one probes exactly once in any N probes, whatever their priorities,
    /// projects and roles are, and however few slots there are.
    #[test]
    fn each_item_probes_within_as_many_probes_as_there_are_items(items in waiting(), slots in 1_u32..4) {
        let mut snapshot = snapshot();
        snapshot.slots.total = slots;
        for (number, (priority, of, is_review)) in (1_u64..).zip(&items) {
            let of = project(if *of == 0 { "a" } else { "b" });
            let priority = Priority::ALL[usize::from(*priority)];
            if *is_review {
                let mut review = review(number);
                (review.priority, review.project) = (priority, of);
                snapshot.reviews.push(review);
            } else {
                let candidate = Candidate { priority, project: of, ..candidate(number) };
                snapshot.candidates.push(candidate);
            }
        }
        snapshot.holds = vec![hold(provider(), NOW)];
        let mut probes: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let count = items.len();
        for round in 0..count * 3 {
            let starts = starts(&snapshot);
            prop_assert_eq!(starts.len(), 1, "one probe at a time");
            probes.entry(starts[0].item().to_string()).or_default().push(round);
            fail(&mut snapshot, &starts, i64::try_from(round).unwrap() + 1);
        }
        prop_assert_eq!(probes.len(), count);
        for (item, rounds) in &probes {
            prop_assert_eq!(rounds.len(), 3, "{} in {:?}", item, rounds);
            prop_assert!(rounds.windows(2).all(|pair| pair[1] - pair[0] == count), "{} in {:?}", item, rounds);
        }
    }
}
