//! What happened to a run: the provider's own test of success, and the error class by structure (spec: lifecycle,
//! "Providers", "Error classes").

use std::fmt;

use symphony_core::Timestamp;
use symphony_core::failure::ErrorClass;

use super::acp;
use super::class::class_of_status;
use super::codex::class_of_message;
use super::event::{ApiError, ApiRetry, RunResult};
use super::format::StreamFormat;
use super::state::StreamState;
use super::text::push_plain;

/// Most bytes of a conclusion's message: a few lines on a screen.
const MESSAGE_BYTES_MAX: usize = 1000;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitFact {
    /// On its own, with a code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// By Symphony, because it lingered after its last result: that result counts.
    EndedAfterResult,
}

impl fmt::Display for ExitFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::EndedAfterResult => f.write_str("ended after its last result"),
        }
    }
}

/// What is known about the end of a run besides its stream.
#[derive(Debug, Clone, Copy)]
pub struct RunEnd<'a> {
    /// How the process ended.
    pub exit: ExitFact,
    /// The class with which Symphony ended the run (a limit, a human), if it did.
    pub stopped: Option<ErrorClass>,
    /// The end of the process's stderr; only quoted, never used to judge.
    pub stderr_tail: &'a str,
}

/// What happened to a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conclusion {
    /// Whether it succeeded by its provider's own test. (The outcome is determined later.)
    pub succeeded: bool,
    /// Why not; `None` if it succeeded.
    pub class: Option<ErrorClass>,
    /// One line for people; empty if it succeeded.
    pub message: String,
    /// Until when the provider refuses requests, if it reported that.
    pub hold_until: Option<Timestamp>,
}

/// Returns the class of the Claude CLI's word for an API error.
fn class_of_word(word: &str) -> Option<ErrorClass> {
    match word {
        "authentication_failed" | "authentication_error" | "permission_error" => {
            Some(ErrorClass::AuthFailed)
        }
        "billing_error" => Some(ErrorClass::CreditExhausted),
        "rate_limit" | "rate_limit_error" => Some(ErrorClass::RateLimited),
        "overloaded" | "overloaded_error" => Some(ErrorClass::Overloaded),
        "server_error" | "api_error" => Some(ErrorClass::ProviderError),
        "invalid_request" | "invalid_request_error" => Some(ErrorClass::InvalidRequest),
        "not_found_error" => Some(ErrorClass::ModelError),
        "request_too_large" => Some(ErrorClass::PromptTooLong),
        _ => None,
    }
}

impl StreamState {
    /// Returns what happened to the run, now that its process has ended.
    pub fn conclude(&self, end: &RunEnd<'_>) -> Conclusion {
        conclude(self, end)
    }
}

fn conclude(state: &StreamState, end: &RunEnd<'_>) -> Conclusion {
    if end.stopped.is_none() && state.must_end().is_none() && succeeded(state, end.exit) {
        return Conclusion {
            succeeded: true,
            class: None,
            message: String::new(),
            hold_until: used_up(state),
        };
    }
    let class = end
        .stopped
        .or_else(|| state.must_end())
        .unwrap_or_else(|| match state.format() {
            StreamFormat::Claude => class_of_claude(state),
            StreamFormat::Codex | StreamFormat::AppServer => class_of_codex(state, end.exit),
            StreamFormat::Acp(_) => class_of_acp(state),
            StreamFormat::Text => ErrorClass::AgentFailed,
        });
    let rejected = state.rate_limit.as_ref().filter(|limit| limit.rejected);
    let class = match (class, rejected) {
        (ErrorClass::RateLimited, Some(_)) => ErrorClass::UsageLimit,
        (class, _) => class,
    };
    let hold_until = match class {
        ErrorClass::RateLimited | ErrorClass::UsageLimit => {
            rejected.and_then(|limit| limit.resets_at)
        }
        _ => None,
    };
    Conclusion {
        succeeded: false,
        class: Some(class),
        message: message(state, end, class),
        hold_until,
    }
}

/// Returns until when a limit is used up that a run which succeeded reported. Claude's requests may go on beyond a limit, so
/// its reports say nothing about the next run.
fn used_up(state: &StreamState) -> Option<Timestamp> {
    let limit = state.rate_limit.as_ref()?;
    let is_known = state.format() == StreamFormat::AppServer && limit.rejected;
    limit.resets_at.filter(|_| is_known)
}

/// The provider's own test. Exit code 0 alone proves nothing, nor does a result's subtype.
fn succeeded(state: &StreamState, exit: ExitFact) -> bool {
    let exited = matches!(exit, ExitFact::Code(0) | ExitFact::EndedAfterResult);
    exited
        && match state.format() {
            StreamFormat::Text => true,
            _ => state
                .last_result
                .as_ref()
                .is_some_and(|result| !result.is_error),
        }
}

fn class_of_claude(state: &StreamState) -> ErrorClass {
    let told = match &state.last_result {
        Some(result) if result.is_error => class_of_account(state, result)
            .or_else(|| class_of_result(result))
            .or_else(|| class_of_open(state))
            .or_else(|| {
                // A request that failed without any status never reached the provider.
                (result.terminal_reason.as_deref() == Some("api_error"))
                    .then_some(ErrorClass::Network)
            }),
        Some(_) => None,
        None => class_of_open(state),
    };
    told.unwrap_or(ErrorClass::AgentFailed)
}

/// Returns the class of what the CLI reports about the account in words only. Used for API failures only: an agent may
/// write the same words about its task.
fn class_of_account(state: &StreamState, result: &RunResult) -> Option<ErrorClass> {
    let is_api_failure = result.terminal_reason.as_deref() == Some("api_error")
        || result.api_error_status.is_some()
        || state.open_error.is_some();
    if !is_api_failure {
        return None;
    }
    let texts = || result.errors.iter().chain([&result.text]);
    let says = |words: &str| texts().any(|text| text.to_ascii_lowercase().contains(words));
    if says("credit balance is too low") {
        Some(ErrorClass::CreditExhausted)
    } else if says("please run /login") {
        Some(ErrorClass::AuthFailed)
    } else {
        None
    }
}

fn class_of_result(result: &RunResult) -> Option<ErrorClass> {
    let by_reason = match result.terminal_reason.as_deref() {
        Some("max_turns") => Some(ErrorClass::MaxTurns),
        Some("budget_exhausted") => Some(ErrorClass::BudgetExhausted),
        Some("prompt_too_long" | "blocking_limit" | "rapid_refill_breaker") => {
            Some(ErrorClass::PromptTooLong)
        }
        Some("model_error" | "malformed_tool_use_exhausted") => Some(ErrorClass::ModelError),
        Some("image_error") => Some(ErrorClass::InvalidRequest),
        _ => None,
    };
    let by_subtype = || match result.subtype.as_str() {
        "error_max_turns" => Some(ErrorClass::MaxTurns),
        "error_max_budget_usd" => Some(ErrorClass::BudgetExhausted),
        _ => None,
    };
    by_reason
        .or_else(by_subtype)
        .or_else(|| result.api_error_status.and_then(class_of_status))
        .or_else(|| result.api_error_type.as_deref().and_then(class_of_word))
}

/// Returns the class of the API failure that nothing has followed.
fn class_of_open(state: &StreamState) -> Option<ErrorClass> {
    let error = state.open_error.as_ref().and_then(class_of_error);
    error.or_else(|| state.open_retry.as_ref().map(class_of_retry))
}

fn class_of_error(error: &ApiError) -> Option<ErrorClass> {
    error
        .status
        .and_then(class_of_status)
        .or_else(|| error.kind.as_deref().and_then(class_of_word))
        .or_else(|| match error.error.as_deref() {
            // A server that responded has a status. Without one, the connection broke, or no one responded in time.
            Some("server_error") => Some(ErrorClass::Network),
            word => word.and_then(class_of_word),
        })
}

fn class_of_retry(retry: &ApiRetry) -> ErrorClass {
    retry
        .status
        .and_then(class_of_status)
        .or_else(|| class_of_word(&retry.error))
        .unwrap_or(ErrorClass::Network)
}

fn class_of_codex(state: &StreamState, exit: ExitFact) -> ErrorClass {
    if state.lines() == 0 && matches!(exit, ExitFact::Code(code) if code != 0) {
        // A required MCP server that cannot start ends Codex before its first event.
        return ErrorClass::McpUnavailable;
    }
    state
        .last_result
        .as_ref()
        .filter(|result| result.is_error)
        .and_then(|result| result.errors.first())
        .and_then(|message| class_of_message(message))
        .or_else(|| failed_status(state))
        .unwrap_or(ErrorClass::AgentFailed)
}

/// The class of the status that the app-server reports beside its message.
fn failed_status(state: &StreamState) -> Option<ErrorClass> {
    class_of_status(state.last_result.as_ref()?.api_error_status?)
}

fn class_of_acp(state: &StreamState) -> ErrorClass {
    let failed = state.last_result.as_ref().filter(|result| result.is_error);
    failed
        .and_then(acp::class_of_result)
        .unwrap_or(ErrorClass::AgentFailed)
}

fn message(state: &StreamState, end: &RunEnd<'_>, class: ErrorClass) -> String {
    let mut text = String::new();
    let stopped = match class {
        ErrorClass::McpUnavailable if state.must_end() == Some(class) => {
            Some("the agent started without a connection to its MCP server `symphony`")
        }
        ErrorClass::AuthFailed if state.must_end() == Some(class) => {
            Some("the provider refused the credentials")
        }
        _ if end.stopped.is_some() => Some("ended by Symphony"),
        _ => None,
    };
    if let Some(stopped) = stopped {
        text.push_str(stopped);
        return text;
    }
    let told = state
        .last_result
        .as_ref()
        .filter(|result| result.is_error)
        .and_then(|result| {
            result
                .errors
                .iter()
                .chain([&result.text])
                .find(|text| !text.is_empty())
        });
    if let Some(told) = told {
        push_plain(&mut text, told, MESSAGE_BYTES_MAX);
        return text;
    }
    text.push_str(&end.exit.to_string());
    let expects_result = state.format() != StreamFormat::Text;
    match &state.last_result {
        None if expects_result => text.push_str(" without a result"),
        Some(result) if !result.is_error => text.push_str(" after a successful result"),
        _ => {}
    }
    let last_words = end
        .stderr_tail
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty());
    if let Some(last_words) = last_words {
        text.push_str(": ");
        push_plain(&mut text, last_words.trim(), MESSAGE_BYTES_MAX);
    }
    text
}
