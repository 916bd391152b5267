//! Failed turns: what they say, and the class of error that it is.

use symphony_core::failure::ErrorClass;

use crate::stream::class::class_of_status;
use crate::stream::event::RunResult;
use crate::stream::rpc::RpcError;

/// The protocol's own number for a request that needs a login.
const AUTH_REQUIRED: i64 = -32000;

/// Returns the HTTP status of a failed request: some agents use it as the number of the error, others write it before
/// the provider's message.
pub(super) fn status_of(error: &RpcError) -> Option<u16> {
    if error.code == AUTH_REQUIRED {
        return Some(401);
    }
    let is_status = |status: &u16| (400..600).contains(status);
    let by_code = u16::try_from(error.code).ok().filter(is_status);
    by_code.or_else(|| {
        let details = error.data.get("details")?.as_str()?;
        let (number, _rest) = details.split_once(' ')?;
        number.parse().ok().filter(is_status)
    })
}

/// Returns why a turn that ended did not succeed.
pub(super) fn errors_of(reason: &str, answer: &str) -> Vec<String> {
    vec![match reason {
        "end_turn" if answer.trim().is_empty() => {
            "the agent ended its turn without an answer".to_owned()
        }
        "end_turn" => answer.trim().to_owned(),
        reason => format!("the agent's turn ended with `{reason}`"),
    }]
}

/// Returns the class of a failed turn; `None` if nothing is known.
pub(crate) fn class_of_result(result: &RunResult) -> Option<ErrorClass> {
    let by_reason = match (result.terminal_reason.as_deref(), result.subtype.as_str()) {
        (Some("max_turns"), _) => Some(ErrorClass::MaxTurns),
        (_, "max_tokens" | "refusal") => Some(ErrorClass::ModelError),
        _ => None,
    };
    by_reason
        .or_else(|| {
            result
                .errors
                .first()
                .and_then(|message| class_of_message(message))
        })
        .or_else(|| result.api_error_status.and_then(class_of_status))
        // opencode names the kind of its error, and no status.
        .or_else(|| {
            (result.api_error_type.as_deref() == Some("APIError"))
                .then_some(ErrorClass::ProviderError)
        })
}

/// Returns the class of a provider's message. Only the text of a failed request is looked at, never an answer.
fn class_of_message(message: &str) -> Option<ErrorClass> {
    const FORMS: &[(&str, ErrorClass)] = &[
        ("maximum context length", ErrorClass::PromptTooLong),
        ("context_length_exceeded", ErrorClass::PromptTooLong),
        ("prompt is too long", ErrorClass::PromptTooLong),
        ("insufficient_quota", ErrorClass::CreditExhausted),
        ("exceeded your current quota", ErrorClass::CreditExhausted),
        ("credit balance is too low", ErrorClass::CreditExhausted),
        ("invalid api key", ErrorClass::AuthFailed),
        ("incorrect api key", ErrorClass::AuthFailed),
        ("invalid x-api-key", ErrorClass::AuthFailed),
        ("authentication failed", ErrorClass::AuthFailed),
        ("authentication required", ErrorClass::AuthFailed),
        ("(http 401)", ErrorClass::AuthFailed),
        ("unauthorized", ErrorClass::AuthFailed),
        ("rate limit", ErrorClass::RateLimited),
        ("too many requests", ErrorClass::RateLimited),
        ("model stream ended without", ErrorClass::Network),
        ("connection error", ErrorClass::Network),
        ("connection reset", ErrorClass::Network),
        ("connection was closed", ErrorClass::Network),
        ("cannot connect to api", ErrorClass::Network),
        ("fetch failed", ErrorClass::Network),
        ("econnrefused", ErrorClass::Network),
        (
            "failed to get response from the ai model",
            ErrorClass::ProviderError,
        ),
    ];
    let message = message.to_ascii_lowercase();
    let mut forms = FORMS.iter();
    let found = forms.find(|(form, _)| message.contains(form));
    found.map(|(_, class)| *class)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_failed_turn_has_the_class_of_its_providers_answer() {
        for (code, message, data, expected) in [
            // opencode
            (
                -32603,
                "Internal error: invalid api key",
                json!({"errorName": "APIError"}),
                Some(ErrorClass::AuthFailed),
            ),
            (
                -32603,
                "Internal error: boom",
                json!({"errorName": "APIError"}),
                Some(ErrorClass::ProviderError),
            ),
            (
                -32603,
                "Internal error: Connection reset by server",
                json!({"errorName": "APIError"}),
                Some(ErrorClass::Network),
            ),
            (
                -32603,
                "Internal error: Cannot connect to API: The socket connection was closed unexpectedly.",
                json!({"errorName": "APIError"}),
                Some(ErrorClass::Network),
            ),
            // Qwen Code
            (
                -32603,
                "Internal error",
                json!({"details": "401 invalid api key"}),
                Some(ErrorClass::AuthFailed),
            ),
            (
                -32603,
                "Internal error",
                json!({"details": "403 no"}),
                Some(ErrorClass::AuthFailed),
            ),
            (
                -32603,
                "Internal error",
                json!({"details": "500 boom"}),
                Some(ErrorClass::ProviderError),
            ),
            (
                -32603,
                "Internal error",
                json!({"details": "400 This model's maximum context length is 8192 tokens"}),
                Some(ErrorClass::PromptTooLong),
            ),
            (
                -32603,
                "Internal error",
                json!({"details": "Model stream ended without a finish reason."}),
                Some(ErrorClass::Network),
            ),
            // Gemini CLI
            (
                401,
                "{\"error\":{\"status\":\"UNAUTHENTICATED\"}}",
                json!(null),
                Some(ErrorClass::AuthFailed),
            ),
            (429, "{}", json!(null), Some(ErrorClass::RateLimited)),
            // the protocol
            (
                -32000,
                "Login needed",
                json!(null),
                Some(ErrorClass::AuthFailed),
            ),
            (-32603, "Internal error", json!(null), None),
            (-32603, "I found 401 things", json!(null), None),
        ] {
            let error = RpcError {
                code,
                message: message.to_owned(),
                data,
            };
            let result = RunResult {
                is_error: true,
                api_error_status: status_of(&error),
                api_error_type: error
                    .data
                    .get("errorName")
                    .and_then(|name| name.as_str())
                    .map(str::to_owned),
                errors: vec![error.text()],
                ..RunResult::default()
            };
            assert_eq!(class_of_result(&result), expected, "{error:?}");
        }
    }
}
