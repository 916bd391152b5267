//! Plans that have not ended, a line each.

use serde::Serialize;
use symphony_core::id::{PlanId, PlanPhaseId};
use symphony_core::plan::state::{PhaseStatus, PlanStatus};
use symphony_store::PlanRecord;

use super::plan::few;
use crate::text::{Listed, Page, Table};

/// A plan that has not ended, or whose work its branch does not have yet, on a line.
#[derive(Debug, Clone, Serialize)]
pub struct OpenPlanView {
    /// Its id.
    pub id: PlanId,
    /// The plan file, relative to the root of the repository.
    pub path: String,
    /// Its status.
    pub status: PlanStatus,
    /// How many phases it has.
    pub total: usize,
    /// How many of its phases are complete.
    pub completed: usize,
    /// How many of its phases have failed.
    pub failed: usize,
    /// The phases that agents are working on.
    pub running: Vec<PlanPhaseId>,
    /// The phases that wait for a person.
    pub awaiting_decision: Vec<PlanPhaseId>,
    /// The complete phases that neither their agents nor checks confirmed.
    pub unconfirmed: Vec<PlanPhaseId>,
    /// The branch that lacks the work of a plan that has completed.
    pub lacking_branch: Option<String>,
}

impl OpenPlanView {
    /// Views a plan.
    pub fn of(record: &PlanRecord) -> Self {
        let counts = record.state.counts();
        let phases = record.state.phases.iter();
        let at = |status| {
            let there = phases.clone();
            there
                .filter(move |(_, progress)| progress.status() == status)
                .map(|(id, _)| id.clone())
                .collect()
        };
        Self {
            id: record.id.clone(),
            path: record.path.clone(),
            status: record.state.status,
            total: counts.total,
            completed: counts.complete,
            failed: counts.failed,
            running: at(PhaseStatus::Running),
            awaiting_decision: at(PhaseStatus::AwaitingDecision),
            unconfirmed: phases
                .clone()
                .filter(|(_, progress)| progress.is_unconfirmed)
                .map(|(id, _)| id.clone())
                .collect(),
            lacking_branch: record
                .target
                .as_ref()
                .filter(|_| record.state.status == PlanStatus::Completed)
                .map(|target| target.branch.clone()),
        }
    }

    fn waits_for_person(&self) -> String {
        match &self.lacking_branch {
            Some(branch) => format!("not on {branch} yet"),
            None if self.status == PlanStatus::AwaitingUserDecision
                && self.completed == self.total =>
            {
                "not accepted".to_owned()
            }
            None => few(&self.awaiting_decision),
        }
    }
}

impl Listed for OpenPlanView {
    fn write_all(items: &[Self], page: &mut Page) {
        let mut table = Table::new([
            "PLAN",
            "STATUS",
            "COMPLETE",
            "RUNNING",
            "WAITS FOR YOU",
            "FILE",
        ]);
        for plan in items {
            table.row([
                plan.id.to_string(),
                plan.status.words().to_owned(),
                format!("{}/{}", plan.completed, plan.total),
                few(&plan.running),
                plan.waits_for_person(),
                plan.path.clone(),
            ]);
        }
        page.table(&table);
    }
}
