//! The stream of the Codex CLI (`codex exec --json`), and the fixed forms of its error messages.
//!
//! Codex reports errors only as messages. Their forms are fixed in its source, so a status is read only from its place
//! in such a form (`unexpected status 401 …`), never from anywhere else in the text.

use symphony_core::failure::ErrorClass;
use symphony_core::unit::Tokens;

use super::class::class_of_status;
use super::claude_message::texts;
use super::event::{
    AgentEvent, ApiError, ApiRetry, Init, RunResult, TokenCounts, ToolResult, ToolUse, WEB_SEARCH,
};
use super::json::{Broken, Cursor, Raw};
use super::text::{
    DETAIL_BYTES_MAX, MESSAGE_BYTES_MAX, TEXT_BYTES_MAX, WORD_BYTES_MAX, beginning, digest,
};

/// The fields of all kinds of lines together.
#[derive(Default)]
struct Line<'a> {
    kind: Raw<'a>,
    thread_id: Raw<'a>,
    item: Item<'a>,
    message: Raw<'a>,
    error: Raw<'a>,
    usage: Raw<'a>,
}

/// The fields of all kinds of items together.
#[derive(Default)]
struct Item<'a> {
    kind: Raw<'a>,
    id: Raw<'a>,
    text: Raw<'a>,
    command: Raw<'a>,
    aggregated_output: Raw<'a>,
    exit_code: Raw<'a>,
    status: Raw<'a>,
    changes: Raw<'a>,
    query: Raw<'a>,
    action: Raw<'a>,
    server: Raw<'a>,
    tool: Raw<'a>,
    arguments: Raw<'a>,
    result: Raw<'a>,
    error: Raw<'a>,
    message: Raw<'a>,
}

impl<'a> Line<'a> {
    fn read(line: &'a [u8]) -> Result<Self, Broken> {
        let mut fields = Self::default();
        let mut cursor = Cursor::new(line);
        cursor.object(|cursor, key| {
            match key {
                b"type" => fields.kind = cursor.skip()?,
                b"thread_id" => fields.thread_id = cursor.skip()?,
                b"item" => fields.item = Item::read(cursor)?,
                b"message" => fields.message = cursor.skip()?,
                b"error" => fields.error = cursor.skip()?,
                b"usage" => fields.usage = cursor.skip()?,
                _ => drop(cursor.skip()?),
            }
            Ok(())
        })?;
        cursor.end()?;
        Ok(fields)
    }
}

impl<'a> Item<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Broken> {
        let mut item = Self::default();
        cursor.object(|cursor, key| {
            let value = cursor.skip()?;
            match key {
                b"type" => item.kind = value,
                b"id" => item.id = value,
                b"text" => item.text = value,
                b"command" => item.command = value,
                b"aggregated_output" => item.aggregated_output = value,
                b"exit_code" => item.exit_code = value,
                b"status" => item.status = value,
                b"changes" => item.changes = value,
                b"query" => item.query = value,
                b"action" => item.action = value,
                b"server" => item.server = value,
                b"tool" => item.tool = value,
                b"arguments" => item.arguments = value,
                b"result" => item.result = value,
                b"error" => item.error = value,
                b"message" => item.message = value,
                _ => {}
            }
            Ok(())
        })?;
        Ok(item)
    }

    /// The name of the tool of a call; `None` for items that are no calls.
    fn tool_name(&self) -> Option<String> {
        if self.kind.is(WEB_SEARCH) {
            let reads = ["open_page", "find_in_page"];
            let action = member(self.action, b"type");
            let name = if reads.into_iter().any(|kind| action.is(kind)) {
                "web_page"
            } else {
                WEB_SEARCH
            };
            return Some(name.to_owned());
        }
        let kinds = ["command_execution", "file_change"];
        if let Some(kind) = kinds.into_iter().find(|kind| self.kind.is(kind)) {
            return Some(kind.to_owned());
        }
        self.kind.is("mcp_tool_call").then(|| {
            let server = word(self.server).unwrap_or_default();
            let tool = word(self.tool).unwrap_or_default();
            format!("mcp__{server}__{tool}")
        })
    }

    /// The arguments of a call: whichever of the fields its kind has.
    fn input(&self) -> Raw<'a> {
        [self.command, self.changes, self.query, self.arguments]
            .into_iter()
            .find(|raw| !raw.is_none())
            .unwrap_or_default()
    }
}

/// Parses one line; the events are appended.
///
/// # Errors
/// When the line is no whole JSON object.
pub(crate) fn parse(line: &[u8], events: &mut Vec<AgentEvent>) -> Result<(), Broken> {
    let line = Line::read(line)?;
    let kind = word(line.kind).unwrap_or_else(|| "untyped".to_owned());
    if kind == "item.completed" && line.item.kind.is(WEB_SEARCH) {
        events.extend(called(&line.item));
    }
    events.push(match kind.as_str() {
        "thread.started" => AgentEvent::Init(Init {
            session: word(line.thread_id),
            ..Init::default()
        }),
        "item.started" => started(&line.item),
        "item.completed" => completed(&line.item),
        "turn.completed" => AgentEvent::Result(Box::new(RunResult {
            subtype: kind,
            tokens: tokens(line.usage)?,
            turns: 1,
            ..RunResult::default()
        })),
        "turn.failed" => AgentEvent::Result(Box::new(RunResult {
            is_error: true,
            subtype: kind,
            errors: vec![failure_message(line.error)],
            tokens: tokens(line.usage)?,
            turns: 1,
            ..RunResult::default()
        })),
        "error" => error_event(message(line.message)),
        _ => AgentEvent::Other { kind },
    });
    Ok(())
}

/// Returns a name or an id.
fn word(raw: Raw<'_>) -> Option<String> {
    raw.text(WORD_BYTES_MAX)
}

fn detail(raw: Raw<'_>) -> String {
    raw.text(DETAIL_BYTES_MAX).unwrap_or_default()
}

fn message(raw: Raw<'_>) -> String {
    raw.text(MESSAGE_BYTES_MAX).unwrap_or_default()
}

fn unknown_item(event: &str, item: &Item<'_>) -> AgentEvent {
    let kind = word(item.kind).unwrap_or_else(|| "untyped".to_owned());
    AgentEvent::Other {
        kind: format!("{event}/{kind}"),
    }
}

fn started(item: &Item<'_>) -> AgentEvent {
    // The query is known only at the end of a search: without it, two searches would look like a repeated one.
    let call = if item.kind.is(WEB_SEARCH) {
        None
    } else {
        called(item)
    };
    call.unwrap_or_else(|| unknown_item("item.started", item))
}

/// Returns the call that an item is, if it is one.
fn called(item: &Item<'_>) -> Option<AgentEvent> {
    let name = item.tool_name()?;
    let input = item.input();
    Some(AgentEvent::ToolUse(ToolUse {
        id: word(item.id).unwrap_or_default(),
        name,
        input: beginning(input.bytes(), DETAIL_BYTES_MAX),
        input_digest: digest(input.bytes()),
    }))
}

fn completed(item: &Item<'_>) -> AgentEvent {
    if item.tool_name().is_some() {
        return AgentEvent::ToolResult(ToolResult {
            id: word(item.id).unwrap_or_default(),
            is_error: !item.status.is_none() && !item.status.is("completed"),
            text: answer(item),
        });
    }
    if item.kind.is("agent_message") {
        return AgentEvent::Text {
            text: item.text.text(TEXT_BYTES_MAX).unwrap_or_default(),
            subagent: false,
        };
    }
    if item.kind.is("reasoning") {
        return AgentEvent::Thinking {
            text: detail(item.text),
        };
    }
    if item.kind.is("error") {
        return error_event(message(item.message));
    }
    unknown_item("item.completed", item)
}

/// Returns the text of a finished call: its error, its output, or its result's text blocks.
fn answer(item: &Item<'_>) -> String {
    if !item.error.is_none() {
        return failure_message(item.error);
    }
    if let Some(output) = item.aggregated_output.text(DETAIL_BYTES_MAX) {
        return match item.exit_code.unsigned() {
            None | Some(0) => output,
            Some(code) => format!("exit code {code}\n{output}"),
        };
    }
    texts(member(item.result, b"content"), DETAIL_BYTES_MAX)
}

/// Returns a member of an object; missing if there is none.
fn member<'a>(object: Raw<'a>, name: &[u8]) -> Raw<'a> {
    let mut found = Raw::default();
    let walked = object.cursor().object(|cursor, key| {
        let value = cursor.skip()?;
        if key == name {
            found = value;
        }
        Ok(())
    });
    match walked {
        Ok(()) => found,
        Err(Broken) => Raw::default(),
    }
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

/// Parses the form `Reconnecting... 1/5 (cause)`.
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

/// Parses the status from the two forms that have one.
fn status_of(message: &str) -> Option<u16> {
    let rest = message
        .strip_prefix("unexpected status ")
        .or_else(|| message.strip_prefix("exceeded retry limit, last status: "))?;
    let digits = rest.get(..3)?;
    let status: u16 = digits.parse().ok()?;
    (100..1000).contains(&status).then_some(status)
}

/// Returns the class of the message of a `turn.failed` by its form; `None` if the form is unknown.
pub(crate) fn class_of_message(message: &str) -> Option<ErrorClass> {
    const FORMS: &[(&str, ErrorClass)] = &[
        (
            "We're currently experiencing high demand",
            ErrorClass::ProviderError,
        ),
        ("Selected model is at capacity", ErrorClass::Overloaded),
        ("You've hit your usage limit", ErrorClass::UsageLimit),
        ("Quota exceeded.", ErrorClass::CreditExhausted),
        (
            "To use Codex with your ChatGPT plan",
            ErrorClass::CreditExhausted,
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

/// Parses the provider's own error object, which Codex passes on as the message of a refused request.
fn class_of_body(message: &str) -> Option<ErrorClass> {
    let mut cursor = Cursor::new(message.as_bytes());
    let error = member(cursor.skip().ok()?, b"error");
    let (code, kind) = (member(error, b"code"), member(error, b"type"));
    let codes = [
        ("context_length_exceeded", ErrorClass::PromptTooLong),
        ("insufficient_quota", ErrorClass::CreditExhausted),
        ("model_not_found", ErrorClass::ModelError),
    ];
    let kinds = [
        ("invalid_request_error", ErrorClass::InvalidRequest),
        ("authentication_error", ErrorClass::AuthFailed),
        ("rate_limit_error", ErrorClass::RateLimited),
    ];
    let named = |raw: Raw<'_>, table: [(&str, ErrorClass); 3]| {
        table
            .into_iter()
            .find(|(name, _)| raw.is(name))
            .map(|(_, class)| class)
    };
    named(code, codes).or_else(|| named(kind, kinds))
}

/// Parses the usage: Codex's input count includes what was read from and written to the cache.
fn tokens(raw: Raw<'_>) -> Result<TokenCounts, Broken> {
    let (mut input, mut cached, mut written, mut output) = (0_u64, 0, 0, 0);
    if !raw.is_none() {
        raw.cursor().object(|cursor, key| {
            let count = cursor.skip()?.unsigned().unwrap_or_default();
            match key {
                b"input_tokens" => input = count,
                b"cached_input_tokens" => cached = count,
                b"cache_write_input_tokens" => written = count,
                b"output_tokens" => output = count,
                _ => {}
            }
            Ok(())
        })?;
    }
    Ok(TokenCounts {
        input: Tokens::new(input.saturating_sub(cached).saturating_sub(written)),
        output: Tokens::new(output),
        cache_read: Tokens::new(cached),
        cache_creation: Tokens::new(written),
    })
}

/// Returns the message of an error: a string, or an object with one.
fn failure_message(error: Raw<'_>) -> String {
    error
        .text(MESSAGE_BYTES_MAX)
        .unwrap_or_else(|| message(member(error, b"message")))
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
