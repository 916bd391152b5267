//! Something that waits for a human.

use serde::{Deserialize, Serialize};

use super::kind::InboxKind;
use crate::Timestamp;
use crate::gates::GatesAge;
use crate::id::{IssueId, ProjectId};
use crate::pull_request::VerifiedGates;
use crate::wording::counted;

/// Most issues that a sentence lists; the rest is counted.
pub(super) const NAMED_MAX: usize = 5;

/// Something that waits for a human.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxItem {
    /// Identifies it while it waits.
    pub key: String,
    /// What kind of thing it is.
    pub kind: InboxKind,
    /// The project; `None` if it concerns all.
    pub project: Option<ProjectId>,
    /// The issue.
    pub issue: Option<IssueId>,
    /// The issue's title.
    pub title: String,
    /// Since when.
    pub since: Timestamp,
    /// When it is retried automatically; `None` if only a person can continue it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// What waits, and why, in a sentence.
    pub text: String,
    /// The commands that answer it, the usual one first.
    pub answers: Vec<String>,
}

impl InboxItem {
    /// Makes an item that says nothing yet, and belongs to no project and no issue.
    pub(super) fn new(kind: InboxKind, since: Timestamp, key: String) -> Self {
        Self {
            key,
            kind,
            project: None,
            issue: None,
            title: String::new(),
            since,
            until: None,
            text: String::new(),
            answers: Vec::new(),
        }
    }

    /// Adds how many messages to its agents none of them has read.
    #[must_use]
    pub fn with_unread(mut self, messages: usize) -> Self {
        if messages > 0 {
            let (messages, are) = (
                counted(messages as u64, "message"),
                if messages == 1 { "is" } else { "are" },
            );
            self.text = format!("{}. {messages} to its agent {are} unread", self.text);
        }
        self
    }

    /// Adds that the gates of the pull request passed with earlier definitions, if so.
    #[must_use]
    pub fn with_gates(mut self, found: &VerifiedGates, age: GatesAge) -> Self {
        if age == GatesAge::Outdated {
            let passed = if found.verify_something() {
                "Its gates are green"
            } else {
                "It is unverified"
            };
            self.text = format!("{}. {passed}{}", self.text, age.note());
        }
        self
    }
}
