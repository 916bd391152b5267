//! What an agent had begun in its git folder and not ended: a merge, a rebase, a series of picks.

use std::io;
use std::path::Path;

use super::refs::read_text;
use crate::change::operation::SEQUENCES;
use crate::commit_id::CommitId;
use crate::linux::Folder;

/// The most parents of an unfinished merge that are looked at.
const PARENTS_MAX: usize = 16;

/// An operation that is not ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Unfinished {
    /// The commits that a merge would add as parents.
    pub(crate) merged: Vec<CommitId>,
    /// Whether a rebase or a series is in progress.
    pub(crate) in_sequence: bool,
}

/// Reads what is not ended.
pub(super) fn read(folder: &Folder) -> io::Result<Unfinished> {
    let merged = read_text(folder, Path::new("MERGE_HEAD"))?.unwrap_or_default();
    let merged = merged
        .lines()
        .filter_map(|line| CommitId::parse(line.trim()).ok());
    Ok(Unfinished {
        merged: merged.take(PARENTS_MAX).collect(),
        in_sequence: SEQUENCES
            .iter()
            .any(|name| folder.folder(Path::new(name)).is_ok()),
    })
}
