//! Symphony's side of a linked issue, with what waits to be sent to the tracker.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use symphony_core::id::IssueId;
use symphony_core::issue::{BlockedBy, Issue, IssueState, IssueStatus, Priority, Review};

use crate::base::{Base, LocalFields};
use crate::change::{Change, ChangeId};

/// The mirrored fields of Symphony's issue, as they are now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalIssue {
    /// Its id.
    pub id: IssueId,
    /// The title.
    pub title: String,
    /// The description.
    pub description: String,
    /// The labels.
    pub labels: BTreeSet<String>,
    /// The priority.
    pub priority: Priority,
    /// The state.
    pub state: IssueState,
}

impl LocalIssue {
    /// Returns the fields as one side of a base on which both agree.
    pub fn fields(&self) -> LocalFields {
        LocalFields {
            title: self.title.clone(),
            description: self.description.clone(),
            labels: self.labels.clone(),
            priority: self.priority,
            status: Some(self.state.status()),
            status_label: Some(self.state.status()),
        }
    }
}

impl From<&Issue> for LocalIssue {
    fn from(issue: &Issue) -> Self {
        Self {
            id: issue.id.clone(),
            title: issue.title.clone(),
            description: issue.description.clone(),
            labels: issue.labels.iter().cloned().collect(),
            priority: issue.priority,
            state: issue.state.clone(),
        }
    }
}

/// A linked issue, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedIssue {
    /// Symphony's side.
    pub ours: LocalIssue,
    /// Whether a pull request or delivery of it is open.
    pub review: Review,
    /// What works on it.
    pub activity: Activity,
    /// Who last wrote its title and description.
    pub text_by: TextBy,
    /// The last agreed state.
    pub base: Base,
    /// Its changes in the outbox, in the order in which they are sent.
    pub pending: Vec<Pending>,
}

impl LinkedIssue {
    /// Returns whether a person has taken it over.
    pub(crate) fn is_taken_over(&self) -> bool {
        self.ours
            .state
            .block()
            .is_some_and(|block| block.by == BlockedBy::TakenOver)
    }
}

/// What works on an issue here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// No run ever did.
    NotBegun,
    /// Runs did, none does now.
    Idle,
    /// A run lives.
    Run,
    /// Its branch is about to be merged.
    Merge,
}

/// Who wrote a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextBy {
    /// A person.
    Person,
    /// An agent: what a tracker would act on is broken before it is sent.
    Agent,
}

/// A change in the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Its id.
    pub id: ChangeId,
    /// What it changes at the tracker.
    pub change: Change,
    /// What of ours it is about.
    pub covers: Covers,
    /// Whether it may have been applied.
    pub attempt: Attempt,
}

/// Whether a change in the outbox may have been applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// It was never sent, or it is known that the tracker does not have it.
    Untried,
    /// It was sent, and no answer was recorded.
    Unanswered,
}

/// A change to put into the outbox. Its id is made where it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departing {
    /// What to change at the tracker.
    pub change: Change,
    /// What of ours it is about, stored with it: [`crate::confirm`] needs it.
    pub covers: Covers,
}

/// What of ours a change is about: once it is applied, both sides agree on this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "covers", rename_all = "snake_case")]
pub enum Covers {
    /// The title.
    Title {
        /// Ours.
        title: String,
    },
    /// The description.
    Description {
        /// Ours.
        description: String,
    },
    /// The labels that the change names.
    Labels,
    /// The priority.
    Priority {
        /// Ours.
        priority: Priority,
    },
    /// The state.
    State {
        /// Our status.
        status: IssueStatus,
    },
    /// The label that means a status.
    StatusLabel {
        /// Our status.
        status: IssueStatus,
    },
    /// No field: a comment.
    Comment,
    /// An issue of ours that the tracker does not have yet.
    SubIssue {
        /// The issue.
        issue: IssueId,
        /// What it had when the change was decided.
        local: Box<LocalFields>,
    },
}

/// A mirrored field.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// The title.
    Title,
    /// The description.
    Description,
    /// One label, by its name.
    Label(String),
    /// The priority.
    Priority,
    /// The state.
    State,
}

/// One of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Symphony.
    Ours,
    /// The tracker.
    Theirs,
}

/// An edit that lost against one of the other side. The log keeps it, since neither side does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// The field.
    pub field: Field,
    /// Whose edit lost.
    pub loser: Side,
    /// What that side had.
    pub lost: String,
}

/// Something about a linked issue that a person should be able to read in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// It no longer matches the filter and went to the backlog, since no run has begun.
    ShelvedByFilter {
        /// What does not match.
        reason: String,
    },
    /// It no longer matches the filter and stays, since work has begun.
    LeftFilter {
        /// What does not match.
        reason: String,
    },
    /// It matches the filter again.
    MatchesAgain,
    /// An edit of ours stays here, because the tracker cannot have it.
    NotSent {
        /// The field.
        field: Field,
        /// Why.
        reason: String,
    },
    /// Something of the tracker is not here, because Symphony cannot hold it.
    NotTaken {
        /// The field.
        field: Field,
        /// Why.
        reason: String,
    },
}
