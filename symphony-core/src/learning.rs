//! What an agent or a person learned that helps with other issues, and the life of it.
//!
//! What a run learned is proposed until its issue or plan is done: only then is it known that the work it comes from
//! was good. Until then only that issue's own runs are given it.

use crate::Timestamp;
use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;
use crate::id::{IssueId, LearningId, PlanId};
use crate::issue::{FieldError, IssueStatus};
use crate::log::LogEvent;
use crate::plan::state::PlanStatus;

#[cfg(test)]
mod tests;

/// Longest text of a new learning, in characters: three or four sentences. Twenty-five of them are 4,000 tokens, which
/// is what their share of a prompt holds; older ones may be longer.
pub const PATTERN_CHARS_MAX: usize = 600;

closed_set!(
    /// What kind of learning; unset is treated as tactical.
    LearningType, "learning type", {
        /// How things are done here: goes into the system prompt.
        Convention = "convention",
        /// A way that works.
        Pattern = "pattern",
        /// A trap.
        Gotcha = "gotcha",
    }
);

/// The part of a learning that ranking reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learning {
    /// Its id; ties are broken by it.
    pub id: LearningId,
    /// The text.
    pub pattern: String,
    /// What kind; unset is tactical.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning_type: Option<LearningType>,
    /// Paths it applies to.
    #[serde(default)]
    pub applies_to: Vec<String>,
    /// Labels of the issue it came from.
    #[serde(default)]
    pub labels: Vec<String>,
    /// When it was recorded.
    pub created_at: Timestamp,
}

closed_set!(
    /// Where a learning is in its life.
    LearningState, "learning state", {
        /// A run recorded it, and the work it comes from has not ended.
        Proposed = "proposed",
        /// Every issue may be given it.
        Accepted = "accepted",
        /// All work that it comes from was cancelled.
        Dropped = "dropped",
        /// A person decided that agents no longer get it.
        Retired = "retired",
    }
);

/// The work that a learning comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LearningSource {
    /// An issue.
    Issue(IssueId),
    /// A plan.
    Plan(PlanId),
}

impl std::fmt::Display for LearningSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Issue(issue) => issue.fmt(f),
            Self::Plan(plan) => plan.fmt(f),
        }
    }
}

/// How the work ended that a learning comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceEnd {
    /// It has not ended.
    Open,
    /// It is done.
    Done,
    /// It was given up.
    Cancelled,
}

impl From<IssueStatus> for SourceEnd {
    fn from(status: IssueStatus) -> Self {
        match status {
            IssueStatus::Done => Self::Done,
            IssueStatus::Cancelled => Self::Cancelled,
            IssueStatus::Backlog
            | IssueStatus::Todo
            | IssueStatus::InProgress
            | IssueStatus::Review
            | IssueStatus::Blocked => Self::Open,
        }
    }
}

impl From<PlanStatus> for SourceEnd {
    fn from(status: PlanStatus) -> Self {
        match status {
            PlanStatus::Completed => Self::Done,
            PlanStatus::Aborted => Self::Cancelled,
            // a failed plan can be tried again, as an issue whose gates are red
            PlanStatus::Failed
            | PlanStatus::Running
            | PlanStatus::Paused
            | PlanStatus::AwaitingUserDecision
            | PlanStatus::Review => Self::Open,
        }
    }
}

/// How a new text relates to that of a learning which is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// They say the same.
    Equal,
    /// The one that is there says more.
    Contained,
}

/// How a new text is treated that is like an existing learning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// It is refused.
    Refused,
    /// It is refused, and its source becomes one of the other's sources.
    Seconded,
}

impl LearningState {
    /// Returns the state after its sources have ended this way. One that is done accepts it for good; a person's
    /// decision stays; a reopened issue proposes again what it had dropped.
    #[must_use]
    pub fn settle(self, sources: impl IntoIterator<Item = SourceEnd>) -> Self {
        if matches!(self, Self::Accepted | Self::Retired) {
            return self;
        }
        let mut settled = Self::Dropped;
        for end in sources {
            match end {
                SourceEnd::Done => return Self::Accepted,
                SourceEnd::Open => settled = Self::Proposed,
                SourceEnd::Cancelled => {}
            }
        }
        settled
    }

    /// Decides about a new text that is similar to a learning in this state; `None` if the new text is recorded
    /// nevertheless. `source` is the work that the new one comes from, if it waits for any.
    pub fn meet(self, likeness: Likeness, source: Option<&LearningSource>) -> Option<Known> {
        match (self, likeness) {
            (Self::Accepted, _) | (Self::Retired, Likeness::Equal) => Some(Known::Refused),
            (Self::Proposed, _) | (Self::Dropped, Likeness::Equal) => Some(match source {
                Some(_) => Known::Seconded,
                None => Known::Refused,
            }),
            (Self::Dropped | Self::Retired, Likeness::Contained) => None,
        }
    }

    /// Returns the entry of the log for a change to this state; `None` for no change.
    pub fn entered_from(self, before: Self, learning: &LearningId) -> Option<LogEvent> {
        let learning = learning.clone();
        if self == before {
            return None;
        }
        Some(match self {
            Self::Proposed => LogEvent::LearningProposed { learning },
            Self::Accepted if before == Self::Retired => LogEvent::LearningRestored { learning },
            Self::Accepted => LogEvent::LearningAccepted { learning },
            Self::Dropped => LogEvent::LearningDropped { learning },
            Self::Retired => LogEvent::LearningRetired { learning },
        })
    }
}

/// Checks the length of a new learning's text.
///
/// # Errors
/// When it is longer than [`PATTERN_CHARS_MAX`].
pub fn check_pattern_length(pattern: &str) -> Result<(), FieldError> {
    let found = pattern.trim().chars().count();
    if found <= PATTERN_CHARS_MAX {
        return Ok(());
    }
    Err(FieldError::TooLong {
        field: "pattern",
        found,
        limit: PATTERN_CHARS_MAX,
        unit: "characters",
    })
}
