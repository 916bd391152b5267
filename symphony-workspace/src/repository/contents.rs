//! What a commit names and does not hold: submodules, and what filters such as Git LFS keep elsewhere.

use std::collections::BTreeMap;

use super::open::Repository;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::fields;
use crate::own_file::read_own_file;

/// The filter of Git LFS.
pub const LFS_FILTER: &str = "lfs";
/// Files of attributes that are read: real repositories have a handful.
const ATTRIBUTES_FILES_MAX: usize = 1_000;
/// Largest file of attributes that is read; git itself takes no larger one.
const ATTRIBUTES_BYTES_MAX: usize = 100 * 1024 * 1024;

/// What a commit names and does not hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// The paths of its submodules.
    pub submodules: Vec<String>,
    /// The patterns of the files of each filter, as in the attributes, each prefixed with the folder of its attributes
    /// file.
    pub filters: BTreeMap<String, Vec<String>>,
}

impl Elsewhere {
    fn add(&mut self, folder: &str, attributes: &[u8]) {
        for (filter, pattern) in filtered(&String::from_utf8_lossy(attributes)) {
            let patterns = self.filters.entry(filter.to_owned()).or_default();
            patterns.push(format!("{folder}{pattern}"));
        }
    }
}

/// What happens to files with a filter in Symphony's own git calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterUse {
    /// `git.trusted_filters` does not name it: they stay as they are in the repository.
    NotTrusted,
    /// The user's global configuration does not have it: they stay as they are in the repository.
    NotConfigured,
    /// This program is run on them.
    Runs(String),
    /// This program would be run on them, and it is not there.
    Missing {
        /// The program.
        program: String,
        /// Whether git cannot check such files out without it.
        is_needed: bool,
    },
}

impl Repository {
    /// Returns what checking out a commit needs from elsewhere: its submodules, and the filters of its attributes and of the
    /// repository's own `info/attributes`.
    ///
    /// # Errors
    /// When git fails.
    pub fn elsewhere(&self, commit: &CommitId) -> Result<Elsewhere, WorkspaceError> {
        let list = self
            .git
            .command("ls-tree")
            .args(["-r", "-z", "--full-tree", commit.as_str()])
            .slow()
            .run()?;
        let mut found = Elsewhere::default();
        let mut attributes = Vec::new();
        for entry in fields(&list) {
            let entry = String::from_utf8_lossy(entry);
            let Some((meta, path)) = entry.split_once('\t') else {
                continue;
            };
            let folder = path.strip_suffix(".gitattributes");
            if meta.starts_with("160000 ") {
                found.submodules.push(path.to_owned());
            } else if let Some(folder) = folder.filter(|f| f.is_empty() || f.ends_with('/')) {
                attributes.push((folder.to_owned(), path.to_owned()));
            }
        }
        for (folder, path) in attributes.into_iter().take(ATTRIBUTES_FILES_MAX) {
            let bytes = self.file_at(commit, &path, ATTRIBUTES_BYTES_MAX)?;
            found.add(&folder, bytes.as_deref().unwrap_or_default());
        }
        // The repository's own attributes, which no commit has and git obeys nevertheless.
        let own = read_own_file(&self.common_dir().join("info/attributes"));
        found.add("", &own.unwrap_or_default());
        Ok(found)
    }

    /// Returns what happens to files with a filter.
    pub fn filter_use(&self, name: &str) -> FilterUse {
        if !self
            .git
            .trusted_filters()
            .iter()
            .any(|trusted| trusted == name)
        {
            return FilterUse::NotTrusted;
        }
        let settings = self.git.user().filter_settings(name);
        let last = |variable: &str| {
            let key = format!("filter.{name}.{variable}");
            let mut set = settings.iter().filter(|(found, _)| *found == key);
            set.next_back().map(|(_, value)| value.as_str())
        };
        let program = |variable: &str| {
            let command = last(variable).filter(|command| !command.is_empty())?;
            command.split_whitespace().next().map(str::to_owned)
        };
        // Git prefers the long-running filter process, and fails if it does not respond.
        let lasting = program("process");
        let is_needed = lasting.is_some() || last("required").is_some_and(is_true);
        let found = lasting
            .or_else(|| program("smudge"))
            .or_else(|| program("clean"));
        match found {
            None => FilterUse::NotConfigured,
            Some(program) if self.git.program().finds(&program) => FilterUse::Runs(program),
            Some(program) => FilterUse::Missing { program, is_needed },
        }
    }

    /// Checks that the files of the base can be checked out and committed: no filter that they need lacks its program,
    /// and none runs for the user and the agents alone. Symphony's commits would hold such files as they are in the
    /// worktree: in plain text if the filter encrypts them. If each filter runs, the files are not examined.
    ///
    /// Pointers of Git LFS are harmless in a worktree, so work goes on without its filter.
    ///
    /// # Errors
    /// [`WorkspaceError::FilterMissing`], [`WorkspaceError::FilterNotRun`]; as [`Repository::base`].
    pub fn require_filters(&self) -> Result<(), WorkspaceError> {
        self.require_filters_at(|| Ok(self.base()?.commit))
    }

    /// Makes sure of the same for the files of a change: its own attributes may name a filter that the base has not.
    ///
    /// # Errors
    /// As [`Repository::require_filters`].
    pub fn require_filters_of(&self, commit: &CommitId) -> Result<(), WorkspaceError> {
        self.require_filters_at(|| Ok(commit.clone()))
    }

    fn require_filters_at(
        &self,
        commit: impl FnOnce() -> Result<CommitId, WorkspaceError>,
    ) -> Result<(), WorkspaceError> {
        let mut idle = self.idle_filters()?;
        // Pointers in place of the files of LFS do no harm, unless git stops at them.
        idle.retain(|filter| filter.is_needed || filter.name != LFS_FILTER);
        if idle.is_empty() {
            return Ok(());
        }
        let mut filters = self.elsewhere(&commit()?)?.filters;
        for IdleFilter { name, program, .. } in idle {
            let Some(patterns) = filters.remove(&name) else {
                continue;
            };
            let root = self.root.clone();
            return Err(match program {
                Some(program) => WorkspaceError::FilterMissing {
                    name,
                    program,
                    patterns,
                    root,
                },
                None => WorkspaceError::FilterNotRun {
                    name,
                    patterns,
                    root,
                },
            });
        }
        Ok(())
    }

    /// Returns the filters that some configuration has and that Symphony's git does not run.
    pub(crate) fn idle_filters(&self) -> Result<Vec<IdleFilter>, WorkspaceError> {
        let mut names = self.git.user().filters();
        names.extend(self.git.own_filters()?);
        let idle = |name: String| {
            let (program, is_needed) = match self.filter_use(&name) {
                FilterUse::Runs(_) => return None,
                FilterUse::Missing { program, is_needed } => (Some(program), is_needed),
                FilterUse::NotTrusted | FilterUse::NotConfigured => (None, false),
            };
            Some(IdleFilter {
                name,
                program,
                is_needed,
            })
        };
        Ok(names.into_iter().filter_map(idle).collect())
    }
}

/// A filter that runs for the user and the agents, and not in Symphony's own git calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdleFilter {
    /// Its name.
    pub(crate) name: String,
    /// The program that is not there, where Symphony would run it.
    program: Option<String>,
    /// Whether git stops at files that need it.
    is_needed: bool,
}

/// Returns whether git treats a value as true.
fn is_true(value: &str) -> bool {
    let words = ["true", "yes", "on"];
    words.iter().any(|word| value.eq_ignore_ascii_case(word))
        || value.parse::<i64>().is_ok_and(|number| number != 0)
}

/// Returns the filter and the pattern of each line that gives files to a filter.
fn filtered(attributes: &str) -> impl Iterator<Item = (&str, &str)> {
    attributes.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let pattern = words.next().filter(|word| !word.starts_with('#'))?;
        let filter = words
            .filter_map(|word| word.strip_prefix("filter="))
            .next_back();
        Some((filter?, pattern))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patterns_of_filters_are_found() {
        let text = "# *.no filter=lfs\n*.bin filter=lfs diff=lfs merge=lfs -text\r\n*.txt text\n  deep/** -text filter=lfs\n*.x filter=crypt\n*.y -filter\n*.z filter=a filter=b\n\n";
        let found: Vec<(&str, &str)> = filtered(text).collect();
        assert_eq!(
            found,
            [
                ("lfs", "*.bin"),
                ("lfs", "deep/**"),
                ("crypt", "*.x"),
                ("b", "*.z"),
            ]
        );
    }
}
