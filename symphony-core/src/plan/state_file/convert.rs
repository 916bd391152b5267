//! From a plan's state to the document and back.

use crate::Timestamp;

use super::document::{PendingDecision, PhaseRecord, RetryRecord, StateFile};
use crate::id::PlanPhaseId;
use crate::plan::document::Plan;
use crate::plan::failure::{FailureClass, RetryPolicy};
use crate::plan::state::{
    Choice, PhaseFailure, PhaseProgress, PhaseState, PhaseStatus, PlanState, PlanStatus,
};

/// What a state file contains beside the plan and its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateHeader {
    /// Who writes the file; `None` if a skill does.
    pub managed_by: Option<String>,
    /// The plan file.
    pub plan_path: String,
    /// How failed phases are tried again.
    pub retry_policy: RetryPolicy,
}

impl StateFile {
    /// Renders a plan's state as a document.
    pub fn from_state(header: StateHeader, plan: Plan, state: &PlanState) -> Self {
        let counts = state.counts();
        let pending = |(id, progress): (&PlanPhaseId, &PhaseProgress)| pending(id, progress);
        let record =
            |(id, progress): (&PlanPhaseId, &PhaseProgress)| (id.clone(), record(progress));
        Self {
            managed_by: header.managed_by,
            plan_path: header.plan_path,
            started_at: state.started_at,
            completed_at: state.completed_at,
            status: state.status,
            completed_count: counts.complete,
            failed_count: counts.failed,
            plan,
            retry_policy: header.retry_policy,
            pending_decisions: state.phases.iter().filter_map(pending).collect(),
            phases: state.phases.iter().map(record).collect(),
        }
    }

    /// Reads the state of the document's plan. Phases of the plan that have no record are `pending`.
    pub fn to_state(&self) -> PlanState {
        let asked_at = |id: &PlanPhaseId| {
            let mut decisions = self.pending_decisions.iter();
            decisions.find(|decision| decision.phase_id == *id)
        };
        let known = self
            .plan
            .phases
            .iter()
            .filter_map(|phase| PlanPhaseId::parse(phase.id.as_str()).ok());
        let mut state = PlanState::new(&known.collect::<Vec<_>>(), self.started_at);
        state.status = self.status;
        state.is_abort_requested = self.status == PlanStatus::Aborted;
        state.completed_at = self.completed_at;
        for (id, progress) in &mut state.phases {
            if let Some(record) = self.phases.get(id) {
                // A record that somebody edited may lack its times: the plan's beginning replaces them.
                let asked_at = asked_at(id).map_or(self.started_at, |decision| decision.asked_at);
                *progress = read(record, self.started_at, asked_at);
            }
        }
        state
    }
}

fn record(progress: &PhaseProgress) -> PhaseRecord {
    let failure = progress.failure.as_ref();
    PhaseRecord {
        status: progress.status(),
        artifacts: progress.artifacts.clone(),
        started_at: progress.started_at,
        completed_at: progress.completed_at,
        error: failure.map(|failure| failure.error.clone()),
        retry_count: Some(progress.retry_count).filter(|count| *count > 0),
        retry_history: progress.history.iter().map(retry_record).collect(),
        last_error_category: failure.map(|failure| failure.class),
        next_retry_at: match progress.state {
            PhaseState::Retrying { due_at } => Some(due_at),
            _ => None,
        },
        skipped: match progress.state {
            PhaseState::Complete { skipped } => skipped.then_some(true),
            _ => None,
        },
        unconfirmed: progress.is_unconfirmed.then_some(true),
        lease_until: None,
        lease_ms: None,
    }
}

fn retry_record(failure: &PhaseFailure) -> RetryRecord {
    RetryRecord {
        attempt: failure.attempt,
        error: failure.error.clone(),
        error_category: failure.class,
        at: failure.at,
    }
}

fn pending(id: &PlanPhaseId, progress: &PhaseProgress) -> Option<PendingDecision> {
    let PhaseState::AwaitingDecision { asked_at } = progress.state else {
        return None;
    };
    let failure = progress.failure.as_ref();
    Some(PendingDecision {
        phase_id: id.clone(),
        error: failure.map_or_else(String::new, |failure| failure.error.clone()),
        error_category: failure.map_or(FailureClass::Unknown, |failure| failure.class),
        retry_count: progress.retry_count,
        options: Choice::NAMES
            .iter()
            .map(|name| (*name).to_owned())
            .collect(),
        asked_at,
    })
}

fn read(record: &PhaseRecord, plan_began: Timestamp, asked_at: Timestamp) -> PhaseProgress {
    let since = record.started_at.unwrap_or(plan_began);
    let state = match record.status {
        PhaseStatus::Pending => PhaseState::Pending,
        PhaseStatus::Ready => PhaseState::Ready,
        PhaseStatus::Running => PhaseState::Running { run: None, since },
        PhaseStatus::Retrying => PhaseState::Retrying {
            due_at: record.next_retry_at.unwrap_or(plan_began),
        },
        PhaseStatus::AwaitingDecision => PhaseState::AwaitingDecision { asked_at },
        PhaseStatus::Complete => PhaseState::Complete {
            skipped: record.skipped == Some(true),
        },
        PhaseStatus::Failed => PhaseState::Failed,
        PhaseStatus::Blocked => PhaseState::Blocked,
        PhaseStatus::Aborted => PhaseState::Aborted,
    };
    let history: Vec<PhaseFailure> = record
        .retry_history
        .iter()
        .map(|entry| PhaseFailure::new(entry.attempt, &entry.error, entry.error_category, entry.at))
        .collect();
    let failed_attempts = history.last().map_or(0, |last| last.attempt);
    let is_counted = matches!(record.status, PhaseStatus::Running | PhaseStatus::Complete)
        && record.skipped != Some(true);
    let failure = record.error.as_ref().map(|error| {
        let class = record.last_error_category.unwrap_or(FailureClass::Unknown);
        let at = history.last().map_or(since, |last| last.at);
        PhaseFailure::new(failed_attempts, error, class, at)
    });
    PhaseProgress {
        state,
        attempts: failed_attempts.saturating_add(u32::from(is_counted)),
        retry_count: record.retry_count.unwrap_or(0),
        crash_count: 0,
        is_continued: false,
        is_unconfirmed: record.unconfirmed == Some(true),
        started_at: record.started_at,
        completed_at: record.completed_at,
        failure,
        history,
        artifacts: record.artifacts.clone(),
    }
}
