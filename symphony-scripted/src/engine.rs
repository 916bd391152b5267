//! Plays a scenario: turn by turn, until a turn calls no tool.

use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::emit::{ApiFailure, Emitter, Ending};
use crate::error::ScriptError;
use crate::fault::{Served, serve};
use crate::placeholder::{Context, ToolAnswer, fill};
use crate::price::Spent;
use crate::scenario::{Scenario, Turn, regex};
use crate::tool::Tools;

/// How much of a tool result an error shows, in characters.
const SHOWN_CHARS_MAX: usize = 300;

/// A block of a turn, as the scenario has it.
#[derive(Debug, Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    thinking: String,
    #[serde(default)]
    name: String,
    namespace: Option<String>,
    label: Option<String>,
    #[serde(default)]
    input: Value,
}

/// A call that a turn makes.
struct Call {
    id: String,
    label: Option<String>,
    name: String,
    input: Value,
}

/// What a run is about.
pub(crate) struct Play<'a, 'out> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) system: &'a str,
    pub(crate) prompt: &'a str,
    pub(crate) tools: &'a Tools,
    pub(crate) emitter: &'a mut Emitter<'out>,
    pub(crate) turns_max: Option<u32>,
    pub(crate) api_retries_max: u32,
    pub(crate) results: Vec<ToolAnswer>,
    pub(crate) spent: Spent,
}

impl Play<'_, '_> {
    /// Plays until the end; returns the exit code. The result has been written, unless a fault took it away.
    pub(crate) async fn run(&mut self) -> Result<u8, ScriptError> {
        let mut last_text = String::new();
        for number in 0_u64.. {
            if self.turns_max.is_some_and(|max| number >= u64::from(max)) {
                return self.end_at_turn_limit(number);
            }
            let turn = self.scenario.turn(number);
            match serve(&turn, self.emitter, self.api_retries_max).await? {
                Served::Turn => {}
                Served::Failed(failure) => return self.end_with_api_error(failure),
                Served::Exit(code) => return Ok(code),
            }
            self.check_expectation(&turn)?;
            let calls = self.say(&turn, number, &mut last_text)?;
            if calls.is_empty() {
                let stop = turn.stop_reason.unwrap_or_else(|| "end_turn".to_owned());
                return self.end(last_text, stop);
            }
            for call in calls {
                let answer = self.tools.call(&call.name, &call.input).await;
                self.emitter
                    .tool_result(&call.id, &answer.text, answer.is_error)?;
                self.results.push(ToolAnswer {
                    label: call.label,
                    text: answer.text,
                });
            }
        }
        Ok(0)
    }

    fn check_expectation(&self, turn: &Turn) -> Result<(), ScriptError> {
        let Some(expected) = &turn.expect else {
            return Ok(());
        };
        let found = self.results.last().map_or("", |answer| &answer.text);
        if regex(expected)?.is_match(found) {
            return Ok(());
        }
        Err(ScriptError::Expectation {
            expected: expected.clone(),
            found: found.chars().take(SHOWN_CHARS_MAX).collect(),
        })
    }

    /// Writes a turn's blocks; returns its calls.
    fn say(
        &mut self,
        turn: &Turn,
        number: u64,
        last_text: &mut String,
    ) -> Result<Vec<Call>, ScriptError> {
        let context = Context {
            system: self.system,
            prompt: self.prompt,
            model: &self.emitter.model,
            session_id: &self.emitter.session_id,
            turn: number,
            vars: &self.scenario.vars,
            results: &self.results,
        };
        // All placeholders are filled before anything is said: an error replaces the turn.
        let mut blocks = Vec::new();
        for block in &turn.content {
            let block: Block = serde_json::from_value(fill(block, &context)?)
                .map_err(|error| ScriptError::Block(error.to_string()))?;
            blocks.push(block);
        }
        let spent = Spent::of_turn(turn.usage, self.scenario.usage);
        self.spent.add(spent);
        let message_id = format!("msg_{number:03}_0_{}", random());
        let mut calls = Vec::new();
        for (place, block) in blocks.into_iter().enumerate() {
            let said = match block.kind.as_str() {
                "tool_use" => {
                    let call = call(block, number, place);
                    let said = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input});
                    calls.push(call);
                    said
                }
                "thinking" => {
                    json!({"type": "thinking", "thinking": block.thinking, "signature": "c2NyaXB0ZWQ="})
                }
                _ => {
                    last_text.clone_from(&block.text);
                    json!({"type": "text", "text": block.text})
                }
            };
            self.emitter.assistant(&message_id, &said, spent)?;
        }
        Ok(calls)
    }

    /// Returns what the Claude CLI calls turns: one more than there are tool results.
    fn turns(&self) -> u64 {
        u64::try_from(self.results.len())
            .unwrap_or(u64::MAX)
            .saturating_add(1)
    }

    fn end(&mut self, text: String, stop_reason: String) -> Result<u8, ScriptError> {
        let ending = Ending {
            subtype: "success",
            terminal_reason: Some("completed"),
            stop_reason: Some(stop_reason),
            text: Some(text),
            turns: self.turns(),
            ..Ending::default()
        };
        self.emitter.result(&ending, self.spent)?;
        Ok(0)
    }

    fn end_at_turn_limit(&mut self, turns: u64) -> Result<u8, ScriptError> {
        let ending = Ending {
            subtype: "error_max_turns",
            is_error: true,
            terminal_reason: Some("max_turns"),
            stop_reason: Some("tool_use".to_owned()),
            errors: vec![format!("Reached maximum number of turns ({turns})")],
            turns: turns.saturating_add(1),
            ..Ending::default()
        };
        self.emitter.result(&ending, self.spent)?;
        Ok(1)
    }

    fn end_with_api_error(&mut self, failure: ApiFailure) -> Result<u8, ScriptError> {
        let text = self.emitter.api_error(&failure)?;
        let ending = Ending {
            // Not a slip: the real CLI calls it so, and only `is_error` tells.
            subtype: "success",
            is_error: true,
            terminal_reason: Some("api_error"),
            stop_reason: Some("stop_sequence".to_owned()),
            text: Some(text),
            api_error: Some(failure),
            turns: self.turns(),
            ..Ending::default()
        };
        self.emitter.result(&ending, self.spent)?;
        Ok(1)
    }
}

fn call(block: Block, number: u64, place: usize) -> Call {
    let label = block
        .label
        .as_ref()
        .map_or_else(String::new, |label| format!("L{label}_"));
    Call {
        id: format!("toolu_{number:03}_{place}_{label}{}", random()),
        label: block.label,
        name: match block.namespace {
            Some(namespace) => format!("{namespace}__{}", block.name),
            None => block.name,
        },
        input: if block.input.is_null() {
            json!({})
        } else {
            block.input
        },
    }
}

fn random() -> String {
    // The end of such an id is its random part.
    Uuid::now_v7()
        .simple()
        .to_string()
        .chars()
        .skip(22)
        .collect()
}
