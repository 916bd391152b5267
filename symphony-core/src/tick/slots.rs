//! Who gets the slots that are free.

use std::collections::{BTreeMap, BTreeSet};

use super::live_run::LiveRun;
use super::reason::Reason;
use super::rotation::{left_to_others, take_probes};
use super::schedule::{Action, Schedule, StartRun};
use super::slot_limit::SlotLimit;
use super::snapshot::Snapshot;
use super::waiting::Waiting;
use crate::Timestamp;
use crate::agent::AgentType;
use crate::hold::HoldScope;
use crate::id::ProjectId;
use crate::issue::Priority;
use crate::placement::{Place, Pool, place_of};

/// Counts of live runs, kept up to date while runs are planned.
///
/// Those of other hosts take none of this host's slots: a worker has slots of its own. The limits of a project and of an agent type are for
/// all hosts.
#[derive(Debug, Default)]
struct Load {
    total: u32,
    gates: u32,
    judges: u32,
    by_project: BTreeMap<ProjectId, u32>,
    by_agent: BTreeMap<AgentType, u32>,
    queued: BTreeMap<Pool, u32>,
    /// Runs that workers have begun.
    begun: BTreeMap<Pool, u32>,
}

impl Load {
    fn of(live: &[LiveRun]) -> Self {
        let mut load = Self::default();
        for run in live.iter().filter(|run| run.takes_slot()) {
            if let Some(pool) = run.whereabouts.queued_in() {
                *load.queued.entry(pool.clone()).or_default() += 1;
            }
            if let Some(pool) = run.whereabouts.begun_in() {
                *load.begun.entry(pool.clone()).or_default() += 1;
            }
            load.add(&run.project, &run.agent, run.whereabouts.is_here());
        }
        load
    }

    fn start(&mut self, start: &StartRun, snapshot: &Snapshot) {
        let pool = pool_of(start, snapshot);
        if let Some(pool) = pool {
            *self.queued.entry(pool.clone()).or_default() += 1;
        }
        self.add(&start.project, &start.agent, pool.is_none());
    }

    fn add(&mut self, project: &ProjectId, agent: &AgentType, is_here: bool) {
        if *agent == AgentType::Gates {
            self.gates += u32::from(is_here);
            return;
        }
        if is_here {
            self.total += 1;
            self.judges += u32::from(*agent == AgentType::Judge);
        }
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
        let of_place = match pool_of(start, snapshot) {
            Some(pool) => self.limit_of_pool(pool, snapshot),
            None => self.limit_here(start, snapshot, keep_judge_slot),
        };
        if of_place.is_some() || start.agent == AgentType::Gates {
            return of_place;
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

    /// Returns the limit of this host that keeps a run from starting.
    fn limit_here(
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
        let is_kept = keep_judge_slot && !start.target.is_review() && total >= 2;
        (is_kept && others >= total - 1).then_some(SlotLimit::KeptForJudge(total))
    }

    fn limit_of_pool(&self, pool: &Pool, snapshot: &Snapshot) -> Option<SlotLimit> {
        let staff = snapshot.staff.get(pool).copied();
        let begun = self.begun.get(pool).copied().unwrap_or(0);
        let max = staff.unwrap_or_default().waiting_max(begun);
        let queued = self.queued.get(pool).copied().unwrap_or(0);
        (queued >= max).then(|| SlotLimit::Pool(pool.clone(), max))
    }
}

/// Returns the pool in which a run would wait; `None` if this host starts it.
fn pool_of<'a>(start: &StartRun, snapshot: &'a Snapshot) -> Option<&'a Pool> {
    let project = snapshot.projects.get(&start.project)?;
    match place_of(&start.target, &start.agent, project.pool.as_ref()) {
        Place::Pool(pool) => Some(pool),
        Place::Control => None,
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
    let mut load = Load::of(&snapshot.live);
    // A slot that no judge can take now would be idle until one can, for example for minutes after each verdict.
    let keep_judge_slot = waiting.iter().any(|item| {
        let limit = load.limit(&item.start, snapshot, false);
        item.start.target.is_review()
            && pool_of(&item.start, snapshot).is_none()
            && matches!(limit, None | Some(SlotLimit::Total(_)))
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
        load.start(&item.start, snapshot);
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
            load.start(&item.start, snapshot);
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
