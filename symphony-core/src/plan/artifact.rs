//! What a phase passes on to other phases.

use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;

closed_set!(
    /// What an artifact is.
    ArtifactKind, "artifact type", {
        /// A file that was created.
        FileCreated = "file_created",
        /// A file that was modified.
        FileModified = "file_modified",
        /// A file that was deleted.
        FileDeleted = "file_deleted",
        /// Something that other code can use.
        Export = "export",
        /// A remark.
        Note = "note",
    }
);

/// One artifact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: ArtifactKind,
    /// The file, relative to the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The name of an export or a note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What there is to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Anything else; `sourcePhase` names the phase it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<serde_json::Map<String, serde_json::Value>>,
}
