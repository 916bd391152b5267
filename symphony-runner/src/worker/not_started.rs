//! Runs that this host has begun and cannot start a supervisor for: it ends them itself. Nothing beats for them, so they would count as lost
//! with their host after minutes, and no one would read why.

use symphony_core::Timestamp;
use symphony_core::run::Run;
use symphony_core::tick::LockState;
use symphony_store::{Context, RunKey, SignsOfLife, Store, StoreError};

use super::model::WorkerNews;
use super::round::Round;
use crate::error::RunnerError;
use crate::paths::RunPaths;
use crate::placement::{UnattendedEnd, end_unattended, limits_of};
use crate::process::lock_state;

impl Round<'_> {
    /// Ends a run that has no supervisor, for this reason. It uses no attempt.
    pub(super) fn not_started(
        &mut self,
        store: &mut Store,
        run: &Run,
        error: &RunnerError,
        tell: &mut dyn FnMut(&WorkerNews),
    ) {
        self.tell_once(&run.id, error, tell);
        // The database is away: the next round tries to start it again.
        if matches!(error, RunnerError::Store(_)) {
            return;
        }
        let context = Context::supervisor(RunKey::of(run), Timestamp::now());
        let end = UnattendedEnd::NotStarted(self.host.clone(), error.with_causes());
        match end_unattended(store, &context, run, &end, limits_of(None)) {
            Ok(_) | Err(StoreError::Superseded { .. }) => {}
            Err(error) => self.tell_once(&run.id, &error.into(), tell),
        }
    }

    /// Returns whether a run has begun in this worker's folder.
    pub(super) fn has_begun_here(&self, run: &Run) -> bool {
        let root = self.installation.clone_of(&run.project);
        root.is_some_and(|root| {
            let lock = lock_state(&RunPaths::new(&root, &run.id).lock());
            !matches!(lock, Ok(LockState::Missing))
        })
    }

    /// Returns whether a run of this host has never had a supervisor.
    pub(super) fn is_unstarted(&self, store: &Store, run: &Run) -> bool {
        let signs = || store.signs_of_life(&run.id, self.installation.lease());
        self.is_unlaunched(run)
            || !self.has_begun_here(run) && matches!(signs(), Ok(SignsOfLife::Never))
    }

    /// Returns whether this worker has begun a run, and no one since, and could not start its supervisor.
    pub(super) fn is_unlaunched(&self, run: &Run) -> bool {
        self.unlaunched.get(&run.id) == Some(&run.fence)
    }
}
