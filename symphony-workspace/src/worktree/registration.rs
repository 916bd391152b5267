//! The checkouts of a repository that git knows.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::own_file::read_file;
use crate::repository::Repository;

/// A checkout as git lists it, the main one included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registration {
    /// Its folder, which may not exist.
    pub path: PathBuf,
    /// The full name of the ref that is checked out; `None` when detached.
    pub reference: Option<String>,
    /// The reason of its lock, which may be empty; `None` when it is not locked.
    pub locked: Option<String>,
    /// Whether its folder does not exist.
    pub prunable: bool,
}

/// Parses `git worktree list --porcelain -z`: attributes end with NUL, records with another one.
pub(crate) fn parse_list(list: &[u8]) -> Vec<Registration> {
    let mut found = Vec::new();
    let mut current = Registration::default();
    for attribute in list.split(|byte| *byte == 0) {
        if attribute.is_empty() {
            if !current.path.as_os_str().is_empty() {
                found.push(std::mem::take(&mut current));
            }
            continue;
        }
        let split = attribute.iter().position(|byte| *byte == b' ');
        let (label, value) = match split {
            Some(at) => (attribute.get(..at), attribute.get(at + 1..)),
            None => (Some(attribute), None),
        };
        let text = || String::from_utf8_lossy(value.unwrap_or_default()).into_owned();
        match label.unwrap_or_default() {
            b"worktree" => current.path = OsStr::from_bytes(value.unwrap_or_default()).into(),
            b"branch" => current.reference = Some(text()),
            b"locked" => current.locked = Some(text()),
            b"prunable" => current.prunable = true,
            _ => {}
        }
    }
    found
}

impl Repository {
    /// Lists all checkouts, the main one first. Git is asked only where its files are not as plain as it writes them.
    ///
    /// # Errors
    /// When git fails.
    pub fn registrations(&self) -> Result<Vec<Registration>, WorkspaceError> {
        self.git.place().refuse_redirected()?;
        if let Some(found) = self.git.plain_checkouts() {
            return Ok(found);
        }
        let list = self
            .git
            .command("worktree")
            .args(["list", "--porcelain", "-z"])
            .run()?;
        Ok(parse_list(&list))
    }

    pub(crate) fn registration_at(
        &self,
        path: &Path,
    ) -> Result<Option<Registration>, WorkspaceError> {
        Ok(self
            .registrations()?
            .into_iter()
            .find(|registration| same_place(&registration.path, path)))
    }

    /// Finds the git folder of a linked checkout from what the repository recorded when it was created, never from the
    /// checkout itself.
    pub(crate) fn git_dir_of(&self, path: &Path) -> Result<Option<PathBuf>, WorkspaceError> {
        let folder = self.common_dir().join("worktrees");
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(WorkspaceError::io("list", &folder, source)),
        };
        let mut found: Option<PathBuf> = None;
        for entry in entries.flatten() {
            // A link here could lead git anywhere.
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let git_dir = entry.path();
            if recorded_path(&git_dir).is_none_or(|recorded| !same_place(&recorded, path)) {
                continue;
            }
            if let Some(other) = found.replace(git_dir.clone()) {
                return Err(WorkspaceError::Tampered {
                    path: path.to_owned(),
                    what: format!(
                        "two registrations name it, {} and {}",
                        other.display(),
                        git_dir.display()
                    ),
                });
            }
        }
        Ok(found)
    }
}

/// Returns the checkout that a git folder was created for.
pub(crate) fn recorded_path(git_dir: &Path) -> Option<PathBuf> {
    let bytes = read_file(&git_dir.join("gitdir")).ok()?;
    let end = bytes.iter().rposition(|byte| *byte != b'\n')? + 1;
    let git_file = git_dir.join(OsStr::from_bytes(bytes.get(..end)?));
    git_file.parent().map(Path::to_owned)
}

fn same_place(one: &Path, two: &Path) -> bool {
    let real = |path: &Path| match (path.parent(), path.file_name()) {
        // The last part is not resolved, because a link in its place is something else.
        (Some(parent), Some(name)) => parent.canonicalize().map(|parent| parent.join(name)).ok(),
        _ => path.canonicalize().ok(),
    };
    one == two || real(one).is_some_and(|one| real(two) == Some(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let list = b"worktree /p\0HEAD aa\0branch refs/heads/main\0\0worktree /p/w x\0HEAD bb\0detached\0locked being made\0\0worktree /p/gone\0HEAD cc\0branch refs/heads/a\0locked\0prunable gitdir file points to non-existent location\0\0";
        let expected = vec![
            Registration {
                path: "/p".into(),
                reference: Some("refs/heads/main".into()),
                ..Registration::default()
            },
            Registration {
                path: "/p/w x".into(),
                locked: Some("being made".into()),
                ..Registration::default()
            },
            Registration {
                path: "/p/gone".into(),
                reference: Some("refs/heads/a".into()),
                locked: Some(String::new()),
                prunable: true,
            },
        ];
        assert_eq!(parse_list(list), expected);
        assert_eq!(parse_list(b""), Vec::new());
    }
}
