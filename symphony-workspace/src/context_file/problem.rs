//! Why a file is not shown.

use super::limits::{CONTEXT_FILE_BYTES_MAX, CONTEXT_FILES_MAX, CONTEXT_TOTAL_BYTES_MAX};

/// Why a path or a pattern has no text; the message appears in the prompt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContextFileProblem {
    /// The path names nothing.
    #[error("file not found")]
    NotFound,
    /// The pattern matches no file.
    #[error("no file matches this pattern")]
    NoMatch,
    /// The path leaves the project, by its text or by a link.
    #[error("outside the project")]
    Outside,
    /// A folder, a device, or a file that is not UTF-8.
    #[error("not a text file")]
    NotText,
    /// The file is over its limit.
    #[error("larger than {} MiB", CONTEXT_FILE_BYTES_MAX >> 20)]
    TooLarge,
    /// The files before it are all that is shown.
    #[error("left out: the files before it reach the limit of {CONTEXT_FILES_MAX} files or {} MiB", CONTEXT_TOTAL_BYTES_MAX >> 20)]
    LeftOut,
    /// The project is too large to look for a pattern that begins at its root.
    #[error("more than {entries_max} files and folders to look through: name a folder")]
    TooManyEntries {
        /// The limit.
        entries_max: usize,
    },
    /// The pattern cannot be read.
    #[error("not a pattern: {reason}")]
    BadPattern {
        /// What is wrong with it.
        reason: String,
    },
    /// The system refused.
    #[error("cannot be read: {reason}")]
    Unreadable {
        /// The system's word.
        reason: String,
    },
}
