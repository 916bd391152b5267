//! Stages a worktree's contents, without the copied configuration files.
//!
//! `git add -A` is not used: inside a repository that was planted in the worktree it starts another git, which obeys
//! the planted configuration. `update-index` handles exactly the paths that it gets.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::status::Status;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Git, fields};

/// Stages all of `status` into the index (the worktree's own if `index` is `None`), unstages copied files, and returns
/// the tree.
pub(crate) fn stage(
    git: &Git,
    index: Option<&Path>,
    status: &Status,
    protected: &BTreeSet<PathBuf>,
) -> Result<CommitId, WorkspaceError> {
    // Deleted paths first: a file may have become a folder, or a link.
    update(
        git,
        index,
        "--force-remove",
        nul_joined(status.deleted.iter()),
    )?;
    update(git, index, "--add", nul_joined(status.present()))?;
    unstage(git, index, protected)?;
    git.command("write-tree").index(index).object()
}

/// Removes copied files from an index, unless a commit has them already.
pub(crate) fn unstage(
    git: &Git,
    index: Option<&Path>,
    protected: &BTreeSet<PathBuf>,
) -> Result<(), WorkspaceError> {
    if protected.is_empty() {
        return Ok(());
    }
    let committed = git
        .command("ls-tree")
        .args(["-z", "--name-only", "--full-tree", "HEAD", "--"])
        .args(protected)
        .run()?;
    let committed: BTreeSet<&[u8]> = fields(&committed).collect();
    let staged = protected
        .iter()
        .filter(|path| !committed.contains(path.as_os_str().as_bytes()));
    let paths = nul_joined(staged);
    update(git, index, "--force-remove", paths)
}

fn update(
    git: &Git,
    index: Option<&Path>,
    how: &str,
    paths: Vec<u8>,
) -> Result<(), WorkspaceError> {
    if paths.is_empty() {
        return Ok(());
    }
    git.command("update-index")
        .index(index)
        .args([how, "--remove", "--replace", "-z", "--stdin"])
        .stdin(paths)
        .slow()
        .run()?;
    Ok(())
}

fn nul_joined<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Vec<u8> {
    let mut joined = Vec::new();
    for path in paths {
        joined.extend_from_slice(path.as_os_str().as_bytes());
        joined.push(0);
    }
    joined
}
