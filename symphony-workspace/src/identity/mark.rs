//! The high-water mark of a database: beside it, and once more in the git folder of the repository, where neither
//! `git clean -fdx` nor an older copy of the whole `.symphony` folder touches it.

use std::path::{Path, PathBuf};

use symphony_core::identity::Mark;

use crate::error::WorkspaceError;
use crate::plan_file::read_text_file;
use crate::repository::discover;
use crate::whole_file::write_note;

/// The mark in the git folder.
const IN_GIT_DIR: &str = "symphony-mark.json";
/// Most of a mark that is read: a hundred bytes, and forty for each project.
const BYTES_MAX: u64 = 1024 * 1024;

/// The places of a database's mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkPlaces {
    paths: Vec<PathBuf>,
}

impl MarkPlaces {
    /// Names the places for a database and repositories that it knows. A repository that is not there now has no place.
    pub fn of<'r>(database: &Path, roots: impl IntoIterator<Item = &'r Path>) -> Self {
        let beside = database.with_extension("mark.json");
        let in_git_dirs = roots.into_iter().filter_map(|root| {
            let found = discover(root).ok()?;
            Some(found.common_dir.join(IN_GIT_DIR))
        });
        Self {
            paths: [beside].into_iter().chain(in_git_dirs).collect(),
        }
    }

    /// Reads the mark of each place; `None` for a missing or invalid one.
    pub fn read(&self) -> Vec<Option<Mark>> {
        let read = |path: &PathBuf| Mark::parse(&read_text_file(path, BYTES_MAX).ok()?);
        self.paths.iter().map(read).collect()
    }

    /// Writes a mark to the places whose mark is missing, lower, or another installation's.
    ///
    /// # Errors
    /// The first place that cannot be written; the others are still written.
    pub fn write(&self, mark: &Mark) -> Result<(), WorkspaceError> {
        let text = mark.to_text();
        let mut written = Ok(());
        for (path, found) in self.paths.iter().zip(self.read()) {
            let is_noted = found.is_some_and(|found| {
                found.is_plausible(&mark.installation, mark.reach) && found.reach >= mark.reach
            });
            if !is_noted {
                let place = write_note(path, &text)
                    .map_err(|source| WorkspaceError::io("write", path, source));
                written = written.and(place);
            }
        }
        written
    }
}
