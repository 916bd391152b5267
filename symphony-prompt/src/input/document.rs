//! The documents of a ticket.

use serde::{Deserialize, Serialize};
use symphony_core::id::{IssueId, PhaseName};

/// A document that a phase delivered: an earlier phase of the issue, or a phase of its parent.
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
    /// The parent that it belongs to; none for a document of the issue itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub parent: Option<IssueId>,
    /// The branch and the commit that it was read from; none where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<DocumentSource>,
}

impl PhaseArtifact {
    /// Makes a document of the issue itself, of which nobody knows where it was read.
    pub fn new(phase: PhaseName, path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            phase,
            path: path.into(),
            text: text.into(),
            parent: None,
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
