//! What a worktree's own git files say about programs: recorded at dispatch, compared at exit.
//!
//! The configuration that all worktrees share is not part of it: a user's push or a tracking branch
//! changes that one innocently.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::WorkspaceError;
use crate::git::runs_programs;
use crate::hex::hex;
use crate::repository::Repository;
use crate::setting_digests::{Digests, changed_names, setting_digests};
use crate::worktree::Worktree;

/// Files of a worktree's git folder that point to the rest.
const POINTERS: &[&str] = &["gitdir", "commondir"];
/// What a `.git` file begins with.
const GIT_FILE: &[u8] = b"gitdir: ";

/// Name and hashed value of everything in a worktree that could make git run a program or work
/// somewhere else. Values are hashed, since they may contain credentials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(Digests);

impl Fingerprint {
    /// Names what differs from an earlier fingerprint: settings and files, sorted.
    pub fn changes_since(&self, earlier: &Self) -> Vec<String> {
        changed_names(&self.0, &earlier.0)
    }
}

impl Repository {
    /// Takes the fingerprint of a worktree: its `.git` file, the pointers of its git folder, and
    /// the settings of its own configuration (`config.worktree`) that run programs.
    ///
    /// # Errors
    /// When a file cannot be read for another reason than its absence.
    pub fn fingerprint(&self, worktree: &Worktree) -> Result<Fingerprint, WorkspaceError> {
        self.fingerprint_seen_from(worktree, self.root())
    }

    /// Returns the fingerprint that a worktree would have if the repository were still at `root`: pointers below its
    /// current folder count as pointers to the same place below `root`. Symphony rewrites them this way when a
    /// repository was moved.
    ///
    /// # Errors
    /// As [`Repository::fingerprint`].
    pub fn fingerprint_seen_from(
        &self,
        worktree: &Worktree,
        root: &Path,
    ) -> Result<Fingerprint, WorkspaceError> {
        let mut entries = Digests::new();
        let git_dir = &worktree.place().git_dir;
        let (now, then) = (self.root(), root);
        let pointer = |path: &Path| shape(path, |bytes| moved_back(bytes, now, then));
        entries.insert(".git".to_owned(), pointer(&worktree.path().join(".git"))?);
        for name in POINTERS {
            entries.insert((*name).to_owned(), pointer(&git_dir.join(name))?);
        }
        let config = git_dir.join("config.worktree");
        if !config.exists() {
            return Ok(Fingerprint(entries));
        }
        // Run from the main checkout: the worktree may be redirected, which is what the fingerprint must detect.
        let Some(list) = self.git.settings_in(&config)? else {
            // Git would refuse it too; what matters is whether it changes.
            let found = shape(&config, <[u8]>::to_vec)?;
            entries.insert("config.worktree".to_owned(), found);
            return Ok(Fingerprint(entries));
        };
        entries.extend(setting_digests(&list, |name| {
            runs_programs(name).then(|| format!("config.worktree: {name}"))
        }));
        Ok(Fingerprint(entries))
    }
}

/// Returns a pointer as it was before its repository was moved, if it points below it.
fn moved_back(pointer: &[u8], now: &Path, then: &Path) -> Vec<u8> {
    let (key, place) = match pointer.strip_prefix(GIT_FILE) {
        Some(place) => (GIT_FILE, place),
        None => (&b""[..], pointer),
    };
    let below = place.strip_prefix(now.as_os_str().as_bytes());
    match below.filter(|below| below.first() == Some(&b'/')) {
        Some(below) => [key, then.as_os_str().as_bytes(), below].concat(),
        None => pointer.to_vec(),
    }
}

/// Describes what is at a path: its kind, and the hash of a file's contents as `read` gives them.
fn shape(path: &Path, read: impl Fn(&[u8]) -> Vec<u8>) -> Result<String, WorkspaceError> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok("absent".to_owned()),
        Err(source) => return Err(WorkspaceError::io("look at", path, source)),
    };
    if meta.is_symlink() {
        return Ok("link".to_owned());
    }
    if meta.is_dir() {
        return Ok("folder".to_owned());
    }
    if !meta.is_file() {
        return Ok("special".to_owned());
    }
    let bytes = fs::read(path).map_err(|source| WorkspaceError::io("read", path, source))?;
    Ok(digest(Sha256::new().chain_update(read(&bytes))))
}

fn digest(hash: Sha256) -> String {
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_pointer_below_the_repository_moves_with_it() {
        let (now, then) = (Path::new("/new/p"), Path::new("/old/p"));
        for (pointer, expected) in [
            (
                "gitdir: /new/p/.git/worktrees/a\n",
                "gitdir: /old/p/.git/worktrees/a\n",
            ),
            ("/new/p/.trees/a/.git\n", "/old/p/.trees/a/.git\n"),
            ("/new/p2/.git\n", "/new/p2/.git\n"),
            (
                "gitdir: /elsewhere/new/p/.git\n",
                "gitdir: /elsewhere/new/p/.git\n",
            ),
            ("../..\n", "../..\n"),
        ] {
            let found = moved_back(pointer.as_bytes(), now, then);
            assert_eq!(String::from_utf8_lossy(&found), expected);
        }
    }
}
