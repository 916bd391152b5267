//! Making a generation from a checkout in which all gates passed.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use symphony_core::Timestamp;
use symphony_core::warm::{Ecosystem, GenerationKey, KeptFolder, folders_of};

use super::changes::tracked_in_kept;
use super::copy_tree::{Exceptions, copy_tree};
use super::marks::Marks;
use super::packages::{PackageMarks, has_own_source};
use super::pool::{Generation, TREE, WarmPool};
use super::prune::prune;
use crate::error::WorkspaceError;
use crate::pristine::{Pristine, files_of};
use crate::repository::Repository;

/// What a generation is made with.
#[derive(Debug, Clone, Copy)]
pub struct Donation<'a> {
    /// Where it is kept.
    pub pool: &'a WarmPool,
    /// What has to be equal for its use.
    pub key: &'a GenerationKey,
    /// What the folders of packages looked like after the set-up.
    pub after_set_up: &'a PackageMarks,
    /// The time.
    pub now: Timestamp,
}

impl Repository {
    /// Makes a generation from a pristine checkout, which is used up. Returns `None` if nothing in it can be kept.
    ///
    /// The caller answers for it that the checkout did not start with a generation itself, that all gates passed in it, that its
    /// commit is on the base branch, and that no process works in it any more.
    ///
    /// # Errors
    /// [`WorkspaceError::CheckoutGone`] when it is no longer the checkout that was made; when something cannot be read or
    /// written. Then there is no new generation.
    pub fn make_generation(
        &self,
        pristine: &Pristine,
        donation: Donation<'_>,
    ) -> Result<Option<Generation>, WorkspaceError> {
        pristine.require_in_place()?;
        let root = pristine.path();
        let commit = pristine.commit();
        if !tracked_in_kept(&self.git, commit)?.is_empty() {
            return Ok(None);
        }
        let tracked = files_of(&self.git, commit)?.into_iter().collect();
        let keep = kept_in(root, &tracked, donation.after_set_up);
        if keep.is_empty() {
            return Ok(None);
        }
        prune(root, &tracked, &keep)
            .map_err(|source| WorkspaceError::io("remove what is not kept from", root, source))?;
        let made = donate(root, commit, &keep, donation);
        made.map(Some).map_err(|source| {
            WorkspaceError::io("keep build output in", donation.pool.folder(), source)
        })
    }
}

/// Returns the folders of a checkout that can be kept.
fn kept_in(
    root: &Path,
    tracked: &BTreeSet<PathBuf>,
    after_set_up: &PackageMarks,
) -> Vec<KeptFolder> {
    let now = PackageMarks::of(root);
    folders_of(|file| tracked.contains(Path::new(file)))
        .filter(|folder| {
            let at = root.join(folder.name);
            let is_there = fs::symlink_metadata(at).is_ok_and(|meta| meta.is_dir());
            let is_untouched =
                folder.ecosystem == Ecosystem::Cargo || after_set_up.agree_on(&now, folder);
            is_there && is_untouched && !has_own_source(root, folder, tracked)
        })
        .collect()
}

fn donate(
    root: &Path,
    commit: &crate::commit_id::CommitId,
    keep: &[KeptFolder],
    donation: Donation<'_>,
) -> io::Result<Generation> {
    let made_ms = donation.now.as_millisecond();
    let making = donation.pool.begin(donation.key, made_ms)?;
    let tree = making.folder.join(TREE);
    match fs::rename(root, &tree) {
        // The worktrees are on another file system.
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy_tree(root, &tree, Exceptions::default())?;
        }
        renamed => renamed?,
    }
    let marks = Marks::of(&tree, |_| false)?;
    let generation = Generation {
        name: making.name.clone(),
        key: donation.key.clone(),
        commit: commit.clone(),
        folders: keep.iter().map(|folder| folder.name.to_owned()).collect(),
        made_ms,
        newest_ms: marks.newest_ms,
        digest: marks.digest,
    };
    donation.pool.complete(making, &generation)?;
    Ok(generation)
}
