//! The documents of a ticket.

use serde::{Deserialize, Serialize};
use symphony_core::id::{IssueId, PhaseName};

/// A document that a phase delivered: an earlier phase of the issue, or a phase of an issue above it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PhaseArtifact {
    /// The phase it came from.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub phase: PhaseName,
    /// Its path, relative to the project.
    pub path: String,
    /// Its text, markdown.
    pub text: String,
    /// The parent that it belongs to, or an issue above that; none for a document of the issue itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub parent: Option<IssueId>,
    /// How many levels the issue that the document belongs to is above this issue. From 2 (a parent's parent) on, a document
    /// gets only the room that nearer documents leave.
    #[serde(default, skip_serializing_if = "is_near")]
    pub levels_above: usize,
    /// The branch and the commit that it was read from; none where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<DocumentSource>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_near(levels_above: &usize) -> bool {
    *levels_above < 2
}

impl PhaseArtifact {
    /// Makes a document of the issue itself, without the place that it was read from.
    pub fn new(phase: PhaseName, path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            phase,
            path: path.into(),
            text: text.into(),
            parent: None,
            levels_above: 0,
            source: None,
        }
    }
}

/// Where a document was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DocumentSource {
    /// The branch.
    pub branch: String,
    /// The commit.
    pub commit: String,
}
