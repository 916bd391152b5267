//! The note that a worktree's agent has its own git folder. It is in the registration, which no agent writes.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::own_file::read_own_file;
use crate::whole_file::write_private;

/// The note's name in the git folder of a worktree.
const NOTE: &str = "symphony-agent.json";

/// How far giving or taking a folder came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// The folder is being made. No agent has seen it.
    Making,
    /// The agent has it.
    Given,
    /// Everything in it was taken over. It is being removed.
    Taken,
}

/// What was the same on both sides when they were last compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(super) stage: Stage,
    /// The commit that was checked out.
    pub(super) head: CommitId,
    /// The commit of the worktree's own branch; `None` without one.
    pub(super) tip: Option<CommitId>,
    /// The full names of further branches that the agent was given.
    #[serde(default)]
    pub(super) branches: Vec<String>,
    /// How many entries of the log of `HEAD` were taken over.
    #[serde(default)]
    pub(super) logged: usize,
    /// How many of the log of the branch.
    #[serde(default)]
    pub(super) branch_logged: usize,
}

impl Note {
    /// Reads the note; `None` when there is none, which means that the agent has no folder of its own.
    pub(super) fn read(git_dir: &Path) -> Result<Option<Self>, WorkspaceError> {
        let path = place(git_dir);
        match read_own_file(&path) {
            Ok(bytes) => match serde_json::from_slice(&bytes) {
                Ok(note) => Ok(Some(note)),
                Err(error) => Err(WorkspaceError::Tampered {
                    path,
                    what: format!("the note about its agent's git folder cannot be read: {error}"),
                }),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(WorkspaceError::io("read", path, source)),
        }
    }

    pub(super) fn write(&self, git_dir: &Path) -> Result<(), WorkspaceError> {
        let path = place(git_dir);
        let text = serde_json::to_string(self).expect("a note has string keys only");
        write_private(&path, text).map_err(|source| WorkspaceError::io("write", path, source))
    }

    pub(crate) fn remove(git_dir: &Path) -> Result<(), WorkspaceError> {
        let path = place(git_dir);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                Err(WorkspaceError::io("remove", path, source))
            }
            _ => Ok(()),
        }
    }
}

/// Returns whether a worktree's agent has a git folder of its own, or is being given one.
pub(crate) fn is_given(git_dir: &Path) -> bool {
    place(git_dir).symlink_metadata().is_ok()
}

fn place(git_dir: &Path) -> PathBuf {
    git_dir.join(NOTE)
}
