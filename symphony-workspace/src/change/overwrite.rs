//! Making index and tracked files equal a commit.

use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::Git;

/// Makes index and tracked files equal a commit.
pub(crate) fn overwrite(git: &Git, commit: &CommitId) -> Result<(), WorkspaceError> {
    git.command("read-tree")
        .args(["--reset", "-u", "--no-recurse-submodules", commit.as_str()])
        .slow()
        .run()?;
    Ok(())
}
