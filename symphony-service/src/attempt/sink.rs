//! Where events of an attempt go: completed, without the tracker's token, and not more of them than anyone reads.

use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_workflow::config::Secret;

use super::event::{AttemptEvent, EventKind};
use super::session::Session;

/// Time between two events that only say what goes on. A model's text comes in thousands of pieces.
const QUIET: Duration = Duration::from_millis(200);

/// What stands in the place of a token.
const REDACTED: &str = "[token]";

/// The way of events out of an attempt.
pub(super) struct Sink<'e> {
    events: &'e mut dyn FnMut(AttemptEvent),
    token: Option<String>,
    pid: Option<i32>,
    last_quiet: Option<Instant>,
}

impl<'e> Sink<'e> {
    pub(super) fn new(events: &'e mut dyn FnMut(AttemptEvent), token: Option<&Secret>) -> Self {
        let token = token.map(|token| token.expose().to_owned());
        Self {
            events,
            token: token.filter(|token| !token.is_empty()),
            pid: None,
            last_quiet: None,
        }
    }

    pub(super) fn set_pid(&mut self, pid: i32) {
        self.pid = Some(pid);
    }

    /// Removes the token, which a program may have printed.
    pub(super) fn clean(&self, text: &str) -> String {
        match &self.token {
            Some(token) => text.replace(token, REDACTED),
            None => text.to_owned(),
        }
    }

    /// Reports an event, or drops it if it only says what goes on and another one just did. Usage is not lost: every event
    /// has all of it.
    pub(super) fn report(&mut self, event: EventKind, message: &str, session: Option<&Session>) {
        if is_quiet(event) {
            let now = Instant::now();
            let is_early = |last: Instant| now.duration_since(last) < QUIET;
            if self.last_quiet.is_some_and(is_early) {
                return;
            }
            self.last_quiet = Some(now);
        }
        let event = AttemptEvent {
            event,
            at: Timestamp::now(),
            pid: self.pid,
            thread_id: session.and_then(|session| session.thread().cloned()),
            turn_id: session.and_then(|session| session.turn().cloned()),
            turn_count: session.map_or(0, Session::turns),
            usage: session.and_then(|session| session.meter().usage()),
            rate_limits: session.and_then(|session| session.meter().rate_limits().cloned()),
            message: self.clean(message),
        };
        (self.events)(event);
    }
}

/// Says whether an event only says what goes on.
fn is_quiet(event: EventKind) -> bool {
    matches!(
        event,
        EventKind::Notification | EventKind::OtherMessage | EventKind::Malformed
    )
}
