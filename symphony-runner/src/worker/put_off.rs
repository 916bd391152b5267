//! Runs whose exit handling waits for its next try, mostly for the hub. Their supervisor has ended, so the worker gives their signs of life:
//! without them they would count as lost with their host, and their work would be done again.

use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::exit_handling::{AfterFault, EXIT_WAIT_MAX_MS, ExitFault, PutOff, after_fault};
use symphony_core::retry::after;
use symphony_core::run::Run;
use symphony_store::{Context, RunKey, Store, StoreError};

use super::round::Round;

impl Round<'_> {
    /// Puts off the exit handling of a run for which no supervisor can be started now, as one would: its agent's end is recorded, and its work is
    /// in the worktree. Returns whether it did; without a record, or after too many tries, the run is given up with its host's lease.
    pub(super) fn put_off(
        &mut self,
        store: &mut Store,
        run: &Run,
        problem: String,
    ) -> Result<bool, StoreError> {
        let Some(recorded) = store.exit_handling(&run.id)? else {
            return Ok(false);
        };
        let (tries, now) = (recorded.tries.saturating_add(1), Timestamp::now());
        let AfterFault::Again(wait) = after_fault(ExitFault::Machine, tries, EXIT_WAIT_MAX_MS)
        else {
            return Ok(false);
        };
        let put_off = PutOff {
            tries,
            due_at: after(now, wait),
            problem,
        };
        let context = Context::supervisor(RunKey::of(run), now);
        store.put_exit_off(&context, &run.id, &put_off)?;
        self.beat_for(store, run)?;
        Ok(true)
    }

    /// Gives a sign of life of a run whose exit handling waits, as often as a supervisor would.
    pub(super) fn beat_for(&mut self, store: &mut Store, run: &Run) -> Result<(), StoreError> {
        let pause = Duration::from_millis(self.installation.lease().beat_ms());
        let last = self.beaten.get(&run.id);
        if last.is_some_and(|last| last.elapsed() < pause) {
            return Ok(());
        }
        // One that is another host's by now is not in the next round's list.
        store.beat(&run.id, run.fence)?;
        self.beaten.insert(run.id.clone(), Instant::now());
        Ok(())
    }
}

/// Returns whether exit handling waits for its next try.
pub(super) fn is_put_off(store: &Store, run: &Run) -> Result<bool, StoreError> {
    let put_off = store.exit_handling(&run.id)?.and_then(|exit| exit.put_off);
    Ok(put_off.is_some_and(|put_off| !put_off.is_due(Timestamp::now())))
}
