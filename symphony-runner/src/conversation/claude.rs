//! Claude Code's messages on its standard input (`claude -p --input-format stream-json`).
//!
//! Measured with 2.1.330: a message that comes while the model works is given to it beside the next result of a tool, in
//! the same turn; one that comes later begins a turn of its own. `command_lifecycle` reports both by the message's `uuid`.
//! The process stays until its input is closed. Versions that do not report `queued` are not waited for.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::json;
use symphony_core::id::CommentId;

use super::mailbox::{Letter, Mailbox};
use super::{Conversation, Opening, Outgoing};

/// Digits at the end of an id that are the number of a message.
const NUMBER_DIGITS: usize = 12;

/// A conversation with Claude Code.
#[derive(Debug)]
pub(super) struct ClaudeConversation {
    opening: Opening,
    prompt: String,
    state: State,
    mailbox: Mailbox,
    /// Messages that the agent says it will take.
    queued: BTreeSet<CommentId>,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    /// The agent works.
    Working,
    /// Its turn has ended, and a message that it has not taken yet begins another.
    BetweenTurns,
    Over,
    Cancelled,
}

/// What is read of a line.
#[derive(Deserialize)]
struct Line<'l> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'l, str>,
    #[serde(borrow)]
    command_uuid: Option<Cow<'l, str>>,
    #[serde(borrow)]
    state: Option<Cow<'l, str>>,
    #[serde(default)]
    is_error: bool,
}

impl ClaudeConversation {
    pub(super) fn new(opening: Opening, prompt: String) -> Self {
        Self {
            opening,
            prompt,
            state: State::Working,
            mailbox: Mailbox::default(),
            queued: BTreeSet::new(),
        }
    }

    /// Returns the id of a message: no other run has used it, since the CLI ignores a message that it has seen.
    fn uuid(&self, id: CommentId) -> String {
        let run = self.opening.run.as_str();
        let head = run.get(..run.len().saturating_sub(NUMBER_DIGITS));
        format!("{}{:012x}", head.unwrap_or_default(), id.get())
    }

    fn message_of(&self, uuid: &str) -> Option<CommentId> {
        let digits = uuid.get(uuid.len().checked_sub(NUMBER_DIGITS)?..)?;
        let id = CommentId::new(i64::from_str_radix(digits, 16).ok()?);
        (self.uuid(id) == uuid).then_some(id)
    }

    fn send(&mut self, out: &mut Outgoing) {
        for letter in self.mailbox.send_each() {
            out.object(&json!({
                "type": "user",
                "message": content(&letter.text),
                "uuid": self.uuid(letter.id),
            }));
        }
    }

    /// Takes in what the agent reports of a message.
    fn taken(&mut self, id: CommentId, state: &str) {
        if !self.mailbox.unconfirmed().any(|sent| sent == id) {
            return;
        }
        match state {
            "queued" => {
                self.queued.insert(id);
            }
            "started" | "completed" => {
                self.queued.remove(&id);
                self.mailbox.confirm_one(id);
                if state == "started" && self.state != State::Cancelled {
                    // Also after the end: a message may have crossed with the result.
                    self.state = State::Working;
                }
            }
            // Cancelled, discarded: the next run gets it.
            _ => {
                self.queued.remove(&id);
                if self.state == State::BetweenTurns && self.queued.is_empty() {
                    self.state = State::Over;
                }
            }
        }
    }

    fn turn_ended(&mut self, is_error: bool) {
        let mut unread = self.mailbox.unconfirmed();
        self.state = if !is_error && unread.any(|id| self.queued.contains(&id)) {
            State::BetweenTurns
        } else {
            State::Over
        };
    }
}

fn content(text: &str) -> serde_json::Value {
    json!({ "role": "user", "content": [{ "type": "text", "text": text }] })
}

impl Conversation for ClaudeConversation {
    fn begin(&mut self, out: &mut Outgoing) {
        let prompt = std::mem::take(&mut self.prompt);
        out.object(&json!({ "type": "user", "message": content(&prompt) }));
    }

    fn take(&mut self, line: &[u8], _out: &mut Outgoing) {
        let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else {
            return;
        };
        match (&*line.kind, line.state.as_deref()) {
            ("command_lifecycle", Some(state)) => {
                let uuid = line.command_uuid.unwrap_or_default();
                if let Some(id) = self.message_of(&uuid) {
                    self.taken(id, state);
                }
            }
            ("result", _) if self.state != State::Cancelled => self.turn_ended(line.is_error),
            _ => {}
        }
    }

    fn say(&mut self, letter: Letter, out: &mut Outgoing) {
        if !self.is_over() {
            self.mailbox.put(letter);
            self.send(out);
        }
    }

    fn withdraw(&mut self, message: CommentId) {
        self.mailbox.withdraw(message);
    }

    fn take_read(&mut self) -> Vec<CommentId> {
        self.mailbox.take_read()
    }

    fn cancel(&mut self, out: &mut Outgoing) {
        if !self.is_over() {
            let request = json!({ "subtype": "interrupt" });
            out.object(&json!({ "type": "control_request", "request_id": "interrupt", "request": request }));
        }
        self.state = State::Cancelled;
    }

    fn is_over(&self) -> bool {
        matches!(self.state, State::Over | State::Cancelled)
    }

    fn is_idle(&self) -> bool {
        self.state != State::Working
    }

    fn has_exit_code(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{letter, opening, said, take};
    use super::super::{Protocol, conversation};
    use super::*;
    use crate::provider::AgentRole;

    const SECOND: &str = "01900000-0000-7000-8000-000000000002";

    fn working() -> Box<dyn Conversation> {
        let opening = opening(Protocol::Claude, AgentRole::Author);
        let mut talk = conversation(opening, "Do it.".to_owned());
        let mut out = Outgoing::default();
        talk.begin(&mut out);
        let first = &said(&mut out)[0];
        assert_eq!(first["message"]["content"][0]["text"], "Do it.");
        talk
    }

    fn lifecycle(state: &str) -> serde_json::Value {
        json!({"type": "command_lifecycle", "command_uuid": SECOND, "state": state})
    }

    #[test]
    fn the_first_result_is_the_end_if_all_messages_were_read() {
        let mut talk = working();
        let lines = letter(&mut *talk, 2, "Use tabs.");
        assert_eq!(lines[0]["uuid"], SECOND);
        take(&mut *talk, &lifecycle("queued"));
        assert!(talk.take_read().is_empty());
        take(&mut *talk, &lifecycle("started"));
        assert_eq!(talk.take_read(), [CommentId::new(2)]);
        take(&mut *talk, &json!({"type": "result", "is_error": false}));
        assert!(talk.is_over());
        assert!(letter(&mut *talk, 3, "Too late.").is_empty());
        assert!(talk.take_read().is_empty());
    }

    #[test]
    fn a_message_at_the_end_of_a_turn_begins_another() {
        let result = json!({"type": "result", "is_error": false});
        let mut talk = working();
        letter(&mut *talk, 2, "Use tabs.");
        take(&mut *talk, &lifecycle("queued"));
        take(&mut *talk, &result);
        assert!(!talk.is_over());
        take(&mut *talk, &lifecycle("started"));
        take(&mut *talk, &result);
        assert!(talk.is_over());
    }

    #[test]
    fn a_message_that_the_agent_drops_is_not_waited_for() {
        let mut talk = working();
        letter(&mut *talk, 2, "Use tabs.");
        take(&mut *talk, &lifecycle("queued"));
        assert!(!talk.is_idle());
        take(&mut *talk, &json!({"type": "result", "is_error": false}));
        assert!(talk.is_idle() && !talk.is_over());
        take(&mut *talk, &lifecycle("cancelled"));
        assert!(talk.is_over() && talk.take_read().is_empty());
    }

    #[test]
    fn a_message_that_crosses_with_the_result_is_worked_on() {
        let result = json!({"type": "result", "is_error": false});
        let mut talk = working();
        letter(&mut *talk, 2, "Use tabs.");
        take(&mut *talk, &result);
        assert!(
            talk.is_over(),
            "an older version never says that it takes it"
        );
        for state in ["queued", "started"] {
            take(&mut *talk, &lifecycle(state));
        }
        assert!(!talk.is_over());
        assert_eq!(talk.take_read(), [CommentId::new(2)]);
        take(&mut *talk, &result);
        assert!(talk.is_over());
    }

    #[test]
    fn a_failed_turn_is_the_end() {
        let mut talk = working();
        letter(&mut *talk, 2, "Use tabs.");
        take(&mut *talk, &json!({"type": "result", "is_error": true}));
        assert!(talk.is_over());
        assert!(talk.take_read().is_empty(), "it waits for the next run");
    }

    #[test]
    fn lines_about_nothing_change_nothing() {
        let mut talk = working();
        for line in [
            json!({"type": "command_lifecycle", "command_uuid": "x", "state": "started"}),
            json!({"type": "command_lifecycle", "command_uuid": "01900000-0000-7000-8000-0000000000zz", "state": "started"}),
            json!({"type": "command_lifecycle", "command_uuid": SECOND, "state": "started"}),
            json!({"type": "assistant", "message": {"type": "result"}}),
            json!(["result"]),
            json!({}),
        ] {
            take(&mut *talk, &line);
            assert!(!talk.is_over() && talk.take_read().is_empty(), "{line}");
        }
    }

    #[test]
    fn an_agent_at_work_is_interrupted() {
        let mut talk = working();
        let mut out = Outgoing::default();
        talk.cancel(&mut out);
        assert_eq!(said(&mut out)[0]["request"]["subtype"], "interrupt");
        assert!(talk.is_over());
        talk.cancel(&mut out);
        assert!(said(&mut out).is_empty(), "once");
    }
}
