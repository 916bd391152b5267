//! A note of the merge under way, so that the next merge can repair a crash half-way.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;

use crate::change::{Touched, touched, tracked_changes};
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Git, clear_lock, note_shared_locks};
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

    /// Returns whether a move of a checkout is in progress, or was interrupted.
    pub(super) fn is_move_noted(&self) -> bool {
        self.note_path().exists()
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

    /// Takes back a move of a base's checkout that was interrupted before the ref moved, and forgets one that was
    /// interrupted after it.
    ///
    /// # Errors
    /// When someone has changed the files since, or git fails.
    pub fn settle_interrupted(&self) -> Result<(), WorkspaceError> {
        let _lock = self.lock()?;
        self.finish_interrupted()
    }

    /// Takes back a move of the base's checkout that was interrupted before the ref moved. The caller repeats it. Files
    /// that someone has changed since are never overwritten.
    pub(super) fn finish_interrupted(&self) -> Result<(), WorkspaceError> {
        let path = self.note_path();
        let bytes = match crate::own_file::read_own_file(&path) {
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
        // The base was moved, by us or by someone else since: the folder belongs to its owner again.
        let git = match self.checkout_of(&interrupted.base)? {
            Some(git) if at_from && git.work_tree() == interrupted.checkout => git,
            _ => return note.remove(),
        };
        let lock = git.place().git_dir.join("index.lock");
        if lock.exists() {
            // A lock that appeared since the note was written may belong to the git that died with the merge.
            if let Some(since) = changed(&note.path) {
                note_shared_locks(self.git.place(), since);
            }
            clear_lock(git.place(), &lock)?;
        }
        take_back(&git, &interrupted)?;
        // Removed last: after another crash, the note still describes what is left, and taking it back twice does no
        // harm.
        note.remove()
    }
}

/// Returns when a file was last written; `None` when it does not exist.
fn changed(path: &Path) -> Option<Timestamp> {
    let modified = fs::symlink_metadata(path).ok()?.modified().ok()?;
    let since_epoch = modified.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Timestamp::from_millisecond(i64::try_from(since_epoch.as_millis()).ok()?).ok()
}

/// Returns the checkout to where it was, if every changed file is as the merge wrote it, or was about to.
fn take_back(git: &Git, interrupted: &Move) -> Result<(), WorkspaceError> {
    // Files that the merge does not touch belong to the owner, and stay as they are.
    let touched = touched(git, &interrupted.from, &interrupted.to)?;
    let mut changed = BTreeMap::new();
    for path in tracked_changes(git)? {
        if let Some((path, blobs)) = touched.get_key_value(&path) {
            changed.insert(path.as_str(), blobs);
        }
    }
    let mut foreign = Vec::new();
    for (path, blobs) in &changed {
        let found = hash_of(git, path)?;
        let is_ours = found.is_none()
            || found == blobs.new
            || found == blobs.old
            || is_torn(git, path, blobs)?;
        if !is_ours {
            foreign.push((*path).to_owned());
        }
    }
    if !foreign.is_empty() {
        return Err(WorkspaceError::CheckoutDirty {
            path: git.work_tree().to_owned(),
            files: foreign,
        });
    }
    if !changed.is_empty() {
        restore(git, &interrupted.from, &touched)?;
    }
    // Git writes the files before the index, so there may be new files although nothing seems changed.
    remove_new_files(git, &touched)
}

/// Makes index and folder match a commit in these paths. A path that the commit does not have is removed from the
/// index; its file stays for [`remove_new_files`].
fn restore(
    git: &Git,
    commit: &CommitId,
    touched: &BTreeMap<String, Touched>,
) -> Result<(), WorkspaceError> {
    let paths = |is_known: bool| -> Vec<u8> {
        touched
            .iter()
            .filter(|(_, blobs)| blobs.old.is_some() == is_known)
            .flat_map(|(path, _)| path.bytes().chain([0]))
            .collect()
    };
    let (known, new) = (paths(true), paths(false));
    if !new.is_empty() {
        git.command("update-index")
            .args(["--force-remove", "-z", "--stdin"])
            .stdin(new)
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
            .stdin(known)
            .slow()
            .run()?;
    }
    Ok(())
}

/// Removes the files that the interrupted merge wrote, wholly or in part, before its index knew them. When the merge
/// was noted, these paths were free.
fn remove_new_files(git: &Git, touched: &BTreeMap<String, Touched>) -> Result<(), WorkspaceError> {
    for (path, blobs) in touched.iter().filter(|(_, blobs)| blobs.old.is_none()) {
        let found = hash_of(git, path)?;
        if found.is_some() && (found == blobs.new || is_torn(git, path, blobs)?) {
            let file = git.work_tree().join(path);
            fs::remove_file(&file).map_err(|source| WorkspaceError::io("remove", file, source))?;
        }
    }
    Ok(())
}

/// Returns the blob that a file or a symbolic link would be; `None` when there is neither.
fn hash_of(git: &Git, path: &str) -> Result<Option<String>, WorkspaceError> {
    let file = git.work_tree().join(path);
    let Ok(meta) = fs::symlink_metadata(&file) else {
        return Ok(None);
    };
    let hash = git.command("hash-object");
    let hash = if meta.is_symlink() {
        let target = fs::read_link(&file);
        let target = target.map_err(|source| WorkspaceError::io("read the link", file, source))?;
        hash.arg("--stdin")
            .stdin(target.into_os_string().into_vec())
    } else if meta.is_file() {
        hash.args(["--", path])
    } else {
        return Ok(None);
    };
    Ok(Some(hash.line()?))
}

/// Returns whether a file is the beginning of what the merge was writing when it was interrupted.
fn is_torn(git: &Git, path: &str, blobs: &Touched) -> Result<bool, WorkspaceError> {
    let Some(new) = &blobs.new else {
        return Ok(false);
    };
    let file = git.work_tree().join(path);
    if !fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file()) {
        return Ok(false);
    }
    let found = fs::read(&file).map_err(|source| WorkspaceError::io("read", file, source))?;
    let written = git
        .command("cat-file")
        .args(["--filters", "--path", path, new])
        .slow()
        .run()?;
    Ok(found.len() < written.len() && written.starts_with(&found))
}
