//! What a repository notes about its database.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::id::{InstallationId, ProjectId};

/// The record in a repository of the database that it is worked on with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// The database's installation.
    pub installation: InstallationId,
    /// The project that the repository is in it.
    pub project: ProjectId,
    /// Where the database was when this was written.
    pub database: PathBuf,
}

impl Marker {
    /// Parses the text of a marker. Invalid text counts as none: the database itself says what it is, and the marker is
    /// rewritten.
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Returns the text of the marker, one line of JSON.
    pub fn to_text(&self) -> String {
        let mut text =
            serde_json::to_string(self).expect("a marker has string keys and UTF-8 paths only");
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_read_as_it_was_written_and_anything_else_is_none() {
        let marker = Marker {
            installation: InstallationId::parse("0".repeat(32)).unwrap(),
            project: ProjectId::parse("api").unwrap(),
            database: PathBuf::from("/p/.symphony/symphony.db"),
        };
        assert_eq!(Marker::parse(&marker.to_text()), Some(marker));
        for text in ["", "{", "{}", "\u{0}\u{0}", "[1]"] {
            assert_eq!(Marker::parse(text), None, "{text:?}");
        }
    }
}
