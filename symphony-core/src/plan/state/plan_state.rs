//! Where a plan stands.

use std::collections::BTreeMap;

use crate::Timestamp;
use serde::{Deserialize, Serialize};

use super::phase_state::{PhaseProgress, PhaseStatus};
use crate::closed_set::closed_set;
use crate::id::PlanPhaseId;

closed_set!(
    /// Where a plan stands.
    PlanStatus, "plan status", {
        /// Under way.
        Running = "running",
        /// Starts nothing, by a person's order.
        Paused = "paused",
        /// Nothing can move before a person decides.
        AwaitingUserDecision = "awaiting_user_decision",
        /// Every phase is complete.
        Completed = "completed",
        /// Ended with phases that are not complete.
        Failed = "failed",
        /// Given up by a person.
        Aborted = "aborted",
    }
);

impl PlanStatus {
    /// Says whether the plan has ended.
    pub const fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Aborted)
    }
}

/// How many phases stand where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlanCounts {
    /// All of them.
    pub total: usize,
    /// Complete, skipped ones included.
    pub complete: usize,
    /// Failed for good.
    pub failed: usize,
}

/// A plan's progress. Changed by [`apply`](super::apply) alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanState {
    /// Where it stands.
    pub status: PlanStatus,
    /// Whether a person gave the whole plan up: it then ends as `aborted`.
    pub is_abort_requested: bool,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Its phases.
    pub phases: BTreeMap<PlanPhaseId, PhaseProgress>,
}

/// Says how a plan ends whose phases stand so; none while one can still go on.
pub(super) fn end_of(
    mut statuses: impl Iterator<Item = PhaseStatus> + Clone,
    is_aborted: bool,
) -> Option<PlanStatus> {
    let mut all = statuses.clone();
    if !all.all(PhaseStatus::is_terminal) {
        return None;
    }
    Some(match is_aborted {
        _ if statuses.all(|status| status == PhaseStatus::Complete) => PlanStatus::Completed,
        true => PlanStatus::Aborted,
        false => PlanStatus::Failed,
    })
}

impl PlanState {
    /// Makes the state of a plan that begins, all phases `pending`; [`settle`](super::settle) finds the ready ones.
    pub fn new<'a>(ids: impl IntoIterator<Item = &'a PlanPhaseId>, now: Timestamp) -> Self {
        let pending = |id: &PlanPhaseId| (id.clone(), PhaseProgress::default());
        Self {
            status: PlanStatus::Running,
            is_abort_requested: false,
            started_at: now,
            completed_at: None,
            phases: ids.into_iter().map(pending).collect(),
        }
    }

    /// Returns where a phase stands; `pending` for one that the state does not know.
    pub fn phase_status(&self, phase: &PlanPhaseId) -> PhaseStatus {
        self.phases
            .get(phase)
            .map_or(PhaseStatus::Pending, PhaseProgress::status)
    }

    /// Returns how the plan ends when none of its runs is alive; none while a phase can still go on.
    pub fn end_status(&self) -> Option<PlanStatus> {
        let statuses = self.phases.values().map(PhaseProgress::status);
        end_of(statuses, self.is_abort_requested)
    }

    /// Counts phases.
    pub fn counts(&self) -> PlanCounts {
        let mut counts = PlanCounts {
            total: self.phases.len(),
            ..PlanCounts::default()
        };
        for progress in self.phases.values() {
            match progress.status() {
                PhaseStatus::Complete => counts.complete += 1,
                PhaseStatus::Failed => counts.failed += 1,
                _ => {}
            }
        }
        counts
    }
}
