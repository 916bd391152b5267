//! Holds, and other reasons why everything of a project waits.

use super::reason::Reason;
use super::snapshot::{ProjectView, Snapshot};
use crate::Timestamp;
use crate::hold::{Hold, HoldScope};
use crate::id::ProjectId;
use crate::retry::{HOLD_TOLD_MAX_MS, after, is_ahead_of_clock};

/// Returns whether a hold covers a run; an expired hold covers everything except its probe.
pub(super) fn covers(
    hold: &Hold,
    project: &ProjectId,
    provider: &str,
    model: Option<&str>,
) -> bool {
    match &hold.scope {
        HoldScope::Provider(_) | HoldScope::Model { .. } => {
            hold.scope.covers_model(provider, model)
        }
        HoldScope::Project(id) => id == project,
        // it ends by a probe of its own, and not everything of the project waits for it
        HoldScope::Gates(_) => false,
        HoldScope::Everything => true,
    }
}

/// Returns whether a hold is in effect. One that was placed in the future, or a provider's that ends later than any
/// can, is from before the clock was set back: it is probed, otherwise everything would wait for as long as the clock
/// jumped.
pub(super) fn stands(hold: &Hold, now: Timestamp) -> bool {
    let latest = match hold.scope {
        // Each tick recreates a spending cap's hold, and one without an end waits for a human.
        HoldScope::Project(_) => Timestamp::MAX,
        HoldScope::Provider(_)
        | HoldScope::Model { .. }
        | HoldScope::Gates(_)
        | HoldScope::Everything => after(now, HOLD_TOLD_MAX_MS),
    };
    hold.until > now && hold.until <= latest && !is_ahead_of_clock(hold.placed_at, now)
}

/// Returns the hold of a project whose gates fail on its base. It stays until a probe passes, however long that takes.
pub(super) fn gates_hold(project: &ProjectId, snapshot: &Snapshot) -> Option<Reason> {
    gates_hold_of(project, snapshot).map(Reason::held)
}

/// Returns that hold itself.
pub(super) fn gates_hold_of<'s>(project: &ProjectId, snapshot: &'s Snapshot) -> Option<&'s Hold> {
    let of_project = |hold: &&Hold| matches!(&hold.scope, HoldScope::Gates(id) if id == project);
    snapshot.holds.iter().find(of_project)
}

/// Returns whether a probe of a hold is running.
pub(super) fn is_probed(hold: &Hold, snapshot: &Snapshot) -> bool {
    hold.canary
        .as_ref()
        .is_some_and(|canary| snapshot.live.iter().any(|run| run.run == *canary))
}

/// Returns the reason to leave alone what needs a project's base branch.
pub(super) fn no_base(project: &ProjectView) -> Option<Reason> {
    project.no_base.as_ref().map(|none| Reason::NoBase {
        problem: none.problem.clone(),
    })
}
