//! What the home of a sandbox is furnished with.

use std::path::PathBuf;

/// Something in the home of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    /// A link, with what it leads to.
    Link {
        /// Its path below the home.
        place: PathBuf,
        /// Its target.
        target: PathBuf,
    },
    /// A file, with its text.
    File {
        /// Its path below the home.
        place: PathBuf,
        /// What is in it.
        text: Vec<u8>,
    },
    /// A folder.
    Folder(PathBuf),
}

impl Item {
    pub(super) fn link(place: impl Into<PathBuf>, target: impl Into<PathBuf>) -> Self {
        Self::Link {
            place: place.into(),
            target: target.into(),
        }
    }
}
