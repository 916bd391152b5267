//! Runs whose exit handling waits for its next try, mostly for the hub. Their supervisor has ended, so the worker gives their signs of life:
//! without them they would count as lost with their host, and their work would be done again.

use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::run::Run;
use symphony_store::{Store, StoreError};

use super::round::Round;

impl Round<'_> {
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
