//! The database that a check before a command has opened, for the command itself: opening it takes longer than most commands do.

use std::fmt::{Debug, Formatter, Result};
use std::sync::{Arc, Mutex, PoisonError};

use symphony_runner::installation::Installation;
use symphony_store::Store;

/// An opened database for whoever needs one next. All clones share it.
#[derive(Clone, Default)]
pub(crate) struct Handover(Arc<Mutex<Option<(Installation, Store)>>>);

impl Handover {
    /// Leaves a database for whoever takes it. One that was left before is closed.
    pub(crate) fn leave(&self, opened: (Installation, Store)) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(opened);
    }

    /// Takes the database that was left last, once.
    pub(crate) fn take(&self) -> Option<(Installation, Store)> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        left.take()
    }
}

impl Debug for Handover {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Handover").finish_non_exhaustive()
    }
}
