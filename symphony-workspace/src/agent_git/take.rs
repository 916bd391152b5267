//! Taking over what an agent did in its git folder, and making the checkout a linked worktree again.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use super::exchange;
use super::note::{Note, Stage};
use super::place::Workbench;
use crate::error::WorkspaceError;
use crate::failpoint::Failpoint;
use crate::repository::Repository;
use crate::worktree::{Worktree, refuse_link};

impl Repository {
    /// Takes over everything that the agent of a worktree has committed, and its branch, `HEAD`, stash and unfinished
    /// merge, and goes on. The worktree shows its state then. Does nothing when the agent has no git folder of its own.
    ///
    /// # Errors
    /// As [`Repository::import`], and when git fails.
    pub fn read_git_folder(&self, worktree: &Worktree) -> Result<(), WorkspaceError> {
        let _one_at_a_time = exchange();
        match Note::read(&worktree.place().git_dir)? {
            Some(note) if note.stage == Stage::Given => {
                refuse_link(worktree.path())?;
                self.take_over(worktree, note).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Takes over everything as [`Repository::read_git_folder`] does, and makes the checkout a linked worktree again. Its
    /// agent must have ended. It can be repeated after a death at any step. Returns whether there was anything to do.
    ///
    /// # Errors
    /// [`WorkspaceError::Tampered`] when the folder is not what an agent's git makes of it: then everything stays as it is, for a
    /// person to look at. Otherwise when git fails, or a file cannot be written.
    pub fn take_git_folder(&self, worktree: &Worktree) -> Result<bool, WorkspaceError> {
        let _one_at_a_time = exchange();
        self.take_agents(worktree)
    }

    pub(super) fn take_agents(&self, worktree: &Worktree) -> Result<bool, WorkspaceError> {
        let git_dir = &worktree.place().git_dir;
        let Some(mut note) = Note::read(git_dir)? else {
            return Ok(false);
        };
        refuse_link(worktree.path())?;
        if note.stage == Stage::Given {
            note = self.take_over(worktree, note)?;
            Failpoint::GitFolderRead.reach();
            note.stage = Stage::Taken;
            note.write(git_dir)?;
        }
        link(worktree)?;
        Failpoint::GitFolderTaken.reach();
        Note::remove(git_dir)?;
        Ok(true)
    }

    /// Lets a worktree's agent see what Symphony itself committed in it meanwhile: its git folder is made again.
    ///
    /// # Errors
    /// As [`Repository::take_git_folder`] and [`Repository::give_git_folder`].
    pub fn renew_git_folder(&self, worktree: &Worktree) -> Result<(), WorkspaceError> {
        let _one_at_a_time = exchange();
        let Some(note) = Note::read(&worktree.place().git_dir)? else {
            return Ok(());
        };
        self.take_agents(worktree)?;
        self.give_git_folder_with(worktree, note.branches).map(drop)
    }
}

/// Makes a checkout a linked worktree.
fn link(worktree: &Worktree) -> Result<(), WorkspaceError> {
    let bench = Workbench::make(worktree)?;
    let file = bench.new_git();
    let git_dir = worktree.place().git_dir.as_os_str().as_bytes();
    let text = [b"gitdir: ", git_dir, b"\n"].concat();
    fs::write(&file, text).map_err(|source| WorkspaceError::io("write", file, source))?;
    bench.put()
}
