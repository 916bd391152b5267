//! The stream of a page: that something has happened, and the new lines of the log that it shows.

use std::convert::Infallible;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::{Extension, Query};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use serde::Deserialize;
use symphony_runner::output::LastLine;
use tokio::sync::{mpsc, watch};

use super::cursor::Cursor;
use super::log_part::RunLog;
use crate::server::{Failure, Turn, blocking, failed, is_in_scope};

/// Time between two looks at a log that grows.
const LOOK: Duration = Duration::from_millis(150);

/// Messages that wait for a client. What it has not read yet is read from the log later: nothing is lost, and nothing piles up.
pub(crate) const QUEUE: usize = 8;

/// Time after which a client that reads nothing is let go; it comes back with its cursor.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Time after which a stream ends. The browser comes back with its cursor, and its session is looked at again.
pub(crate) const LIFE: Duration = Duration::from_mins(1);

/// Time after which a browser comes back when its stream breaks.
const RETRY: Duration = Duration::from_millis(700);

/// What a page wants to hear.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    /// The run whose log it shows.
    run: Option<String>,
    /// Where the page is, as [`Cursor`].
    #[serde(default)]
    from: String,
}

/// Opens the stream of a page.
pub(crate) async fn events(
    Extension(turn): Extension<Turn>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Response {
    // what a browser sends when it comes back is newer than what the page began with
    let came_back = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok());
    let from = came_back
        .and_then(Cursor::parse)
        .or_else(|| Cursor::parse(&wanted.from));
    let log = match wanted.run {
        None => None,
        Some(run) => {
            let found = blocking(turn.clone(), move |session, turn| {
                let run = session.store.find_run(&run)?;
                if !is_in_scope(session, turn, Some(&run.project)) {
                    return Err(Failure::NotFound(format!("there is no run `{}`", run.id)));
                }
                RunLog::of(session, &run)
            });
            match found.await {
                Ok(log) => Some(log),
                Err(failure) => return failed(&failure, Some(&turn)),
            }
        }
    };
    let (sender, receiver) = mpsc::channel(QUEUE);
    let teller = Teller {
        pulse: turn.site.pulse.listen(),
        ending: turn.site.ending(),
        sender,
        cursor: from.unwrap_or_default(),
        log,
        seen: None,
    };
    tracing::debug!(
        streams = turn.site.pulse.listeners(),
        "a page follows what happens"
    );
    // also a client that is slow, or has much to catch up with, is looked at again
    tokio::spawn(tokio::time::timeout(LIFE, teller.tell()));
    stream_of(receiver)
}

/// Answers with the messages that come.
pub(crate) fn stream_of(receiver: mpsc::Receiver<Event>) -> Response {
    let alive = KeepAlive::new().interval(Duration::from_secs(15));
    Sse::new(Messages(receiver))
        .keep_alive(alive)
        .into_response()
}

/// The messages of a stream.
struct Messages(mpsc::Receiver<Event>);

impl Stream for Messages {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|event| event.map(Ok))
    }
}

/// Who tells a page what is new.
struct Teller {
    pulse: watch::Receiver<i64>,
    ending: watch::Receiver<bool>,
    sender: mpsc::Sender<Event>,
    cursor: Cursor,
    log: Option<RunLog>,
    /// Size and file of the log at the last look.
    seen: Option<(u64, u64)>,
}

impl Teller {
    /// Tells until the client is gone or the server ends.
    async fn tell(mut self) {
        if self
            .send(Event::default().retry(RETRY).event("hello"))
            .await
            .is_err()
        {
            return;
        }
        loop {
            if self.tell_news().await.is_err() || self.tell_lines().await.is_err() {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                _ = self.ending.changed() => return,
                () = self.sender.closed() => return,
            }
        }
    }

    /// Says that something has happened since the page was made.
    async fn tell_news(&mut self) -> Result<(), ()> {
        let newest = *self.pulse.borrow_and_update();
        // before the first look nothing is known; after a restore the numbers may be lower than those that the page has seen
        if newest == 0 || newest == self.cursor.event {
            return Ok(());
        }
        // the lines first: a page that reloads because a run has ended must not miss its last ones
        while self.tell_lines().await? {}
        self.cursor.event = newest;
        self.message("changed", "").await
    }

    /// Sends the new lines of the log; says whether there were any.
    async fn tell_lines(&mut self) -> Result<bool, ()> {
        let Some(log) = &self.log else {
            return Ok(false);
        };
        let now = fs::metadata(&log.path)
            .ok()
            .map(|file| (file.len(), file.ino()));
        if now == self.seen {
            return Ok(false);
        }
        let (log, from) = (log.clone(), self.cursor.log);
        let read = tokio::task::spawn_blocking(move || log.after(from, LastLine::MayGrow));
        let Ok(Ok(part)) = read.await else {
            return Err(());
        };
        if part.next <= from {
            self.seen = now;
            return Ok(false);
        }
        self.cursor.log = part.next;
        let lines: String = part
            .lines
            .into_iter()
            .map(maud::Markup::into_string)
            .collect();
        self.message("lines", &lines).await?;
        Ok(true)
    }

    async fn message(&mut self, name: &str, data: &str) -> Result<(), ()> {
        let event = Event::default().event(name).id(self.cursor.to_string());
        let event = event.json_data(data).map_err(|_unwritable| ())?;
        self.send(event).await
    }

    async fn send(&mut self, event: Event) -> Result<(), ()> {
        send(&self.sender, event).await
    }
}

/// Sends a message to a client that takes it in time.
pub(crate) async fn send(sender: &mpsc::Sender<Event>, event: Event) -> Result<(), ()> {
    match tokio::time::timeout(PATIENCE, sender.send(event)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(()),
    }
}
