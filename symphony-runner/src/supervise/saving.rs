//! What an agent has done so far goes to the hub while it works, so that a host that is lost takes little with it.
//!
//! It is done on a thread of its own: git and the hub may take minutes, and the watch over the agent must not wait for them. Nothing of it
//! counts as a result, and nothing of the agent's worktree or index is changed.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use symphony_core::Timestamp;
use symphony_core::run::RunTarget;
use symphony_workspace::{CommitId, Pushed, Repository, Worktree};

use super::Job;
use super::prepare::{Site, change_mark};
use crate::error::RunnerError;
use crate::worker::HandOver;

/// Time between two looks: what a host that is lost takes with it at most, and few enough pushes for any hub.
const PAUSE: Duration = Duration::from_mins(1);

/// Saves the work of an agent until it is dropped.
#[derive(Debug)]
pub(super) struct Saving(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    is_over: Mutex<bool>,
    over: Condvar,
}

/// What is saved, and where.
#[derive(Debug)]
struct Work {
    repository: Repository,
    worktree: Worktree,
    hub: HandOver,
    /// The mark of the worktree when it was last saved, or when the agent began.
    mark: Option<u64>,
    /// What this supervisor brought to the hub last; `None` before it has, and after a failure.
    at_hub: Option<CommitId>,
}

impl Saving {
    /// Begins to save the work of a run on an issue that a host took from a pool; `None` for all others.
    pub(super) fn begin(job: &Job<'_>, site: &Site) -> Option<Self> {
        let (Some(hub), RunTarget::Issue(_)) = (&job.hub, &job.run.target) else {
            return None;
        };
        let mut work = Work {
            repository: site.repository.clone(),
            worktree: site.worktree.clone(),
            hub: hub.clone(),
            mark: site.change_mark(),
            at_hub: None,
        };
        let pause = job.installation.shorter_in_tests(PAUSE);
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let begun = thread::Builder::new()
            .name("saving".to_owned())
            .spawn(move || {
                while !own.is_over_after(pause) {
                    if let Err(error) = work.save() {
                        tracing::warn!(%error, "what the agent has done so far was not saved at the hub");
                    }
                }
            });
        match begun {
            Ok(_thread) => Some(Self(shared)),
            Err(error) => {
                tracing::warn!(%error, "what the agent does is not saved at the hub before its end");
                None
            }
        }
    }
}

impl Drop for Saving {
    /// Lets the thread end. A push that is under way ends by itself: exit handling does not wait for a hub that is slow.
    fn drop(&mut self) {
        *self
            .0
            .is_over
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = true;
        self.0.over.notify_all();
    }
}

impl Shared {
    fn is_over_after(&self, pause: Duration) -> bool {
        let is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .over
            .wait_timeout_while(is_over, pause, |is_over| !*is_over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Work {
    /// Saves the worktree if it has changed.
    fn save(&mut self) -> Result<(), RunnerError> {
        let mark = change_mark(&self.repository, &self.worktree);
        if mark == self.mark {
            return Ok(());
        }
        let commit = self.repository.save_point(&self.worktree)?;
        let before = match self.at_hub.take() {
            Some(known) => Some(known),
            // A supervisor that died may have saved something, and so may a push whose answer was lost.
            None => self.hub.saved(self.worktree.key())?,
        };
        match self
            .hub
            .push_saved(self.worktree.key(), &commit, before.as_ref())?
        {
            Pushed::Done => {
                tracing::info!(%commit, at = %Timestamp::now(), "saved at the hub");
                self.at_hub = Some(commit);
                self.mark = mark;
                Ok(())
            }
            refused => Err(RunnerError::refused(format!(
                "the hub answered {refused:?}"
            ))),
        }
    }
}
