//! What Symphony asks a tracker to change.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use symphony_core::issue::Priority;

use crate::remote::{ExternalId, RemoteIssue, RemoteState};

/// The id of a change: a UUID, made when the change is decided. What it creates at the tracker carries it, so that a second
/// attempt finds what the first one made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChangeId(String);

impl ChangeId {
    /// Takes the text of a UUID.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// Returns the text of the UUID.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// One change at a tracker. All but the two that create something can be made twice without harm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    /// Sets the title.
    SetTitle {
        /// The new title.
        title: String,
    },
    /// Sets the text.
    SetBody {
        /// The new text.
        body: String,
    },
    /// Adds labels, then removes others; the rest stays. The order matters where it takes several requests: what means a status
    /// is never missing in between.
    SetLabels {
        /// Labels to add.
        add: BTreeSet<String>,
        /// Labels to remove.
        remove: BTreeSet<String>,
    },
    /// Sets the priority.
    SetPriority {
        /// The new priority.
        priority: Priority,
    },
    /// Moves it to another state.
    SetState {
        /// The state. Without a name, any state of the group will do: the tracker's first one.
        state: RemoteState,
    },
    /// Writes a comment.
    AddComment {
        /// Its text, in Markdown, without a marker.
        body: String,
    },
    /// Makes an issue that is a part of the target.
    AddSubIssue {
        /// Its title.
        title: String,
        /// Its text, in Markdown, without a marker.
        body: String,
        /// Its labels.
        labels: BTreeSet<String>,
    },
}

impl Change {
    /// Returns what it changes, in words: `the title`, `a comment`.
    pub const fn what(&self) -> &'static str {
        match self {
            Self::SetTitle { .. } => "the title",
            Self::SetBody { .. } => "the description",
            Self::SetLabels { .. } => "labels",
            Self::SetPriority { .. } => "the priority",
            Self::SetState { .. } => "the state",
            Self::AddComment { .. } => "a comment",
            Self::AddSubIssue { .. } => "a sub-issue",
        }
    }
}

/// A change on its way to a tracker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Its id.
    pub id: ChangeId,
    /// The issue at the tracker.
    pub target: ExternalId,
    /// What to change.
    pub change: Change,
    /// Whether it may have been sent before, without an answer that was recorded.
    pub was_tried: bool,
    /// What an earlier attempt created, where that is known: the rest of the change is still to be done.
    pub made: Option<ExternalId>,
}

/// What a tracker made of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The target as it is after the change, where the tracker's answer has it.
    pub issue: Option<RemoteIssue>,
    /// The comment or the issue that was created, by this attempt or by an earlier one.
    pub created: Option<Created>,
}

/// What a change created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created {
    /// A comment.
    Comment(ExternalId),
    /// An issue.
    Issue(Box<RemoteIssue>),
}
