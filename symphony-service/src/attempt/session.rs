//! The conversation of one session, without I/O: lines of the app-server go in, what has to be done comes out.

use std::collections::VecDeque;

use serde_json::{Value, json};
use symphony_runner::stream::Message;

use super::end::FailureClass;
use super::event::EventKind;
use super::meter::Meter;
use super::opening::{Opening, Policy, needs_person, policy};
use super::summary::{one_line, summary};
use super::tool::{CallFault, LINEAR_GRAPHQL, Question, ToolAnswer, question};

/// The JSON-RPC number for a method that does not exist.
const METHOD_NOT_FOUND: i64 = -32601;
/// Most turns whose late messages are recognised.
const ENDED_TURNS_MAX: usize = 64;
/// Most calls of tools at once: a model asks for a few.
const CALLS_MAX: usize = 16;

/// Something that has to be done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// A message has to be sent.
    Say(Value),
    /// An event has to be reported.
    Report(EventKind, String),
    /// A question of the agent has to be sent to Linear; [`Session::called`] takes the answer.
    Ask(Value, Question),
    /// The turn ended well.
    TurnEnded,
    /// The attempt failed.
    Fail(FailureClass, String),
}

/// What the session waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// The answer to a request, by its id.
    Answer(u64),
    /// The end of a turn, by its number.
    Turn(u32),
    /// Nothing.
    Nothing,
}

/// The conversation of one session.
#[derive(Debug)]
pub(super) struct Session {
    opening: Opening,
    prompt: String,
    state: State,
    request: u64,
    thread: Option<String>,
    turn: Option<String>,
    turns: u32,
    ended_turns: VecDeque<String>,
    calls: usize,
    meter: Meter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// `initialize` is not answered yet.
    Begun,
    /// `thread/start` is not answered yet.
    Opening,
    /// `turn/start` is not answered yet.
    Starting,
    /// The agent works.
    Working,
    /// A turn ended, or nothing can follow.
    Idle,
}

impl Session {
    pub(super) fn new(opening: Opening, prompt: String) -> Self {
        Self {
            opening,
            prompt,
            state: State::Idle,
            request: 0,
            thread: None,
            turn: None,
            turns: 0,
            ended_turns: VecDeque::new(),
            calls: 0,
            meter: Meter::default(),
        }
    }

    /// Begins the handshake.
    pub(super) fn begin(&mut self) -> Vec<Step> {
        self.state = State::Begun;
        vec![self.ask("initialize", &Opening::initialize())]
    }

    /// Begins another turn of the same conversation.
    pub(super) fn start_turn(&mut self, text: &str) -> Vec<Step> {
        self.state = State::Starting;
        self.turn = None;
        self.turns = self.turns.saturating_add(1);
        let thread = self.thread.clone().unwrap_or_default();
        let params = self.opening.turn(&thread, text);
        vec![self.ask("turn/start", &params)]
    }

    /// Returns the request that stops the turn under way.
    pub(super) fn interrupt(&mut self) -> Option<Value> {
        let (thread, turn) = (self.thread.clone()?, self.turn.clone()?);
        if self.state != State::Working {
            return None;
        }
        self.request = self.request.saturating_add(1);
        let params = json!({ "threadId": thread, "turnId": turn });
        Some(
            json!({ "jsonrpc": "2.0", "id": self.request, "method": "turn/interrupt", "params": params }),
        )
    }

    /// Takes a line of the app-server's standard output.
    pub(super) fn take(&mut self, line: &[u8]) -> Vec<Step> {
        if line.trim_ascii().is_empty() {
            return Vec::new();
        }
        let Ok(message) = Message::parse(line) else {
            let beginning =
                String::from_utf8_lossy(line.get(..line.len().min(200)).unwrap_or_default());
            return vec![Step::Report(EventKind::Malformed, one_line(&beginning))];
        };
        match message {
            Message::Response { id, outcome } => {
                let outcome = outcome.map_err(|error| error.text());
                self.answered(&id, outcome)
            }
            Message::Notification { method, params } => self.notified(&method, &params),
            Message::Request { id, method, params } => self.asked(id, &method, &params),
        }
    }

    /// Takes the answer to a question of the agent.
    pub(super) fn called(&mut self, id: &Value, answer: &ToolAnswer) -> Vec<Step> {
        self.calls = self.calls.saturating_sub(1);
        let kind = if answer.is_success {
            EventKind::ToolCallCompleted
        } else {
            EventKind::ToolCallFailed
        };
        vec![
            say(id, &answer.result()),
            Step::Report(kind, LINEAR_GRAPHQL.to_owned()),
        ]
    }

    /// Returns what is waited for.
    pub(super) fn waiting(&self) -> Waiting {
        match self.state {
            State::Begun | State::Opening | State::Starting => Waiting::Answer(self.request),
            State::Working => Waiting::Turn(self.turns),
            State::Idle => Waiting::Nothing,
        }
    }

    pub(super) fn thread(&self) -> Option<&String> {
        self.thread.as_ref()
    }

    pub(super) fn turn(&self) -> Option<&String> {
        self.turn.as_ref()
    }

    /// Returns how many turns were begun.
    pub(super) fn turns(&self) -> u32 {
        self.turns
    }

    pub(super) fn meter(&self) -> &Meter {
        &self.meter
    }

    fn ask(&mut self, method: &str, params: &Value) -> Step {
        Step::Say(self.request(method, params))
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.request = self.request.saturating_add(1);
        json!({ "jsonrpc": "2.0", "id": self.request, "method": method, "params": params })
    }

    fn answered(&mut self, id: &Value, outcome: Result<Value, String>) -> Vec<Step> {
        let is_due = matches!(self.waiting(), Waiting::Answer(due) if id.as_u64() == Some(due));
        if !is_due {
            let text = format!("an answer to no request ({})", one_line(&id.to_string()));
            return vec![Step::Report(EventKind::OtherMessage, text)];
        }
        let result = match outcome {
            Ok(result) => result,
            Err(text) => {
                let asked = match self.state {
                    State::Begun => "initialize",
                    State::Opening => "thread/start",
                    _ => "turn/start",
                };
                let text = format!("the app-server refused `{asked}`: {}", one_line(&text));
                return self.fail(FailureClass::ResponseError, text);
            }
        };
        match self.state {
            State::Begun => {
                self.state = State::Opening;
                let initialized =
                    json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} });
                let params = self.opening.thread();
                vec![Step::Say(initialized), self.ask("thread/start", &params)]
            }
            State::Opening => match id_at(&result, &["/thread/id", "/threadId"]) {
                Some(thread) => {
                    self.thread = Some(thread);
                    let prompt = std::mem::take(&mut self.prompt);
                    self.start_turn(&prompt)
                }
                None => self.fail(
                    FailureClass::ResponseError,
                    "the answer to `thread/start` has no id of a thread".to_owned(),
                ),
            },
            _ => match id_at(&result, &["/turn/id", "/turnId"]) {
                Some(turn) => self.works(turn),
                None => self.fail(
                    FailureClass::ResponseError,
                    "the answer to `turn/start` has no id of a turn".to_owned(),
                ),
            },
        }
    }

    fn works(&mut self, turn: String) -> Vec<Step> {
        self.state = State::Working;
        self.turn = Some(turn);
        let text = format!("turn {} started", self.turns);
        vec![Step::Report(EventKind::SessionStarted, text)]
    }

    fn notified(&mut self, method: &str, params: &Value) -> Vec<Step> {
        let thread = self.thread.clone().unwrap_or_default();
        self.meter.read(params, &thread);
        let is_own = self.is_own(params);
        let is_end = matches!(method, "turn/completed" | "turn/failed" | "turn/cancelled");
        if is_own && is_end && matches!(self.state, State::Starting | State::Working) {
            return self.turn_over(method, params);
        }
        if is_own && needs_person(method, params) {
            return self.needs_person(method);
        }
        vec![Step::Report(
            EventKind::Notification,
            summary(method, params),
        )]
    }

    /// Says whether a message is about this session's turn: helpers of an agent have conversations of their own, and the
    /// end of an earlier turn may be reported twice.
    fn is_own(&self, params: &Value) -> bool {
        let thread = id_at(params, &["/threadId", "/thread_id"]);
        let is_own_thread = thread.is_none() || thread == self.thread;
        let turn = id_at(params, &["/turn/id", "/turnId", "/turn_id"]);
        let is_own_turn = match (turn, &self.turn) {
            (None, _) => true,
            (Some(turn), Some(own)) => turn == *own,
            (Some(turn), None) => !self.ended_turns.contains(&turn),
        };
        is_own_thread && is_own_turn
    }

    fn turn_over(&mut self, method: &str, params: &Value) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.state == State::Starting {
            // The end overtook the answer that names the turn, which then is the answer to no request.
            let turn = id_at(params, &["/turn/id", "/turnId", "/turn_id"]);
            steps.extend(self.works(turn.unwrap_or_else(|| self.turns.to_string())));
        }
        let status = params
            .pointer("/turn/status")
            .or_else(|| params.get("status"));
        let text = [
            "/turn/error/message",
            "/error/message",
            "/message",
            "/reason",
        ]
        .iter()
        .find_map(|path| params.pointer(path)?.as_str())
        .map(one_line);
        let with = |what: &str| match &text {
            Some(text) if !text.is_empty() => format!("{what}: {text}"),
            _ => what.to_owned(),
        };
        let failure = match (method, status.and_then(Value::as_str)) {
            ("turn/cancelled", _) | (_, Some("interrupted" | "cancelled" | "canceled")) => Some((
                EventKind::TurnCancelled,
                FailureClass::TurnCancelled,
                with("the turn was cancelled"),
            )),
            ("turn/failed", _) | (_, Some("failed")) => Some((
                EventKind::TurnFailed,
                FailureClass::TurnFailed,
                with("the turn failed"),
            )),
            _ => None,
        };
        self.state = State::Idle;
        if let Some(turn) = self.turn.clone() {
            self.ended_turns.push_back(turn);
            if self.ended_turns.len() > ENDED_TURNS_MAX {
                self.ended_turns.pop_front();
            }
        }
        match failure {
            None => {
                let text = format!("turn {} completed", self.turns);
                steps.extend([
                    Step::Report(EventKind::TurnCompleted, text),
                    Step::TurnEnded,
                ]);
            }
            Some((kind, class, text)) => {
                steps.extend([Step::Report(kind, text.clone()), Step::Fail(class, text)]);
            }
        }
        steps
    }

    fn asked(&mut self, id: Value, method: &str, params: &Value) -> Vec<Step> {
        match policy(method, params) {
            Policy::Grant(result) => vec![
                say(&id, &result),
                Step::Report(EventKind::ApprovalAutoApproved, summary(method, params)),
            ],
            Policy::Decline(result) => vec![
                say(&id, &result),
                Step::Report(
                    EventKind::Notification,
                    format!("declined: {}", summary(method, params)),
                ),
            ],
            Policy::Call => self.call(id, params),
            Policy::NeedsPerson => self.needs_person(method),
            Policy::Unknown => {
                let message = format!("Symphony does not offer `{}`", one_line(method));
                let error = json!({ "code": METHOD_NOT_FOUND, "message": message });
                vec![
                    Step::Say(json!({ "jsonrpc": "2.0", "id": id, "error": error })),
                    Step::Report(EventKind::OtherMessage, summary(method, params)),
                ]
            }
        }
    }

    fn call(&mut self, id: Value, params: &Value) -> Vec<Step> {
        let tool = ["/tool", "/name", "/toolName"]
            .iter()
            .find_map(|path| params.pointer(path)?.as_str())
            .map(str::trim)
            .unwrap_or_default();
        let arguments = params.get("arguments").or_else(|| params.get("input"));
        let asked = match tool {
            LINEAR_GRAPHQL if !self.opening.has_tool => Err(CallFault::MissingToken),
            LINEAR_GRAPHQL if self.calls >= CALLS_MAX => Err(CallFault::TooMany),
            LINEAR_GRAPHQL => question(arguments.unwrap_or(&Value::Null)),
            other => Err(CallFault::Unsupported(one_line(other))),
        };
        match asked {
            Ok(question) => {
                self.calls += 1;
                vec![Step::Ask(id, question)]
            }
            Err(fault) => {
                let kind = match fault {
                    CallFault::Unsupported(_) => EventKind::UnsupportedToolCall,
                    _ => EventKind::ToolCallFailed,
                };
                vec![
                    say(&id, &ToolAnswer::refusal(&fault).result()),
                    Step::Report(kind, fault.to_string()),
                ]
            }
        }
    }

    fn needs_person(&mut self, method: &str) -> Vec<Step> {
        let text = format!(
            "the agent asks for something that only a person can give (`{}`)",
            one_line(method)
        );
        let report = Step::Report(EventKind::TurnInputRequired, text.clone());
        let mut steps = vec![report];
        steps.extend(self.fail(FailureClass::TurnInputRequired, text));
        steps
    }

    fn fail(&mut self, class: FailureClass, text: String) -> Vec<Step> {
        self.state = State::Idle;
        vec![Step::Fail(class, text)]
    }
}

fn say(id: &Value, result: &Value) -> Step {
    Step::Say(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// Returns the first id below some paths: a text, or a number that stands for one.
fn id_at(value: &Value, paths: &[&str]) -> Option<String> {
    paths.iter().find_map(|path| match value.pointer(path)? {
        Value::String(text) if !text.is_empty() => Some(one_line(text)),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
