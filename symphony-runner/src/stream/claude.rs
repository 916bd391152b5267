//! The stream of the Claude CLI (`--output-format stream-json`), also spoken by the scripted agent.
//!
//! One JSON object per line. The order of lines and of keys is not fixed (a result's `type` is near its end), so the
//! fields are collected first and interpreted afterwards.

use symphony_core::Timestamp;
use symphony_core::unit::{Tokens, UsdMicros};

use super::claude_message::{Block, Message, texts};
use super::event::{
    AgentEvent, ApiError, ApiRetry, Init, McpServer, MessageUsage, RateLimit, RunResult,
    TokenCounts, ToolResult, ToolUse,
};
use super::json::{Broken, Cursor, Raw};
use super::text::{
    DETAIL_BYTES_MAX, MESSAGE_BYTES_MAX, TEXT_BYTES_MAX, WORD_BYTES_MAX, beginning, digest,
};

/// Most error messages of a result that are kept.
const ERRORS_MAX: usize = 16;
/// Most tools and MCP servers of a start-up event that are kept.
const INIT_ITEMS_MAX: usize = 1024;

/// The system events of which more than the name is used.
const SYSTEM_READ: [&str; 3] = ["init", "api_retry", "permission_denied"];

/// The fields of all lines together; a line has a few of them.
#[derive(Default)]
struct Line<'a> {
    kind: Raw<'a>,
    subtype: Raw<'a>,
    session_id: Raw<'a>,
    model: Raw<'a>,
    tools: Raw<'a>,
    mcp_servers: Raw<'a>,
    message: Message<'a>,
    has_message: bool,
    parent_tool_use_id: Raw<'a>,
    event: Raw<'a>,
    api_message_id: Raw<'a>,
    is_api_error_message: Raw<'a>,
    api_error_status: Raw<'a>,
    api_error_type: Raw<'a>,
    error: Raw<'a>,
    error_status: Raw<'a>,
    attempt: Raw<'a>,
    max_retries: Raw<'a>,
    tool_name: Raw<'a>,
    tool_use_id: Raw<'a>,
    rate_limit_info: Raw<'a>,
    is_error: Raw<'a>,
    result: Raw<'a>,
    errors: Raw<'a>,
    num_turns: Raw<'a>,
    total_cost_usd: Raw<'a>,
    terminal_reason: Raw<'a>,
    usage: Raw<'a>,
    model_usage_since_last_result: Raw<'a>,
    permission_denials: Raw<'a>,
}

impl<'a> Line<'a> {
    /// Parses the fields of a line, which ends with its last byte.
    fn read(line: &'a [u8]) -> Result<Self, Broken> {
        let mut fields = Self::default();
        let mut cursor = Cursor::new(line);
        let mut key = cursor.first_key()?;
        while let Some(found) = key {
            if found == b"message" {
                fields.message = Message::read(&mut cursor)?;
                fields.has_message = true;
            } else {
                let value = cursor.skip()?;
                if let Some(field) = fields.field(found) {
                    *field = value;
                }
            }
            if fields.is_enough() {
                // The rest is not walked, but a line that was cut is still detected.
                return if line.ends_with(b"}") {
                    Ok(fields)
                } else {
                    Err(Broken)
                };
            }
            key = cursor.next_key()?;
        }
        cursor.end()?;
        Ok(fields)
    }

    /// Returns whether the rest of the line can be ignored: after the message of a tool's answer the CLI repeats the
    /// answer in another form; and of most system events only the name is used.
    fn is_enough(&self) -> bool {
        if self.has_message {
            return self.kind.is("user");
        }
        !self.subtype.is_none()
            && self.kind.is("system")
            && !SYSTEM_READ
                .into_iter()
                .any(|subtype| self.subtype.is(subtype))
    }

    fn field(&mut self, key: &[u8]) -> Option<&mut Raw<'a>> {
        Some(match key {
            b"type" => &mut self.kind,
            b"subtype" => &mut self.subtype,
            b"session_id" => &mut self.session_id,
            b"model" => &mut self.model,
            b"tools" => &mut self.tools,
            b"mcp_servers" => &mut self.mcp_servers,
            b"parent_tool_use_id" => &mut self.parent_tool_use_id,
            b"event" => &mut self.event,
            b"api_message_id" => &mut self.api_message_id,
            b"is_api_error_message" => &mut self.is_api_error_message,
            b"api_error_status" => &mut self.api_error_status,
            b"api_error_type" => &mut self.api_error_type,
            b"error" => &mut self.error,
            b"error_status" => &mut self.error_status,
            b"attempt" => &mut self.attempt,
            b"max_retries" => &mut self.max_retries,
            b"tool_name" => &mut self.tool_name,
            b"tool_use_id" => &mut self.tool_use_id,
            b"rate_limit_info" => &mut self.rate_limit_info,
            b"is_error" => &mut self.is_error,
            b"result" => &mut self.result,
            b"errors" => &mut self.errors,
            b"num_turns" => &mut self.num_turns,
            b"total_cost_usd" => &mut self.total_cost_usd,
            b"terminal_reason" => &mut self.terminal_reason,
            b"usage" => &mut self.usage,
            b"model_usage_since_last_result" => &mut self.model_usage_since_last_result,
            b"permission_denials" => &mut self.permission_denials,
            _ => return None,
        })
    }

    fn is_subagent(&self) -> bool {
        !self.parent_tool_use_id.is_none()
    }
}

/// Parses one line; the events are appended.
///
/// # Errors
/// When the line is no whole JSON object.
pub(crate) fn parse(line: &[u8], events: &mut Vec<AgentEvent>) -> Result<(), Broken> {
    let line = Line::read(line)?;
    let system = line.kind.is("system");
    if line.kind.is("assistant") {
        assistant(&line, events);
    } else if line.kind.is("user") {
        user(&line, events);
    } else if line.kind.is("result") {
        events.push(AgentEvent::Result(Box::new(result(&line)?)));
    } else if system && line.subtype.is("init") {
        events.push(AgentEvent::Init(init(&line)?));
    } else if system && line.subtype.is("api_retry") {
        events.push(AgentEvent::ApiRetry(ApiRetry {
            status: line.error_status.http_status(),
            error: word(line.error).unwrap_or_default(),
            attempt: line.attempt.unsigned().unwrap_or_default(),
            attempts_max: line.max_retries.unsigned().unwrap_or_default(),
        }));
    } else if system && line.subtype.is("permission_denied") {
        events.push(AgentEvent::PermissionDenied {
            tool: word(line.tool_name).unwrap_or_default(),
            tool_use_id: word(line.tool_use_id).unwrap_or_default(),
            message: line
                .message
                .text
                .text(MESSAGE_BYTES_MAX)
                .unwrap_or_default(),
        });
    } else if line.kind.is("rate_limit_event") {
        events.push(AgentEvent::RateLimit(rate_limit(&line)?));
    } else if line.kind.is("stream_event") {
        events.push(stream_event(&line)?);
    } else {
        let mut kind = word(line.kind).unwrap_or_else(|| "untyped".to_owned());
        if let Some(subtype) = word(line.subtype) {
            kind.push('/');
            kind.push_str(&subtype);
        }
        events.push(AgentEvent::Other { kind });
    }
    Ok(())
}

/// Returns a name or an id.
fn word(raw: Raw<'_>) -> Option<String> {
    raw.text(WORD_BYTES_MAX)
}

fn init(line: &Line<'_>) -> Result<Init, Broken> {
    let mut tools = Vec::new();
    if !line.tools.is_none() {
        line.tools.cursor().array(|cursor| {
            let tool = cursor.skip()?;
            if tools.len() < INIT_ITEMS_MAX {
                tools.extend(word(tool));
            }
            Ok(())
        })?;
    }
    let mut servers = Vec::new();
    if !line.mcp_servers.is_none() {
        line.mcp_servers.cursor().array(|cursor| {
            let (mut name, mut status) = (Raw::default(), Raw::default());
            cursor.object(|cursor, key| {
                let value = cursor.skip()?;
                match key {
                    b"name" => name = value,
                    b"status" => status = value,
                    _ => {}
                }
                Ok(())
            })?;
            if servers.len() < INIT_ITEMS_MAX {
                servers.push(McpServer {
                    name: word(name).unwrap_or_default(),
                    status: word(status).unwrap_or_default(),
                });
            }
            Ok(())
        })?;
    }
    Ok(Init {
        session: word(line.session_id),
        model: word(line.model),
        tools,
        mcp_servers: (!line.mcp_servers.is_none()).then_some(servers),
    })
}

fn assistant(line: &Line<'_>, events: &mut Vec<AgentEvent>) {
    let subagent = line.is_subagent();
    let message = &line.message;
    // Older releases have only `error`.
    let error = word(line.error);
    if line.is_api_error_message.is_true() || error.is_some() {
        events.push(AgentEvent::ApiError(ApiError {
            status: line.api_error_status.http_status(),
            error,
            kind: word(line.api_error_type),
        }));
    } else if let Some(message_id) = word(message.id)
        && let Ok(Some(tokens)) = api_usage(message.usage)
    {
        events.push(AgentEvent::MessageUsage(MessageUsage {
            message_id,
            subagent,
            tokens,
        }));
    }
    if let Some(text) = message.text.text(TEXT_BYTES_MAX) {
        events.push(AgentEvent::Text { text, subagent });
    }
    for block in &message.blocks {
        events.push(assistant_block(block, subagent));
    }
}

fn assistant_block(block: &Block<'_>, subagent: bool) -> AgentEvent {
    if block.kind.is("text") {
        return AgentEvent::Text {
            text: block.text.text(TEXT_BYTES_MAX).unwrap_or_default(),
            subagent,
        };
    }
    if block.kind.is("thinking") {
        return AgentEvent::Thinking {
            text: block.thinking.text(DETAIL_BYTES_MAX).unwrap_or_default(),
        };
    }
    let calls = ["tool_use", "server_tool_use", "mcp_tool_use"];
    if calls.into_iter().any(|kind| block.kind.is(kind)) {
        return AgentEvent::ToolUse(ToolUse {
            id: word(block.id).unwrap_or_default(),
            name: word(block.name).unwrap_or_default(),
            input: beginning(block.input.bytes(), DETAIL_BYTES_MAX),
            input_digest: digest(block.input.bytes()),
        });
    }
    let kind = word(block.kind).unwrap_or_else(|| "untyped".to_owned());
    AgentEvent::Other {
        kind: format!("assistant/{kind}"),
    }
}

fn user(line: &Line<'_>, events: &mut Vec<AgentEvent>) {
    let before = events.len();
    let results = line
        .message
        .blocks
        .iter()
        .filter(|block| block.kind.is("tool_result"));
    for block in results {
        events.push(AgentEvent::ToolResult(ToolResult {
            id: word(block.tool_use_id).unwrap_or_default(),
            is_error: block.is_error.is_true(),
            text: texts(block.content, DETAIL_BYTES_MAX),
        }));
    }
    if events.len() == before {
        events.push(AgentEvent::Other {
            kind: "user".to_owned(),
        });
    }
}

/// Parses the API's usage object; `None` if there is none.
fn api_usage(raw: Raw<'_>) -> Result<Option<TokenCounts>, Broken> {
    if raw.is_none() {
        return Ok(None);
    }
    let mut tokens = TokenCounts::default();
    raw.cursor().object(|cursor, key| {
        let count = Tokens::new(cursor.skip()?.unsigned().unwrap_or_default());
        match key {
            b"input_tokens" => tokens.input = count,
            b"output_tokens" => tokens.output = count,
            b"cache_read_input_tokens" => tokens.cache_read = count,
            b"cache_creation_input_tokens" => tokens.cache_creation = count,
            _ => {}
        }
        Ok(())
    })?;
    Ok(Some(tokens))
}

/// A raw API event (`--include-partial-messages`): only the final usage of a message is taken from it.
fn stream_event(line: &Line<'_>) -> Result<AgentEvent, Broken> {
    let (mut kind, mut usage) = (Raw::default(), Raw::default());
    if !line.event.is_none() {
        line.event.cursor().object(|cursor, key| {
            let value = cursor.skip()?;
            match key {
                b"type" => kind = value,
                b"usage" => usage = value,
                _ => {}
            }
            Ok(())
        })?;
    }
    if kind.is("message_delta")
        && let Some(tokens) = api_usage(usage)?
        && let Some(message_id) = word(line.api_message_id)
    {
        return Ok(AgentEvent::MessageUsage(MessageUsage {
            message_id,
            subagent: line.is_subagent(),
            tokens,
        }));
    }
    Ok(AgentEvent::Other {
        kind: "stream_event".to_owned(),
    })
}

fn rate_limit(line: &Line<'_>) -> Result<RateLimit, Broken> {
    let mut limit = RateLimit {
        rejected: false,
        resets_at: None,
        limit: None,
    };
    if !line.rate_limit_info.is_none() {
        line.rate_limit_info.cursor().object(|cursor, key| {
            let value = cursor.skip()?;
            match key {
                b"status" => limit.rejected = value.is("rejected"),
                b"resetsAt" => limit.resets_at = reset_time(value),
                b"rateLimitType" => limit.limit = word(value),
                _ => {}
            }
            Ok(())
        })?;
    }
    Ok(limit)
}

/// Parses a time: seconds (or, above the year 5000, milliseconds) since the epoch, or RFC 3339.
fn reset_time(raw: Raw<'_>) -> Option<Timestamp> {
    const SECONDS_MAX: i64 = 100_000_000_000;
    if let Some(text) = word(raw) {
        return text.parse().ok();
    }
    let number = i64::try_from(raw.unsigned()?).ok()?;
    if number > SECONDS_MAX {
        Timestamp::from_millisecond(number).ok()
    } else {
        Timestamp::from_second(number).ok()
    }
}

fn result(line: &Line<'_>) -> Result<RunResult, Broken> {
    let session_cost = line.total_cost_usd.float().map(UsdMicros::from_usd);
    let (tokens, cost) = match model_usage(line.model_usage_since_last_result)? {
        Some((tokens, cost)) => (tokens, Some(cost)),
        None => (api_usage(line.usage)?.unwrap_or_default(), None),
    };
    let mut errors = Vec::new();
    if !line.errors.is_none() {
        line.errors.cursor().array(|cursor| {
            let error = cursor.skip()?;
            if errors.len() < ERRORS_MAX {
                errors.extend(error.text(MESSAGE_BYTES_MAX));
            }
            Ok(())
        })?;
    }
    let mut permission_denials = 0;
    if !line.permission_denials.is_none() {
        line.permission_denials.cursor().array(|cursor| {
            permission_denials += 1;
            cursor.skip().map(drop)
        })?;
    }
    Ok(RunResult {
        is_error: line.is_error.is_true(),
        subtype: word(line.subtype).unwrap_or_default(),
        terminal_reason: word(line.terminal_reason),
        api_error_status: line.api_error_status.http_status(),
        api_error_type: word(line.api_error_type),
        text: line.result.text(TEXT_BYTES_MAX).unwrap_or_default(),
        errors,
        turns: line.num_turns.unsigned().unwrap_or_default(),
        tokens,
        cost,
        session_cost,
        permission_denials,
    })
}

/// Sums a usage by model; `None` if there is none.
fn model_usage(raw: Raw<'_>) -> Result<Option<(TokenCounts, UsdMicros)>, Broken> {
    if raw.is_none() {
        return Ok(None);
    }
    let mut tokens = TokenCounts::default();
    let mut cost = UsdMicros::ZERO;
    raw.cursor().object(|cursor, _model| {
        cursor.object(|cursor, key| {
            let value = cursor.skip()?;
            let count = Tokens::new(value.unsigned().unwrap_or_default());
            match key {
                b"inputTokens" => tokens.input = tokens.input + count,
                b"outputTokens" => tokens.output = tokens.output + count,
                b"cacheReadInputTokens" => tokens.cache_read = tokens.cache_read + count,
                b"cacheCreationInputTokens" => {
                    tokens.cache_creation = tokens.cache_creation + count;
                }
                b"costUSD" => cost = cost + UsdMicros::from_usd(value.float().unwrap_or_default()),
                _ => {}
            }
            Ok(())
        })
    })?;
    Ok(Some((tokens, cost)))
}
