//! Codex's app-server (`codex app-server`), as its client.

use serde_json::{Value, json};
use symphony_core::id::CommentId;

use super::mailbox::{Letter, Mailbox};
use super::{Conversation, Opening, Outgoing};
use crate::environment::RUN_MARKER;
use crate::provider::Session;
use crate::stream::MCP_SERVER_NAME;
use crate::stream::rpc::Message;

/// A conversation with Codex's app-server.
#[derive(Debug)]
pub(super) struct AppServerConversation {
    opening: Opening,
    prompt: String,
    thread: Option<String>,
    turn: Option<String>,
    state: State,
    mailbox: Mailbox,
    /// How many messages were sent into turns.
    steers: u32,
    /// Whether the answer to the last one is due.
    is_steering: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Begun,
    /// The thread is asked for.
    Opening,
    /// The agent works.
    Working,
    /// Its turn has ended; whether a message came into it is not answered yet.
    Ended,
    Over,
}

impl AppServerConversation {
    pub(super) fn new(opening: Opening, prompt: String) -> Self {
        Self {
            opening,
            prompt,
            thread: None,
            turn: None,
            state: State::Begun,
            mailbox: Mailbox::default(),
            steers: 0,
            is_steering: false,
        }
    }

    fn answered(&mut self, id: &str, outcome: Result<Value, ()>, out: &mut Outgoing) {
        if self.is_steering && id == self.steer_id() {
            self.steered(outcome.is_ok(), out);
            return;
        }
        let is_open = match self.state {
            State::Begun => id == "initialize",
            State::Opening => matches!(id, "thread/start" | "thread/resume"),
            State::Working => id == "turn/start" && self.turn.is_none(),
            State::Ended | State::Over => false,
        };
        if !is_open {
            return;
        }
        let Ok(result) = outcome else {
            // What was refused is the end: the stream says why.
            self.state = State::Over;
            return;
        };
        match self.state {
            State::Begun => {
                self.state = State::Opening;
                out.notify("initialized", json!({}));
                let mut thread = self.new_thread();
                let method = match &self.opening.session {
                    Session::New => "thread/start",
                    Session::Resume(id) => {
                        if let Some(members) = thread.as_object_mut() {
                            members.insert("threadId".to_owned(), json!(id.as_str()));
                        }
                        "thread/resume"
                    }
                };
                out.request(method, method, thread);
            }
            State::Opening => {
                self.thread = text_at(&result, "/thread/id");
                let prompt = std::mem::take(&mut self.prompt);
                self.start_turn(&prompt, out);
            }
            State::Working => {
                // What begins the turn has been taken.
                self.mailbox.confirm();
                self.turn = text_at(&result, "/turn/id");
                self.steer(out);
            }
            State::Ended | State::Over => {}
        }
    }

    fn start_turn(&mut self, text: &str, out: &mut Outgoing) {
        self.state = State::Working;
        self.turn = None;
        let params = json!({ "threadId": self.thread, "input": input(text) });
        out.request("turn/start", "turn/start", params);
    }

    /// Sends what waits into the turn that runs.
    fn steer(&mut self, out: &mut Outgoing) {
        let (State::Working, Some(turn), false) = (&self.state, &self.turn, self.is_steering)
        else {
            return;
        };
        let Some(text) = self.mailbox.send() else {
            return;
        };
        let params =
            json!({ "threadId": self.thread, "expectedTurnId": turn, "input": input(&text) });
        self.steers += 1;
        self.is_steering = true;
        out.request(&self.steer_id(), "turn/steer", params);
    }

    fn steer_id(&self) -> String {
        format!("turn/steer {}", self.steers)
    }

    fn steered(&mut self, was_taken: bool, out: &mut Outgoing) {
        self.is_steering = false;
        if was_taken {
            self.mailbox.confirm();
            self.steer(out);
        } else {
            // The turn was about to end: the next one begins with it.
            self.mailbox.take_back();
        }
        if self.state == State::Ended {
            self.go_on(out);
        }
    }

    /// Begins another turn with what waits, or ends the conversation.
    fn go_on(&mut self, out: &mut Outgoing) {
        match self.mailbox.send() {
            Some(text) => self.start_turn(&text, out),
            None => self.state = State::Over,
        }
    }

    fn turn_completed(&mut self, params: &Value, out: &mut Outgoing) {
        self.state = State::Ended;
        if text_at(params, "/turn/status").as_deref() != Some("completed") {
            self.state = State::Over;
        } else if !self.is_steering {
            self.go_on(out);
        }
    }

    fn new_thread(&self) -> Value {
        let server = &self.opening.mcp_server;
        json!({
            "cwd": self.opening.folder,
            "model": self.opening.model,
            // Its own sandbox forbids commits in a checkout; Symphony's confines the whole process.
            "approvalPolicy": "never",
            "sandbox": "danger-full-access",
            "developerInstructions": self.opening.system_prompt,
            "config": {
                "mcp_servers": { MCP_SERVER_NAME: {
                    "command": server.program,
                    "args": server.args(),
                    // Codex gives its MCP servers an environment of their own.
                    "env": { RUN_MARKER: self.opening.run.as_str() },
                    "required": true,
                    "default_tools_approval_mode": "approve",
                } },
            },
        })
    }
}

/// Returns a text as Codex takes it.
fn input(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

fn text_at(value: &Value, path: &str) -> Option<String> {
    let text = value.pointer(path)?.as_str()?;
    Some(text.to_owned())
}

impl Conversation for AppServerConversation {
    fn begin(&mut self, out: &mut Outgoing) {
        let client = json!({ "name": "symphony", "title": "Symphony", "version": env!("CARGO_PKG_VERSION") });
        out.request("initialize", "initialize", json!({ "clientInfo": client }));
    }

    fn take(&mut self, line: &[u8], out: &mut Outgoing) {
        // What is no message is counted by the stream.
        let Ok(message) = Message::parse(line) else {
            return;
        };
        match message {
            Message::Response { id, outcome } => {
                let outcome = outcome.map_err(|_reported| ());
                self.answered(id.as_str().unwrap_or_default(), outcome, out);
            }
            Message::Notification { method, params } => {
                let is_own = text_at(&params, "/threadId") == self.thread;
                if method == "turn/completed" && self.state == State::Working && is_own {
                    self.turn_completed(&params, out);
                }
            }
            Message::Request { id, method, params } => match method.as_str() {
                "item/commandExecution/requestApproval" | "item/fileChange/requestApproval" => {
                    out.answer(id, json!({ "decision": "accept" }));
                }
                "mcpServer/elicitation/request" => {
                    let is_own =
                        text_at(&params, "/serverName").as_deref() == Some(MCP_SERVER_NAME);
                    let action = if is_own { "accept" } else { "decline" };
                    out.answer(id, json!({ "action": action, "content": {} }));
                }
                method => out.refuse(id, method),
            },
        }
    }

    fn say(&mut self, letter: Letter, out: &mut Outgoing) {
        if self.state != State::Over {
            self.mailbox.put(letter);
            self.steer(out);
        }
    }

    fn withdraw(&mut self, message: CommentId) {
        self.mailbox.withdraw(message);
    }

    fn take_read(&mut self) -> Vec<CommentId> {
        self.mailbox.take_read()
    }

    fn cancel(&mut self, out: &mut Outgoing) {
        if let (State::Working, Some(turn)) = (&self.state, &self.turn) {
            let params = json!({ "threadId": self.thread, "turnId": turn });
            out.request("turn/interrupt", "turn/interrupt", params);
        }
        self.state = State::Over;
    }

    fn is_over(&self) -> bool {
        self.state == State::Over
    }

    fn is_idle(&self) -> bool {
        matches!(self.state, State::Ended | State::Over)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{letter, opening, said, take};
    use super::super::{Protocol, conversation};
    use super::*;
    use crate::provider::AgentRole;

    fn working() -> Box<dyn Conversation> {
        let opening = opening(Protocol::AppServer, AgentRole::Author);
        let mut talk = conversation(opening, "Do it.".to_owned());
        let mut out = Outgoing::default();
        talk.begin(&mut out);
        assert_eq!(said(&mut out)[0]["method"], "initialize");
        let lines = take(&mut *talk, &json!({"id": "initialize", "result": {}}));
        assert_eq!(lines[0]["method"], "initialized");
        assert_eq!(
            lines[1]["params"]["developerInstructions"],
            "You are a worker."
        );
        let lines = take(
            &mut *talk,
            &json!({"id": "thread/start", "result": {"thread": {"id": "t"}}}),
        );
        assert_eq!(lines[0]["params"]["input"][0]["text"], "Do it.");
        take(
            &mut *talk,
            &json!({"id": "turn/start", "result": {"turn": {"id": "u"}}}),
        );
        talk
    }

    #[test]
    fn a_completed_turn_of_the_own_thread_is_the_end() {
        let mut talk = working();
        let completed = |thread: &str| json!({"method": "turn/completed", "params": {"threadId": thread, "turn": {"status": "completed"}}});
        take(&mut *talk, &completed("another"));
        assert!(!talk.is_over(), "a subagent's thread");
        take(&mut *talk, &completed("t"));
        assert!(talk.is_over());
    }

    fn completed(status: &str) -> Value {
        json!({"method": "turn/completed", "params": {"threadId": "t", "turn": {"status": status}}})
    }

    #[test]
    fn a_message_comes_into_the_turn_that_runs() {
        let mut talk = working();
        let lines = letter(&mut *talk, 1, "Use tabs.");
        assert_eq!(lines[0]["method"], "turn/steer");
        assert_eq!(lines[0]["params"]["expectedTurnId"], "u");
        assert!(
            letter(&mut *talk, 2, "And spaces.").is_empty(),
            "one at a time"
        );
        let next = take(
            &mut *talk,
            &json!({"id": "turn/steer 1", "result": {"turnId": "u"}}),
        );
        assert_eq!(talk.take_read(), [CommentId::new(1)]);
        assert_eq!(next[0]["id"], "turn/steer 2");
        take(
            &mut *talk,
            &json!({"id": "turn/steer 2", "result": {"turnId": "u"}}),
        );
        assert_eq!(talk.take_read(), [CommentId::new(2)]);
        assert!(take(&mut *talk, &completed("completed")).is_empty());
        assert!(talk.is_over());
    }

    #[test]
    fn a_message_that_came_too_late_for_a_turn_begins_the_next() {
        for is_answered_first in [true, false] {
            let mut talk = working();
            letter(&mut *talk, 1, "Use tabs.");
            let refused = json!({"id": "turn/steer 1", "error": {"code": -32600, "message": "no active turn"}});
            let lines = if is_answered_first {
                assert!(take(&mut *talk, &refused).is_empty());
                take(&mut *talk, &completed("completed"))
            } else {
                assert!(take(&mut *talk, &completed("completed")).is_empty());
                assert!(!talk.is_over());
                take(&mut *talk, &refused)
            };
            assert_eq!(lines[0]["method"], "turn/start");
            assert!(talk.take_read().is_empty());
            take(
                &mut *talk,
                &json!({"id": "turn/start", "result": {"turn": {"id": "v"}}}),
            );
            assert_eq!(talk.take_read(), [CommentId::new(1)]);
            take(&mut *talk, &completed("completed"));
            assert!(talk.is_over());
        }
    }

    #[test]
    fn a_turn_that_failed_is_the_end_and_its_messages_wait_for_the_next_run() {
        let mut talk = working();
        letter(&mut *talk, 1, "Use tabs.");
        assert!(take(&mut *talk, &completed("failed")).is_empty());
        assert!(talk.is_over() && talk.take_read().is_empty());
    }

    #[test]
    fn only_symphonys_own_server_may_ask() {
        let mut talk = working();
        for (server, expected) in [("symphony", "accept"), ("other", "decline")] {
            let line = json!({"id": 1, "method": "mcpServer/elicitation/request", "params": {"serverName": server}});
            assert_eq!(take(&mut *talk, &line)[0]["result"]["action"], expected);
        }
        let unknown = json!({"id": 2, "method": "item/tool/call", "params": {}});
        assert_eq!(take(&mut *talk, &unknown)[0]["error"]["code"], -32601);
    }

    #[test]
    fn a_turn_that_runs_is_interrupted() {
        let mut talk = working();
        let mut out = Outgoing::default();
        talk.cancel(&mut out);
        let lines = said(&mut out);
        assert_eq!(lines[0]["params"], json!({"threadId": "t", "turnId": "u"}));
        assert!(talk.is_over());
        talk.cancel(&mut out);
        assert!(said(&mut out).is_empty(), "once");
    }
}
