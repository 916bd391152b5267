//! The stream of the Claude CLI (`--output-format stream-json`), also spoken by the scripted agent.
//!
//! One JSON object a line. The order of lines and of keys is not fixed (a result's `type` stands near its end), so a
//! line is read in one pass into the fields that matter; everything else is skipped without being decoded.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use symphony_core::unit::{Tokens, UsdMicros};

use super::claude_message::{Block, Content, Message, MessageBody};
use super::event::{
    AgentEvent, ApiError, ApiRetry, Init, McpServer, MessageUsage, RateLimit, RunResult,
    TokenCounts, ToolResult, ToolUse,
};
use super::scalar::Scalar;
use super::text::{DETAIL_BYTES_MAX, TEXT_BYTES_MAX, digest, raw_prefix, string_prefix};

/// How many error messages of a result are kept.
const ERRORS_MAX: usize = 16;
/// How many tools and MCP servers of a start-up event are kept.
const INIT_ITEMS_MAX: usize = 1024;

/// The fields of all lines together; a line has a few of them.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Scalar<'a>,
    subtype: Scalar<'a>,
    session_id: Scalar<'a>,
    model: Scalar<'a>,
    tools: Option<&'a RawValue>,
    mcp_servers: Option<&'a RawValue>,
    message: Message<'a>,
    parent_tool_use_id: Scalar<'a>,
    event: Option<&'a RawValue>,
    api_message_id: Scalar<'a>,
    is_api_error_message: Scalar<'a>,
    api_error_status: Scalar<'a>,
    api_error_type: Scalar<'a>,
    error: Scalar<'a>,
    error_status: Scalar<'a>,
    attempt: Scalar<'a>,
    max_retries: Scalar<'a>,
    tool_name: Scalar<'a>,
    tool_use_id: Scalar<'a>,
    rate_limit_info: Option<&'a RawValue>,
    is_error: Scalar<'a>,
    result: Option<&'a RawValue>,
    errors: Option<&'a RawValue>,
    num_turns: Scalar<'a>,
    total_cost_usd: Scalar<'a>,
    terminal_reason: Scalar<'a>,
    usage: Option<&'a RawValue>,
    model_usage_since_last_result: Option<&'a RawValue>,
    permission_denials: Option<&'a RawValue>,
}

/// Reads one line; the events are appended.
///
/// # Errors
/// When the line is no JSON object of the kind this format has.
pub(crate) fn parse(line: &str, events: &mut Vec<AgentEvent>) -> Result<(), serde_json::Error> {
    let line: Line<'_> = serde_json::from_str(line)?;
    match (line.kind.text(), line.subtype.text()) {
        (Some("assistant"), _) => assistant(&line, events),
        (Some("user"), _) => user(&line, events),
        (Some("result"), _) => events.push(AgentEvent::Result(Box::new(result(&line)))),
        (Some("system"), Some("init")) => events.push(AgentEvent::Init(init(&line))),
        (Some("system"), Some("api_retry")) => events.push(AgentEvent::ApiRetry(ApiRetry {
            status: line.error_status.http_status(),
            error: line.error.owned().unwrap_or_default(),
            attempt: line.attempt.unsigned().unwrap_or_default(),
            attempts_max: line.max_retries.unsigned().unwrap_or_default(),
        })),
        (Some("system"), Some("permission_denied")) => {
            events.push(AgentEvent::PermissionDenied {
                tool: line.tool_name.owned().unwrap_or_default(),
                tool_use_id: line.tool_use_id.owned().unwrap_or_default(),
                message: match &line.message {
                    Message::Text(text) => text.clone(),
                    Message::Body(_) | Message::None => String::new(),
                },
            });
        }
        (Some("rate_limit_event"), _) => events.push(AgentEvent::RateLimit(rate_limit(&line))),
        (Some("stream_event"), _) => stream_event(&line, events),
        (kind, subtype) => events.push(AgentEvent::Other {
            kind: match (kind, subtype) {
                (Some(kind), Some(subtype)) => format!("{kind}/{subtype}"),
                (Some(kind), None) => kind.to_owned(),
                (None, _) => "untyped".to_owned(),
            },
        }),
    }
    Ok(())
}

fn init(line: &Line<'_>) -> Init {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Server<'a> {
        #[serde(borrow)]
        name: Scalar<'a>,
        status: Scalar<'a>,
    }
    let servers = line.mcp_servers.map(|raw| {
        serde_json::from_str::<Vec<Server<'_>>>(raw.get())
            .unwrap_or_default()
            .iter()
            .take(INIT_ITEMS_MAX)
            .map(|server| McpServer {
                name: server.name.owned().unwrap_or_default(),
                status: server.status.owned().unwrap_or_default(),
            })
            .collect()
    });
    let tools = line
        .tools
        .and_then(|raw| serde_json::from_str::<Vec<Scalar<'_>>>(raw.get()).ok())
        .unwrap_or_default();
    Init {
        session: line.session_id.owned(),
        model: line.model.owned(),
        tools: tools
            .iter()
            .take(INIT_ITEMS_MAX)
            .filter_map(Scalar::owned)
            .collect(),
        mcp_servers: servers,
    }
}

fn assistant(line: &Line<'_>, events: &mut Vec<AgentEvent>) {
    let subagent = !line.parent_tool_use_id.is_none();
    let Message::Body(message) = &line.message else {
        return;
    };
    if line.is_api_error_message.is_true() {
        events.push(AgentEvent::ApiError(ApiError {
            status: line.api_error_status.http_status(),
            error: line.error.owned(),
            kind: line.api_error_type.owned(),
        }));
    } else if let Some(usage) = message_usage(message, subagent) {
        events.push(AgentEvent::MessageUsage(usage));
    }
    match &message.content {
        Content::Blocks(blocks) => {
            for block in blocks {
                assistant_block(block, subagent, events);
            }
        }
        Content::Text(text) => events.push(AgentEvent::Text {
            text: text.clone(),
            subagent,
        }),
        Content::None => {}
    }
}

fn assistant_block(block: &Block<'_>, subagent: bool, events: &mut Vec<AgentEvent>) {
    match block.kind.text() {
        Some("text") => events.push(AgentEvent::Text {
            text: optional_string(block.text, TEXT_BYTES_MAX),
            subagent,
        }),
        Some("thinking") => events.push(AgentEvent::Thinking {
            text: optional_string(block.thinking, DETAIL_BYTES_MAX),
        }),
        Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
            let input = block.input.map_or("{}", RawValue::get);
            events.push(AgentEvent::ToolUse(ToolUse {
                id: block.id.owned().unwrap_or_default(),
                name: block.name.owned().unwrap_or_default(),
                input: raw_prefix(input, DETAIL_BYTES_MAX),
                input_digest: digest(input),
            }));
        }
        other => events.push(AgentEvent::Other {
            kind: format!("assistant/{}", other.unwrap_or("untyped")),
        }),
    }
}

fn user(line: &Line<'_>, events: &mut Vec<AgentEvent>) {
    let before = events.len();
    if let Message::Body(MessageBody {
        content: Content::Blocks(blocks),
        ..
    }) = &line.message
    {
        for block in blocks {
            if block.kind.text() == Some("tool_result") {
                events.push(AgentEvent::ToolResult(ToolResult {
                    id: block.tool_use_id.owned().unwrap_or_default(),
                    is_error: block.is_error.is_true(),
                    text: block.content.map_or_else(String::new, content_text),
                }));
            }
        }
    }
    if events.len() == before {
        events.push(AgentEvent::Other {
            kind: "user".to_owned(),
        });
    }
}

/// Returns the text of a tool's answer: a string, or the texts of its blocks.
fn content_text(content: &RawValue) -> String {
    let json = content.get();
    if json.starts_with('"') {
        return string_prefix(json, DETAIL_BYTES_MAX);
    }
    let Ok(blocks) = serde_json::from_str::<Vec<Block<'_>>>(json) else {
        return raw_prefix(json, DETAIL_BYTES_MAX);
    };
    let mut text = String::new();
    for block in blocks {
        if !text.is_empty() {
            text.push('\n');
        }
        if let Some(found) = block.text {
            text.push_str(&string_prefix(found.get(), DETAIL_BYTES_MAX));
        } else {
            text.push('[');
            text.push_str(block.kind.text().unwrap_or("untyped"));
            text.push(']');
        }
        if text.len() >= DETAIL_BYTES_MAX {
            text.truncate(text.floor_char_boundary(DETAIL_BYTES_MAX));
            break;
        }
    }
    text
}

fn message_usage(message: &MessageBody<'_>, subagent: bool) -> Option<MessageUsage> {
    let message_id = message.id.owned()?;
    Some(MessageUsage {
        message_id,
        subagent,
        tokens: tokens(message.usage?),
    })
}

/// Reads the API's usage object; what cannot be read counts as nothing.
fn tokens(raw: &RawValue) -> TokenCounts {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct ApiUsage<'a> {
        #[serde(rename = "input_tokens", borrow)]
        input: Scalar<'a>,
        #[serde(rename = "output_tokens")]
        output: Scalar<'a>,
        #[serde(rename = "cache_read_input_tokens")]
        cache_read: Scalar<'a>,
        #[serde(rename = "cache_creation_input_tokens")]
        cache_creation: Scalar<'a>,
    }
    let usage: ApiUsage<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
    TokenCounts {
        input: count(&usage.input),
        output: count(&usage.output),
        cache_read: count(&usage.cache_read),
        cache_creation: count(&usage.cache_creation),
    }
}

fn count(scalar: &Scalar<'_>) -> Tokens {
    Tokens::new(scalar.unsigned().unwrap_or_default())
}

/// A raw API event (`--include-partial-messages`): only the true usage of a message is taken from it.
fn stream_event(line: &Line<'_>, events: &mut Vec<AgentEvent>) {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct ApiEvent<'a> {
        #[serde(rename = "type", borrow)]
        kind: Scalar<'a>,
        usage: Option<&'a RawValue>,
    }
    let event: ApiEvent<'_> = line
        .event
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    if let (Some("message_delta"), Some(usage), Some(message_id)) =
        (event.kind.text(), event.usage, line.api_message_id.owned())
    {
        events.push(AgentEvent::MessageUsage(MessageUsage {
            message_id,
            subagent: !line.parent_tool_use_id.is_none(),
            tokens: tokens(usage),
        }));
    } else {
        events.push(AgentEvent::Other {
            kind: "stream_event".to_owned(),
        });
    }
}

fn rate_limit(line: &Line<'_>) -> RateLimit {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Info<'a> {
        #[serde(borrow)]
        status: Scalar<'a>,
        #[serde(rename = "resetsAt")]
        resets_at: Scalar<'a>,
        #[serde(rename = "rateLimitType")]
        limit: Scalar<'a>,
    }
    let info: Info<'_> = line
        .rate_limit_info
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    RateLimit {
        rejected: info.status.text() == Some("rejected"),
        resets_at: reset_time(&info.resets_at),
        limit: info.limit.owned(),
    }
}

/// Reads a time: seconds (or, above the year 5000, milliseconds) since the epoch, or RFC 3339.
fn reset_time(scalar: &Scalar<'_>) -> Option<Timestamp> {
    const SECONDS_MAX: u64 = 100_000_000_000;
    match scalar {
        Scalar::Text(text) => text.parse().ok(),
        Scalar::Unsigned(number) if *number > SECONDS_MAX => {
            Timestamp::from_millisecond(i64::try_from(*number).ok()?).ok()
        }
        Scalar::Unsigned(number) => Timestamp::from_second(i64::try_from(*number).ok()?).ok(),
        _ => None,
    }
}

fn result(line: &Line<'_>) -> RunResult {
    let difference = line.model_usage_since_last_result.and_then(model_usage);
    let session_cost = line.total_cost_usd.float().map(UsdMicros::from_usd);
    let (tokens, cost) = match difference {
        Some((tokens, cost)) => (tokens, Some(cost)),
        None => (line.usage.map(tokens).unwrap_or_default(), None),
    };
    let errors: Vec<&RawValue> = line
        .errors
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    let denials: Vec<&RawValue> = line
        .permission_denials
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    RunResult {
        is_error: line.is_error.is_true(),
        subtype: line.subtype.owned().unwrap_or_default(),
        terminal_reason: line.terminal_reason.owned(),
        api_error_status: line.api_error_status.http_status(),
        api_error_type: line.api_error_type.owned(),
        text: optional_string(line.result, TEXT_BYTES_MAX),
        errors: errors
            .iter()
            .take(ERRORS_MAX)
            .map(|error| string_prefix(error.get(), DETAIL_BYTES_MAX))
            .collect(),
        turns: line.num_turns.unsigned().unwrap_or_default(),
        tokens,
        cost,
        session_cost,
        permission_denials: u64::try_from(denials.len()).unwrap_or(u64::MAX),
    }
}

/// Sums a usage by model; none when it cannot be read.
fn model_usage(raw: &RawValue) -> Option<(TokenCounts, UsdMicros)> {
    #[derive(Deserialize, Default)]
    #[serde(default, rename_all = "camelCase")]
    struct ModelUsage<'a> {
        #[serde(borrow)]
        input_tokens: Scalar<'a>,
        output_tokens: Scalar<'a>,
        cache_read_input_tokens: Scalar<'a>,
        cache_creation_input_tokens: Scalar<'a>,
        #[serde(rename = "costUSD")]
        cost_usd: Scalar<'a>,
    }
    let models: BTreeMap<String, ModelUsage<'_>> = serde_json::from_str(raw.get()).ok()?;
    let mut sum = (TokenCounts::default(), UsdMicros::ZERO);
    for model in models.values() {
        let tokens = TokenCounts {
            input: count(&model.input_tokens),
            output: count(&model.output_tokens),
            cache_read: count(&model.cache_read_input_tokens),
            cache_creation: count(&model.cache_creation_input_tokens),
        };
        let cost = UsdMicros::from_usd(model.cost_usd.float().unwrap_or_default());
        sum = (sum.0 + tokens, sum.1 + cost);
    }
    Some(sum)
}

fn optional_string(raw: Option<&RawValue>, bytes_max: usize) -> String {
    raw.map_or_else(String::new, |raw| string_prefix(raw.get(), bytes_max))
}
