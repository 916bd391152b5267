//! The messages of an agent by the Agent Client Protocol (<https://agentclientprotocol.com>, version 1).
//!
//! Symphony names its requests by their method (`session/new`, `session/prompt 1`), so that a line of the log says by
//! itself what it answers.

mod calls;
mod error;
mod text;
mod usage;

use serde_json::Value;

use self::calls::Calls;
pub(crate) use self::error::class_of_result;
use self::error::{errors_of, status_of};
use self::text::Joined;
use self::usage::UsageReader;
use super::event::{AgentEvent, Init, RunResult, ToolResult};
use super::format::AcpUsage;
use super::json::Broken;
use super::rpc::{Message, RpcError, other, text_at, word_at};
use super::text::{DETAIL_BYTES_MAX, TEXT_BYTES_MAX, WORD_BYTES_MAX, beginning};

/// The beginning of the ids of Symphony's prompts.
pub(crate) const PROMPT: &str = "session/prompt";

/// The beginnings of the ids of Symphony's requests for a session.
const OPENINGS: [&str; 3] = ["session/new", "session/load", "session/resume"];

/// What a reader knows of the session.
#[derive(Debug, Clone)]
pub(crate) struct AcpReader {
    usage: UsageReader,
    /// Whether there is a session. What comes before is a loaded one's history.
    is_open: bool,
    text: Joined,
    thought: Joined,
    calls: Calls,
    /// What the agent said last in its turn.
    answer: String,
    /// Whether there was a text or a call in its turn.
    is_productive: bool,
    /// How many of Symphony's prompts have been answered.
    turns: u32,
}

impl AcpReader {
    pub(crate) fn new(usage: AcpUsage) -> Self {
        Self {
            usage: UsageReader::new(usage),
            is_open: false,
            text: Joined::new(TEXT_BYTES_MAX),
            thought: Joined::new(DETAIL_BYTES_MAX),
            calls: Calls::default(),
            answer: String::new(),
            is_productive: false,
            turns: 0,
        }
    }

    /// Reads one line; the events are appended. Pieces of a text are held back until it is whole.
    ///
    /// # Errors
    /// When the line is no message.
    pub(crate) fn read(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) -> Result<(), Broken> {
        match Message::parse(line)? {
            Message::Response { id, outcome } => {
                self.response(id.as_str().unwrap_or_default(), outcome, events);
            }
            Message::Notification { method, params } if method == "session/update" => {
                self.update(params.get("update").unwrap_or(&Value::Null), events);
            }
            Message::Request { method, params, .. } if method == "session/request_permission" => {
                self.finish(events);
                let call = params.get("toolCall").unwrap_or(&Value::Null);
                events.extend(self.calls.asked(call));
                events.push(other(&method));
            }
            Message::Request { method, .. } | Message::Notification { method, .. } => {
                events.push(other(&method));
            }
        }
        Ok(())
    }

    /// Appends what was held back.
    pub(crate) fn finish(&mut self, events: &mut Vec<AgentEvent>) {
        if let Some(text) = self.thought.take() {
            events.push(AgentEvent::Thinking { text });
        }
        if let Some(text) = self.text.take() {
            self.answer.clone_from(&text);
            self.is_productive = true;
            events.push(AgentEvent::Text {
                text,
                subagent: false,
            });
        }
    }

    fn response(
        &mut self,
        id: &str,
        outcome: Result<Value, RpcError>,
        events: &mut Vec<AgentEvent>,
    ) {
        self.finish(events);
        let is_prompt = self.is_next_prompt(id);
        let opens = !self.is_open && OPENINGS.iter().any(|opening| id.starts_with(opening));
        match outcome {
            Ok(result) if is_prompt => {
                self.turns += 1;
                events.push(self.turn_ended(&result));
            }
            Ok(result) if opens => {
                self.is_open = true;
                // The answer about a session that is resumed does not name it: the request's id does.
                let resumed = || id.split_once(' ').map(|(_, session)| session.to_owned());
                events.push(AgentEvent::Init(Init {
                    session: word_at(&result, "/sessionId").or_else(resumed),
                    model: model(&result),
                    ..Init::default()
                }));
            }
            Err(error) if is_prompt || opens || id == "initialize" && !self.is_open => {
                self.turns += u32::from(is_prompt);
                self.is_productive = false;
                let tokens = self.usage.end_turn(&Value::Null);
                events.push(AgentEvent::Result(Box::new(RunResult {
                    is_error: true,
                    subtype: format!("{id}/refused"),
                    api_error_status: status_of(&error),
                    api_error_type: word_at(&error.data, "/errorName"),
                    errors: vec![error.text()],
                    turns: 1,
                    tokens,
                    ..RunResult::default()
                })));
            }
            // An answer to nothing that is open.
            Ok(_) | Err(_) => events.push(other(id)),
        }
    }

    /// Returns whether an id is that of the prompt whose answer is due: an answer counts once.
    fn is_next_prompt(&self, id: &str) -> bool {
        let number = id
            .strip_prefix(PROMPT)
            .and_then(|number| number.strip_prefix(' '));
        number.and_then(|number| number.parse().ok()) == Some(self.turns.saturating_add(1))
    }

    /// A turn has succeeded if it ended by itself, with a text or a call, and the model was asked at all: some programs
    /// report a failed request as the end of a turn, with the error as their text.
    fn turn_ended(&mut self, result: &Value) -> AgentEvent {
        let reason = text_at(result, "/stopReason", WORD_BYTES_MAX);
        let tokens = self.usage.end_turn(result);
        let has_used = !self.usage.is_reported() || tokens.output.get() > 0;
        let is_productive = std::mem::take(&mut self.is_productive);
        let answer = std::mem::take(&mut self.answer);
        let is_error = reason != "end_turn" || !is_productive || !has_used;
        AgentEvent::Result(Box::new(RunResult {
            is_error,
            errors: if is_error {
                errors_of(&reason, &answer)
            } else {
                Vec::new()
            },
            terminal_reason: (reason == "max_turn_requests").then(|| "max_turns".to_owned()),
            subtype: reason,
            text: answer,
            turns: 1,
            tokens,
            ..RunResult::default()
        }))
    }

    fn update(&mut self, update: &Value, events: &mut Vec<AgentEvent>) {
        let kind = text_at(update, "/sessionUpdate", WORD_BYTES_MAX);
        if !self.is_open {
            events.push(other(&format!("history/{kind}")));
            return;
        }
        match kind.as_str() {
            "agent_message_chunk" => {
                // A thought ends where the answer begins.
                if let Some(text) = self.thought.take() {
                    events.push(AgentEvent::Thinking { text });
                }
                self.text
                    .push(&text_at(update, "/content/text", TEXT_BYTES_MAX));
                events.extend(self.usage.request(update));
            }
            "agent_thought_chunk" => {
                self.thought
                    .push(&text_at(update, "/content/text", DETAIL_BYTES_MAX));
            }
            "tool_call" | "tool_call_update" => {
                self.finish(events);
                self.is_productive = true;
                events.extend(self.calls.update(update));
                events.extend(result_of_call(update));
            }
            _ => events.push(other(&kind)),
        }
    }
}

/// The session's model: some programs list it as a setting.
fn model(session: &Value) -> Option<String> {
    word_at(session, "/models/currentModelId").or_else(|| {
        let options = session.get("configOptions")?.as_array()?;
        let is_model = |option: &&Value| option.get("id").and_then(Value::as_str) == Some("model");
        word_at(options.iter().find(is_model)?, "/currentValue")
    })
}

fn result_of_call(update: &Value) -> Option<AgentEvent> {
    let status = update.get("status")?.as_str()?;
    if !matches!(status, "completed" | "failed") {
        return None;
    }
    let blocks = update.get("content").and_then(Value::as_array);
    let mut texts = blocks.into_iter().flatten();
    let text = texts.find_map(|block| block.pointer("/content/text")?.as_str());
    Some(AgentEvent::ToolResult(ToolResult {
        id: text_at(update, "/toolCallId", WORD_BYTES_MAX),
        is_error: status == "failed",
        text: beginning(text.unwrap_or_default().as_bytes(), DETAIL_BYTES_MAX),
    }))
}
