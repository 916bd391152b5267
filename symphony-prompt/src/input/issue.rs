//! The issue and its history.

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::id::IssueId;
use symphony_core::issue::{CommentAuthor, FindingKind, IssueStatus, Priority, Size};
use symphony_core::pull_request::PullRequestOf;
use symphony_core::run::RunStatus;

/// Where the agent works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Workspace {
    /// What the worktree is for: an issue's identifier, a plan phase, or a run such as `_scanner-7f3a`.
    pub identifier: String,
    /// The worktree's absolute path.
    pub path: String,
    /// Its branch; none when it is detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The branch that the work starts from and goes back to, which the agent compares with; none when there is no such work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
}

/// An issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IssueInput {
    /// Its identifier, such as `SYM-12`; for the review of a plan `plan` and its id.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub identifier: PullRequestOf,
    /// Its title.
    pub title: String,
    /// Its description, markdown.
    #[serde(default)]
    pub description: String,
    /// Who wrote the description: `human`, `system` or an agent type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub author: Option<CommentAuthor>,
    /// How urgent it is: `urgent`, `high`, `medium`, `low`, `none`.
    #[serde(default = "no_priority")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub priority: Priority,
    /// How much work it is thought to be: `small`, `medium`, `large`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub size: Option<Size>,
    /// Its labels.
    #[serde(default)]
    pub labels: Vec<String>,
}

fn no_priority() -> Priority {
    Priority::None
}

impl IssueInput {
    /// Makes an issue with nothing but a description.
    pub fn new(
        identifier: impl Into<PullRequestOf>,
        title: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        Self {
            identifier: identifier.into(),
            title: title.into(),
            description: description.into(),
            author: None,
            priority: Priority::None,
            size: None,
            labels: Vec::new(),
        }
    }
}

/// An issue that this one depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DependencyInput {
    /// Its identifier.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub identifier: IssueId,
    /// Its title.
    pub title: String,
    /// Its state.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub status: IssueStatus,
}

/// A run before this one. Attempts are given oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AttemptInput {
    /// Which attempt it was, from 1.
    pub attempt: u32,
    /// How it ended.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub status: RunStatus,
    /// Who ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub agent: Option<AgentType>,
    /// How long, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Error class and text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The end of its output.
    #[serde(default)]
    pub output_tail: String,
}

/// What an agent found. Findings are given oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FindingInput {
    /// What it tells.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub kind: FindingKind,
    /// Who found it.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub author: CommentAuthor,
    /// The text.
    pub text: String,
    /// Files it is about.
    #[serde(default)]
    pub files: Vec<String>,
}

/// A comment. Comments are given oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommentInput {
    /// Who wrote it.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub author: CommentAuthor,
    /// The text, markdown.
    pub content: String,
    /// When, RFC 3339 in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub created_at: Option<Timestamp>,
}
