//! A checkout that starts with a generation.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use filetime::FileTime;
use symphony_core::Timestamp;
use symphony_core::warm::{ColdReason, SeedFacts, plan_seed, to_touch};

use super::changes::{build_scripts, changes_between, tracked_in_kept};
use super::copy_tree::{Exceptions, copy_tree};
use super::pool::{Generation, WarmPool};
use crate::change::overwrite;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Git, fields};
use crate::pristine::{Pristine, files_of};
use crate::repository::Repository;
use crate::worktree::WorktreeKey;

/// Why a checkout does not start with a generation.
enum Refused {
    Cold(ColdReason),
    Failed(WorkspaceError),
}

impl From<WorkspaceError> for Refused {
    fn from(error: WorkspaceError) -> Self {
        Self::Failed(error)
    }
}

impl From<ColdReason> for Refused {
    fn from(reason: ColdReason) -> Self {
        Self::Cold(reason)
    }
}

impl Repository {
    /// Checks out a commit in a private clone that starts with a generation. Anything in its place is removed first. It has the
    /// files of the commit, and of the rest only what the generation keeps.
    ///
    /// # Errors
    /// When it must not start with it, or cannot. Then nothing is left, and the caller makes a clone without it.
    pub fn create_seeded(
        &self,
        key: &WorktreeKey,
        at: &CommitId,
        pool: &WarmPool,
        generation: &Generation,
        now: Timestamp,
    ) -> Result<Pristine, ColdReason> {
        let seeded = self.seed(key, at, pool, generation, now);
        seeded.map_err(|refused| {
            // A half-made checkout must not be taken for one of the commit.
            if let Err(error) = self.remove_pristine(key) {
                tracing::warn!(%key, %error, "a checkout that could not be seeded stays");
            }
            match refused {
                Refused::Cold(reason) => reason,
                Refused::Failed(error) => ColdReason::Failed {
                    why: error.to_string(),
                },
            }
        })
    }

    fn seed(
        &self,
        key: &WorktreeKey,
        at: &CommitId,
        pool: &WarmPool,
        generation: &Generation,
        now: Timestamp,
    ) -> Result<Pristine, Refused> {
        self.require_commit(at)?;
        self.require_filters()?;
        self.remove_pristine(key)?;
        let old = &generation.commit;
        let changes = changes_between(&self.git, old, at)?.ok_or_else(|| ColdReason::Failed {
            why: "the name of a changed file is not text".to_owned(),
        })?;
        let mut in_kept = tracked_in_kept(&self.git, old)?;
        in_kept.extend(tracked_in_kept(&self.git, at)?);
        let plan = plan_seed(SeedFacts {
            folders: &generation.folders,
            changes: &changes,
            tracked_in_kept: &in_kept,
            newest_ms: generation.newest_ms,
            now_ms: now.as_millisecond(),
        })?;
        let path = self.worktree_path(key)?;
        copy(pool, generation, &plan.keep, &path)?;
        let files = files_of(&self.git, at)?;
        let tracked = files.iter().cloned().collect();
        self.finish_pristine(key, at, path, files, |git| {
            settle(git, old, at, &plan.keep)?;
            touch(git.work_tree(), &changes, &tracked)?;
            require_clean(git, &plan.keep)
        })
    }
}

/// Copies a generation, and checks that each file was what had been recorded when its data had been taken.
fn copy(
    pool: &WarmPool,
    generation: &Generation,
    keep: &[&str],
    path: &Path,
) -> Result<(), Refused> {
    let failed = |source| WorkspaceError::io("copy build output to", path, source);
    let held = pool.hold(generation).map_err(failed)?;
    let held = held.ok_or(ColdReason::NoGeneration)?;
    let dropped = generation.folders.iter().map(String::as_str);
    let dropped: Vec<&str> = dropped.filter(|name| !keep.contains(name)).collect();
    let exceptions = Exceptions {
        left_out: &dropped,
        not_compared: keep,
    };
    let copied = copy_tree(&held.tree, path, exceptions).map_err(failed)?;
    if copied.source.digest != generation.digest {
        return Err(ColdReason::Altered.into());
    }
    tracing::info!(
        files = copied.files,
        by_reflink = copied.by_reflink,
        generation = %generation.name,
        "a checkout starts with kept build output"
    );
    Ok(())
}

/// Makes the tracked files those of the commit, by contents: the index begins without any time of a file.
fn settle(git: &Git, old: &CommitId, at: &CommitId, keep: &[&str]) -> Result<(), WorkspaceError> {
    git.command("read-tree").arg(old.as_str()).slow().run()?;
    refresh(git)?;
    overwrite(git, at)?;
    let mut clean = git.command("clean").args(["-ffdxq"]).slow();
    for folder in keep {
        clean = clean.arg("-e").arg(format!("/{folder}/"));
    }
    clean.run().map(drop)
}

/// Lets git note how files look whose contents it compared. Files that differ are no failure: they are written next.
fn refresh(git: &Git) -> Result<(), WorkspaceError> {
    let refreshed = git
        .command("update-index")
        .args(["-q", "--refresh"])
        .slow()
        .answer(&[0, 1])?;
    drop(refreshed);
    Ok(())
}

/// Gives files the current time, so that no build takes its old output for theirs.
fn touch(
    root: &Path,
    changes: &[symphony_core::warm::Change],
    tracked: &BTreeSet<PathBuf>,
) -> Result<(), WorkspaceError> {
    let scripts = build_scripts(root, tracked);
    let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
    let names: BTreeSet<&str> = tracked.iter().filter_map(|path| path.to_str()).collect();
    let now = FileTime::now();
    for path in to_touch(changes, &names, &scripts) {
        let at = root.join(path);
        match filetime::set_symlink_file_times(&at, now, now) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            touched => touched.map_err(|source| WorkspaceError::io("touch", at, source))?,
        }
    }
    Ok(())
}

/// Checks that there is nothing but the files of the commit and the kept folders, and that git ignores those.
///
/// Git notes in the index how the files look that were touched. A later command compares their contents only if they were touched
/// in the second in which the index was written: git does not trust the time of a file that is not older than the index.
fn require_clean(git: &Git, keep: &[&str]) -> Result<(), Refused> {
    let status = git
        .command("status")
        .args(["--porcelain=v1", "-z", "--ignored=traditional"])
        .args(["--untracked-files=normal", "--no-renames"])
        .noting_in_index()
        .slow()
        .run()?;
    let is_kept = |entry: &[u8]| {
        let folder = entry.strip_prefix(b"!! ");
        let folder = folder.and_then(|path| path.strip_suffix(b"/"));
        folder.is_some_and(|path| keep.iter().any(|name| name.as_bytes() == path))
    };
    if let Some(other) = fields(&status).find(|entry| !is_kept(entry)) {
        tracing::info!(entry = %String::from_utf8_lossy(other), "a checkout with kept build output is not clean");
        return Err(ColdReason::Unclean.into());
    }
    // A link in the place of a kept folder would lead elsewhere.
    for name in keep {
        let at = git.work_tree().join(name);
        let is_folder = fs::symlink_metadata(&at).is_ok_and(|meta| meta.is_dir());
        if !is_folder && at.symlink_metadata().is_ok() {
            return Err(ColdReason::Unclean.into());
        }
    }
    Ok(())
}
