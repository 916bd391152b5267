//! The event log as a stream for programs: each event is a message with its number as the id, so that nothing is missed after a break.

use std::time::{Duration, Instant};

use axum::extract::{Extension, Query};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::response::sse::Event;
use serde::Deserialize;
use symphony_view::EventView;
use tokio::sync::mpsc;

use super::answer::json_failed;
use crate::live::{PATIENCE, newest_event, stream_of};
use crate::server::{Failure, Turn, blocking};

/// Events that are read at once.
const EVENTS: u32 = 200;

/// Messages that wait for a client. What it has not read yet is read from the log later.
const QUEUE: usize = 8;

/// Time after which a stream ends. The client comes back with its last id, and its token is looked at again.
const LIFE: Duration = Duration::from_mins(5);

/// What a client wants.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    /// The number of the last event that it knows; without it, only what happens from now on.
    after: Option<i64>,
}

/// Opens the stream.
pub(crate) async fn feed(
    Extension(turn): Extension<Turn>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Response {
    let came_back = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok()?.parse().ok());
    let after = if let Some(after) = came_back.or(wanted.after) {
        after
    } else {
        let newest = blocking(turn.clone(), |session, _| {
            let lost = || Failure::Internal("the event log cannot be read".to_owned());
            newest_event(session).ok_or_else(lost)
        });
        match newest.await {
            Ok(newest) => newest,
            Err(failure) => return json_failed(&failure),
        }
    };
    let (sender, receiver) = mpsc::channel(QUEUE);
    tokio::spawn(tell(turn, after, sender));
    stream_of(receiver)
}

/// Sends events until the client is gone, the server ends, or it is time to ask again who the client is.
async fn tell(turn: Turn, mut after: i64, sender: mpsc::Sender<Event>) {
    let mut pulse = turn.site.pulse.listen();
    let mut ending = turn.site.ending();
    let until = Instant::now() + LIFE;
    while Instant::now() < until {
        let from = after;
        let read = blocking(turn.clone(), move |session, _| {
            Ok(session.store.events_after(from, EVENTS)?)
        });
        let Ok(events) = read.await else { return };
        let is_all = events.len() < usize::try_from(EVENTS).unwrap_or(usize::MAX);
        for event in events.into_iter().map(EventView::from) {
            after = event.id;
            let message = Event::default().event("event").id(after.to_string());
            let Ok(message) = message.json_data(&event) else {
                return;
            };
            match tokio::time::timeout(PATIENCE, sender.send(message)).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return,
            }
        }
        if is_all {
            tokio::select! {
                changed = pulse.changed() => if changed.is_err() { return },
                () = tokio::time::sleep_until(until.into()) => {}
                _ = ending.changed() => return,
                () = sender.closed() => return,
            }
        }
    }
}
