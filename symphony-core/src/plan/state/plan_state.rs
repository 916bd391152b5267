//! The state of a plan.

use std::collections::{BTreeMap, BTreeSet};

use crate::Timestamp;
use serde::{Deserialize, Serialize};

use super::phase_state::{PhaseProgress, PhaseStatus};
use crate::closed_set::closed_set;
use crate::id::PlanPhaseId;

closed_set!(
    /// The state of a plan.
    PlanStatus, "plan status", {
        /// Under way.
        Running = "running",
        /// Starts nothing, by a person's order.
        Paused = "paused",
        /// Nothing can move before a person decides.
        AwaitingUserDecision = "awaiting_user_decision",
        /// Every phase is complete, and the pull request of its work is open.
        Review = "review",
        /// Every phase is complete, and the work is in its final place.
        Completed = "completed",
        /// Ended with phases that are not complete.
        Failed = "failed",
        /// Given up by a person.
        Aborted = "aborted",
    }
);

impl PlanStatus {
    /// Returns it in words for people; the name is for programs.
    pub const fn words(self) -> &'static str {
        match self {
            Self::AwaitingUserDecision => "waiting for your decision",
            status => status.name(),
        }
    }

    /// Returns whether the plan has ended.
    pub const fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Aborted)
    }
}

/// What follows when the last phase of a plan is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    /// The plan ends: its phases worked in the user's own folder.
    Ends,
    /// The work waits on a branch of its own: a pull request is opened, and the plan ends with its merge.
    OpensPullRequest,
}

/// How many phases are in which state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlanCounts {
    /// All of them.
    pub total: usize,
    /// Complete, skipped ones included.
    pub complete: usize,
    /// Failed for good.
    pub failed: usize,
}

/// A plan's progress. Changed by [`apply`](super::apply()) alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanState {
    /// Its state.
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

/// Returns how a plan with these phases ends; `None` while one can still continue, or while the merge of a pull request
/// will end it.
pub(super) fn end_of(
    mut statuses: impl Iterator<Item = PhaseStatus> + Clone,
    is_aborted: bool,
    completion: Completion,
) -> Option<PlanStatus> {
    let mut all = statuses.clone();
    if !all.all(PhaseStatus::is_terminal) {
        return None;
    }
    let is_complete = statuses.all(|status| status == PhaseStatus::Complete);
    match (is_complete, is_aborted, completion) {
        (true, true, Completion::OpensPullRequest) | (false, true, _) => Some(PlanStatus::Aborted),
        (true, false, Completion::OpensPullRequest) => None,
        (true, _, Completion::Ends) => Some(PlanStatus::Completed),
        (false, false, _) => Some(PlanStatus::Failed),
    }
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

    /// Returns the state of a phase; `pending` for one that the state does not know.
    pub fn phase_status(&self, phase: &PlanPhaseId) -> PhaseStatus {
        self.phases
            .get(phase)
            .map_or(PhaseStatus::Pending, PhaseProgress::status)
    }

    /// Returns how the plan ends when none of its runs is alive; `None` while a phase can still continue, or while the
    /// merge of a pull request will end it.
    pub fn end_status(&self, completion: Completion) -> Option<PlanStatus> {
        let statuses = self.phases.values().map(PhaseProgress::status);
        end_of(statuses, self.is_abort_requested, completion)
    }

    /// Returns whether every phase is complete, skipped ones included.
    pub fn is_complete(&self) -> bool {
        let mut phases = self.phases.values();
        phases.all(|progress| progress.status() == PhaseStatus::Complete)
    }

    /// Returns whether the pull request of the work should be opened now. After a rejection a person acts first.
    pub fn awaits_review(&self, completion: Completion) -> bool {
        completion == Completion::OpensPullRequest
            && self.status == PlanStatus::Running
            && !self.is_abort_requested
            && self.is_complete()
    }

    /// Returns whether a person may send complete phases back: nothing runs, and the work as a whole is under review or
    /// was rejected.
    pub(super) fn is_reviewed(&self) -> bool {
        let status = self.status;
        matches!(
            status,
            PlanStatus::Review | PlanStatus::AwaitingUserDecision
        ) && self.is_complete()
    }

    /// Returns whether the work of the plan is handed in once this phase completes: every other phase is complete, or
    /// its run has reported that it is (`reported`). Until then another phase may answer what a review asks for.
    pub fn is_last_to_complete(
        &self,
        phase: &PlanPhaseId,
        reported: &BTreeSet<PlanPhaseId>,
    ) -> bool {
        let mut others = self.phases.iter().filter(|(id, _)| *id != phase);
        others.all(|(id, progress)| {
            progress.status() == PhaseStatus::Complete || reported.contains(id)
        })
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
