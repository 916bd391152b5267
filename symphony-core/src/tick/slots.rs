//! Who gets the slots that are free.

use std::collections::{BTreeMap, BTreeSet};

use super::reason::{Reason, SlotLimit};
use super::rotation::{left_to_others, take_probes};
use super::schedule::{Action, Schedule, StartRun};
use super::snapshot::Snapshot;
use super::waiting::Waiting;
use crate::Timestamp;
use crate::agent::AgentType;
use crate::hold::HoldScope;
use crate::id::ProjectId;
use crate::issue::Priority;

/// Counts of live runs, kept up to date while runs are planned.
#[derive(Debug, Default)]
struct Load {
    total: u32,
    gates: u32,
    judges: u32,
    by_project: BTreeMap<ProjectId, u32>,
    by_agent: BTreeMap<AgentType, u32>,
}

impl Load {
    fn add(&mut self, project: &ProjectId, agent: &AgentType) {
        if *agent == AgentType::Gates {
            self.gates += 1;
            return;
        }
        self.total += 1;
        self.judges += u32::from(*agent == AgentType::Judge);
        *self.by_project.entry(project.clone()).or_default() += 1;
        *self.by_agent.entry(agent.clone()).or_default() += 1;
    }

    fn of_project(&self, project: &ProjectId) -> u32 {
        self.by_project.get(project).copied().unwrap_or(0)
    }

    /// Returns the limit that keeps a run from starting.
    fn limit(
        &self,
        start: &StartRun,
        snapshot: &Snapshot,
        keep_judge_slot: bool,
    ) -> Option<SlotLimit> {
        if start.agent == AgentType::Gates {
            let max = snapshot.slots.gates;
            return (self.gates >= max).then_some(SlotLimit::Gates(max));
        }
        let total = snapshot.slots.total;
        if self.total >= total {
            return Some(SlotLimit::Total(total));
        }
        let others = self.total - self.judges;
        if keep_judge_slot && !start.target.is_review() && total >= 2 && others >= total - 1 {
            return Some(SlotLimit::KeptForJudge(total));
        }
        let project = snapshot
            .projects
            .get(&start.project)
            .and_then(|p| p.max_concurrency);
        if let Some(max) = project.filter(|max| self.of_project(&start.project) >= *max) {
            return Some(SlotLimit::Project(max));
        }
        let agent = snapshot.slots.by_agent.get(&start.agent).copied();
        let taken = self.by_agent.get(&start.agent).copied().unwrap_or(0);
        agent
            .filter(|max| taken >= *max)
            .map(|max| SlotLimit::Agent(start.agent.clone(), max))
    }
}

/// What waits in one tier and priority, by project, the next one last.
type Queue = BTreeMap<ProjectId, Vec<Waiting>>;

/// Gives out slots: first to the probes of holds, which rotate; then by tier, then priority, then the project with
/// fewest live runs, then oldest, then identifier.
///
/// A probe takes one slot, once in a hold's time, and everything that the hold covers waits for it. If it waited for
/// its place in the queue, others could keep it from a slot for ever.
///
/// The number of live runs changes with each start, so the order inside a tier and priority is decided again each
/// time: one queue a project, and the project with the least load is served next.
pub(super) fn dispatch(
    snapshot: &Snapshot,
    mut waiting: Vec<Waiting>,
    now: Timestamp,
    schedule: &mut Schedule,
) {
    let mut load = Load::default();
    for run in snapshot.live.iter().filter(|run| run.takes_slot()) {
        load.add(&run.project, &run.agent);
    }
    // A slot that no judge can take now would be idle until one can, for example for minutes after each verdict.
    let keep_judge_slot = waiting.iter().any(|item| {
        let limit = load.limit(&item.start, snapshot, false);
        item.start.target.is_review() && matches!(limit, None | Some(SlotLimit::Total(_)))
    });
    let no_slot = |load: &Load, start: &StartRun| {
        let limit = load.limit(start, snapshot, keep_judge_slot);
        limit.map(|limit| Reason::NoSlot { limit })
    };
    let mut probing: BTreeSet<HoldScope> = BTreeSet::new();
    for item in take_probes(snapshot, &mut waiting) {
        let left = left_to_others(snapshot, &item, &probing, now);
        if let Some(reason) = left.or_else(|| no_slot(&load, &item.start)) {
            schedule.wait(&item.start, vec![reason]);
            continue;
        }
        probing.extend(item.start.probes.iter().cloned());
        load.add(&item.start.project, &item.start.agent);
        schedule.actions.push(Action::StartRun(item.start));
    }
    let mut groups: BTreeMap<(u8, Priority), Queue> = BTreeMap::new();
    for item in waiting {
        let queue = groups.entry((item.tier, item.priority)).or_default();
        queue
            .entry(item.start.project.clone())
            .or_default()
            .push(item);
    }
    for mut queue in groups.into_values() {
        for items in queue.values_mut() {
            items.sort_by(|a, b| b.turn().cmp(&a.turn()));
        }
        while let Some(project) = next_project(&queue, &load) {
            let Some(item) = queue.get_mut(&project).and_then(Vec::pop) else {
                queue.remove(&project);
                continue;
            };
            if let Some(reason) = no_slot(&load, &item.start) {
                schedule.wait(&item.start, vec![reason]);
                continue;
            }
            load.add(&item.start.project, &item.start.agent);
            schedule.actions.push(Action::StartRun(item.start));
        }
    }
}

/// Returns the project whose turn it is: fewest live runs, then the oldest waiting issue, then its identifier.
fn next_project(queue: &Queue, load: &Load) -> Option<ProjectId> {
    queue
        .iter()
        .filter_map(|(project, items)| {
            let first = items.last()?;
            Some(((load.of_project(project), first.turn()), project))
        })
        .min()
        .map(|(_, project)| project.clone())
}
