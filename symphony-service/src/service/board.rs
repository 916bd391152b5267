//! What the page and the API show: the newest snapshot, and the wish for a look at the tracker.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::snapshot::Snapshot;

/// Age of a snapshot from which on it counts as none: the loop hangs. A look at the tracker takes at most minutes.
const AGE_MAX: Duration = Duration::from_mins(10);

/// Shared between the loop, which writes, and the server, which reads: the work depends on nothing here.
#[derive(Debug, Default)]
pub struct Board {
    newest: Mutex<Option<(Arc<Snapshot>, Instant)>>,
    is_wanted: AtomicBool,
}

/// Why there is no snapshot (section 13.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoSnapshot {
    /// The service has only begun.
    Unavailable,
    /// The last one is too old.
    Timeout,
}

impl Board {
    /// Shows a snapshot.
    pub fn publish(&self, snapshot: Snapshot) {
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((Arc::new(snapshot), Instant::now()));
    }

    /// Returns the newest snapshot.
    ///
    /// # Errors
    /// When there is none, or none that is new enough.
    pub fn snapshot(&self) -> Result<Arc<Snapshot>, NoSnapshot> {
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        match &*newest {
            None => Err(NoSnapshot::Unavailable),
            Some((_, at)) if at.elapsed() > AGE_MAX => Err(NoSnapshot::Timeout),
            Some((snapshot, _)) => Ok(Arc::clone(snapshot)),
        }
    }

    /// Asks for a look at the tracker; says whether one was asked for already.
    pub fn want_turn(&self) -> bool {
        self.is_wanted.swap(true, Ordering::AcqRel)
    }

    /// Takes the wish.
    pub fn take_wish(&self) -> bool {
        self.is_wanted.swap(false, Ordering::AcqRel)
    }
}
