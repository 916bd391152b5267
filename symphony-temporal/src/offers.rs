//! What a worker asks of the service: runs, as many as it has free slots.
//!
//! A thread of its own waits for the service, because its calls take a minute while there is nothing to do, and a worker has to look after its
//! runs meanwhile. The worker says how many runs it can take ([`Offers::want`]), takes what was offered ([`Offers::next`]), and says what happened
//! to each ([`Offers::end`]); in between the thread tells the service that the worker is alive.

use std::sync::Arc;
use std::thread::JoinHandle;

use symphony_core::config::TemporalSettings;
use symphony_core::id::RunId;
use symphony_core::placement::Pool;

use crate::asking::Asking;
use crate::error::TemporalError;
use crate::shared::{Offer, OfferEnd, Shared};
use crate::ticket::Times;

/// The service's offers to one worker.
#[derive(Debug)]
pub struct Offers {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Offers {
    /// Starts to ask the service for runs of a pool, once [`Offers::want`] says so. A service that is away is asked again until it is back.
    ///
    /// # Errors
    /// When the machine gives no thread or no event loop.
    pub fn open(
        settings: TemporalSettings,
        pool: Pool,
        identity: String,
        times: Times,
    ) -> Result<Self, TemporalError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(TemporalError::Start)?;
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("temporal".to_owned())
            .spawn(move || {
                let asking = Asking {
                    settings,
                    pool,
                    identity,
                    times,
                    shared: own,
                };
                runtime.block_on(asking.ask());
            })
            .map_err(TemporalError::Start)?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Says how many runs the worker can take. Those that were offered and not taken yet are among them.
    pub fn want(&self, count: u32) {
        let mut state = self.shared.state();
        let offered = u32::try_from(state.offered.len()).unwrap_or(u32::MAX);
        state.wanted = count.saturating_sub(offered);
        drop(state);
        self.shared.changed.notify_one();
    }

    /// Returns whether a run was offered that was not taken yet.
    pub fn has_next(&self) -> bool {
        !self.shared.state().offered.is_empty()
    }

    /// Returns the next run that was offered, at once. Each has to be ended.
    pub fn next(&self) -> Option<Offer> {
        self.shared.state().offered.pop_front()
    }

    /// Says what happened to an offer. The service hears it soon, if it can be reached; otherwise it finds out by itself.
    pub fn end(&self, run: &RunId, end: OfferEnd) {
        self.shared.state().ended.insert(run.clone(), end);
        self.shared.changed.notify_one();
    }

    /// Returns why the service gives no runs; `None` while it can be asked.
    pub fn problem(&self) -> Option<String> {
        let state = self.shared.state();
        state.problem.as_ref().map(|problem| problem.text.clone())
    }
}

impl Drop for Offers {
    /// Returns what was offered and not begun, and waits for that for a few seconds at most.
    fn drop(&mut self) {
        {
            let mut state = self.shared.state();
            state.is_closing = true;
            state.wanted = 0;
        }
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::warn!("the thread that asks Temporal for runs has panicked");
        }
    }
}
