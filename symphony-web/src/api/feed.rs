//! The event log as a stream for programs: each event is a message with its number as the id, so that nothing is missed after a break.

use std::collections::BTreeMap;

use axum::extract::{Extension, Query};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::response::sse::Event;
use symphony_view::EventView;
use tokio::sync::mpsc;

use super::answer::json_failed;
use crate::live::{LIFE, QUEUE, newest_event, send, stream_of};
use crate::server::{Failure, Turn, blocking, events_in_scope};

/// Events that are read at once.
const EVENTS: u32 = 200;

/// Opens the stream.
pub(crate) async fn feed(
    Extension(turn): Extension<Turn>,
    Query(query): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    let came_back = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok()?.parse().ok());
    let wanted = query.get("after").map(|after| after.parse::<i64>());
    let wanted = match wanted.transpose() {
        Ok(wanted) => wanted,
        Err(_malformed) => {
            let wrong = "after: expected the number of an event".to_owned();
            return json_failed(&Failure::Wrong(wrong));
        }
    };
    let after = if let Some(after) = came_back.or(wanted) {
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
    tokio::spawn(tokio::time::timeout(LIFE, tell(turn, after, sender)));
    stream_of(receiver)
}

/// Sends events until the client is gone or the server ends.
async fn tell(turn: Turn, mut after: i64, sender: mpsc::Sender<Event>) {
    let mut pulse = turn.site.pulse.listen();
    let mut ending = turn.site.ending();
    loop {
        let from = after;
        let read = blocking(turn.clone(), move |session, turn| {
            let events = session.store.events_after(from, EVENTS)?;
            let last = events.last().map_or(from, |event| event.id);
            let is_all = events.len() < usize::try_from(EVENTS).unwrap_or(usize::MAX);
            Ok((events_in_scope(session, turn, events), last, is_all))
        });
        let Ok((events, last, is_all)) = read.await else {
            return;
        };
        for event in events.into_iter().map(EventView::from) {
            let message = Event::default().event("event").id(event.id.to_string());
            let Ok(message) = message.json_data(&event) else {
                return;
            };
            if send(&sender, message).await.is_err() {
                return;
            }
        }
        after = last;
        if is_all {
            tokio::select! {
                changed = pulse.changed() => if changed.is_err() { return },
                _ = ending.changed() => return,
                () = sender.closed() => return,
            }
        }
    }
}
