//! What a tracker says of its issues and comments, in one form for all trackers.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;
use symphony_core::issue::Priority;

/// The id of an issue, a comment or a user at its tracker: what never changes there. It is opaque here.
///
/// GitHub: `12` for issue 12 of the configured repository, a comment's numeric id, a user's numeric id. Linear: UUIDs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExternalId(String);

impl ExternalId {
    /// Takes an id as the tracker gave it.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// Returns the id as the tracker gave it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ExternalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A user of a tracker.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RemoteUser {
    /// The id, which a rename does not change.
    pub id: ExternalId,
    /// The name that people see, which its owner can change.
    pub login: String,
}

/// What a state of a tracker means, whatever it is called there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateGroup {
    /// Not begun.
    Open,
    /// Somebody works on it, or reviews it.
    Started,
    /// Ended: it was done.
    Completed,
    /// Ended: it is not wanted (closed as not planned, cancelled, a duplicate).
    NotPlanned,
}

impl StateGroup {
    /// Returns whether an issue in such a state has ended.
    pub const fn has_ended(self) -> bool {
        matches!(self, Self::Completed | Self::NotPlanned)
    }
}

/// A state of a tracker's issue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RemoteState {
    /// Its name at the tracker: the name of a workflow state (Linear), `open` or `closed` (GitHub).
    pub name: String,
    /// What it means.
    pub group: StateGroup,
}

/// An issue of a tracker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteIssue {
    /// Its id there.
    pub id: ExternalId,
    /// What people call it: `#12`, `ENG-12`.
    pub key: String,
    /// Its page.
    pub url: String,
    /// The title.
    pub title: String,
    /// The text, in Markdown, with `\n` as line end.
    pub body: String,
    /// Its state.
    pub state: RemoteState,
    /// The labels, as written there.
    pub labels: BTreeSet<String>,
    /// The priority, for trackers that have one; `None` for those that do not (GitHub).
    pub priority: Option<Priority>,
    /// The users it is assigned to.
    pub assignees: BTreeSet<RemoteUser>,
    /// Who wrote it; missing for a deleted user.
    pub author: Option<RemoteUser>,
    /// The issue that it is a part of.
    pub parent: Option<ExternalId>,
    /// The issues that block it.
    pub blocked_by: BTreeSet<ExternalId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When anything of it was last changed.
    pub updated_at: Timestamp,
}

/// A comment of a tracker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteComment {
    /// Its id there.
    pub id: ExternalId,
    /// The issue it is on.
    pub issue: ExternalId,
    /// Who wrote it; missing for a deleted user.
    pub author: Option<RemoteUser>,
    /// The text, in Markdown, with `\n` as line end.
    pub body: String,
    /// Whether it was changed after it was written.
    pub is_edited: bool,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// Up to where a tracker was read; opaque outside the tracker's own file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(String);

impl Cursor {
    /// Takes a cursor's text. An empty text is the beginning.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One page of what changed at a tracker, the oldest change first. A page can repeat what an earlier one had.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Issues, as they are now.
    pub issues: Vec<RemoteIssue>,
    /// Comments, as they are now.
    pub comments: Vec<RemoteComment>,
    /// Where the next page begins.
    pub next: Cursor,
    /// Whether another page is waiting now.
    pub has_more: bool,
    /// Whether every comment on an issue of this page is on it or on a later page: then none has to be asked for.
    pub has_all_comments: bool,
}
