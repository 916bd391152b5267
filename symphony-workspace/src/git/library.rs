//! The repository as libgit2 has it, opened once for all questions about objects.
//!
//! Opening takes longer than most of these questions: it reads the configuration and the indexes of all packs. Objects never change, and
//! libgit2 looks again for one that it does not find. Refs and ignore files do change, so they are asked of a repository that was just opened.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A repository that is opened at the first question.
#[derive(Clone, Default)]
pub(super) struct Library(Arc<Mutex<Option<git2::Repository>>>);

impl Library {
    /// Asks the repository; `None` where libgit2 cannot open it.
    pub(super) fn ask<T>(
        &self,
        common_dir: &Path,
        question: impl FnOnce(&git2::Repository) -> T,
    ) -> Option<T> {
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let repository = match &mut *opened {
            Some(repository) => repository,
            none => none.insert(open(common_dir)?),
        };
        Some(question(repository))
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Library")
    }
}

/// Opens a repository by its common git folder.
pub(super) fn open(common_dir: &Path) -> Option<git2::Repository> {
    let flags = git2::RepositoryOpenFlags::NO_SEARCH | git2::RepositoryOpenFlags::NO_DOTGIT;
    let nowhere: [&str; 0] = [];
    git2::Repository::open_ext(common_dir, flags, nowhere)
        .inspect_err(|error| tracing::debug!(%error, "libgit2 cannot open the repository"))
        .ok()
}
