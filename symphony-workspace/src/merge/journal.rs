//! A note of the move under way, so that a crash in its middle is mended by the next merge.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;

use crate::change::{touched_paths, tracked_changes};
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Git, clear_lock, fields, note_shared_locks};
use crate::repository::{BranchName, Repository};
use crate::whole_file::write_private;

#[derive(Debug, Serialize, Deserialize)]
struct Move {
    base: BranchName,
    from: CommitId,
    to: CommitId,
    checkout: PathBuf,
}

/// The written note.
#[derive(Debug)]
pub(super) struct Note {
    path: PathBuf,
}

impl Note {
    pub(super) fn remove(self) -> Result<(), WorkspaceError> {
        fs::remove_file(&self.path)
            .map_err(|source| WorkspaceError::io("remove", &self.path, source))
    }
}

impl Repository {
    fn note_path(&self) -> PathBuf {
        self.common_dir().join("symphony-merge.json")
    }

    pub(super) fn note_move(
        &self,
        base: &BranchName,
        from: &CommitId,
        to: &CommitId,
        checkout: &Path,
    ) -> Result<Note, WorkspaceError> {
        let path = self.note_path();
        let note = Move {
            base: base.clone(),
            from: from.clone(),
            to: to.clone(),
            checkout: checkout.to_owned(),
        };
        serde_json::to_vec(&note)
            .map_err(std::io::Error::from)
            .and_then(|record| write_private(&path, record))
            .map_err(|source| WorkspaceError::io("write", &path, source))?;
        Ok(Note { path })
    }

    /// Takes back a move of the base's checkout that a crash cut off before the ref moved; the
    /// caller repeats it. Files that somebody changed since are never overwritten.
    pub(super) fn finish_interrupted(&self) -> Result<(), WorkspaceError> {
        let path = self.note_path();
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(WorkspaceError::io("read", &path, source)),
        };
        let note = Note { path };
        let Ok(interrupted) = serde_json::from_slice::<Move>(&bytes) else {
            tracing::warn!(path = %note.path.display(), "a merge note cannot be read; it is dropped");
            return note.remove();
        };
        let at_from = self.branch_head(&interrupted.base)?.as_ref() == Some(&interrupted.from);
        // Moved, by us or by somebody else since: the folder belongs to its owner again.
        let git = match self.checkout_of(&interrupted.base)? {
            Some(git) if at_from && git.work_tree() == interrupted.checkout => git,
            _ => return note.remove(),
        };
        let lock = git.place().git_dir.join("index.lock");
        if lock.exists() {
            // what appeared since the note was written may be of the git that died with the merge
            if let Some(since) = changed(&note.path) {
                note_shared_locks(self.git.place(), since);
            }
            clear_lock(git.place(), &lock)?;
        }
        take_back(&git, &interrupted)?;
        note.remove()
    }
}

/// Returns when a file was last written; none when it is gone.
fn changed(path: &Path) -> Option<Timestamp> {
    let modified = fs::symlink_metadata(path).ok()?.modified().ok()?;
    let since_epoch = modified.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Timestamp::from_millisecond(i64::try_from(since_epoch.as_millis()).ok()?).ok()
}

/// Returns the checkout to where it was, if every changed file is as the merge would have written it.
fn take_back(git: &Git, interrupted: &Move) -> Result<(), WorkspaceError> {
    // what the merge does not touch is the owner's, and stays as it is
    let touched = touched_paths(git, &interrupted.from, &interrupted.to)?;
    let mut changes = tracked_changes(git)?;
    changes.retain(|path| touched.contains(path));
    if changes.is_empty() {
        return Ok(());
    }
    let old = blobs(git, &interrupted.from)?;
    let new = blobs(git, &interrupted.to)?;
    let mut foreign = Vec::new();
    for path in changes {
        let found = hash_of(git, &path)?;
        let ours = old.get(&path) != new.get(&path)
            && (found.is_none()
                || found.as_ref() == new.get(&path)
                || found.as_ref() == old.get(&path));
        if !ours {
            foreign.push(path);
        }
    }
    if !foreign.is_empty() {
        return Err(WorkspaceError::CheckoutDirty {
            path: git.work_tree().to_owned(),
            files: foreign,
        });
    }
    restore(git, &interrupted.from, &touched, &old)?;
    remove_new_files(git, &old, &new)
}

/// Makes index and folder equal a commit in these paths. A path that the commit does not have leaves the index; its file
/// stays for [`remove_new_files`].
fn restore(
    git: &Git,
    commit: &CommitId,
    touched: &BTreeSet<String>,
    old: &BTreeMap<String, String>,
) -> Result<(), WorkspaceError> {
    let (known, new): (Vec<&String>, Vec<&String>) =
        touched.iter().partition(|path| old.contains_key(*path));
    let list = |paths: &[&String]| -> Vec<u8> {
        paths
            .iter()
            .flat_map(|path| path.bytes().chain([0]))
            .collect()
    };
    if !new.is_empty() {
        git.command("update-index")
            .args(["--force-remove", "-z", "--stdin"])
            .stdin(list(&new))
            .run()?;
    }
    if !known.is_empty() {
        git.command("checkout")
            .args([
                "--no-overlay",
                "--pathspec-from-file=-",
                "--pathspec-file-nul",
            ])
            .arg(commit.as_str())
            .stdin(list(&known))
            .slow()
            .run()?;
    }
    Ok(())
}

/// Files that the interrupted merge wrote and its index never learned of.
fn remove_new_files(
    git: &Git,
    old: &BTreeMap<String, String>,
    new: &BTreeMap<String, String>,
) -> Result<(), WorkspaceError> {
    for (path, blob) in new.iter().filter(|(path, _)| !old.contains_key(*path)) {
        if hash_of(git, path)?.as_ref() == Some(blob) {
            let file = git.work_tree().join(path);
            fs::remove_file(&file).map_err(|source| WorkspaceError::io("remove", file, source))?;
        }
    }
    Ok(())
}

/// Returns the blob of each file of a commit.
fn blobs(git: &Git, commit: &CommitId) -> Result<BTreeMap<String, String>, WorkspaceError> {
    let list = git
        .command("ls-tree")
        .args(["-r", "-z", "--full-tree", commit.as_str()])
        .run()?;
    Ok(fields(&list)
        .filter_map(|entry| {
            let entry = str::from_utf8(entry).ok()?;
            let (meta, path) = entry.split_once('\t')?;
            Some((path.to_owned(), meta.rsplit(' ').next()?.to_owned()))
        })
        .collect())
}

/// Returns the blob that a file would be; none when there is no regular file.
fn hash_of(git: &Git, path: &str) -> Result<Option<String>, WorkspaceError> {
    let file = git.work_tree().join(path);
    if !fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file()) {
        return Ok(None);
    }
    let hash = git.command("hash-object").args(["--", path]).line()?;
    Ok(Some(hash))
}
