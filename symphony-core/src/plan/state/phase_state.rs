//! The state of a phase.

use crate::Timestamp;
use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;
use crate::id::RunId;
use crate::plan::artifact::Artifact;
use crate::plan::failure::FailureClass;

/// Longest error text that is kept, in bytes: enough for a compiler's message; it is in a state file that is rewritten
/// at each change.
pub const ERROR_BYTES_MAX: usize = 4 * 1024;
/// Most failures that a phase's history keeps; the oldest go first. A person may order any number of retries.
pub const FAILURES_KEPT_MAX: usize = 20;

closed_set!(
    /// The state of a phase, by name.
    PhaseStatus, "phase status", {
        /// Waits for other phases.
        Pending = "pending",
        /// Can start.
        Ready = "ready",
        /// At work.
        Running = "running",
        /// Failed, and will be retried automatically.
        Retrying = "retrying",
        /// Failed, and waits for a person.
        AwaitingDecision = "awaiting_decision",
        /// Done, or skipped.
        Complete = "complete",
        /// Failed for good.
        Failed = "failed",
        /// Waits for a phase that will not complete.
        Blocked = "blocked",
        /// Given up by a person.
        Aborted = "aborted",
    }
);

impl PhaseStatus {
    /// Returns it in words for people; the name is for programs.
    pub const fn words(self) -> &'static str {
        match self {
            Self::AwaitingDecision => "waiting for your decision",
            status => status.name(),
        }
    }

    /// Returns whether the phase has ended: `complete`, `failed`, `blocked`, `aborted`.
    pub const fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::Complete | Self::Failed | Self::Blocked | Self::Aborted
        )
    }

    /// Returns whether phases that depend on this one wait in vain: `failed`, `blocked`, `aborted`.
    pub const fn blocks(self) -> bool {
        matches!(self, Self::Failed | Self::Blocked | Self::Aborted)
    }
}

/// The state of a phase, with the data that only this state has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum PhaseState {
    /// Waits for other phases.
    #[default]
    Pending,
    /// Can start.
    Ready,
    /// At work.
    Running {
        /// The run; `None` if Symphony does not run the phase itself.
        run: Option<RunId>,
        /// Since when.
        since: Timestamp,
    },
    /// Will be tried again.
    Retrying {
        /// The earliest time of the next attempt.
        due_at: Timestamp,
    },
    /// Waits for a person.
    AwaitingDecision {
        /// Since when.
        asked_at: Timestamp,
    },
    /// Done.
    Complete {
        /// Whether a person skipped it.
        skipped: bool,
    },
    /// Failed for good.
    Failed,
    /// Waits for a phase that will not complete.
    Blocked,
    /// Given up by a person.
    Aborted,
}

impl PhaseState {
    /// Returns the state's name.
    pub const fn status(&self) -> PhaseStatus {
        match self {
            Self::Pending => PhaseStatus::Pending,
            Self::Ready => PhaseStatus::Ready,
            Self::Running { .. } => PhaseStatus::Running,
            Self::Retrying { .. } => PhaseStatus::Retrying,
            Self::AwaitingDecision { .. } => PhaseStatus::AwaitingDecision,
            Self::Complete { .. } => PhaseStatus::Complete,
            Self::Failed => PhaseStatus::Failed,
            Self::Blocked => PhaseStatus::Blocked,
            Self::Aborted => PhaseStatus::Aborted,
        }
    }
}

/// One failed attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseFailure {
    /// Which attempt, from 1.
    pub attempt: u32,
    /// What happened; at most [`ERROR_BYTES_MAX`] bytes.
    pub error: String,
    /// Its class.
    pub class: FailureClass,
    /// The time.
    pub at: Timestamp,
}

impl PhaseFailure {
    /// Creates a record, cutting an error text that is too long.
    pub fn new(attempt: u32, error: &str, class: FailureClass, at: Timestamp) -> Self {
        let end = error.floor_char_boundary(ERROR_BYTES_MAX);
        let error = error.get(..end).unwrap_or("").to_owned();
        Self {
            attempt,
            error,
            class,
            at,
        }
    }
}

/// Everything that a plan knows of a phase's progress.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PhaseProgress {
    /// Its state.
    pub state: PhaseState,
    /// Attempts so far.
    pub attempts: u32,
    /// Failed attempts that were retried automatically.
    pub retry_count: u32,
    /// Runs in a row that died without an outcome.
    pub crash_count: u32,
    /// Whether the last run exited without reporting an outcome, and was continued.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_continued: bool,
    /// Whether it is complete although neither its agent reported it nor a check showed it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_unconfirmed: bool,
    /// When the first attempt began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// What went wrong last, unless a person ordered another attempt since.
    pub failure: Option<PhaseFailure>,
    /// Failed attempts, oldest first; at most [`FAILURES_KEPT_MAX`].
    pub history: Vec<PhaseFailure>,
    /// What it produced.
    pub artifacts: Vec<Artifact>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl PhaseProgress {
    /// Returns the state's name.
    pub const fn status(&self) -> PhaseStatus {
        self.state.status()
    }
}
