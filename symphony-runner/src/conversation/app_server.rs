//! Codex's app-server (`codex app-server`), as its client.

use serde_json::{Value, json};

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
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Begun,
    /// The thread is asked for.
    Opening,
    /// The agent works.
    Working,
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
        }
    }

    fn answered(&mut self, id: &str, outcome: Result<Value, ()>, out: &mut Outgoing) {
        let is_open = match self.state {
            State::Begun => id == "initialize",
            State::Opening => matches!(id, "thread/start" | "thread/resume"),
            State::Working => id == "turn/start" && self.turn.is_none(),
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
                self.state = State::Working;
                let params = json!({
                    "threadId": self.thread,
                    "input": [{ "type": "text", "text": std::mem::take(&mut self.prompt) }],
                });
                out.request("turn/start", "turn/start", params);
            }
            State::Working => self.turn = text_at(&result, "/turn/id"),
            State::Over => {}
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

fn text_at(value: &Value, path: &str) -> Option<String> {
    let text = value.pointer(path)?.as_str()?;
    Some(text.to_owned())
}

impl Conversation for AppServerConversation {
    fn begin(&mut self, out: &mut Outgoing) {
        let client = json!({ "name": "symphony", "title": "Symphony", "version": env!("CARGO_PKG_VERSION") });
        out.request("initialize", "initialize", json!({ "clientInfo": client }));
    }

    fn take(&mut self, message: Message, out: &mut Outgoing) {
        match message {
            Message::Response { id, outcome } => {
                let outcome = outcome.map_err(|_reported| ());
                self.answered(id.as_str().unwrap_or_default(), outcome, out);
            }
            Message::Notification { method, params } => {
                let is_own = text_at(&params, "/threadId") == self.thread;
                if method == "turn/completed" && self.state == State::Working && is_own {
                    self.state = State::Over;
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
}

#[cfg(test)]
mod tests {
    use super::super::tests::{opening, said, take};
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
        let completed =
            |thread: &str| json!({"method": "turn/completed", "params": {"threadId": thread}});
        take(&mut *talk, &completed("another"));
        assert!(!talk.is_over(), "a subagent's thread");
        take(&mut *talk, &completed("t"));
        assert!(talk.is_over());
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
