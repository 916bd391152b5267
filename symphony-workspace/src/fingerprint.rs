//! What a worktree's own git files say about programs: recorded at dispatch, compared at exit.
//!
//! The configuration that all worktrees share is not part of it: a user's push or a tracking branch
//! changes that one innocently.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::WorkspaceError;
use crate::git::runs_programs;
use crate::hex::hex;
use crate::repository::Repository;
use crate::setting_digests::{Digests, changed_names, setting_digests};
use crate::worktree::Worktree;

/// Files of a worktree's git folder that say where the rest is.
const POINTERS: &[&str] = &["gitdir", "commondir"];

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
        let mut entries = Digests::new();
        let git_dir = &worktree.place().git_dir;
        entries.insert(".git".to_owned(), shape(&worktree.path().join(".git"))?);
        for name in POINTERS {
            entries.insert((*name).to_owned(), shape(&git_dir.join(name))?);
        }
        let config = git_dir.join("config.worktree");
        if !config.exists() {
            return Ok(Fingerprint(entries));
        }
        // From the main checkout: the worktree may be redirected, which is what has to be told.
        let answer = self
            .git
            .command("config")
            .args(["--no-includes", "--list", "-z", "--file"])
            .arg(&config)
            .answer(&[0, 1, 3, 128])?;
        if answer.code != 0 {
            // Git would refuse it too; what matters is whether it changes.
            entries.insert("config.worktree".to_owned(), shape(&config)?);
            return Ok(Fingerprint(entries));
        }
        entries.extend(setting_digests(&answer.stdout, |name| {
            runs_programs(name).then(|| format!("config.worktree: {name}"))
        }));
        Ok(Fingerprint(entries))
    }
}

/// Describes what stands at a path: its kind, and the hash of a file's contents or a link's target.
fn shape(path: &Path) -> Result<String, WorkspaceError> {
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
    Ok(digest(Sha256::new().chain_update(&bytes)))
}

fn digest(hash: Sha256) -> String {
    hex(&hash.finalize())
}
