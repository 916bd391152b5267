//! The current result of the plan of a state file.

use serde::Serialize;

use super::document::StateFile;
use super::error::StateFileError;
use crate::Timestamp;
use crate::id::PlanPhaseId;
use crate::plan::graph::Dag;
use crate::plan::state::PhaseStatus;
use crate::plan::view::PlanSummary;

/// The current result of the plan of a state file. In JSON the fields of the summary, and `running`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateSummary {
    /// The plan and its phases.
    #[serde(flatten)]
    pub summary: PlanSummary,
    /// The phases that sessions work on.
    pub running: Vec<LeasedPhase>,
}

/// A phase that a session works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeasedPhase {
    /// The phase.
    pub id: PlanPhaseId,
    /// Since when it was first tried.
    pub started_at: Option<Timestamp>,
    /// How long it belongs to its session; `None` without a lease.
    pub lease_until: Option<Timestamp>,
    /// Whether the lease has run out: `ready` offers the phase again.
    pub lease_has_run_out: bool,
}

/// Sums up the plan of a state file, whoever manages it. Changes nothing.
///
/// # Errors
/// When the file is not sound.
pub fn summarise(file: &StateFile, now: Timestamp) -> Result<StateSummary, StateFileError> {
    let dag = Dag::new(&file.plan.phases)?;
    let running = dag.order().iter().filter_map(|at| {
        let id = dag.ids().get(*at)?;
        let record = file.phases.get(id)?;
        (record.status == PhaseStatus::Running).then(|| LeasedPhase {
            id: id.clone(),
            started_at: record.started_at,
            lease_until: record.lease_until,
            lease_has_run_out: record.lease_until.is_some_and(|until| until <= now),
        })
    });
    Ok(StateSummary {
        running: running.collect(),
        summary: PlanSummary::new(&dag, &file.to_state(), now),
    })
}
