//! The stream of the Codex CLI (`codex exec --json`), and the fixed forms of its error messages.
//!
//! Codex tells errors only as messages. Their forms are fixed in its source, so a status is read from where the form has
//! it (`unexpected status 401 …`), never from anywhere in the text.

use serde::Deserialize;
use serde_json::value::RawValue;
use symphony_core::failure::ErrorClass;
use symphony_core::unit::Tokens;

use super::conclusion::class_of_status;
use super::event::{
    AgentEvent, ApiError, ApiRetry, Init, RunResult, TokenCounts, ToolResult, ToolUse,
};
use super::scalar::Scalar;
use super::text::{DETAIL_BYTES_MAX, TEXT_BYTES_MAX, cut, digest, raw_prefix, string_prefix};

#[derive(Deserialize, Default)]
#[serde(default)]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Scalar<'a>,
    thread_id: Scalar<'a>,
    item: Option<&'a RawValue>,
    message: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Item<'a> {
    #[serde(rename = "type", borrow)]
    kind: Scalar<'a>,
    id: Scalar<'a>,
    text: Option<&'a RawValue>,
    command: Option<&'a RawValue>,
    aggregated_output: Option<&'a RawValue>,
    exit_code: Scalar<'a>,
    status: Scalar<'a>,
    changes: Option<&'a RawValue>,
    query: Option<&'a RawValue>,
    server: Scalar<'a>,
    tool: Scalar<'a>,
    arguments: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    message: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Failure<'a> {
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

/// Reads one line; the events are appended.
///
/// # Errors
/// When the line is no JSON object.
pub(crate) fn parse(line: &str, events: &mut Vec<AgentEvent>) -> Result<(), serde_json::Error> {
    let line: Line<'_> = serde_json::from_str(line)?;
    match line.kind.text() {
        Some("thread.started") => events.push(AgentEvent::Init(Init {
            session: line.thread_id.owned(),
            ..Init::default()
        })),
        Some("item.started") => started(&item(&line), events),
        Some("item.completed") => completed(&item(&line), events),
        Some("turn.completed") => events.push(AgentEvent::Result(Box::new(RunResult {
            subtype: "turn.completed".to_owned(),
            tokens: line.usage.map(tokens).unwrap_or_default(),
            turns: 1,
            ..RunResult::default()
        }))),
        Some("turn.failed") => events.push(AgentEvent::Result(Box::new(RunResult {
            is_error: true,
            subtype: "turn.failed".to_owned(),
            errors: vec![failure_message(line.error)],
            tokens: line.usage.map(tokens).unwrap_or_default(),
            turns: 1,
            ..RunResult::default()
        }))),
        Some("error") => {
            let message = string(line.message, DETAIL_BYTES_MAX);
            events.push(error_event(message));
        }
        other => events.push(AgentEvent::Other {
            kind: other.unwrap_or("untyped").to_owned(),
        }),
    }
    Ok(())
}

fn item<'a>(line: &Line<'a>) -> Item<'a> {
    line.item
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default()
}

fn started(item: &Item<'_>, events: &mut Vec<AgentEvent>) {
    let (name, input) = match item.kind.text() {
        Some("command_execution") => ("command_execution".to_owned(), item.command),
        Some("file_change") => ("file_change".to_owned(), item.changes),
        Some("web_search") => ("web_search".to_owned(), item.query),
        Some("mcp_tool_call") => (
            format!(
                "mcp__{}__{}",
                item.server.text().unwrap_or_default(),
                item.tool.text().unwrap_or_default()
            ),
            item.arguments,
        ),
        other => {
            events.push(AgentEvent::Other {
                kind: format!("item.started/{}", other.unwrap_or("untyped")),
            });
            return;
        }
    };
    let input = input.map_or("{}", RawValue::get);
    events.push(AgentEvent::ToolUse(ToolUse {
        id: item.id.owned().unwrap_or_default(),
        name,
        input: raw_prefix(input, DETAIL_BYTES_MAX),
        input_digest: digest(input),
    }));
}

fn completed(item: &Item<'_>, events: &mut Vec<AgentEvent>) {
    match item.kind.text() {
        Some("agent_message") => events.push(AgentEvent::Text {
            text: string(item.text, TEXT_BYTES_MAX),
            subagent: false,
        }),
        Some("reasoning") => events.push(AgentEvent::Thinking {
            text: string(item.text, DETAIL_BYTES_MAX),
        }),
        Some("command_execution" | "file_change" | "web_search" | "mcp_tool_call") => {
            events.push(AgentEvent::ToolResult(ToolResult {
                id: item.id.owned().unwrap_or_default(),
                is_error: !matches!(item.status.text(), None | Some("completed")),
                text: answer(item),
            }));
        }
        Some("error") => events.push(error_event(string(item.message, DETAIL_BYTES_MAX))),
        other => events.push(AgentEvent::Other {
            kind: format!("item.completed/{}", other.unwrap_or("untyped")),
        }),
    }
}

/// Returns the text of a finished call: its output, its error, or its result's text blocks.
fn answer(item: &Item<'_>) -> String {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct McpAnswer<'a> {
        #[serde(borrow)]
        content: Vec<McpBlock<'a>>,
    }
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct McpBlock<'a> {
        #[serde(borrow)]
        text: Option<&'a RawValue>,
    }
    if let Some(error) = item.error {
        return failure_message(Some(error));
    }
    if let Some(output) = item.aggregated_output {
        let output = string_prefix(output.get(), DETAIL_BYTES_MAX);
        return match item.exit_code.unsigned() {
            None | Some(0) => output,
            Some(code) => format!("exit code {code}\n{output}"),
        };
    }
    let Some(result) = item.result else {
        return String::new();
    };
    let blocks: McpAnswer<'_> = serde_json::from_str(result.get()).unwrap_or_default();
    let texts: Vec<String> = blocks
        .content
        .iter()
        .filter_map(|block| block.text)
        .map(|text| string_prefix(text.get(), DETAIL_BYTES_MAX))
        .collect();
    cut(&texts.join("\n"), DETAIL_BYTES_MAX).to_owned()
}

fn error_event(message: String) -> AgentEvent {
    match retry(&message) {
        Some((attempt, attempts_max, cause)) => AgentEvent::ApiRetry(ApiRetry {
            status: status_of(cause),
            error: cause.to_owned(),
            attempt,
            attempts_max,
        }),
        None => AgentEvent::ApiError(ApiError {
            status: status_of(&message),
            error: Some(message),
            kind: None,
        }),
    }
}

/// Reads the form `Reconnecting... 1/5 (cause)`.
fn retry(message: &str) -> Option<(u64, u64, &str)> {
    let rest = message.strip_prefix("Reconnecting... ")?;
    let (attempt, rest) = rest.split_once('/')?;
    let (attempts_max, cause) = rest.split_once(" (").unwrap_or((rest, ""));
    Some((
        attempt.parse().ok()?,
        attempts_max.parse().ok()?,
        cause.strip_suffix(')').unwrap_or(cause),
    ))
}

/// Reads the status from the two forms that have one.
fn status_of(message: &str) -> Option<u16> {
    let rest = message
        .strip_prefix("unexpected status ")
        .or_else(|| message.strip_prefix("exceeded retry limit, last status: "))?;
    let digits = rest.get(..3)?;
    let status: u16 = digits.parse().ok()?;
    (100..1000).contains(&status).then_some(status)
}

/// Classes the message of a `turn.failed` by its form; none when the form is not known.
pub(crate) fn class_of_message(message: &str) -> Option<ErrorClass> {
    const FORMS: &[(&str, ErrorClass)] = &[
        (
            "We're currently experiencing high demand",
            ErrorClass::ProviderError,
        ),
        ("Selected model is at capacity", ErrorClass::Overloaded),
        ("You've hit your usage limit", ErrorClass::UsageLimit),
        ("Quota exceeded.", ErrorClass::UsageLimit),
        (
            "To use Codex with your ChatGPT plan",
            ErrorClass::UsageLimit,
        ),
        (
            "Your access token could not be refreshed",
            ErrorClass::AuthFailed,
        ),
        ("Codex ran out of room", ErrorClass::PromptTooLong),
        ("stream disconnected before completion", ErrorClass::Network),
        ("Connection failed", ErrorClass::Network),
        (
            "Error while reading the server response",
            ErrorClass::Network,
        ),
        ("error sending request", ErrorClass::Network),
    ];
    if let Some(status) = status_of(message) {
        return class_of_status(status);
    }
    let plain = message.replace('’', "'");
    FORMS
        .iter()
        .find(|(form, _)| plain.starts_with(form))
        .map(|(_, class)| *class)
        .or_else(|| class_of_body(message))
}

/// Reads the provider's own error object, which Codex hands on as the message of a refused request.
fn class_of_body(message: &str) -> Option<ErrorClass> {
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        error: BodyError<'a>,
    }
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct BodyError<'a> {
        #[serde(rename = "type", borrow)]
        kind: Scalar<'a>,
        code: Scalar<'a>,
    }
    let body: Body<'_> = serde_json::from_str(message).ok()?;
    match (body.error.code.text(), body.error.kind.text()) {
        (Some("context_length_exceeded"), _) => Some(ErrorClass::PromptTooLong),
        (Some("insufficient_quota"), _) => Some(ErrorClass::UsageLimit),
        (Some("model_not_found"), _) => Some(ErrorClass::ModelError),
        (_, Some("invalid_request_error")) => Some(ErrorClass::InvalidRequest),
        (_, Some("authentication_error")) => Some(ErrorClass::AuthFailed),
        (_, Some("rate_limit_error")) => Some(ErrorClass::RateLimited),
        _ => None,
    }
}

/// Reads the usage: Codex's input contains what was read from and written to the cache.
fn tokens(raw: &RawValue) -> TokenCounts {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Usage<'a> {
        #[serde(rename = "input_tokens", borrow)]
        input: Scalar<'a>,
        #[serde(rename = "cached_input_tokens")]
        cached: Scalar<'a>,
        #[serde(rename = "cache_write_input_tokens")]
        written: Scalar<'a>,
        #[serde(rename = "output_tokens")]
        output: Scalar<'a>,
    }
    let usage: Usage<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
    let count = |scalar: &Scalar<'_>| scalar.unsigned().unwrap_or_default();
    let cached = count(&usage.cached);
    let written = count(&usage.written);
    TokenCounts {
        input: Tokens::new(
            count(&usage.input)
                .saturating_sub(cached)
                .saturating_sub(written),
        ),
        output: Tokens::new(count(&usage.output)),
        cache_read: Tokens::new(cached),
        cache_creation: Tokens::new(written),
    }
}

fn failure_message(error: Option<&RawValue>) -> String {
    let Some(error) = error else {
        return String::new();
    };
    if error.get().starts_with('"') {
        return string_prefix(error.get(), DETAIL_BYTES_MAX);
    }
    let failure: Failure<'_> = serde_json::from_str(error.get()).unwrap_or_default();
    string(failure.message, DETAIL_BYTES_MAX)
}

fn string(raw: Option<&RawValue>, bytes_max: usize) -> String {
    raw.map_or_else(String::new, |raw| string_prefix(raw.get(), bytes_max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_classed_by_their_form_only() {
        let cases = [
            (
                "unexpected status 401 Unauthorized: scripted 401, url: http://127.0.0.1/v1",
                Some(ErrorClass::AuthFailed),
            ),
            (
                "unexpected status 400 Bad Request: no",
                Some(ErrorClass::InvalidRequest),
            ),
            (
                "exceeded retry limit, last status: 429 Too Many Requests",
                Some(ErrorClass::RateLimited),
            ),
            (
                "exceeded retry limit, last status: 503 Service Unavailable",
                Some(ErrorClass::ProviderError),
            ),
            (
                "We’re currently experiencing high demand, which may cause temporary errors.",
                Some(ErrorClass::ProviderError),
            ),
            (
                "Selected model is at capacity. Please try a different model.",
                Some(ErrorClass::Overloaded),
            ),
            (
                "You've hit your usage limit. Try again later.",
                Some(ErrorClass::UsageLimit),
            ),
            (
                "Codex ran out of room in the model's context window.",
                Some(ErrorClass::PromptTooLong),
            ),
            (
                "stream disconnected before completion: closed",
                Some(ErrorClass::Network),
            ),
            (
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"x"}}"#,
                Some(ErrorClass::InvalidRequest),
            ),
            (
                r#"{"error":{"type":"x","code":"context_length_exceeded"}}"#,
                Some(ErrorClass::PromptTooLong),
            ),
            ("the test expected status 401 but got 429", None),
            ("unexpected status abc", None),
            ("", None),
        ];
        for (message, expected) in cases {
            assert_eq!(class_of_message(message), expected, "{message}");
        }
    }

    #[test]
    fn reconnecting_is_a_retry() {
        assert_eq!(
            error_event(
                "Reconnecting... 2/5 (unexpected status 401 Unauthorized: x (y))".to_owned()
            ),
            AgentEvent::ApiRetry(ApiRetry {
                status: Some(401),
                error: "unexpected status 401 Unauthorized: x (y)".to_owned(),
                attempt: 2,
                attempts_max: 5,
            })
        );
    }
}
