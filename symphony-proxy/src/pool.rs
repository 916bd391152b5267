//! Connections to a server that wait for the next request: a TLS handshake costs two round trips.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use tokio::time::Instant;

/// Most connections that wait; agents make a few requests at a time.
const WAITING_MAX: usize = 8;
/// Longest time from one request to the next. Servers close what is idle after 60 s and more.
const WAIT_MAX: Duration = Duration::from_secs(45);

/// Connections that were used before; those whose answer is still coming are among them.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Vec<(SendRequest<Incoming>, Instant)>>);

impl Pool {
    /// Takes a connection whose last answer has been read to its end.
    pub(crate) fn take(&self) -> Option<SendRequest<Incoming>> {
        let mut waiting = self.waiting();
        waiting.retain(|(sender, since)| {
            !sender.is_closed() && (!sender.is_ready() || since.elapsed() < WAIT_MAX)
        });
        let free = waiting.iter().rposition(|(sender, _)| sender.is_ready())?;
        Some(waiting.swap_remove(free).0)
    }

    /// Gives a connection back as soon as its answer has begun.
    pub(crate) fn put(&self, sender: SendRequest<Incoming>) {
        let mut waiting = self.waiting();
        waiting.retain(|(sender, _)| !sender.is_closed());
        // a connection that is dropped still finishes its answer
        if waiting.len() < WAITING_MAX {
            waiting.push((sender, Instant::now()));
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<(SendRequest<Incoming>, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
