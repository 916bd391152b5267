//! Worktrees of a repository that was moved. Git records full paths on both sides.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::agent_git::is_given;
use crate::error::WorkspaceError;
use crate::own_file::read_file;
use crate::repository::Repository;
use crate::whole_file::write_whole;

impl Repository {
    /// Points worktrees that were moved together with the repository, which was at `from`, to its new place.
    ///
    /// `git worktree repair` is not used: it follows a worktree's `.git` file, which an agent may have written. Only a
    /// path below the old root that git itself recorded is changed, and only a `.git` file with the contents that git
    /// wrote.
    ///
    /// # Errors
    /// When a file cannot be read or written. Other worktrees may have been repaired by then; repeating it does no
    /// harm.
    pub fn follow_move(&self, from: &Path) -> Result<(), WorkspaceError> {
        let _lock = self.lock()?;
        let folder = self.common_dir().join("worktrees");
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(WorkspaceError::io("list", folder, source)),
        };
        for entry in entries.flatten() {
            self.repair(&entry.path(), from)?;
        }
        Ok(())
    }

    /// Repairs the worktree that one of git's administration folders belongs to.
    fn repair(&self, admin: &Path, from: &Path) -> Result<(), WorkspaceError> {
        let note = admin.join("gitdir");
        let Some(old_file) = read_path(&note) else {
            return Ok(());
        };
        let Ok(below) = old_file.strip_prefix(from) else {
            return Ok(());
        };
        let new_file = self.root.join(below);
        let new_meta = fs::symlink_metadata(&new_file);
        // An agent's own git folder borrows objects by a path that no longer leads to them; its commits are imported
        // without it.
        if is_given(admin) && new_meta.as_ref().is_ok_and(fs::Metadata::is_dir) {
            return write(&note, &format!("{}\n", new_file.display()));
        }
        if !new_meta.is_ok_and(|meta| meta.is_file()) {
            return Ok(());
        }
        let old_admin = match admin.strip_prefix(&self.root) {
            Ok(below) => from.join(below),
            // A git folder outside of the repository was not moved with it.
            Err(_outside) => admin.to_owned(),
        };
        let pointer = |to: &Path| [b"gitdir: ", to.as_os_str().as_bytes()].concat();
        let found =
            read_file(&new_file).map_err(|source| WorkspaceError::io("read", &new_file, source))?;
        if found.trim_ascii_end() == pointer(&old_admin) && old_admin != admin {
            let text = format!("gitdir: {}\n", admin.display());
            write(&new_file, &text)?;
        }
        // Last: as long as it has the old path, a repetition finds this worktree again.
        write(&note, &format!("{}\n", new_file.display()))
    }
}

fn read_path(file: &Path) -> Option<PathBuf> {
    let bytes = read_file(file).ok()?;
    Some(Path::new(std::ffi::OsStr::from_bytes(bytes.trim_ascii_end())).to_owned())
}

fn write(path: &Path, text: &str) -> Result<(), WorkspaceError> {
    write_whole(path, text).map_err(|source| WorkspaceError::io("write", path, source))
}
