//! One look at the event log for all streams: whoever listens learns that something has happened, whichever process did it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use symphony_runner::session::Session;
use symphony_store::EventFilter;
use tokio::sync::watch;

use crate::server::Opener;

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(200);

/// Time after which the database is opened again: it may have been restored, and the configuration may have moved it.
const REOPEN: Duration = Duration::from_mins(1);

/// The heartbeat of the event log.
#[derive(Debug)]
pub(crate) struct Pulse {
    opener: Opener,
    newest: watch::Sender<i64>,
    looking: Mutex<bool>,
}

impl Pulse {
    pub(crate) fn new(opener: Opener) -> Arc<Self> {
        Arc::new(Self {
            opener,
            newest: watch::channel(0).0,
            looking: Mutex::new(false),
        })
    }

    /// Returns what changes with each event. The looks begin with the first who listens, and end with the last.
    pub(crate) fn listen(self: &Arc<Self>) -> watch::Receiver<i64> {
        let receiver = self.newest.subscribe();
        let mut looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        if !*looking {
            *looking = true;
            let pulse = Arc::clone(self);
            // an ordinary thread: it sleeps most of the time, and never keeps the server from ending
            std::thread::spawn(move || pulse.look());
        }
        receiver
    }

    /// Counts who listens.
    pub(crate) fn listeners(&self) -> usize {
        self.newest.receiver_count()
    }

    fn look(&self) {
        let mut open: Option<(Session, Instant)> = None;
        loop {
            {
                let mut looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
                if self.newest.receiver_count() == 0 {
                    *looking = false;
                    return;
                }
            }
            if open
                .as_ref()
                .is_none_or(|(_, since)| since.elapsed() > REOPEN)
            {
                open = self
                    .opener
                    .open()
                    .ok()
                    .map(|session| (session, Instant::now()));
            }
            let found = open.as_ref().and_then(|(session, _)| newest_event(session));
            match found {
                Some(newest) => {
                    self.newest
                        .send_if_modified(|known| std::mem::replace(known, newest) != newest);
                }
                None => open = None,
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// Returns the number of the newest event; none where the database cannot be read.
pub(crate) fn newest_event(session: &Session) -> Option<i64> {
    let filter = EventFilter {
        limit: Some(1),
        ..EventFilter::default()
    };
    let events = session.store.events(&filter).ok()?;
    Some(events.first().map_or(0, |event| event.id))
}
