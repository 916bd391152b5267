//! Hands over the result of a run: to its own ref at the hub, where the control collects it.
//!
//! A result is at the hub before anything in the database says that it is there: of a pull request whose commit was on a lost host only,
//! nothing could be gated, judged or merged.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use symphony_core::id::RunId;
use symphony_core::run::Fence;
use symphony_store::{Store, StoreError};
use symphony_workspace::{
    CommitId, HubClone, Pushed, RepositoryOptions, WorkspaceError, WorktreeKey,
};

use super::refusal::WorkerRefusal;

/// Why a result did not get to the hub.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandOverError {
    /// The hub does not answer, or git fails.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// It is not recorded that it is there.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The hub does not take it.
    #[error(transparent)]
    Refused(#[from] WorkerRefusal),
}

/// Where the clone of a hub is, which is opened when it is first needed: a folder or a git that is broken then fails the step that needs it,
/// which is counted and reported, and not the beginning of each supervisor.
#[derive(Debug)]
pub(crate) struct HubPlace {
    /// The folder of the clone.
    pub(crate) folder: PathBuf,
    /// What the configuration says about it.
    pub(crate) options: RepositoryOptions,
    /// The hub's address.
    pub(crate) address: String,
    /// The environment of the worker's user.
    pub(crate) environment: BTreeMap<OsString, OsString>,
}

/// The way of a run's result to the hub. Clones share what is known of it.
#[derive(Debug, Clone)]
pub(crate) struct HandOver {
    place: Arc<HubPlace>,
    opened: Arc<OnceLock<HubClone>>,
    run: RunId,
    fence: Fence,
    /// What the hub has, once it is known; held during a push, so that two of them do not overtake each other.
    at_hub: Arc<Mutex<Option<Known>>>,
}

/// What the hub has of a run's result.
#[derive(Debug, Clone)]
struct Known(Option<CommitId>);

impl HandOver {
    pub(crate) fn new(place: HubPlace, run: RunId, fence: Fence) -> Self {
        Self {
            place: Arc::new(place),
            opened: Arc::default(),
            run,
            fence,
            at_hub: Arc::default(),
        }
    }

    /// Returns the clone.
    ///
    /// # Errors
    /// When its folder cannot be written, or git is missing.
    pub(crate) fn clone_of_hub(&self) -> Result<&HubClone, WorkspaceError> {
        if let Some(hub) = self.opened.get() {
            return Ok(hub);
        }
        let HubPlace {
            folder,
            options,
            address,
            environment,
        } = &*self.place;
        let hub = HubClone::open(folder, options.clone(), address, environment)?;
        Ok(self.opened.get_or_init(|| hub))
    }

    /// Returns whether the clone cannot be opened.
    pub(crate) fn has_no_clone(&self) -> bool {
        self.clone_of_hub().is_err()
    }

    /// Brings a commit to the hub. It waits for the hub, so it needs a thread of its own.
    ///
    /// # Errors
    /// When the hub does not answer, or has another result than this host brought there: then the run is another host's.
    pub(crate) fn push(&self, commit: &CommitId) -> Result<(), HandOverError> {
        let hub = self.clone_of_hub()?;
        let mut known = self.at_hub.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match known.take() {
            Some(Known(before)) => before,
            // A supervisor that died may have pushed.
            None => hub.result_of(&self.run)?,
        };
        match hub.push_result(&self.run, commit, before.as_ref())? {
            Pushed::Done => {
                *known = Some(Known(Some(commit.clone())));
                Ok(())
            }
            Pushed::Moved => Err(WorkerRefusal::OtherResult {
                run: self.run.clone(),
            }
            .into()),
            Pushed::Refused { detail } => Err(WorkerRefusal::ResultRefused {
                run: self.run.clone(),
                detail,
            }
            .into()),
        }
    }

    /// Pushes what is saved of the run, over what the last such push left.
    ///
    /// # Errors
    /// When the hub does not answer.
    pub(crate) fn push_saved(
        &self,
        key: &WorktreeKey,
        commit: &CommitId,
        over: Option<&CommitId>,
    ) -> Result<Pushed, WorkspaceError> {
        self.clone_of_hub()?
            .push_saved(key, &self.run, commit, over)
    }

    /// Returns what is saved of the run at the hub.
    ///
    /// # Errors
    /// When the hub does not answer.
    pub(crate) fn saved(&self, key: &WorktreeKey) -> Result<Option<CommitId>, WorkspaceError> {
        self.clone_of_hub()?.saved_of(key, &self.run)
    }

    /// Removes what is saved of the run: its result is at the hub. What cannot be removed now is removed with its issue.
    pub(crate) fn forget_saved(&self, key: &WorktreeKey) {
        let forgotten = self.clone_of_hub().and_then(|hub| {
            let saved = hub.saved_of(key, &self.run)?;
            saved
                .map(|saved| hub.forget_saved(key, &self.run, &saved))
                .transpose()
        });
        match forgotten {
            Ok(None | Some(Pushed::Done)) => {}
            Ok(Some(refused)) => tracing::warn!(?refused, "what was saved stays at the hub"),
            Err(error) => tracing::warn!(%error, "what was saved stays at the hub"),
        }
    }

    /// Brings a commit to the hub, and records that it is there.
    ///
    /// # Errors
    /// As [`HandOver::push`], and when the run no longer belongs to this host or the database cannot be written.
    pub(crate) fn bring(&self, store: &mut Store, commit: &CommitId) -> Result<(), HandOverError> {
        self.push(commit)?;
        store.record_result_commit(&self.run, self.fence, commit.as_str())?;
        Ok(())
    }
}
