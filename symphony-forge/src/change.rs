//! What Symphony asks a forge to change.

use std::collections::BTreeSet;

use crate::remote::MergeMethod;

/// A pull request to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPull {
    /// The title.
    pub title: String,
    /// The text, in Markdown.
    pub body: String,
    /// The branch with the change, which is at the forge already.
    pub head_branch: String,
    /// The branch that it is to be merged into.
    pub base_branch: String,
    /// Labels to give it. One that does not exist is made.
    pub labels: BTreeSet<String>,
}

/// What to change of a pull request; what is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PullChange {
    /// The title.
    pub title: Option<String>,
    /// The text.
    pub body: Option<String>,
    /// Closes or reopens it.
    pub is_open: Option<bool>,
}

impl PullChange {
    /// Closes it.
    pub fn close() -> Self {
        Self {
            is_open: Some(false),
            ..Self::default()
        }
    }

    /// Returns whether it changes nothing.
    pub const fn is_empty(&self) -> bool {
        self.title.is_none() && self.body.is_none() && self.is_open.is_none()
    }
}

/// A wish to merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeWish {
    /// The commit that was reviewed: nothing else is merged.
    pub head: String,
    /// How.
    pub method: MergeMethod,
    /// The first line of the commit's message.
    pub title: String,
    /// The rest of it.
    pub message: String,
}
