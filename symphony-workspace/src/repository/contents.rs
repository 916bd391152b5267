//! What a commit names and does not hold: submodules, and files that Git LFS keeps elsewhere.

use super::open::Repository;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::fields;

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
    /// The patterns of the files that Git LFS keeps, as attributes have them, each behind the folder they are said in.
    pub lfs: Vec<String>,
}

/// What becomes of files with a filter in Symphony's own git calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterUse {
    /// `git.trusted_filters` does not name it: they stay as they are in the repository.
    NotTrusted,
    /// The user's global configuration does not have it: they stay as they are in the repository.
    NotConfigured,
    /// This program is run on them.
    Runs(String),
}

impl Repository {
    /// Returns what a commit names and does not hold.
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
            let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
            let patterns = lfs_patterns(&text).map(|pattern| format!("{folder}{pattern}"));
            found.lfs.extend(patterns);
        }
        Ok(found)
    }

    /// Returns what becomes of files with a filter.
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
        // git prefers the one that lives as long as the call
        let command = ["process", "smudge", "clean"].iter().find_map(|variable| {
            let key = format!("filter.{name}.{variable}");
            let mut set = settings.iter().filter(|(found, _)| *found == key);
            set.next_back().filter(|(_, command)| !command.is_empty())
        });
        let program = command.and_then(|(_, command)| command.split_whitespace().next());
        program.map_or(FilterUse::NotConfigured, |program| {
            FilterUse::Runs(program.to_owned())
        })
    }
}

/// Returns the patterns of the lines that give files to Git LFS.
fn lfs_patterns(attributes: &str) -> impl Iterator<Item = &str> {
    attributes.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let pattern = words.next().filter(|word| !word.starts_with('#'))?;
        words.any(|word| word == "filter=lfs").then_some(pattern)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patterns_of_lfs_are_found() {
        let text = "# *.no filter=lfs\n*.bin filter=lfs diff=lfs merge=lfs -text\r\n*.txt text\n  deep/** -text filter=lfs\n*.x filter=lfsx\n*.y -filter\n\n";
        let found: Vec<&str> = lfs_patterns(text).collect();
        assert_eq!(found, ["*.bin", "deep/**"]);
    }
}
