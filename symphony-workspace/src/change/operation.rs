//! A merge, cherry-pick, revert or rebase that was left unfinished.

use std::fs;
use std::io::ErrorKind;

use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::Git;
use crate::own_file::read_text;

/// Files of an unfinished merge, cherry-pick or revert, which a commit ends.
const ENDED_BY_COMMIT: &[&str] = &[
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "MERGE_AUTOSTASH",
    "AUTO_MERGE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "SQUASH_MSG",
    "BISECT_START",
    "BISECT_LOG",
];

/// Folders of an unfinished rebase or of a sequence of picks.
pub(crate) const SEQUENCES: &[&str] = &[SEQUENCE_MARK, "rebase-apply", "sequencer"];

/// The folder that stands for any of them where Symphony notes that one is unfinished.
pub(crate) const SEQUENCE_MARK: &str = "rebase-merge";

/// Returns the commits that an unfinished merge would add as parents.
pub(crate) fn merge_heads(git: &Git) -> Vec<CommitId> {
    read_text(&git.place().git_dir.join("MERGE_HEAD"))
        .unwrap_or_default()
        .lines()
        .filter_map(|line| CommitId::parse(line.trim()).ok())
        .collect()
}

/// Returns whether a rebase or a sequence is in progress.
pub(crate) fn in_sequence(git: &Git) -> bool {
    SEQUENCES
        .iter()
        .any(|name| git.place().git_dir.join(name).exists())
}

/// Discards the state of every unfinished operation; contents and commits are not touched.
pub(crate) fn forget(git: &Git) -> Result<(), WorkspaceError> {
    for name in ENDED_BY_COMMIT {
        let path = git.place().git_dir.join(name);
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(source) => return Err(WorkspaceError::io("remove", path, source)),
        }
    }
    for name in SEQUENCES {
        let path = git.place().git_dir.join(name);
        match fs::remove_dir_all(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(source) => return Err(WorkspaceError::io("remove", path, source)),
        }
    }
    Ok(())
}
