//! A clone of a hub: the repository of a project on a worker's host, which begins empty and is brought up to date for each run.
//!
//! The clone is Symphony's own: no person works in it, and its checkout shows the base. What other hosts made is below
//! `refs/symphony/hub/` until it is needed, so that a fetch never moves a branch on which another run of this host works. A run's
//! result leaves by a ref of its own at the hub, which no other run writes.

mod fetches;
mod lay_out;
mod promote;
mod retained;
mod saved;
mod silent;
mod update;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use symphony_core::id::RunId;

use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::remote::{Pushed, Remote};
use crate::repository::{Repository, RepositoryOptions};

pub use promote::{PromoteRequest, Promotion};
pub use retained::{OtherHub, RunRef};
pub use saved::saved_reference;
pub use silent::SilentHubs;
pub use update::{HubUpdate, UpdatedClone};

/// Where results are that were fetched.
pub(super) const FETCHED_RESULTS: &str = "refs/symphony/hub/runs/";

/// The prefix of the refs with the results of runs, at the hub.
const RESULTS: &str = "refs/symphony/runs/";

/// Returns the ref that has the result of a run at the hub.
pub fn result_reference(run: &RunId) -> String {
    format!("{RESULTS}{run}")
}

/// A clone of a hub.
#[derive(Debug, Clone)]
pub struct HubClone {
    repository: Repository,
    address: String,
    environment: BTreeMap<OsString, OsString>,
}

impl HubClone {
    /// Opens the clone in a folder, and makes an empty one if there is none. `environment` is that of the worker's user: it has what
    /// reaching the hub needs.
    ///
    /// # Errors
    /// When the folder cannot be written, or git is missing.
    pub fn open(
        folder: &Path,
        options: RepositoryOptions,
        address: &str,
        environment: &BTreeMap<OsString, OsString>,
    ) -> Result<Self, WorkspaceError> {
        lay_out::lay_out(folder)?;
        Ok(Self {
            repository: Repository::unborn(folder, options)?,
            address: address.to_owned(),
            environment: environment.clone(),
        })
    }

    /// Pushes the result of a run, if its ref is where the last push left it: `None` before the first one. One that is there already is
    /// not sent again.
    ///
    /// # Errors
    /// When the hub does not answer. One that refuses the push is an answer.
    pub fn push_result(
        &self,
        run: &RunId,
        commit: &CommitId,
        over: Option<&CommitId>,
    ) -> Result<Pushed, WorkspaceError> {
        if over == Some(commit) {
            return Ok(Pushed::Done);
        }
        self.hub()
            .push_reference(commit, &result_reference(run), over)
    }

    /// Returns the result of a run that is at the hub, which a supervisor that died may have pushed.
    ///
    /// # Errors
    /// When the hub does not answer.
    pub fn result_of(&self, run: &RunId) -> Result<Option<CommitId>, WorkspaceError> {
        self.hub().reference(&result_reference(run))
    }

    /// Asks the hub for something that it need not have, to see that it answers.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn ask(&self) -> Result<(), WorkspaceError> {
        self.hub().ask()
    }

    fn hub(&self) -> Remote<'_> {
        Remote::new(&self.repository, &self.address, &self.environment)
    }
}
