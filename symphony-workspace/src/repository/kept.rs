//! Refs that keep the commits of documents: an accepted document stays, whoever deletes a branch and whatever git
//! cleans up.

use symphony_core::contract::{KeptCommit, NeededDocument};
use symphony_core::id::IssueId;

use super::open::Repository;
use super::refs::{Expect, clear_lock_of_gone, delete_ref, move_ref};
use crate::artifact::ARTIFACT_BYTES_MAX;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;

/// The prefix of these refs. The issue and the commit follow.
const FOLDER: &str = "refs/symphony/document/";

impl Repository {
    /// Returns the commits that are kept for documents, sorted.
    ///
    /// # Errors
    /// When git fails.
    pub fn kept_commits(&self) -> Result<Vec<KeptCommit>, WorkspaceError> {
        let mut kept: Vec<KeptCommit> = self
            .reader()
            .names_below(FOLDER)?
            .iter()
            .filter_map(|name| parse(name))
            .collect();
        kept.sort();
        Ok(kept)
    }

    /// Keeps the commit of a document until [`Repository::release_commit`] is called. Returns whether it could, since
    /// the repository may no longer have the commit. Repeating it does no harm.
    ///
    /// # Errors
    /// When git fails.
    pub fn keep_commit(&self, wanted: &KeptCommit) -> Result<bool, WorkspaceError> {
        let (Some(name), Ok(commit)) = (reference(wanted), CommitId::parse(&wanted.commit)) else {
            return Ok(false);
        };
        if self.reader().has(&name)? {
            return Ok(true);
        }
        if !self.has_commit(&commit)? {
            return Ok(false);
        }
        let why = "symphony: document of a phase";
        match move_ref(&self.git, &name, Expect::Absent, &commit, why) {
            Ok(()) => Ok(true),
            // Another process created it at the same moment.
            Err(_) if self.reader().has(&name)? => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Stops keeping a commit.
    ///
    /// # Errors
    /// When git fails.
    pub fn release_commit(&self, kept: &KeptCommit) -> Result<(), WorkspaceError> {
        let (Some(name), Ok(commit)) = (reference(kept), CommitId::parse(&kept.commit)) else {
            return Ok(());
        };
        if !self.reader().has(&name)? {
            return clear_lock_of_gone(&self.git, &name);
        }
        delete_ref(&self.git, &name, &commit)
    }

    /// Returns whether an accepted document is lost: its commit no longer exists, and the base does not have it.
    ///
    /// # Errors
    /// When the repository has no base, or git fails.
    pub fn is_lost(&self, document: &NeededDocument) -> Result<bool, WorkspaceError> {
        let (true, Some(path)) = (document.is_accepted, &document.path) else {
            return Ok(false);
        };
        match CommitId::parse(&document.commit) {
            Ok(commit) if self.has_commit(&commit)? => return Ok(false),
            _ => {}
        }
        let bytes_max = usize::try_from(ARTIFACT_BYTES_MAX).unwrap_or(usize::MAX);
        match self.file_at(&self.base()?.commit, path, bytes_max) {
            Ok(found) => Ok(found.is_none()),
            Err(WorkspaceError::TooLarge { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Returns the name of the ref that keeps a commit; `None` for an invalid commit.
fn reference(kept: &KeptCommit) -> Option<String> {
    let commit = CommitId::parse(&kept.commit).ok()?;
    Some(format!("{FOLDER}{}/{commit}", kept.issue))
}

fn parse(name: &str) -> Option<KeptCommit> {
    let (issue, commit) = name.strip_prefix(FOLDER)?.split_once('/')?;
    Some(KeptCommit {
        issue: IssueId::parse(issue).ok()?,
        commit: CommitId::parse(commit).ok()?.to_string(),
    })
}
