//! What stops runs that do not come from the backlog: phases of plans. They share slots and holds with issues.

use super::holds::{covers, is_probed, stands};
use super::live_run::LiveRun;
use super::own_runs::wizard_comes_first;
use super::predicate::review_obstacles;
use super::snapshot::Snapshot;
use crate::Timestamp;
use crate::agent::AgentType;
use crate::hold::{Hold, HoldScope};
use crate::id::ProjectId;

/// Returns how many workers of a project may start now, apart from holds: none while dispatch is paused, or before the
/// project's setup wizard has ended.
///
/// The slot that is reserved for judges while a review can be judged is not included.
pub fn free_worker_slots(snapshot: &Snapshot, project: &ProjectId, now: Timestamp) -> u32 {
    let view = snapshot.projects.get(project);
    if snapshot.paused || view.is_some_and(|view| wizard_comes_first(project, view, snapshot)) {
        return 0;
    }
    let is_agent = |run: &&LiveRun| run.agent != AgentType::Gates && run.takes_slot();
    let count = |fits: &dyn Fn(&LiveRun) -> bool| {
        let agents = snapshot.live.iter().filter(is_agent);
        let live = agents.filter(|run| fits(run)).count();
        u32::try_from(live).unwrap_or(u32::MAX)
    };
    let total = snapshot.slots.total;
    // phases of plans run on this host, and only its slots are theirs
    let all = count(&LiveRun::takes_agent_slot);
    let judges = count(&|run| run.agent == AgentType::Judge && run.takes_agent_slot());
    let mut reviews = snapshot.reviews.iter();
    let review_waits = reviews.any(|review| review_obstacles(review, snapshot, now).is_empty());
    let kept = u32::from(review_waits && total >= 2);
    let mut free = total.saturating_sub(all);
    free = free.min((total - kept).saturating_sub(all - judges));
    if let Some(max) = view.and_then(|view| view.max_concurrency) {
        free = free.min(max.saturating_sub(count(&|run| run.project == *project)));
    }
    if let Some(max) = snapshot.slots.by_agent.get(&AgentType::Worker) {
        free = free.min(max.saturating_sub(count(&|run| run.agent == AgentType::Worker)));
    }
    free
}

/// Returns the holds for which a run would be the probe.
///
/// # Errors
/// The hold that keeps it from starting.
pub fn pass_holds<'a>(
    snapshot: &'a Snapshot,
    project: &ProjectId,
    provider: &str,
    model: Option<&str>,
    now: Timestamp,
) -> Result<Vec<HoldScope>, &'a Hold> {
    let covering = snapshot
        .holds
        .iter()
        .filter(|hold| covers(hold, project, provider, model));
    let mut probes = Vec::new();
    for hold in covering {
        if stands(hold, now) || is_probed(hold, snapshot) {
            return Err(hold);
        }
        probes.push(hold.scope.clone());
    }
    Ok(probes)
}
