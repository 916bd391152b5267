//! What people and programs see of the service, in the form of section 13.7.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use symphony_core::Timestamp;

/// The state of the service at a moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Snapshot {
    /// When it was taken.
    pub generated_at: Timestamp,
    /// How much there is.
    pub counts: Counts,
    /// Tickets that an agent works on.
    pub running: Vec<RunningRow>,
    /// Tickets whose next attempt has a time.
    pub retrying: Vec<RetryRow>,
    /// Tickets that are not worked on although they are active, and why.
    pub waiting: Vec<WaitingRow>,
    /// What all attempts used.
    pub codex_totals: Totals,
    /// The limits of rates that an agent reported last.
    pub rate_limits: Option<Value>,
    /// What is wrong, in sentences.
    pub problems: Vec<String>,
    /// The file.
    pub workflow: PathBuf,
    /// What is known of tickets that were worked on, for their own pages.
    #[serde(skip)]
    pub known: Vec<KnownTicket>,
}

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Agents at work.
    pub running: usize,
    /// Tickets whose next attempt has a time.
    pub retrying: usize,
}

/// Tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Read by the model.
    pub input_tokens: u64,
    /// Written by the model.
    pub output_tokens: u64,
    /// Both.
    pub total_tokens: u64,
}

/// What all attempts used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Totals {
    /// Tokens.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// How long they took together, those at work included.
    pub seconds_running: f64,
}

/// A ticket that an agent works on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunningRow {
    /// The tracker's id.
    pub issue_id: String,
    /// What people call it.
    pub issue_identifier: String,
    /// Its state.
    pub state: String,
    /// Its last session.
    pub session_id: Option<String>,
    /// Turns that were begun.
    pub turn_count: u32,
    /// What was reported last.
    pub last_event: Option<&'static str>,
    /// The same, for people.
    pub last_message: Option<String>,
    /// When the attempt began.
    pub started_at: Timestamp,
    /// When something was reported last.
    pub last_event_at: Option<Timestamp>,
    /// What it used.
    pub tokens: Tokens,
    /// Which attempt it is; absent for the first.
    pub attempt: Option<u32>,
    /// Why it was asked to end.
    pub ending: Option<&'static str>,
}

/// A ticket whose next attempt has a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RetryRow {
    /// The tracker's id.
    pub issue_id: String,
    /// What people call it.
    pub issue_identifier: String,
    /// Which attempt is next.
    pub attempt: u32,
    /// When it is due.
    pub due_at: Timestamp,
    /// Why there is another one.
    pub error: Option<String>,
}

/// An active ticket that is not worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitingRow {
    /// What people call it.
    pub issue_identifier: String,
    /// Why.
    pub reason: String,
}

/// What is known of a ticket that was worked on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownTicket {
    /// The tracker's id.
    pub id: String,
    /// What people call it.
    pub identifier: String,
    /// Its workspace.
    pub workspace: Option<PathBuf>,
    /// Attempts that are listed, the one at work included.
    pub attempts: usize,
    /// The events of its last attempt.
    pub events: PathBuf,
    /// The newest events of an attempt at work: when, what, and for people.
    pub recent: Vec<(Timestamp, &'static str, String)>,
    /// Why its last attempt failed.
    pub last_error: Option<String>,
}

impl Snapshot {
    /// Returns what is known of a ticket, in the form of section 13.7.2; `None` for an unknown one.
    pub fn issue(&self, identifier: &str) -> Option<Value> {
        let running = self
            .running
            .iter()
            .find(|row| row.issue_identifier == identifier);
        let retry = self
            .retrying
            .iter()
            .find(|row| row.issue_identifier == identifier);
        let known = self
            .known
            .iter()
            .find(|known| known.identifier == identifier);
        let id = running
            .map(|row| &row.issue_id)
            .or_else(|| retry.map(|row| &row.issue_id))
            .or_else(|| known.map(|known| &known.id))?;
        let status = match (running, retry) {
            (Some(_), _) => "running",
            (None, Some(_)) => "retrying",
            (None, None) => "released",
        };
        let recent = known
            .map(|known| known.recent.as_slice())
            .unwrap_or_default();
        let events = recent
            .iter()
            .map(|(at, event, message)| serde_json::json!({"at": at, "event": event, "message": message}));
        let log = known
            .map(|known| serde_json::json!({"label": "latest", "path": known.events, "url": null}));
        Some(serde_json::json!({
            "issue_identifier": identifier,
            "issue_id": id,
            "status": status,
            "workspace": known.and_then(|known| known.workspace.as_ref()).map(|path| serde_json::json!({"path": path})),
            "attempts": {
                "restart_count": known.map_or(0, |known| known.attempts.saturating_sub(1)),
                "current_retry_attempt": retry.map(|row| row.attempt).or_else(|| running.and_then(|row| row.attempt)),
            },
            "running": running,
            "retry": retry,
            "logs": {"codex_session_logs": log.into_iter().collect::<Vec<Value>>()},
            "recent_events": events.collect::<Vec<Value>>(),
            "last_error": retry.and_then(|row| row.error.clone()).or_else(|| known.and_then(|known| known.last_error.clone())),
            "tracked": {},
        }))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::service) fn snapshot() -> Snapshot {
        let at = Timestamp::from_millisecond(1_000).unwrap();
        let tokens = Tokens {
            input_tokens: 5,
            output_tokens: 6,
            total_tokens: 11,
        };
        Snapshot {
            generated_at: at,
            counts: Counts {
                running: 1,
                retrying: 1,
            },
            running: vec![RunningRow {
                issue_id: "i-1".to_owned(),
                issue_identifier: "MT-1".to_owned(),
                state: "In Progress".to_owned(),
                session_id: Some("t-u".to_owned()),
                turn_count: 2,
                last_event: Some("notification"),
                last_message: Some("<script>alert(1)</script>".to_owned()),
                started_at: at,
                last_event_at: Some(at),
                tokens,
                attempt: Some(2),
                ending: None,
            }],
            retrying: vec![RetryRow {
                issue_id: "i-2".to_owned(),
                issue_identifier: "MT-2".to_owned(),
                attempt: 3,
                due_at: at,
                error: Some("no available orchestrator slots".to_owned()),
            }],
            waiting: Vec::new(),
            codex_totals: Totals {
                tokens,
                seconds_running: 4.5,
            },
            rate_limits: None,
            problems: Vec::new(),
            workflow: "/w/WORKFLOW.md".into(),
            known: vec![KnownTicket {
                id: "i-1".to_owned(),
                identifier: "MT-1".to_owned(),
                workspace: None,
                attempts: 2,
                events: "/w/events.jsonl".into(),
                recent: vec![(at, "notification", "works".to_owned())],
                last_error: None,
            }],
        }
    }

    #[test]
    fn a_ticket_that_was_released_is_still_known() {
        let mut state = snapshot();
        state.running.clear();
        let found = state.issue("MT-1").unwrap();
        assert_eq!(found["status"], "released");
        assert_eq!(
            found["logs"]["codex_session_logs"][0]["path"],
            "/w/events.jsonl"
        );
        assert_eq!(state.issue("MT-3"), None);
    }
}
