//! All worktrees of a project, complete and broken, for `clean` and `doctor`.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use super::broken::is_unfinished;
use super::registration::{Registration, recorded_path};
use crate::agent_git::is_given;
use crate::error::WorkspaceError;
use crate::repository::Repository;

/// The state of a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorktreeState {
    /// Registered, with its folder.
    Whole,
    /// Its creation was interrupted.
    Unfinished,
    /// A person locked it, for this reason.
    Locked(String),
    /// Registered, but without its folder.
    FolderGone,
    /// A folder that git does not know, or something that is not a folder.
    NotRegistered,
}

/// A direct child of the folder of worktrees, or a registration that names one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedWorktree {
    /// Its folder's name, which is its key.
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
    /// The branch that is checked out; `None` when detached or not registered.
    pub branch: Option<String>,
    /// Its state.
    pub state: WorktreeState,
}

impl Repository {
    /// Lists the worktrees whose agent has a git folder of its own, sorted.
    pub fn worktrees_of_agents(&self) -> Vec<PathBuf> {
        let folder = self.common_dir().join("worktrees");
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let given = entries
            .map(|entry| entry.path())
            .filter(|git_dir| is_given(git_dir));
        let mut paths: Vec<PathBuf> = given
            .filter_map(|git_dir| recorded_path(&git_dir))
            .collect();
        paths.sort();
        paths
    }

    /// Lists the worktrees below the project's folder of worktrees, sorted by name. It leaves out folders that were
    /// moved away, and others whose names start with a dot.
    ///
    /// # Errors
    /// When git fails or the folder cannot be read.
    pub fn list_worktrees(&self) -> Result<Vec<ListedWorktree>, WorkspaceError> {
        let folder = self.workspaces_dir();
        let root = folder
            .canonicalize()
            .unwrap_or_else(|_absent| folder.clone());
        let mut found = BTreeMap::new();
        match fs::read_dir(&root) {
            Ok(entries) => {
                for entry in entries.flatten() {
                    let name = entry.file_name().to_string_lossy().into_owned();
                    if !name.starts_with('.') {
                        let listed = ListedWorktree {
                            name: name.clone(),
                            path: entry.path(),
                            branch: None,
                            state: WorktreeState::NotRegistered,
                        };
                        found.insert(name, listed);
                    }
                }
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(source) => return Err(WorkspaceError::io("list", &root, source)),
        }
        for registration in self.registrations()? {
            let Some(name) = registration
                .path
                .strip_prefix(&root)
                .ok()
                .filter(|below| below.components().count() == 1)
            else {
                continue;
            };
            let name = name.to_string_lossy().into_owned();
            let listed = ListedWorktree {
                name: name.clone(),
                branch: registration
                    .reference
                    .as_ref()
                    .and_then(|reference| reference.strip_prefix("refs/heads/"))
                    .map(str::to_owned),
                state: state_of(&registration),
                path: registration.path,
            };
            found.insert(name, listed);
        }
        Ok(found.into_values().collect())
    }
}

fn state_of(registration: &Registration) -> WorktreeState {
    match &registration.locked {
        Some(_) if is_unfinished(registration) => WorktreeState::Unfinished,
        Some(reason) => WorktreeState::Locked(reason.clone()),
        None if registration.path.is_dir() => WorktreeState::Whole,
        None => WorktreeState::FolderGone,
    }
}
