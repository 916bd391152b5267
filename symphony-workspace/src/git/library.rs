//! The repository as libgit2 has it, opened once for all questions about objects.
//!
//! Opening takes longer than most of these questions: it reads the configuration and the indexes of all packs. Objects never change, and
//! libgit2 looks again for one that it does not find. Refs and ignore files do change, so they are asked of a repository that was just opened.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use git2::Oid;

use super::commits::Commits;
use super::relation::Relation;

/// A repository that is opened at the first question.
#[derive(Clone, Default)]
pub(super) struct Library(Arc<Mutex<Option<Opened>>>);

/// A repository that was opened, and the commits that were read.
pub(super) struct Opened {
    pub(super) repository: git2::Repository,
    commits: Commits,
}

impl Opened {
    /// Returns how two commits are related; `None` where git has to say.
    pub(super) fn relation(&mut self, one: Oid, two: Oid) -> Option<Relation<Oid>> {
        let objects = self.repository.odb().ok()?;
        self.commits.relation(one, two, &objects)
    }
}

impl Library {
    /// Asks the repository; `None` where libgit2 cannot open it.
    pub(super) fn ask<T>(
        &self,
        common_dir: &Path,
        question: impl FnOnce(&mut Opened) -> T,
    ) -> Option<T> {
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = match &mut *opened {
            Some(opened) => opened,
            none => none.insert(Opened {
                repository: open(common_dir)?,
                commits: Commits::default(),
            }),
        };
        Some(question(opened))
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
