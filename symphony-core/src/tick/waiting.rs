//! What could start if a slot is free, in the order of dispatch.

use super::holds::covers;
use super::schedule::StartRun;
use super::snapshot::Snapshot;
use crate::Timestamp;
use crate::agent::AgentType;
use crate::id::{IssueId, PhaseName, PlanId, ProjectId};
use crate::issue::Priority;
use crate::profile::AgentChoice;
use crate::run::RunTarget;

/// Something that could start if a slot is free.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) tier: u8,
    pub(super) priority: Priority,
    pub(super) created_at: Timestamp,
    pub(super) start: StartRun,
}

impl Waiting {
    /// Returns the order within a tier, a priority and a project: oldest first, then identifiers as a human counts.
    pub(super) fn turn(&self) -> (Timestamp, TurnId<'_>, &AgentType) {
        let target = &self.start.target;
        let id = target.issue().map(|id| (id.prefix(), id.number(), id));
        (self.created_at, (id, target.plan()), &self.start.agent)
    }
}

/// The last tie-breaker: the prefix, the number and the text of an issue's identifier, or the id of a plan.
type TurnId<'a> = (Option<(&'a str, u64, &'a IssueId)>, Option<&'a PlanId>);

/// Tiers of dispatch, first to last.
pub(super) mod tier {
    /// The setup wizard.
    pub(in crate::tick) const WIZARD: u8 = 0;
    /// Gates, and judges: they have slots of their own, or one that is kept.
    pub(in crate::tick) const REVIEW: u8 = 1;
    /// Phase agents, whatever their profile.
    pub(in crate::tick) const PHASE: u8 = 2;
    /// Workers, planners, intake.
    pub(in crate::tick) const READY: u8 = 3;
    /// What runs when there is nothing else to do.
    pub(in crate::tick) const IDLE: u8 = 4;
}

/// Returns a first run, when there is a provider for it; `choice` is that of its issue.
pub(super) fn start_run(
    snapshot: &Snapshot,
    project: &ProjectId,
    agent: AgentType,
    target: RunTarget,
    phase: Option<PhaseName>,
    choice: Option<&AgentChoice>,
) -> Option<StartRun> {
    let view = snapshot.projects.get(project)?;
    let asked = view.asked(&target, &agent, phase.as_ref(), choice);
    let (provider, model) = (asked.provider.ok()?, asked.model);
    let probes = snapshot
        .holds
        .iter()
        .filter(|hold| covers(hold, project, provider, model))
        .map(|hold| hold.scope.clone())
        .collect();
    Some(StartRun {
        project: project.clone(),
        target,
        agent,
        phase,
        attempt: 1,
        provider: provider.to_owned(),
        probes,
    })
}
