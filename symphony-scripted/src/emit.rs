//! Writes the Claude CLI's stream.

use std::io::Write;
use std::time::Instant;

use serde_json::{Value, json};
use uuid::Uuid;

use crate::error::ScriptError;
use crate::price::Spent;

/// The stream under construction.
pub(crate) struct Emitter<'a> {
    out: &'a mut dyn Write,
    pub(crate) session_id: String,
    pub(crate) model: String,
    started: Instant,
}

/// How a run ends, as its result tells.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ending {
    pub(crate) subtype: &'static str,
    pub(crate) is_error: bool,
    pub(crate) terminal_reason: Option<&'static str>,
    pub(crate) stop_reason: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) errors: Vec<String>,
    pub(crate) api_error: Option<ApiFailure>,
    pub(crate) turns: u64,
}

/// A request that failed for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiFailure {
    pub(crate) status: Option<u16>,
    pub(crate) message: String,
}

impl ApiFailure {
    /// The provider's word for the status.
    pub(crate) fn kind(&self) -> Option<&'static str> {
        self.status.map(|status| match status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "api_error",
        })
    }

    /// The CLI's word for the status, in the message that tells of the failure.
    fn word(&self) -> &'static str {
        match self.status {
            Some(401) => "authentication_failed",
            Some(429) => "rate_limit",
            Some(500..) => "server_error",
            _ => "unknown",
        }
    }

    fn text(&self) -> String {
        match self.status {
            Some(status) => format!("API Error: {status} {}", self.message),
            None => format!("API Error: {}", self.message),
        }
    }
}

impl<'a> Emitter<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, model: String) -> Self {
        Self {
            out,
            session_id: Uuid::now_v7().to_string(),
            model,
            started: Instant::now(),
        }
    }

    /// Writes one event.
    pub(crate) fn line(&mut self, mut event: Value) -> Result<(), ScriptError> {
        if let Value::Object(fields) = &mut event {
            fields.insert("session_id".to_owned(), json!(self.session_id));
            fields.insert("uuid".to_owned(), json!(Uuid::now_v7().to_string()));
        }
        self.bytes(format!("{event}\n").as_bytes())
    }

    /// Writes bytes as they are, at once.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), ScriptError> {
        self.out.write_all(bytes)?;
        self.out.flush()?;
        Ok(())
    }

    pub(crate) fn init(
        &mut self,
        cwd: &str,
        tools: &[String],
        servers: &[(String, &'static str)],
    ) -> Result<(), ScriptError> {
        let servers: Vec<Value> = servers
            .iter()
            .map(|(name, status)| json!({"name": name, "status": status, "source": "dynamic"}))
            .collect();
        let event = json!({
            "type": "system", "subtype": "init", "cwd": cwd, "tools": tools, "mcp_servers": servers,
            "model": self.model, "permissionMode": "bypassPermissions", "slash_commands": [],
            "apiKeySource": "none", "output_style": "default", "agents": [], "skills": [], "plugins": [],
        });
        self.line(event)
    }

    /// Writes one content block of a message. As in the real stream the output is the count at the message's start.
    pub(crate) fn assistant(
        &mut self,
        message_id: &str,
        block: &Value,
        spent: Spent,
    ) -> Result<(), ScriptError> {
        let usage = Spent { output: 1, ..spent }.api();
        let event = json!({
            "type": "assistant",
            "message": {
                "id": message_id, "type": "message", "role": "assistant", "model": self.model,
                "content": [block], "stop_reason": null, "stop_sequence": null, "usage": usage,
            },
            "parent_tool_use_id": null,
        });
        self.line(event)
    }

    pub(crate) fn tool_result(
        &mut self,
        id: &str,
        text: &str,
        is_error: bool,
    ) -> Result<(), ScriptError> {
        let event = json!({
            "type": "user",
            "message": {"role": "user", "content": [{
                "type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error,
            }]},
            "parent_tool_use_id": null,
        });
        self.line(event)
    }

    pub(crate) fn api_retry(
        &mut self,
        attempt: u32,
        attempts_max: u32,
        delay_ms: u64,
        status: Option<u16>,
    ) -> Result<(), ScriptError> {
        let error = match status {
            Some(401) => "authentication_failed",
            Some(429) => "rate_limit",
            Some(529) => "overloaded",
            Some(500..) => "server_error",
            _ => "unknown",
        };
        self.line(json!({
            "type": "system", "subtype": "api_retry", "attempt": attempt, "max_retries": attempts_max,
            "retry_delay_ms": delay_ms, "error_status": status, "error": error,
        }))
    }

    /// Writes the message with which the CLI tells that it gave up; returns its text.
    pub(crate) fn api_error(&mut self, failure: &ApiFailure) -> Result<String, ScriptError> {
        let text = failure.text();
        let event = json!({
            "type": "assistant",
            "message": {
                "id": Uuid::now_v7().to_string(), "type": "message", "role": "assistant",
                "model": "<synthetic>", "content": [{"type": "text", "text": text}],
                "stop_reason": "stop_sequence", "usage": Spent::default().api(),
            },
            "parent_tool_use_id": null, "is_api_error_message": true, "error": failure.word(),
            "api_error_status": failure.status, "api_error_type": failure.kind(),
        });
        self.line(event)?;
        Ok(text)
    }

    pub(crate) fn result(&mut self, ending: &Ending, spent: Spent) -> Result<(), ScriptError> {
        let duration = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut event = json!({
            "type": "result", "subtype": ending.subtype, "is_error": ending.is_error,
            "num_turns": ending.turns, "duration_ms": duration, "duration_api_ms": 0,
            "stop_reason": ending.stop_reason, "terminal_reason": ending.terminal_reason,
            "total_cost_usd": spent.usd(), "usage": spent.api(),
            "modelUsage": spent.by_model(&self.model),
            "model_usage_since_last_result": spent.by_model(&self.model),
            "permission_denials": [], "result_index": 0,
            "api_error_status": ending.api_error.as_ref().and_then(|failure| failure.status),
        });
        if let Value::Object(fields) = &mut event {
            if let Some(text) = &ending.text {
                fields.insert("result".to_owned(), json!(text));
            }
            if !ending.errors.is_empty() {
                fields.insert("errors".to_owned(), json!(ending.errors));
            }
            if let Some(kind) = ending.api_error.as_ref().and_then(ApiFailure::kind) {
                fields.insert("api_error_type".to_owned(), json!(kind));
            }
        }
        self.line(event)
    }
}
