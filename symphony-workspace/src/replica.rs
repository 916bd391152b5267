//! A replica: a repository of its own that has the history of another one up to a commit, and nothing that came after it.

use std::io::Write as _;
use std::path::Path;

use git2::build::CheckoutBuilder;
use git2::{Oid, RepositoryInitOptions};

use crate::commit_id::CommitId;
use crate::copy::{CopyReport, copy_into};
use crate::error::WorkspaceError;
use crate::repository::{BranchName, Repository};

/// Settings that a replica takes over: without them git does not know who commits.
const IDENTITY: [&str; 2] = ["user.name", "user.email"];

impl Repository {
    /// Makes a replica in an empty folder: one branch, checked out, whose head is a commit of this repository, with the
    /// configuration files that a worktree would get. It shares no object and no ref with this repository, and the objects of
    /// later commits are not in it.
    ///
    /// # Errors
    /// When the commit, or a part of its history, is not there, or the folder cannot be written.
    pub fn replicate(
        &self,
        folder: &Path,
        branch: &BranchName,
        head: &CommitId,
    ) -> Result<CopyReport, WorkspaceError> {
        copy_history(&self.root, folder, branch, head).map_err(|source| {
            WorkspaceError::Replica {
                commit: head.clone(),
                folder: folder.to_path_buf(),
                source,
            }
        })?;
        copy_into(self, folder)
    }
}

fn copy_history(
    root: &Path,
    folder: &Path,
    branch: &BranchName,
    head: &CommitId,
) -> Result<(), git2::Error> {
    let source = git2::Repository::open(root)?;
    let head = source.find_commit(Oid::from_str(head.as_str())?)?.id();
    let mut options = RepositoryInitOptions::new();
    // neither hooks nor settings of a template come into it
    options
        .initial_head(branch.as_str())
        .no_reinit(true)
        .external_template(false);
    let replica = git2::Repository::init_opts(folder, &options)?;
    let mut history = source.revwalk()?;
    history.push(head)?;
    let mut pack = source.packbuilder()?;
    pack.set_threads(0);
    pack.insert_walk(&mut history)?;
    let objects = replica.odb()?;
    let mut writer = objects.packwriter()?;
    let mut failed = None;
    let packed = pack.foreach(|bytes| {
        failed = writer.write_all(bytes).err();
        failed.is_none()
    });
    if let Some(error) = failed {
        return Err(git2::Error::from_str(&error.to_string()));
    }
    packed?;
    writer.commit()?;
    let known = source.config()?.snapshot()?;
    let mut config = replica.config()?;
    for name in IDENTITY {
        if let Ok(value) = known.get_str(name) {
            config.set_str(name, value)?;
        }
    }
    replica.reference(&branch.reference(), head, true, "replica")?;
    replica.set_head(&branch.reference())?;
    replica.checkout_head(Some(CheckoutBuilder::new().force()))
}
