//! Finding the git program.

use std::env;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::child;
use crate::error::WorkspaceError;

/// The oldest git with everything that is used: it introduced `merge-tree --write-tree`.
pub const GIT_VERSION_MIN: (u32, u32) = (2, 38);

/// The git program with its full path, and the `PATH` in which it may find its helpers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitProgram {
    path: PathBuf,
    search: OsString,
}

impl GitProgram {
    /// Finds git in this process's `PATH`. Relative entries are dropped, since they would mean another program in each
    /// folder.
    ///
    /// # Errors
    /// [`WorkspaceError::GitMissing`] when no absolute entry has it.
    pub fn find() -> Result<Self, WorkspaceError> {
        let folders: Vec<PathBuf> = env::var_os("PATH")
            .map(|path| {
                env::split_paths(&path)
                    .filter(|p| p.is_absolute())
                    .collect()
            })
            .unwrap_or_default();
        let search = env::join_paths(&folders).unwrap_or_default();
        folders
            .iter()
            .map(|folder| folder.join("git"))
            .find(|candidate| is_executable(candidate))
            .map(|path| Self {
                path,
                search: search.clone(),
            })
            .ok_or_else(|| WorkspaceError::GitMissing {
                searched: search.to_string_lossy().into_owned(),
            })
    }

    /// Returns the program's full path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns git's version. Symphony needs [`GIT_VERSION_MIN`].
    ///
    /// # Errors
    /// When git cannot be started, or its answer is not a version.
    pub fn version(&self) -> Result<(u32, u32), WorkspaceError> {
        let text = self.version_text()?;
        parse_version(&text).ok_or_else(|| WorkspaceError::GitAnswer {
            command: "git version".to_owned(),
            expected: "`git version` and two numbers",
            found: text.chars().take(80).collect(),
        })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this module owns the git program"
    )]
    fn version_text(&self) -> Result<String, WorkspaceError> {
        let mut command = Command::new(&self.path);
        command.arg("version").current_dir("/").env_clear();
        let ended = child::run(command, Vec::new(), 1024, Duration::from_secs(20))
            .map_err(|source| WorkspaceError::io("start", &self.path, source))?;
        Ok(String::from_utf8_lossy(&ended.stdout).trim_end().to_owned())
    }

    /// Returns whether git would find a program that a setting names, since git searches the same folders.
    pub(crate) fn finds(&self, name: &str) -> bool {
        let path = Path::new(name);
        if path.is_absolute() {
            return is_executable(path);
        }
        // A name that only a shell can interpret is left to the shell.
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
        !name.chars().all(is_plain)
            || env::split_paths(&self.search).any(|folder| is_executable(&folder.join(name)))
    }

    pub(crate) fn search(&self) -> &OsString {
        &self.search
    }
}

/// Parses `git version 2.47.3`, with anything that a vendor appends.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("git version ")?.split('.');
    let major = numbers.next()?.parse().ok()?;
    let minor = numbers.next()?;
    let digits = minor
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(minor.len());
    Some((major, minor.get(..digits)?.parse().ok()?))
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_with_whatever_vendors_append() {
        for (text, expected) in [
            ("git version 2.47.3", Some((2, 47))),
            ("git version 2.39.5 (Apple Git-154)", Some((2, 39))),
            ("git version 3.0-rc1", Some((3, 0))),
            ("git version 2", None),
            ("hub version 2.1.0", None),
        ] {
            assert_eq!(parse_version(text), expected, "{text}");
        }
    }

    #[test]
    fn the_installed_git_is_found_and_new_enough() {
        let program = GitProgram::find().unwrap();
        assert!(program.path().is_absolute());
        assert!(program.version().unwrap() >= GIT_VERSION_MIN);
    }
}
