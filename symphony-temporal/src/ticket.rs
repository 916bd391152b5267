//! What is written into an activity or a workflow, and the queue that it waits in.

use std::time::Duration;

use symphony_core::id::RunId;
use symphony_core::placement::{Lease, PROTOCOL, Pool};

/// The type of an activity and of a workflow, as a person sees it in Temporal's own pages.
pub(crate) const NAME: &str = "symphony.run";
/// Longest time of a run: it only keeps an activity from being there for ever, since the control ends runs by their own limits.
pub(crate) const LONGEST: Duration = Duration::from_hours(24 * 31);

/// Returns the name of the task queue of a pool. A change of what is in an activity needs another one, so that no worker finds what it cannot read.
pub fn queue_of(pool: &Pool) -> String {
    format!("symphony.{pool}.v{PROTOCOL}")
}

/// A run, as the service hands it over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// The run.
    pub run: RunId,
}

/// Why the input of an activity is not a ticket.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TicketProblem {
    /// It was not written by Symphony, or by another version of it.
    #[error(
        "the input of the activity was not written by Symphony, or by another version: {found}"
    )]
    Unreadable {
        /// The input, or its beginning.
        found: String,
    },
    /// The activity has another id than the run that it names.
    #[error("the activity {activity} is for another run, {run}")]
    OtherRun {
        /// The id of the activity.
        activity: String,
        /// The run in its input.
        run: RunId,
    },
}

impl Ticket {
    /// Returns its text, as JSON.
    pub(crate) fn text(&self) -> String {
        serde_json::json!({ "run": self.run, "protocol": PROTOCOL }).to_string()
    }

    /// Reads a ticket from the input of an activity with this id.
    ///
    /// # Errors
    /// When it is none, or one for another run.
    pub(crate) fn read(activity: &str, input: &[u8]) -> Result<Self, TicketProblem> {
        let unreadable = || TicketProblem::Unreadable {
            found: String::from_utf8_lossy(input.get(..200).unwrap_or(input)).into_owned(),
        };
        let value: serde_json::Value =
            serde_json::from_slice(input).map_err(|_not_json| unreadable())?;
        if value.get("protocol").and_then(serde_json::Value::as_u64) != Some(u64::from(PROTOCOL)) {
            return Err(unreadable());
        }
        let run = value
            .get("run")
            .and_then(serde_json::Value::as_str)
            .and_then(|run| RunId::parse(run).ok())
            .ok_or_else(unreadable)?;
        if run.as_str() == activity {
            Ok(Self { run })
        } else {
            Err(TicketProblem::OtherRun {
                activity: activity.to_owned(),
                run,
            })
        }
    }
}

/// The times of an activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// Time between two heartbeats of a worker.
    pub beat: Duration,
    /// Time without a heartbeat after which the service takes the activity to be lost. The run goes on: it has beats of its own.
    pub dead: Duration,
}

impl From<Lease> for Times {
    /// Takes the times of a run's own beats, which a worker has to keep anyway.
    fn from(lease: Lease) -> Self {
        Self {
            beat: Duration::from_millis(lease.beat_ms()),
            dead: Duration::from_millis(lease.dead_ms()),
        }
    }
}

/// What a workflow has to know beside its ticket. The worker that schedules its activity need not have the control's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Time without a heartbeat after which the service takes the activity to be lost.
    pub(crate) dead: Duration,
}

impl From<Times> for Terms {
    fn from(times: Times) -> Self {
        Self { dead: times.dead }
    }
}

impl Terms {
    /// Returns them as JSON.
    pub(crate) fn text(self) -> String {
        serde_json::json!({ "dead_ms": u64::try_from(self.dead.as_millis()).unwrap_or(u64::MAX) })
            .to_string()
    }

    /// Reads them from the input of a workflow; `None` for what is none.
    pub(crate) fn read(input: &[u8]) -> Option<Self> {
        let value: serde_json::Value = serde_json::from_slice(input).ok()?;
        let dead = value.get("dead_ms")?.as_u64().filter(|dead| *dead > 0)?;
        Some(Self {
            dead: Duration::from_millis(dead).min(LONGEST),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "018f4b7a-4f00-7000-8000-000000000001";

    #[test]
    fn a_ticket_is_read_as_it_was_written() {
        let ticket = Ticket {
            run: RunId::parse(RUN).unwrap(),
        };
        assert_eq!(Ticket::read(RUN, ticket.text().as_bytes()), Ok(ticket));
    }

    #[test]
    fn what_is_no_ticket_says_what_was_found() {
        let other = "018f4b7a-4f00-7000-8000-000000000002";
        for (activity, input, expected) in [
            (RUN, "", "another version: "),
            (RUN, "not json", "not json"),
            (RUN, r#"{"run":"","protocol":1}"#, r#"{"run":"""#),
            (RUN, r#"{"run":1,"protocol":1}"#, r#"{"run":1"#),
            (
                RUN,
                &format!(r#"{{"run":"{RUN}","protocol":2}}"#),
                "\"protocol\":2",
            ),
            (RUN, &format!(r#"{{"run":"{RUN}"}}"#), RUN),
            (
                other,
                &format!(r#"{{"run":"{RUN}","protocol":1}}"#),
                "is for another run",
            ),
        ] {
            let problem = Ticket::read(activity, input.as_bytes()).unwrap_err();
            let text = problem.to_string();
            assert!(text.contains(expected), "{text}");
        }
        let long = "x".repeat(10_000);
        let problem = Ticket::read(RUN, long.as_bytes()).unwrap_err();
        assert!(problem.to_string().len() < 400);
    }

    #[test]
    fn terms_are_read_as_they_were_written_and_nothing_else_is() {
        let terms = Terms {
            dead: Duration::from_secs(90),
        };
        assert_eq!(terms.text(), r#"{"dead_ms":90000}"#);
        assert_eq!(Terms::read(terms.text().as_bytes()), Some(terms));
        for input in ["", "90000", "{}", r#"{"dead_ms":0}"#, r#"{"dead_ms":"9"}"#] {
            assert_eq!(Terms::read(input.as_bytes()), None, "{input}");
        }
        let endless = format!(r#"{{"dead_ms":{}}}"#, u64::MAX);
        let terms = Terms::read(endless.as_bytes()).unwrap();
        assert_eq!(terms.dead, LONGEST, "no time that a request cannot have");
    }

    #[test]
    fn a_pool_has_one_queue_of_this_version() {
        assert_eq!(
            queue_of(&Pool::parse("gpu-large").unwrap()),
            "symphony.gpu-large.v1"
        );
    }
}
