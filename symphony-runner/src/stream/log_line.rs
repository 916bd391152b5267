//! Events as lines of a run's log, for people: one line each, bounded, harmless to a terminal.

use std::fmt::Write;

use super::event::{AgentEvent, ApiError, ApiRetry, Init, RateLimit, RunResult};
use super::text::push_plain;

/// Most bytes of one text that a log line shows: a few screens; the raw line is on disk.
pub const LOG_LINE_BYTES_MAX: usize = 4 * 1024;

/// Kinds of events that are frequent and of no interest to a reader.
const QUIET_KINDS: &[&str] = &[
    "stream_event",
    "system/status",
    "system/thinking_tokens",
    "system/ui_invalidate",
    "system/background_tasks_changed",
    "turn.started",
    "user",
];

/// Appends the event's log line, without time and line feed; returns whether there was anything to log.
pub fn write_log_line(out: &mut String, event: &AgentEvent) -> bool {
    match event {
        AgentEvent::Init(init) => write_init(out, init),
        AgentEvent::Text { text, subagent } => {
            out.push_str(if *subagent {
                "[text] (subagent) "
            } else {
                "[text] "
            });
            push_plain(out, text, LOG_LINE_BYTES_MAX);
        }
        AgentEvent::Thinking { text } => {
            out.push_str("[thinking] ");
            push_plain(out, text, LOG_LINE_BYTES_MAX);
        }
        AgentEvent::ToolUse(call) => {
            out.push_str("[tool_use] ");
            push_plain(out, &call.name, LOG_LINE_BYTES_MAX);
            out.push(' ');
            push_plain(out, &call.input, LOG_LINE_BYTES_MAX);
        }
        AgentEvent::ToolResult(result) => {
            out.push_str(if result.is_error {
                "[tool_result] error: "
            } else {
                "[tool_result] "
            });
            push_plain(out, &result.text, LOG_LINE_BYTES_MAX);
        }
        AgentEvent::MessageUsage(_) => return false,
        AgentEvent::ApiRetry(retry) => write_retry(out, retry),
        AgentEvent::ApiError(error) => write_api_error(out, error),
        AgentEvent::PermissionDenied { tool, message, .. } => {
            out.push_str("[permission_denied] ");
            push_plain(out, tool, LOG_LINE_BYTES_MAX);
            out.push_str(": ");
            push_plain(out, message, LOG_LINE_BYTES_MAX);
        }
        AgentEvent::RateLimit(limit) => write_rate_limit(out, limit),
        AgentEvent::Result(result) => write_result(out, result),
        AgentEvent::Other { kind } => {
            if QUIET_KINDS.contains(&kind.as_str()) {
                return false;
            }
            out.push('[');
            push_plain(out, kind, LOG_LINE_BYTES_MAX);
            out.push(']');
        }
    }
    true
}

fn write_init(out: &mut String, init: &Init) {
    out.push_str("[init]");
    if let Some(model) = &init.model {
        out.push_str(" model ");
        push_plain(out, model, LOG_LINE_BYTES_MAX);
    }
    if let Some(session) = &init.session {
        out.push_str(" session ");
        push_plain(out, session, LOG_LINE_BYTES_MAX);
    }
    if !init.tools.is_empty() {
        push_number(out, " tools ", init.tools.len());
    }
    for server in init.mcp_servers.iter().flatten() {
        out.push_str(" mcp ");
        push_plain(out, &server.name, LOG_LINE_BYTES_MAX);
        out.push('=');
        push_plain(out, &server.status, LOG_LINE_BYTES_MAX);
    }
}

fn write_retry(out: &mut String, retry: &ApiRetry) {
    push_number(out, "[api_retry] ", retry.attempt);
    push_number(out, "/", retry.attempts_max);
    out.push(' ');
    push_plain(out, &retry.error, LOG_LINE_BYTES_MAX);
    if let Some(status) = retry.status {
        push_number(out, " status ", status);
    }
}

fn write_api_error(out: &mut String, error: &ApiError) {
    out.push_str("[api_error]");
    for word in [&error.error, &error.kind].into_iter().flatten() {
        out.push(' ');
        push_plain(out, word, LOG_LINE_BYTES_MAX);
    }
    if let Some(status) = error.status {
        push_number(out, " status ", status);
    }
}

fn write_rate_limit(out: &mut String, limit: &RateLimit) {
    out.push_str(if limit.rejected {
        "[rate_limit] rejected"
    } else {
        "[rate_limit] allowed"
    });
    if let Some(name) = &limit.limit {
        out.push(' ');
        push_plain(out, name, LOG_LINE_BYTES_MAX);
    }
    if let Some(time) = limit.resets_at {
        push_number(out, " until ", time);
    }
}

fn write_result(out: &mut String, result: &RunResult) {
    // The Claude CLI reports an API failure with the subtype `success`: the word would mislead a reader.
    if result.is_error && result.subtype == "success" {
        out.push_str("[result] error");
    } else {
        out.push_str("[result] ");
        push_plain(out, &result.subtype, LOG_LINE_BYTES_MAX);
    }
    if let Some(reason) = &result.terminal_reason {
        out.push(' ');
        push_plain(out, reason, LOG_LINE_BYTES_MAX);
    }
    push_number(out, " turns ", result.turns);
    if let Some(cost) = result.cost.or(result.session_cost) {
        push_number(out, " cost ", cost);
    }
    let errors = result.errors.iter();
    // An error that is also the answer is shown once.
    let errors = errors.filter(|error| **error != result.text);
    for text in errors.chain([&result.text]) {
        if !text.is_empty() {
            out.push_str(": ");
            push_plain(out, text, LOG_LINE_BYTES_MAX);
        }
    }
}

fn push_number(out: &mut String, before: &str, value: impl std::fmt::Display) {
    write!(out, "{before}{value}").expect("writing to a string does not fail");
}
