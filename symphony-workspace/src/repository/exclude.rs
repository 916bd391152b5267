//! Keeps Symphony's own files out of `git status` without a change to the project.

use std::fs;
use std::io::ErrorKind;

use super::open::Repository;
use crate::error::WorkspaceError;
use crate::own_file::read_text;
use crate::whole_file::write_whole;

/// The line above the entries.
const HEADING: &str = "# Symphony's own files";

impl Repository {
    /// Adds the entries (patterns as in `.gitignore`) that `.git/info/exclude` lacks. Returns whether any was added.
    ///
    /// # Errors
    /// When the file cannot be read or replaced.
    pub fn exclude(&self, entries: &[String]) -> Result<bool, WorkspaceError> {
        self.rewrite_exclude(|old| with_entries(old, entries))
    }

    /// Removes entries from `.git/info/exclude`. Returns whether there was one.
    ///
    /// # Errors
    /// When the file cannot be read or replaced.
    pub fn stop_excluding(&self, entries: &[String]) -> Result<bool, WorkspaceError> {
        self.rewrite_exclude(|old| without_entries(old, entries))
    }

    /// Returns whether git ignores an uncommitted path; that of a folder ends with `/`. False if unknown.
    pub fn ignores(&self, path: &str) -> bool {
        self.reader().ignores(path)
    }

    /// Returns whether git tracks a file, because it is committed or in the index.
    ///
    /// # Errors
    /// When git fails.
    pub fn tracks(&self, path: &str) -> Result<bool, WorkspaceError> {
        let found = self
            .git
            .command("ls-files")
            .args(["-z", "--cached", "--", path])
            .run()?;
        Ok(!found.is_empty())
    }

    fn rewrite_exclude(
        &self,
        change: impl FnOnce(&str) -> Option<String>,
    ) -> Result<bool, WorkspaceError> {
        // Read and written under the lock, so that the entries of another process are not lost.
        let _lock = self.lock()?;
        let folder = self.common_dir().join("info");
        let path = folder.join("exclude");
        let old = match read_text(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(source) => return Err(WorkspaceError::io("read", &path, source)),
        };
        let Some(new) = change(&old) else {
            return Ok(false);
        };
        fs::create_dir_all(&folder)
            .map_err(|source| WorkspaceError::io("create the folder", &folder, source))?;
        write_whole(&path, new).map_err(|source| WorkspaceError::io("write", &path, source))?;
        Ok(true)
    }

    /// Returns the entries for Symphony's own files: its folder, its configuration, its worktrees.
    pub fn own_excludes(&self) -> Vec<String> {
        let mut entries = vec![
            "/.symphony/".to_owned(),
            "/symphony.config.json".to_owned(),
            "/.symphony-state.json".to_owned(),
        ];
        let workspaces = self.workspaces_dir();
        if let Ok(relative) = workspaces.strip_prefix(&self.root) {
            entries.push(format!("/{}/", relative.display()));
        }
        entries
    }
}

/// Returns the new text, or `None` when no entry is missing.
fn with_entries(old: &str, entries: &[String]) -> Option<String> {
    let has = |entry: &str| old.lines().any(|line| line.trim() == entry);
    let missing: Vec<&String> = entries.iter().filter(|entry| !has(entry)).collect();
    if missing.is_empty() {
        return None;
    }
    let mut new = old.to_owned();
    if !new.is_empty() && !new.ends_with('\n') {
        new.push('\n');
    }
    if !has(HEADING) {
        new.push_str(HEADING);
        new.push('\n');
    }
    for entry in missing {
        new.push_str(entry);
        new.push('\n');
    }
    Some(new)
}

/// Returns the text without these entries, or `None` when it has none of them.
fn without_entries(old: &str, entries: &[String]) -> Option<String> {
    let is_entry = |line: &&str| entries.iter().any(|entry| line.trim() == entry);
    old.lines().find(is_entry)?;
    let kept = old.lines().filter(|line| !is_entry(line));
    Some(kept.flat_map(|line| [line, "\n"]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_added_once_and_the_rest_is_kept() {
        let entries = ["/.symphony/".to_owned(), "/x".to_owned()];
        let once = with_entries("*.log", &entries).unwrap();
        assert_eq!(once, "*.log\n# Symphony's own files\n/.symphony/\n/x\n");
        assert_eq!(with_entries(&once, &entries), None);
        let more = with_entries(&once, &["/y".to_owned()]).unwrap();
        assert_eq!(more, format!("{once}/y\n"));
        assert_eq!(without_entries(&more, &["/y".to_owned()]), Some(once));
        assert_eq!(without_entries("*.log\n", &["/y".to_owned()]), None);
    }
}
