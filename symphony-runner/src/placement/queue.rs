//! The database as the queue: a claimed run that has a pool is the entry that a worker takes.

use symphony_core::id::RunId;
use symphony_core::placement::{Host, Pool, Whereabouts};
use symphony_store::{Begun, Store, StoreError};

use super::{Placement, PlacementError};

/// The queue in the database. The claim is the entry, so no death can come between the two, and nothing is ever handed over again.
#[derive(Debug, Clone, Copy, Default)]
pub struct Queue;

impl Placement for Queue {
    fn submit(&self, _run: &RunId, _pool: &Pool) -> Result<(), PlacementError> {
        Ok(())
    }

    fn withdraw(&self, store: &mut Store, run: &RunId, control: &Host) -> Result<bool, StoreError> {
        taken_out(store, run, control)
    }

    fn delivered(&self, whereabouts: &Whereabouts) -> bool {
        whereabouts.queued_in().is_none()
    }
}

/// Takes a run out of its pool: what the control has begun itself, no worker can begin. A control that died after it did so finds its own name.
pub(super) fn taken_out(
    store: &mut Store,
    run: &RunId,
    control: &Host,
) -> Result<bool, StoreError> {
    Ok(match store.withdraw(run, control)? {
        Begun::Now(_) => true,
        Begun::Before(host) => host == *control,
        Begun::NotWaiting | Begun::NotNow => false,
    })
}
