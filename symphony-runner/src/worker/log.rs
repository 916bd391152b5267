//! The log of a run for readers elsewhere, in pieces. It is sent at most every few seconds, and what cannot be sent is sent later: the file
//! on this host has everything.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::time::Duration;

use symphony_core::id::RunId;
use symphony_core::run::Fence;
use symphony_mcp::StoreThread;
use symphony_store::{Appended, RUN_LOG_CHUNK_MAX};
use tokio::task::JoinHandle;

/// Time between two pieces: readers follow within six seconds, also where the machine is busy.
const PAUSE: Duration = Duration::from_secs(3);

/// Sends the log of a run as long as it lives.
#[derive(Debug)]
pub(crate) struct LogSender {
    log: SentLog,
    task: JoinHandle<()>,
}

/// A log and how far it was sent.
#[derive(Debug, Clone)]
struct SentLog {
    path: PathBuf,
    run: RunId,
    fence: Fence,
    store: StoreThread,
}

/// What follows after a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// Go on at this byte.
    From(u64),
    /// Nothing more is kept.
    Stop,
}

/// Decides what follows after the answer to a piece.
const fn then(answer: Appended) -> Then {
    match answer {
        Appended::Stored { next } | Appended::Gap { next } => Then::From(next),
        Appended::Full | Appended::Lost => Then::Stop,
    }
}

impl LogSender {
    /// Starts to send the file, which may not exist yet. Must be called in the context of a runtime.
    pub(crate) fn start(path: PathBuf, run: RunId, fence: Fence, store: StoreThread) -> Self {
        let log = SentLog {
            path,
            run,
            fence,
            store,
        };
        let sent = log.clone();
        Self {
            log,
            task: tokio::spawn(async move { sent.send_until_stopped().await }),
        }
    }

    /// Sends the rest, before the end of the run is recorded: no one may add to its log afterwards.
    pub(crate) async fn finish(self) {
        self.task.abort();
        // A piece that is on its way arrives first: the store's thread does one thing after the other.
        let _aborted = self.task.await;
        if let Some(next) = self.log.end().await {
            self.log.send_from(next).await;
        }
    }
}

impl SentLog {
    async fn send_until_stopped(&self) {
        let Some(mut next) = self.end().await else {
            return;
        };
        loop {
            tokio::time::sleep(PAUSE).await;
            match self.send_from(next).await {
                Then::From(sent) => next = sent,
                Then::Stop => return,
            }
        }
    }

    /// Returns how much of the log the database has, by an empty piece; `None` if nothing more is kept.
    async fn end(&self) -> Option<u64> {
        match self.append(0, Vec::new()).await.map(then) {
            Some(Then::From(next)) => Some(next),
            Some(Then::Stop) => None,
            None => Some(0),
        }
    }

    /// Sends what the file has from a byte on. If it cannot be sent now, it is sent with the next piece.
    async fn send_from(&self, mut next: u64) -> Then {
        loop {
            let piece = match self.read(next) {
                Ok(piece) if !piece.is_empty() => piece,
                Ok(_) => return Then::From(next),
                Err(error) => {
                    tracing::warn!(%error, "the log of the run cannot be read");
                    return Then::From(next);
                }
            };
            match self.append(next, piece).await.map(then) {
                Some(Then::From(sent)) => next = sent,
                Some(Then::Stop) => return Then::Stop,
                None => return Then::From(next),
            }
        }
    }

    fn read(&self, from: u64) -> io::Result<Vec<u8>> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        file.seek(SeekFrom::Start(from))?;
        let mut piece = Vec::new();
        file.take(RUN_LOG_CHUNK_MAX as u64)
            .read_to_end(&mut piece)?;
        Ok(piece)
    }

    async fn append(&self, from: u64, piece: Vec<u8>) -> Option<Appended> {
        let (run, fence) = (self.run.clone(), self.fence);
        let sent = self
            .store
            .call(move |store| store.append_run_log(&run, fence, from, &piece))
            .await;
        match sent {
            Ok(Ok(appended)) => Some(appended),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a piece of the log waits");
                None
            }
            Err(_gone) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_goes_on_where_the_database_has_its_end() {
        for (answer, expected) in [
            (Appended::Stored { next: 7 }, Then::From(7)),
            (Appended::Gap { next: 3 }, Then::From(3)),
            (Appended::Full, Then::Stop),
            (Appended::Lost, Then::Stop),
        ] {
            assert_eq!(then(answer), expected, "{answer:?}");
        }
    }
}
