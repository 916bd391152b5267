//! Tracked files that the index hides from git: their changes would be left out without a word.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::error::WorkspaceError;
use crate::git::fields;
use crate::repository::Repository;
use crate::worktree::Worktree;

impl Repository {
    /// Lets git see again what `update-index --skip-worktree` or `--assume-unchanged` hides in a worktree. Files that a
    /// sparse checkout leaves out are not in the folder and stay hidden. Returns how many files were hidden.
    ///
    /// # Errors
    /// When git fails.
    pub fn reveal_hidden(&self, worktree: &Worktree) -> Result<usize, WorkspaceError> {
        let git = &worktree.git;
        let list = git.command("ls-files").args(["-v", "-z"]).slow().run()?;
        let mut hidden = Vec::new();
        let mut count = 0;
        for entry in fields(&list) {
            let (Some(flag), Some(path)) = (entry.first(), entry.get(2..)) else {
                continue;
            };
            let is_hidden = flag.is_ascii_lowercase() || *flag == b'S';
            let file = worktree.path().join(Path::new(OsStr::from_bytes(path)));
            if is_hidden && fs::symlink_metadata(file).is_ok() {
                hidden.extend_from_slice(path);
                hidden.push(0);
                count += 1;
            }
        }
        if count == 0 {
            return Ok(0);
        }
        // one call each: git takes the last of several such options
        for option in ["--no-assume-unchanged", "--no-skip-worktree"] {
            git.command("update-index")
                .args([option, "-z", "--stdin"])
                .stdin(hidden.clone())
                .slow()
                .run()?;
        }
        Ok(count)
    }
}
