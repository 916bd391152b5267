//! The hold of a host on a run that it began: beats keep it, and without an answer it is over (`docs/design/0051`).
//!
//! Beats have a thread and a connection of their own, so that neither waits for the other work of the supervisor. Whether the agent must
//! end is decided where it is watched, by a look at the clock: a process that was stopped for minutes decides so before it does anything
//! else, whatever its threads have done by then.

mod beats;
mod view;

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use symphony_core::placement::Lease;
use symphony_core::spending::SpentSoFar;
use symphony_store::{Beat, StoreError};

pub(crate) use self::view::{Release, View};
use super::passing::{DISK_WAIT_MAX, is_passing, look_in};
use crate::process::boot_clock;

/// The longest wait between two looks at the clock: timers rest while the machine is suspended, and the lease does not.
const LOOK: Duration = Duration::from_millis(500);

/// A host's hold on its run, as long as its supervisor lives. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Holding(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    lease: Lease,
    view: Mutex<View>,
    /// Told when the hold is over: then the thread of the beats ends.
    over: Condvar,
}

impl Holding {
    /// Begins with what a first beat was answered, and with the beats of a connection of its own.
    ///
    /// # Errors
    /// When there is no thread for the beats.
    pub(crate) fn begin(
        lease: Lease,
        first: View,
        beat: impl FnMut() -> Result<Beat, StoreError> + Send + 'static,
    ) -> io::Result<Self> {
        let holding = Self(Arc::new(Shared {
            lease,
            view: Mutex::new(first),
            over: Condvar::new(),
        }));
        holding.start_beats(beat)?;
        Ok(holding)
    }

    /// Returns why the agent must end now; `None` while it may go on.
    pub(crate) fn release(&self) -> Option<Release> {
        self.view().release(self.0.lease, boot_clock())
    }

    /// Waits until the agent must end.
    pub(crate) async fn released(&self) -> Release {
        loop {
            let now = boot_clock();
            let wait = {
                let view = self.view();
                if let Some(release) = view.release(self.0.lease, now) {
                    return release;
                }
                view.next_in(self.0.lease, now)
            };
            tokio::time::sleep(wait.min(LOOK)).await;
        }
    }

    /// Returns whether someone asked for the end of the run, as the last beat found it.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.view().is_cancelled
    }

    /// Returns what was recorded as spent, as the last beat found it.
    pub(crate) fn spent(&self) -> SpentSoFar {
        self.view().spent
    }

    fn view(&self) -> MutexGuard<'_, View> {
        self.0.view.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Beats until there is an answer; `None` when the run has ended, or was given to another host. Nothing of the run has started yet, so it may
/// take long.
///
/// # Errors
/// When the database cannot be reached for an hour.
pub(crate) fn first_beat(
    mut beat: impl FnMut() -> Result<Beat, StoreError>,
) -> Result<Option<View>, StoreError> {
    let begun = Instant::now();
    loop {
        let sent = boot_clock();
        match beat() {
            Err(error) if is_passing(&error) && begun.elapsed() < DISK_WAIT_MAX => {
                tracing::warn!(%error, "the run begins when the database can be written");
                std::thread::sleep(look_in(&error));
            }
            answer => return Ok(View::begun(sent, answer?)),
        }
    }
}

/// Waits for some work of a run. Returns why it had to end first, if it had; the caller then ends whatever the work started.
///
/// # Errors
/// Why the run no longer belongs to this host.
pub(crate) async fn while_held<T>(
    holding: Option<&Holding>,
    work: impl Future<Output = T>,
) -> Result<T, Release> {
    let Some(holding) = holding else {
        return Ok(work.await);
    };
    tokio::select! {
        // The clock comes first: nothing else may happen in a process that wakes up after its lease.
        biased;
        release = holding.released() => Err(release),
        done = work => Ok(done),
    }
}
