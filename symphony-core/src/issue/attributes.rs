//! The closed sets of an issue's fields.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::agent::AgentType;
use crate::closed_set::closed_set;
use crate::id::IdError;

closed_set!(
    /// The state of an issue.
    IssueStatus, "status", {
        /// Known, not asked for.
        Backlog = "backlog",
        /// Waits to be dispatched.
        Todo = "todo",
        /// An agent works on it.
        InProgress = "in_progress",
        /// A pull request or a delivery waits for a verdict.
        Review = "review",
        /// Waits for something named in its reason.
        Blocked = "blocked",
        /// Merged, or finished by a human.
        Done = "done",
        /// Given up by a human.
        Cancelled = "cancelled",
    }
);

impl IssueStatus {
    /// Returns whether the issue has ended (`done`, `cancelled`).
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled)
    }
}

closed_set!(
    /// How an issue ends when a person closes it.
    Resolution, "resolution", {
        /// What it asks for exists, whoever did it.
        Done = "done",
        /// It is no longer wanted.
        Cancelled = "cancelled",
    }
);

closed_set!(
    /// How urgent an issue is; the order of the values is the order of dispatch.
    Priority, "priority", {
        /// Before everything else.
        Urgent = "urgent",
        /// Soon.
        High = "high",
        /// In its turn.
        Medium = "medium",
        /// When there is room.
        Low = "low",
        /// No one said.
        None = "none",
    }
);

closed_set!(
    /// The estimated amount of work of an issue.
    Size, "size", {
        /// A session or less.
        Small = "small",
        /// One session.
        Medium = "medium",
        /// More than one session: planned first when planning is on.
        Large = "large",
    }
);

closed_set!(
    /// The kind of a finding.
    FindingKind, "finding kind", {
        /// Something worth knowing.
        Note = "note",
        /// How the work was done, for the reviewer.
        Approach = "approach",
        /// What is missing, with a theory of the cause.
        Gap = "gap",
        /// A defect.
        Bug = "bug",
        /// A risk.
        Risk = "risk",
        /// The output of a gate.
        Gate = "gate",
        /// A verdict on a delivery.
        PhaseVerdict = "phase_verdict",
        /// A verdict on a pull request.
        Review = "review",
    },
    for agents: Note, Approach, Gap, Bug, Risk, Review
);

closed_set!(
    /// What intake did with an issue that it looked at.
    TriageOutcome, "triage outcome", {
        /// It changed the issue.
        Changed = "changed",
        /// It left the issue as it was.
        Unchanged = "unchanged",
    }
);

/// Who wrote a comment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum CommentAuthor {
    /// A person.
    Human,
    /// Symphony itself.
    System,
    /// An agent, by its profile.
    Agent(AgentType),
    /// A user of a tracker that the issue is mirrored with, whoever that is.
    Tracker,
}

impl CommentAuthor {
    /// How a tracker's user is stored. The underscore keeps it apart from every agent type.
    const TRACKER: &'static str = "tracker_user";

    /// Parses `human`, `system`, `tracker_user` or an agent type.
    ///
    /// # Errors
    /// When the text is none of them.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        Ok(match text {
            "human" => Self::Human,
            "system" => Self::System,
            Self::TRACKER => Self::Tracker,
            other => Self::Agent(AgentType::parse(other)?),
        })
    }

    /// Returns the author's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Human => "human",
            Self::System => "system",
            Self::Agent(agent) => agent.name(),
            Self::Tracker => Self::TRACKER,
        }
    }
}

impl fmt::Display for CommentAuthor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl TryFrom<String> for CommentAuthor {
    type Error = IdError;
    fn try_from(text: String) -> Result<Self, IdError> {
        Self::parse(&text)
    }
}

impl From<CommentAuthor> for String {
    fn from(author: CommentAuthor) -> Self {
        author.name().to_owned()
    }
}
