//! The Agent Client Protocol (<https://agentclientprotocol.com>, version 1), as its client.
//!
//! Neither files nor terminals are offered: no agent needs them, and a callback is no boundary.

use serde_json::{Value, json};

use super::{Conversation, GO_ON, GO_ON_MAX, Opening, Outgoing};
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
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Begun,
    /// The agent is asked for a session.
    Opening,
    /// The agent works.
    Working,
    Over,
}

impl AcpConversation {
    pub(super) fn new(mut opening: Opening, prompt: String) -> Self {
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
        }
    }

    fn answered(&mut self, id: &str, outcome: Result<Value, ()>, out: &mut Outgoing) {
        let is_open = match self.state {
            State::Begun => id == "initialize",
            State::Opening => id == self.opening_id,
            State::Working => id == self.prompt_id(),
            State::Over => false,
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
            }
            State::Working => self.turn_ended(&result, out),
            State::Over => {}
        }
    }

    fn turn_ended(&mut self, result: &Value, out: &mut Outgoing) {
        let was_cancelled = result.get("stopReason").and_then(Value::as_str) == Some("cancelled");
        let was_refused = std::mem::take(&mut self.has_refused);
        if was_refused && !was_cancelled && self.prompts <= GO_ON_MAX {
            self.ask(GO_ON, out);
        } else {
            self.state = State::Over;
        }
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
        let params = json!({
            "sessionId": self.session,
            "prompt": [{ "type": "text", "text": text }],
        });
        out.request(&self.prompt_id(), PROMPT, params);
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

    fn take(&mut self, message: Message, out: &mut Outgoing) {
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
                    out.answer(id, json!({ "messages": [], "hasQueuedPrompt": false }));
                }
                method => out.refuse(id, method),
            },
            Message::Notification { .. } => {}
        }
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
}

#[cfg(test)]
mod tests {
    use symphony_core::session::{SessionForm, SessionId};

    use super::super::tests::{opening, said, take};
    use super::super::{Protocol, conversation};
    use super::*;

    fn working(role: AgentRole) -> Box<dyn Conversation> {
        let mut talk = conversation(opening(Protocol::Acp, role), "Do it.".to_owned());
        let mut out = Outgoing::default();
        talk.begin(&mut out);
        assert_eq!(said(&mut out)[0]["method"], "initialize");
        let new = take(&mut *talk, &json!({"id": "initialize", "result": {}}));
        assert_eq!(new[0]["params"]["mcpServers"][0]["name"], "symphony");
        let prompt = take(
            &mut *talk,
            &json!({"id": "session/new", "result": {"sessionId": "s1"}}),
        );
        assert_eq!(prompt[0]["params"]["sessionId"], "s1");
        assert_eq!(
            prompt[0]["params"]["prompt"][0]["text"],
            "You are a worker.\n\nDo it."
        );
        talk
    }

    fn permission(kind: &str) -> Value {
        json!({"id": 7, "method": "session/request_permission", "params": {
            "toolCall": {"toolCallId": "c", "kind": kind},
            "options": [
                {"optionId": "x", "kind": "allow_always"}, {"optionId": "y", "kind": "allow_once"},
                {"optionId": "z", "kind": "reject_once"},
            ],
        }})
    }

    fn ended(prompt: u32, reason: &str) -> Value {
        json!({"id": format!("session/prompt {prompt}"), "result": {"stopReason": reason}})
    }

    #[test]
    fn a_turn_that_ends_is_the_end() {
        let mut talk = working(AgentRole::Author);
        let answer = take(&mut *talk, &permission("edit"));
        assert_eq!(answer[0]["result"]["outcome"]["optionId"], "y");
        assert!(!talk.is_over());
        assert!(take(&mut *talk, &ended(1, "end_turn")).is_empty());
        assert!(talk.is_over());
    }

    #[test]
    fn a_judge_may_not_change_anything_and_is_asked_to_go_on() {
        let mut talk = working(AgentRole::Judge);
        let read = take(&mut *talk, &permission("read"));
        assert_eq!(read[0]["result"]["outcome"]["optionId"], "y");
        for prompt in 1..=GO_ON_MAX {
            for kind in CHANGING {
                let answer = take(&mut *talk, &permission(kind));
                assert_eq!(answer[0]["result"]["outcome"]["optionId"], "z", "{kind}");
            }
            let again = take(&mut *talk, &ended(prompt, "end_turn"));
            assert_eq!(again[0]["id"], format!("session/prompt {}", prompt + 1));
        }
        take(&mut *talk, &permission("execute"));
        assert!(take(&mut *talk, &ended(GO_ON_MAX + 1, "end_turn")).is_empty());
        assert!(talk.is_over(), "not for ever");
    }

    #[test]
    fn a_refused_request_is_the_end_and_what_is_not_offered_is_refused() {
        let mut talk = working(AgentRole::Author);
        let asked =
            json!({"id": 3, "method": "fs/write_text_file", "params": {"path": "/etc/passwd"}});
        assert_eq!(take(&mut *talk, &asked)[0]["error"]["code"], -32601);
        let line = json!({"id": "session/prompt 1", "error": {"code": -32603, "message": "no"}});
        assert!(take(&mut *talk, &line).is_empty());
        assert!(talk.is_over());
    }

    #[test]
    fn a_session_is_resumed_as_the_agent_can() {
        let resume = json!({"sessionCapabilities": {"resume": {}}, "loadSession": true});
        for (capabilities, expected) in [
            (resume, Some("session/resume")),
            (json!({"loadSession": true}), Some("session/load")),
            (
                json!({"loadSession": false, "sessionCapabilities": {"list": {}}}),
                None,
            ),
        ] {
            let id = SessionId::parse("ses_1", SessionForm::Word).unwrap();
            let mut opening = opening(Protocol::Acp, AgentRole::Author);
            opening.session = Session::Resume(id);
            let mut talk = conversation(opening, "Go on.".to_owned());
            talk.begin(&mut Outgoing::default());
            let line = json!({"id": "initialize", "result": {"agentCapabilities": capabilities}});
            let asked = take(&mut *talk, &line);
            let Some(method) = expected else {
                assert!(asked.is_empty() && talk.is_over());
                continue;
            };
            assert_eq!(asked[0]["method"], method);
            assert_eq!(asked[0]["params"]["sessionId"], "ses_1");
            let prompt = take(&mut *talk, &json!({"id": asked[0]["id"], "result": {}}));
            assert_eq!(prompt[0]["params"]["sessionId"], "ses_1");
        }
    }

    #[test]
    fn answers_to_nothing_change_nothing() {
        let mut talk = working(AgentRole::Author);
        for id in [
            json!("session/prompt 2"),
            json!("initialize"),
            json!("session/new"),
            json!(1),
            json!(null),
        ] {
            assert!(take(&mut *talk, &json!({"id": id, "result": {}})).is_empty());
            let error = json!({"id": id, "error": {"code": 1, "message": "x"}});
            assert!(take(&mut *talk, &error).is_empty());
            assert!(!talk.is_over(), "{id}");
        }
    }
}
