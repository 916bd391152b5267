//! An agent's last saved work: at the hub, in a ref that does not count as a result.
//!
//! A result moves only forward and counts; what is saved is replaced every minute, has uncommitted files, and counts for nothing. So it
//! has a ref of its own, and a hub that refuses to replace commits still takes results.

use std::collections::BTreeMap;
use std::ffi::OsString;

use symphony_core::id::RunId;

use super::HubClone;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::remote::{Pushed, Remote};
use crate::repository::Repository;
use crate::worktree::WorktreeKey;

/// The prefix of the refs of what was saved, at the hub, and in clones where it was fetched.
pub(super) const SAVED: &str = "refs/symphony/saved/";

/// Returns the folder of the refs of what was saved of an issue's runs.
pub(super) fn saved_folder(key: &WorktreeKey) -> String {
    format!("{SAVED}{}/", key.as_ref_part())
}

/// Returns the ref that has what was saved of a run. It has the same name at the hub and wherever it was fetched.
pub fn saved_reference(key: &WorktreeKey, run: &RunId) -> String {
    format!("{}{run}", saved_folder(key))
}

impl HubClone {
    /// Pushes what is saved of a run, over what the last such push left: `None` before the first one.
    ///
    /// # Errors
    /// When the hub does not answer. One that refuses the push is an answer.
    pub fn push_saved(
        &self,
        key: &WorktreeKey,
        run: &RunId,
        commit: &CommitId,
        over: Option<&CommitId>,
    ) -> Result<Pushed, WorkspaceError> {
        let reference = saved_reference(key, run);
        self.hub().push_reference(commit, &reference, over)
    }

    /// Returns what is saved of a run at the hub.
    ///
    /// # Errors
    /// When the hub does not answer.
    pub fn saved_of(
        &self,
        key: &WorktreeKey,
        run: &RunId,
    ) -> Result<Option<CommitId>, WorkspaceError> {
        self.hub().reference(&saved_reference(key, run))
    }

    /// Removes what is saved of a run from the hub, if it is what the last push left: its result is there.
    ///
    /// # Errors
    /// When the hub does not answer. One that keeps it is an answer.
    pub fn forget_saved(
        &self,
        key: &WorktreeKey,
        run: &RunId,
        at: &CommitId,
    ) -> Result<Pushed, WorkspaceError> {
        let reference = saved_reference(key, run);
        self.hub().delete_reference(&reference, at)
    }
}

impl Repository {
    /// Fetches what a hub that is another repository has saved of an issue's runs.
    ///
    /// # Errors
    /// When the hub does not answer.
    pub fn fetch_saved(
        &self,
        hub: &str,
        environment: &BTreeMap<OsString, OsString>,
        key: &WorktreeKey,
    ) -> Result<(), WorkspaceError> {
        let folder = saved_folder(key);
        Remote::of_tick(self, hub, environment).mirror(&[format!("+{folder}*:{folder}*")])
    }

    /// Returns what was saved of a run, as this repository has it.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn saved_here(
        &self,
        key: &WorktreeKey,
        run: &RunId,
    ) -> Result<Option<CommitId>, WorkspaceError> {
        self.reader().reference(&saved_reference(key, run))
    }
}
