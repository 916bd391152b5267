//! Answers to programs: documents, and errors in one envelope.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use serde_json::json;

use crate::access::Refusal;
use crate::server::Failure;

/// How programs prove who they are (RFC 6750).
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"symphony\"");

/// Answers with a JSON document.
pub(crate) fn json<T: Serialize>(status: StatusCode, document: &T) -> Response {
    match serde_json::to_vec(document) {
        Ok(bytes) => (status, [(header::CONTENT_TYPE, "application/json")], bytes).into_response(),
        Err(error) => json_failed(&Failure::Internal(error.to_string())),
    }
}

/// Says what went wrong.
pub(crate) fn json_failed(failure: &Failure) -> Response {
    if matches!(failure, Failure::Internal(_)) {
        tracing::error!(%failure, "a request failed");
    }
    let message = match failure {
        Failure::Refused(Refusal::NotSignedIn | Refusal::OtherName) => {
            "no valid token was sent: add the header `Authorization: Bearer TOKEN`".to_owned()
        }
        other => other.to_string(),
    };
    let mut response = envelope(failure.status(), code(failure), &message);
    if response.status() == StatusCode::UNAUTHORIZED {
        let headers = response.headers_mut();
        headers.insert(header::WWW_AUTHENTICATE, CHALLENGE);
    }
    response
}

/// Answers a method that a route does not have.
pub(crate) async fn not_allowed() -> Response {
    envelope(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this address has no such method",
    )
}

fn envelope(status: StatusCode, code: &str, message: &str) -> Response {
    let body = json!({ "error": { "code": code, "message": message } }).to_string();
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// The name of a failure, for programs.
const fn code(failure: &Failure) -> &'static str {
    match failure {
        Failure::Refused(Refusal::OtherHost) => "other_host",
        Failure::Refused(Refusal::NotSignedIn | Refusal::OtherName | Refusal::UnknownSecret) => {
            "not_signed_in"
        }
        Failure::Refused(_) => "not_allowed",
        Failure::NotFound(_) => "not_found",
        Failure::UnknownIssue(_) => "issue_not_found",
        Failure::Malformed => "malformed",
        Failure::TooLarge { .. } => "too_large",
        Failure::TooSlow => "timeout",
        Failure::TooManyAttempts => "too_many_attempts",
        Failure::Wrong(_) => "invalid",
        Failure::Conflict(_) => "conflict",
        Failure::Unusable(_) => "unavailable",
        Failure::Internal(_) => "internal",
    }
}
