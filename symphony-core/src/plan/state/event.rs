//! What happens to a plan and its phases.

use crate::Timestamp;
use serde::{Deserialize, Serialize};

use super::phase_state::{PhaseFailure, PhaseStatus};
use super::plan_state::PlanStatus;
use crate::closed_set::closed_set;
use crate::id::{PlanPhaseId, PrId, RunId};
use crate::plan::artifact::Artifact;

closed_set!(
    /// Why a running phase goes back to `ready` without an attempt being used.
    ReleaseCause, "release cause", {
        /// Its provider is on hold.
        Held = "held",
        /// Its supervisor died.
        Crashed = "crashed",
        /// Its agent exited without reporting an outcome; it is asked once more.
        Silent = "silent",
        /// The project's folder was moved while it was running.
        Moved = "moved",
    }
);

/// How it is known that a phase is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirmation {
    /// Its agent or a person reported it, or its checks showed it.
    #[default]
    Confirmed,
    /// Its agent had no way to report it, and it has no checks.
    Unconfirmed,
}

impl Confirmation {
    /// Returns whether it is known.
    pub const fn is_confirmed(&self) -> bool {
        matches!(self, Self::Confirmed)
    }
}

/// Something that happened to a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PlanEvent {
    /// Something happened to a phase.
    Phase {
        /// The phase.
        phase: PlanPhaseId,
        /// The event.
        event: PhaseEvent,
    },
    /// A person stopped further starts.
    Paused,
    /// A person let it continue.
    Resumed,
    /// Nothing can move before a person decides.
    WaitingForDecision,
    /// Something can move again.
    Continued,
    /// Every phase is complete: the pull request of the work was opened.
    ReviewOpened {
        /// The pull request.
        pr: PrId,
    },
    /// A judge or a person rejected the work, or a person closed its pull request: a person decides how to continue.
    ReviewRejected {
        /// The pull request.
        pr: PrId,
    },
    /// A person approved the work that had been rejected.
    ReviewResumed {
        /// The pull request.
        pr: PrId,
    },
    /// A person gave the whole plan up.
    AbortRequested,
    /// Every phase has ended.
    Ended {
        /// How: `completed`, `failed` or `aborted`.
        status: PlanStatus,
        /// The time.
        at: Timestamp,
    },
    /// A person ordered more work on a plan that had ended.
    Reopened,
    /// A changed plan file was accepted: complete and running phases stay, others begin again.
    ChangesAccepted {
        /// The phases of the new plan.
        phases: Vec<PlanPhaseId>,
    },
}

/// Something that happened to a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PhaseEvent {
    /// All it waits for is complete, or its retry is due.
    MadeReady,
    /// An attempt began.
    Started {
        /// The run; `None` if Symphony does not run the phase itself.
        run: Option<RunId>,
        /// The time.
        at: Timestamp,
    },
    /// The attempt ended without counting.
    Released {
        /// The run.
        run: Option<RunId>,
        /// The reason.
        cause: ReleaseCause,
    },
    /// The attempt succeeded, and its work is merged if there is something to merge.
    Completed {
        /// The run.
        run: Option<RunId>,
        /// What it produced.
        artifacts: Vec<Artifact>,
        /// Whether that is known.
        #[serde(default, skip_serializing_if = "Confirmation::is_confirmed")]
        confirmation: Confirmation,
        /// The time.
        at: Timestamp,
    },
    /// The attempt failed, and another one will follow.
    RetryScheduled {
        /// The run.
        run: Option<RunId>,
        /// What went wrong.
        failure: PhaseFailure,
        /// The earliest time of the next attempt.
        due_at: Timestamp,
    },
    /// The run could not be prepared: no attempt is used, and another run follows.
    PutOff {
        /// The run.
        run: Option<RunId>,
        /// What kept it from being prepared.
        failure: PhaseFailure,
        /// The earliest time of the next run.
        due_at: Timestamp,
    },
    /// The attempt failed, and a person has to decide how to continue.
    DecisionAsked {
        /// The run.
        run: Option<RunId>,
        /// What went wrong.
        failure: PhaseFailure,
    },
    /// The attempt failed, and nothing follows.
    Failed {
        /// The run.
        run: Option<RunId>,
        /// What went wrong.
        failure: PhaseFailure,
    },
    /// No one is asked: the phase that awaited a decision has failed.
    GivenUp {
        /// The time.
        at: Timestamp,
    },
    /// A person ordered one more attempt: the count stays, the error goes.
    RetriedOnce,
    /// A person ordered a phase that had ended to begin again.
    Reset,
    /// A person skipped the phase.
    Skipped {
        /// The note that replaces its work.
        note: Artifact,
        /// The time.
        at: Timestamp,
    },
    /// A person gave the phase up.
    Aborted {
        /// The time.
        at: Timestamp,
    },
    /// A phase it waits for will not complete.
    Blocked {
        /// That phase.
        by: PlanPhaseId,
        /// The time.
        at: Timestamp,
    },
    /// All it waits for can complete again.
    Unblocked,
}

impl PhaseEvent {
    /// Returns the event's name, as it is in the log.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::MadeReady => "made_ready",
            Self::Started { .. } => "started",
            Self::Released { .. } => "released",
            Self::Completed { .. } => "completed",
            Self::RetryScheduled { .. } => "retry_scheduled",
            Self::PutOff { .. } => "put_off",
            Self::DecisionAsked { .. } => "decision_asked",
            Self::Failed { .. } => "failed",
            Self::GivenUp { .. } => "given_up",
            Self::RetriedOnce => "retried_once",
            Self::Reset => "reset",
            Self::Skipped { .. } => "skipped",
            Self::Aborted { .. } => "aborted",
            Self::Blocked { .. } => "blocked",
            Self::Unblocked => "unblocked",
        }
    }

    /// Returns the status after the event.
    pub const fn target(&self) -> PhaseStatus {
        match self {
            Self::MadeReady | Self::Released { .. } | Self::RetriedOnce => PhaseStatus::Ready,
            Self::Started { .. } => PhaseStatus::Running,
            Self::Completed { .. } | Self::Skipped { .. } => PhaseStatus::Complete,
            Self::RetryScheduled { .. } | Self::PutOff { .. } => PhaseStatus::Retrying,
            Self::DecisionAsked { .. } => PhaseStatus::AwaitingDecision,
            Self::Failed { .. } | Self::GivenUp { .. } => PhaseStatus::Failed,
            Self::Reset | Self::Unblocked => PhaseStatus::Pending,
            Self::Aborted { .. } => PhaseStatus::Aborted,
            Self::Blocked { .. } => PhaseStatus::Blocked,
        }
    }

    /// Returns the run that reports, for events that end an attempt.
    pub(super) const fn reporting_run(&self) -> Option<&Option<RunId>> {
        match self {
            Self::Released { run, .. }
            | Self::Completed { run, .. }
            | Self::RetryScheduled { run, .. }
            | Self::PutOff { run, .. }
            | Self::DecisionAsked { run, .. }
            | Self::Failed { run, .. } => Some(run),
            _ => None,
        }
    }
}

impl PlanEvent {
    /// Wraps what happened to a phase.
    pub const fn of(phase: PlanPhaseId, event: PhaseEvent) -> Self {
        Self::Phase { phase, event }
    }

    /// Returns the event's name, as it is in the log.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Phase { event, .. } => event.name(),
            Self::Paused => "paused",
            Self::Resumed => "resumed",
            Self::WaitingForDecision => "waiting_for_decision",
            Self::Continued => "continued",
            Self::ReviewOpened { .. } => "review_opened",
            Self::ReviewRejected { .. } => "review_rejected",
            Self::ReviewResumed { .. } => "review_resumed",
            Self::AbortRequested => "abort_requested",
            Self::Ended { .. } => "ended",
            Self::Reopened => "reopened",
            Self::ChangesAccepted { .. } => "changes_accepted",
        }
    }
}
