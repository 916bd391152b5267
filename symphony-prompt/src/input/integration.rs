//! What the prompt of a parent says about its sub-tasks once they have ended.

use serde::{Deserialize, Serialize};
use symphony_core::id::IssueId;
use symphony_core::issue::IssueStatus;

use crate::input::FileChange;

/// A sub-task that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ChildInput {
    /// Its identifier.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub identifier: IssueId,
    /// Its title.
    pub title: String,
    /// How it ended.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub status: IssueStatus,
    /// Its description; where it has acceptance criteria, only these are shown.
    #[serde(default)]
    pub description: String,
    /// What was merged for it; none where it ended without a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<MergedChild>,
}

/// The pull request of a sub-task that was merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MergedChild {
    /// Its number.
    pub number: i64,
    /// The commit of the base that has it.
    pub commit: String,
    /// The files that it changed.
    #[serde(default)]
    pub files: Vec<FileChange>,
}
