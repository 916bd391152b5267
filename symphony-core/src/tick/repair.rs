//! What stops an issue that repairs gates: there is nothing to repair, or that is not known yet.

use super::holds::gates_hold_of;
use super::reason::Reason;
use super::snapshot::{Candidate, ProjectView, Snapshot};
use crate::gates::{BaseGates, RepairNeed, repair_need};
use crate::id::ProjectId;

/// Returns how the gates of its project affect an issue: one that repairs some waits until they are known to be red on
/// the base, all others until they are green there.
pub(super) fn gates_obstacle(candidate: &Candidate, snapshot: &Snapshot) -> Option<Reason> {
    let hold = gates_hold_of(&candidate.project, snapshot);
    if candidate.repairs.is_empty() {
        return hold
            .map(Reason::held)
            .or_else(|| untried_gates(&candidate.project, snapshot));
    }
    let view = snapshot.projects.get(&candidate.project)?;
    let text = hold.map(|hold| hold.reason.as_str());
    let known = view.base_gates.as_ref().unwrap_or(&BaseGates::Untried);
    let gates = candidate.repairs.clone();
    match repair_need(&gates, known, text) {
        RepairNeed::Needed => None,
        RepairNeed::Untried => Some(Reason::GatesUntried { gates }),
        RepairNeed::Passes => Some(Reason::NothingToRepair { gates }),
        RepairNeed::ProgramMissing { gate } => Some(Reason::ProgramMissing {
            project: candidate.project.clone(),
            gate,
        }),
        RepairNeed::Held => hold.map(Reason::held),
    }
}

/// Returns whether gates of a project have to be tried on its base before an issue starts. If they hold the project,
/// its probe does that.
pub(super) fn needs_trial(project: &ProjectId, view: &ProjectView, snapshot: &Snapshot) -> bool {
    !view.untried_gates.is_empty()
        || view.base_gates == Some(BaseGates::Untried) && gates_hold_of(project, snapshot).is_none()
}

/// Returns the reason to wait for a trial of a project's gates on its base.
pub(super) fn untried_gates(project: &ProjectId, snapshot: &Snapshot) -> Option<Reason> {
    let view = snapshot.projects.get(project)?;
    (!view.untried_gates.is_empty()).then(|| Reason::GatesUntried {
        gates: view.untried_gates.clone(),
    })
}
