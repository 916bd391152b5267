//! Runs of a project's own agents.

use super::live_run::LiveRun;
use super::snapshot::{ProjectView, Snapshot};
use crate::agent::AgentType;
use crate::id::ProjectId;
use crate::project::WizardState;

/// Returns whether a project's setup wizard is still to run, or running: nothing else of the project starts before it
/// has ended.
pub(super) fn wizard_comes_first(
    id: &ProjectId,
    project: &ProjectView,
    snapshot: &Snapshot,
) -> bool {
    let waits = project.agents.wizard_enabled && project.agents.wizard == WizardState::Pending;
    waits || live_run(id, &AgentType::Wizard, snapshot).is_some()
}

pub(super) fn live_run<'a>(
    id: &ProjectId,
    agent: &AgentType,
    snapshot: &'a Snapshot,
) -> Option<&'a LiveRun> {
    snapshot.live.iter().find(|run| {
        run.project == *id && run.agent == *agent && run.issue.is_none() && run.plan.is_none()
    })
}
