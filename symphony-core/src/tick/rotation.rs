//! Who probes next: among what waits for the same hold, the item that was tried least recently.

use std::collections::BTreeSet;

use super::open_plan::{OpenPlan, PlanDriver};
use super::reason::Reason;
use super::snapshot::Snapshot;
use super::waiting::Waiting;
use crate::Timestamp;
use crate::hold::{Hold, HoldScope, ProbeItem, turn_of, yields_until};
use crate::id::PlanId;
use crate::plan::state::{PhaseState, PlanStatus};

/// Takes what would probe a hold out of what waits, in the order in which it is asked: least recently tried first, then
/// as everything else is dispatched.
pub(super) fn take_probes(snapshot: &Snapshot, waiting: &mut Vec<Waiting>) -> Vec<Waiting> {
    let (mut probes, rest): (Vec<_>, Vec<_>) = std::mem::take(waiting)
        .into_iter()
        .partition(|item| !item.start.probes.is_empty());
    *waiting = rest;
    probes.sort_by(|a, b| order(snapshot, a).cmp(&order(snapshot, b)));
    probes
}

fn order<'w>(
    snapshot: &Snapshot,
    waiting: &'w Waiting,
) -> (i64, u8, crate::issue::Priority, impl Ord + use<'w>) {
    (
        turn(snapshot, waiting),
        waiting.tier,
        waiting.priority,
        waiting.turn(),
    )
}

fn probed<'s>(snapshot: &'s Snapshot, waiting: &'s Waiting) -> impl Iterator<Item = &'s Hold> {
    let probes = &waiting.start.probes;
    snapshot
        .holds
        .iter()
        .filter(|hold| probes.contains(&hold.scope))
}

fn turn(snapshot: &Snapshot, waiting: &Waiting) -> i64 {
    turn_of(&waiting.start.item(), probed(snapshot, waiting))
}

/// Returns the reason to leave a probe to another item: one that this plan starts already, or a phase of a plan that
/// was tried less recently.
pub(super) fn left_to_others(
    snapshot: &Snapshot,
    waiting: &Waiting,
    probing: &BTreeSet<HoldScope>,
    now: Timestamp,
) -> Option<Reason> {
    let own = turn(snapshot, waiting);
    probed(snapshot, waiting).find_map(|hold| {
        let (until, who) = if probing.contains(&hold.scope) {
            (hold.until, "a probe is under way")
        } else {
            let others = phases_turn(snapshot, hold, None);
            let until = yields_until(hold, own, others, now)?;
            (until, "a phase of a plan probes first")
        };
        Some(Reason::Held {
            scope: hold.scope.clone(),
            until,
            why: format!("{} ({who})", hold.reason),
        })
    })
}

/// Returns the turn of the ready phase that was tried against a hold least recently, among plans that something drives;
/// `None` if there is no such phase. A phase that was never tried may be of another provider or model: it counts if its
/// project uses the provider.
pub fn phases_turn(snapshot: &Snapshot, hold: &Hold, but: Option<&PlanId>) -> Option<i64> {
    if matches!(hold.scope, HoldScope::Project(_) | HoldScope::Gates(_)) {
        return None;
    }
    let is_driven = |plan: &&OpenPlan| {
        plan.driver != PlanDriver::None
            && matches!(
                plan.status,
                PlanStatus::Running | PlanStatus::AwaitingUserDecision
            )
            && Some(&plan.plan) != but
    };
    let plans = snapshot.plans.iter().filter(is_driven);
    let turns = plans.flat_map(|plan| {
        let view = snapshot.projects.get(&plan.project);
        let provider = view.and_then(|view| view.provider.as_deref().ok());
        let may_be_covered = hold.scope.provider().is_none() || hold.scope.provider() == provider;
        let ready = plan
            .phases
            .iter()
            .filter(|open| open.state == PhaseState::Ready);
        ready.filter_map(move |open| {
            let item = ProbeItem::Phase(plan.plan.clone(), open.phase.clone());
            let tried = turn_of(&item, [hold]);
            (tried > 0 || may_be_covered).then_some(tried)
        })
    });
    turns.min()
}
