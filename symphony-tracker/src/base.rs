//! The last agreed state of a linked issue: what the tracker had, and what Symphony had.
//!
//! The two sides are kept apart because the mapping between them loses: a text over a limit is cut, a label that Symphony cannot
//! hold is left out, a state can have no counterpart. A side changed if it differs from its own side of the base, so that what
//! was lost never looks like an edit.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;
use symphony_core::issue::{IssueStatus, Priority};

use crate::remote::{ExternalId, RemoteIssue, RemoteState};

/// What both sides had when they last agreed. Stored as JSON; fields of newer versions are skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// What the tracker had.
    pub remote: RemoteFields,
    /// What Symphony had.
    pub local: LocalFields,
    /// The age of what is known of the tracker's side: when the issue had last been changed there. `None` after a change of ours
    /// whose answer did not show the issue: what a page has may be older or newer.
    #[serde(default)]
    pub seen: Option<Timestamp>,
    /// Whether the issue matched the filter.
    #[serde(default)]
    pub filter: FilterMatch,
    /// The relations that Symphony took over.
    #[serde(default)]
    pub relations: Relations,
}

/// The mirrored fields of a tracker's issue, as they are there: what a label means is decided by the settings of the day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteFields {
    /// The title.
    pub title: String,
    /// The text.
    pub body: String,
    /// The state.
    pub state: RemoteState,
    /// All labels, also those that mean a status or a priority.
    #[serde(default)]
    pub labels: BTreeSet<String>,
    /// The priority, where the tracker has one.
    #[serde(default)]
    pub priority: Option<Priority>,
    /// The issue that it is a part of, linked or not.
    #[serde(default)]
    pub parent: Option<ExternalId>,
    /// The issues that block it, linked or not.
    #[serde(default)]
    pub blocked_by: BTreeSet<ExternalId>,
}

impl From<&RemoteIssue> for RemoteFields {
    fn from(issue: &RemoteIssue) -> Self {
        Self {
            title: issue.title.clone(),
            body: issue.body.clone(),
            state: issue.state.clone(),
            labels: issue.labels.clone(),
            priority: issue.priority,
            parent: issue.parent.clone(),
            blocked_by: issue.blocked_by.clone(),
        }
    }
}

/// The mirrored fields of Symphony's issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalFields {
    /// The title.
    pub title: String,
    /// The description.
    pub description: String,
    /// The labels.
    #[serde(default)]
    pub labels: BTreeSet<String>,
    /// The priority.
    pub priority: Priority,
    /// The status; `None` when the tracker has to get ours again, whatever it is.
    #[serde(default)]
    pub status: Option<IssueStatus>,
    /// The status whose label the tracker has, for trackers where a label means a status; `None` as above.
    #[serde(default)]
    pub status_label: Option<IssueStatus>,
}

/// Whether a linked issue matches the filter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilterMatch {
    /// It matches.
    #[default]
    Matches,
    /// It no longer matches, and went to the backlog for that.
    Shelved,
    /// It no longer matches, and stayed as it was.
    Left,
}

/// The relations of an issue that became relations here. Those that the tracker has beyond these wait until their other end is
/// linked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relations {
    /// The parent.
    #[serde(default)]
    pub parent: Option<ExternalId>,
    /// The issues that block it.
    #[serde(default)]
    pub blocked_by: BTreeSet<ExternalId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_of_another_version_is_read() {
        let old = r#"{"remote":{"title":"t","body":"b","state":{"name":"open","group":"open"},"later":1},
            "local":{"title":"t","description":"b","priority":"none","later":[]},"later":{"a":2}}"#;
        let base: Base = serde_json::from_str(old).unwrap();
        assert_eq!(base.filter, FilterMatch::Matches);
        assert_eq!(base.local.status, None);
        let again: Base = serde_json::from_str(&serde_json::to_string(&base).unwrap()).unwrap();
        assert_eq!(again, base);
    }
}
