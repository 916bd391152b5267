//! The Agent Client Protocol (<https://agentclientprotocol.com>, version 1), as its client.
//!
//! Neither files nor terminals are offered: no agent needs them, and a callback is no boundary.

use serde_json::{Value, json};
use symphony_core::id::CommentId;

use super::mailbox::{Letter, Mailbox};
use super::{Conversation, GO_ON, GO_ON_MAX, MidTurn, Opening, Outgoing};
use crate::environment::RUN_MARKER;
use crate::provider::{AgentRole, Session};
use crate::stream::rpc::Message;
use crate::stream::{MCP_SERVER_NAME, PROMPT};

/// The version of the protocol.
const VERSION: u64 = 1;

/// Kinds of calls that change or run something.
const CHANGING: [&str; 4] = ["edit", "delete", "move", "execute"];

/// A conversation by the Agent Client Protocol.
#[derive(Debug)]
pub(super) struct AcpConversation {
    opening: Opening,
    prompt: String,
    session: Option<String>,
    /// The id of the request for the session.
    opening_id: String,
    state: State,
    prompts: u32,
    /// Whether a call of this turn was refused.
    has_refused: bool,
    /// After how many refusals it was asked to go on.
    refusals: u32,
    mid_turn: MidTurn,
    mailbox: Mailbox,
    /// How many prompts joined others.
    joined: u32,
    /// Whether the answer to the last of these is due.
    is_joining: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Begun,
    /// The agent is asked for a session.
    Opening,
    /// The agent works.
    Working,
    /// Its turn has ended; a prompt that joined it is not answered yet.
    Ended,
    Over,
}

impl AcpConversation {
    pub(super) fn new(mut opening: Opening, prompt: String, mid_turn: MidTurn) -> Self {
        // The protocol has no place for it: an agent that cannot take it otherwise has it before its task.
        let prompt = match opening.system_prompt.take() {
            Some(system) => format!("{system}\n\n{prompt}"),
            None => prompt,
        };
        Self {
            opening,
            prompt,
            session: None,
            opening_id: String::new(),
            state: State::Begun,
            prompts: 0,
            has_refused: false,
            refusals: 0,
            mid_turn,
            mailbox: Mailbox::default(),
            joined: 0,
            is_joining: false,
        }
    }

    fn answered(&mut self, id: &str, outcome: Result<Value, ()>, out: &mut Outgoing) {
        if self.is_joining && id == self.joined_id() {
            self.has_joined(outcome.is_ok(), out);
            return;
        }
        let is_open = match self.state {
            State::Begun => id == "initialize",
            State::Opening => id == self.opening_id,
            State::Working => id == self.prompt_id(),
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
            State::Begun => self.open_session(&result, out),
            State::Opening => {
                if let Some(session) = result.get("sessionId").and_then(Value::as_str) {
                    self.session = Some(session.to_owned());
                }
                self.state = State::Working;
                let prompt = std::mem::take(&mut self.prompt);
                self.ask(&prompt, out);
                self.join(out);
            }
            State::Working => self.turn_ended(&result, out),
            State::Ended | State::Over => {}
        }
    }

    fn turn_ended(&mut self, result: &Value, out: &mut Outgoing) {
        let reason = result.get("stopReason").and_then(Value::as_str);
        // The model refused, or the agent was stopped: the run has failed, whatever waits.
        let was_cancelled = matches!(reason, Some("cancelled" | "refusal"));
        let was_refused = std::mem::take(&mut self.has_refused);
        if was_cancelled {
            self.state = State::Over;
            return;
        }
        if !self.is_joining {
            // A message that began this turn, or came into it.
            self.mailbox.confirm();
        }
        if was_refused && self.refusals < GO_ON_MAX {
            self.refusals += 1;
            self.ask(GO_ON, out);
        } else {
            self.state = State::Ended;
            self.go_on(out);
        }
    }

    /// Begins another turn with what waits, or ends the conversation.
    fn go_on(&mut self, out: &mut Outgoing) {
        if self.is_joining {
            return;
        }
        match self.mailbox.send() {
            Some(text) => {
                self.state = State::Working;
                self.ask(&text, out);
            }
            None => self.state = State::Over,
        }
    }

    /// Sends what waits into the turn that runs, if the agent takes it.
    fn join(&mut self, out: &mut Outgoing) {
        if self.state != State::Working || self.mid_turn != MidTurn::Prompt || self.is_joining {
            return;
        }
        let Some(text) = self.mailbox.send() else {
            return;
        };
        self.joined += 1;
        self.is_joining = true;
        out.request(&self.joined_id(), PROMPT, self.prompt_of(&text));
    }

    fn joined_id(&self) -> String {
        format!("message {}", self.joined)
    }

    fn has_joined(&mut self, was_taken: bool, out: &mut Outgoing) {
        self.is_joining = false;
        if was_taken {
            self.mailbox.confirm();
        } else {
            self.mailbox.take_back();
        }
        if self.state == State::Ended {
            self.go_on(out);
        } else if was_taken {
            self.join(out);
        }
    }

    /// Returns the messages that wait, for an agent that asks for them.
    fn drained(&mut self) -> Vec<String> {
        let text = self.mailbox.send();
        self.mailbox.confirm();
        text.into_iter().collect()
    }

    fn prompt_of(&self, text: &str) -> Value {
        json!({ "sessionId": self.session, "prompt": [{ "type": "text", "text": text }] })
    }

    /// Asks for a session. One that is to be resumed is not read again, where the agent can do without.
    fn open_session(&mut self, agent: &Value, out: &mut Outgoing) {
        self.state = State::Opening;
        let mut params = self.new_session();
        let method = match &self.opening.session {
            Session::New => "session/new",
            Session::Resume(id) => {
                let Some(method) = resuming(agent) else {
                    // Nothing was done: the run starts again with the whole prompt.
                    self.state = State::Over;
                    return;
                };
                if let Some(members) = params.as_object_mut() {
                    members.insert("sessionId".to_owned(), json!(id.as_str()));
                }
                self.session = Some(id.as_str().to_owned());
                method
            }
        };
        self.opening_id = match &self.session {
            // The answer does not name the session.
            Some(session) => format!("{method} {session}"),
            None => method.to_owned(),
        };
        out.request(&self.opening_id, method, params);
    }

    fn new_session(&self) -> Value {
        let server = &self.opening.mcp_server;
        json!({
            "cwd": self.opening.folder,
            "mcpServers": [{
                "name": MCP_SERVER_NAME,
                "command": server.program,
                "args": server.args(),
                "env": [{ "name": RUN_MARKER, "value": self.opening.run.as_str() }],
            }],
        })
    }

    fn ask(&mut self, text: &str, out: &mut Outgoing) {
        self.prompts += 1;
        out.request(&self.prompt_id(), PROMPT, self.prompt_of(text));
    }

    fn prompt_id(&self) -> String {
        format!("{PROMPT} {}", self.prompts)
    }

    /// Answers whether a call may be made. The options are told apart by their kind; their ids mean nothing.
    fn permit(&mut self, params: &Value) -> Value {
        let kind = params.pointer("/toolCall/kind").and_then(Value::as_str);
        let changes = kind.is_some_and(|kind| CHANGING.contains(&kind));
        let is_refused = self.opening.role == AgentRole::Judge && changes;
        self.has_refused |= is_refused;
        let kinds = if is_refused {
            ["reject_once", "reject_always"]
        } else {
            ["allow_once", "allow_always"]
        };
        let options = params.get("options").and_then(Value::as_array);
        let of_kind = |kind: &str| {
            let mut options = options.into_iter().flatten();
            let is_it = |option: &&Value| option.get("kind").and_then(Value::as_str) == Some(kind);
            options.find(is_it)?.get("optionId").cloned()
        };
        let outcome = match kinds.into_iter().find_map(of_kind) {
            Some(option) => json!({ "outcome": "selected", "optionId": option }),
            None => json!({ "outcome": "cancelled" }),
        };
        json!({ "outcome": outcome })
    }
}

/// Returns how an agent resumes a session, by what it says of itself.
fn resuming(agent: &Value) -> Option<&'static str> {
    let resumes = agent.pointer("/agentCapabilities/sessionCapabilities/resume");
    let loads = agent.pointer("/agentCapabilities/loadSession");
    if resumes.is_some_and(|resume| !resume.is_null()) {
        Some("session/resume")
    } else if loads.and_then(Value::as_bool) == Some(true) {
        Some("session/load")
    } else {
        None
    }
}

impl Conversation for AcpConversation {
    fn begin(&mut self, out: &mut Outgoing) {
        let params = json!({
            "protocolVersion": VERSION,
            "clientInfo": { "name": "symphony", "version": env!("CARGO_PKG_VERSION") },
            "clientCapabilities": {
                "fs": { "readTextFile": false, "writeTextFile": false },
                "terminal": false,
            },
        });
        out.request("initialize", "initialize", params);
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
            Message::Request { id, method, params } => match method.as_str() {
                "session/request_permission" => {
                    let answer = self.permit(&params);
                    out.answer(id, answer);
                }
                // Qwen Code asks after each call whether a person said something meanwhile.
                "craft/drainMidTurnQueue" => {
                    let messages = self.drained();
                    out.answer(
                        id,
                        json!({ "messages": messages, "hasQueuedPrompt": false }),
                    );
                }
                method => out.refuse(id, method),
            },
            Message::Notification { .. } => {}
        }
    }

    fn say(&mut self, letter: Letter, out: &mut Outgoing) {
        if self.state != State::Over {
            self.mailbox.put(letter);
            self.join(out);
        }
    }

    fn withdraw(&mut self, message: CommentId) {
        self.mailbox.withdraw(message);
    }

    fn take_read(&mut self) -> Vec<CommentId> {
        self.mailbox.take_read()
    }

    fn cancel(&mut self, out: &mut Outgoing) {
        if self.state == State::Working {
            out.notify("session/cancel", json!({ "sessionId": self.session }));
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
mod tests;
