//! What a diff changes, file by file.

use std::collections::BTreeSet;

use symphony_core::lock_file::manifests_of;

/// A diff.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Diff {
    /// The files, in the order of the diff.
    pub files: Vec<FileDiff>,
    /// Lines outside of any file, such as a remark that the diff was cut.
    pub notes: Vec<String>,
}

/// What happened to a file as a whole.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Its content, or its mode.
    #[default]
    Changed,
    /// It is new.
    New,
    /// It was deleted.
    Deleted,
    /// It was moved.
    Renamed,
    /// It was copied.
    Copied,
}

impl Change {
    /// Returns the word for it; none for a plain change.
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Self::Changed => None,
            Self::New => Some("new"),
            Self::Deleted => Some("deleted"),
            Self::Renamed => Some("renamed"),
            Self::Copied => Some("copied"),
        }
    }
}

/// The changes of one file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// Its path before.
    pub old_path: String,
    /// Its path after; of a deleted file the one before.
    pub path: String,
    /// What happened to it as a whole.
    pub change: Change,
    /// Its mode before, where that changed or ended.
    pub old_mode: Option<String>,
    /// Its mode after, where that changed or began.
    pub new_mode: Option<String>,
    /// Whether it has no lines that could be shown.
    pub binary: bool,
    /// Whether it is a commit of another repository.
    pub submodule: bool,
    /// The places that changed.
    pub hunks: Vec<Hunk>,
    /// How many lines were added, those that are not kept included.
    pub added: usize,
    /// How many lines were removed, those that are not kept included.
    pub removed: usize,
    /// How many lines were not kept.
    pub left_out: usize,
}

impl FileDiff {
    /// Says whether a program writes the file, so that a reader rarely looks into it.
    pub fn is_generated(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let minified = [".min.js", ".min.css", ".map"];
        manifests_of(name).is_some() || minified.iter().any(|end| name.ends_with(end))
    }

    /// Counts the lines that are kept.
    pub fn lines(&self) -> usize {
        self.hunks.iter().map(|hunk| hunk.lines.len()).sum()
    }

    /// Returns the numbers of the lines of the new side that are kept.
    pub(super) fn new_numbers(&self) -> BTreeSet<u32> {
        let lines = self.hunks.iter().flat_map(|hunk| &hunk.lines);
        lines.filter_map(|line| line.new).collect()
    }
}

/// A place that changed, with the lines around it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The number of its first line before.
    pub old_start: u32,
    /// The number of its first line after.
    pub new_start: u32,
    /// What git says it is in: a function or a heading.
    pub section: String,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// Which side a line is on.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// On both: it did not change.
    #[default]
    Both,
    /// Only on the old one.
    Removed,
    /// Only on the new one.
    Added,
}

/// A line of a diff.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Line {
    /// Which side it is on.
    pub side: Side,
    /// Its number before.
    pub old: Option<u32>,
    /// Its number after.
    pub new: Option<u32>,
    /// Its text, without a line feed.
    pub text: String,
    /// Whether the file ends with it, without a line feed.
    pub no_newline: bool,
    /// How its text is coloured, from its beginning on; what is beyond the last token is plain.
    pub tokens: Vec<Token>,
}

/// A part of a line that has one colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// Its length, in bytes.
    pub length: usize,
    /// The class of its colour; none where it is plain.
    pub class: Option<&'static str>,
}
