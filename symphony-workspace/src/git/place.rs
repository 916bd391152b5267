//! Where git works: three pinned folders.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::command::GitCommand;
use super::program::GitProgram;
use super::user_config::UserConfig;

/// The folders that every call pins, so that nothing inside the worktree can redirect git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The worktree's own git folder (`<common>/worktrees/<name>`), or the common one.
    pub git_dir: PathBuf,
    /// The repository's git folder.
    pub common_dir: PathBuf,
    /// The checkout.
    pub work_tree: PathBuf,
}

#[derive(Debug)]
struct Shared {
    program: GitProgram,
    trusted_filters: Vec<String>,
    user: OnceLock<UserConfig>,
}

/// Git at a place.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    shared: Arc<Shared>,
    place: Place,
}

impl Git {
    pub(crate) fn new(program: GitProgram, trusted_filters: Vec<String>, place: Place) -> Self {
        Self {
            shared: Arc::new(Shared {
                program,
                trusted_filters,
                user: OnceLock::new(),
            }),
            place,
        }
    }

    /// Returns the same git at another place.
    pub(crate) fn at(&self, place: Place) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            place,
        }
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    pub(crate) fn work_tree(&self) -> &Path {
        &self.place.work_tree
    }

    pub(crate) fn program(&self) -> &GitProgram {
        &self.shared.program
    }

    pub(crate) fn trusted_filters(&self) -> &[String] {
        &self.shared.trusted_filters
    }

    /// Returns what the user's own configuration says; read once.
    pub(crate) fn user(&self) -> &UserConfig {
        self.shared
            .user
            .get_or_init(|| UserConfig::load(&self.shared.program))
    }

    /// Begins a call of a subcommand.
    pub(crate) fn command(&self, subcommand: &'static str) -> GitCommand<'_> {
        GitCommand::new(self, subcommand)
    }
}
