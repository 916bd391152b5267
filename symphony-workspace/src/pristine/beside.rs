//! What is beside the tracked files of a pristine checkout.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::kept::Kept;
use super::tracked::Mark;

/// What is beside the tracked files, as it may be.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// Whether what was there before the first command is recorded.
    pub(super) is_recorded: bool,
    /// The folders whose entries are known, as they were when they were listed.
    pub(super) folders: BTreeMap<PathBuf, Option<Mark>>,
    /// Entries that git ignores, and whether each is a folder: what is in one does not count.
    pub(super) ignored: BTreeSet<(PathBuf, bool)>,
    /// Files that were there before the first command.
    pub(super) kept: Kept,
}
