//! Answers: pages, and what went wrong.

use std::sync::Arc;

use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use maud::Markup;
use symphony_runner::RunnerError;
use symphony_runner::session::Session;
use symphony_store::StoreError;

use super::site::Turn;
use crate::access::Refusal;
use crate::api::{is_below, json_failed};
use crate::page::problem;

/// Why a request has no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The visitor is not let in, or not this far.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// There is no such thing.
    #[error("{0}")]
    NotFound(String),
    /// There is no such issue.
    #[error("{0}")]
    UnknownIssue(String),
    /// The address is not text.
    #[error("the address is damaged: it has bytes that are not UTF-8")]
    Malformed,
    /// The form or the body has too many bytes.
    #[error("the request is larger than {bytes_max} bytes")]
    TooLarge {
        /// How many it may have.
        bytes_max: usize,
    },
    /// The form or the body did not arrive in time.
    #[error("the request took too long to arrive")]
    TooSlow,
    /// Wrong tokens are answered only now and then.
    #[error("too many wrong tokens were sent to this server: try again in a moment")]
    TooManyAttempts,
    /// What was sent cannot be used.
    #[error("{0}")]
    Wrong(String),
    /// A rule forbids it now.
    #[error("{0}")]
    Conflict(String),
    /// The installation cannot be opened.
    #[error("{0}")]
    Unusable(String),
    /// The server could not finish it.
    #[error("the server could not answer: {0}")]
    Internal(String),
}

impl Failure {
    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::Refused(Refusal::OtherHost) => StatusCode::MISDIRECTED_REQUEST,
            Self::Refused(Refusal::NotSignedIn | Refusal::OtherName | Refusal::UnknownSecret) => {
                StatusCode::UNAUTHORIZED
            }
            Self::Refused(_) => StatusCode::FORBIDDEN,
            Self::NotFound(_) | Self::UnknownIssue(_) => StatusCode::NOT_FOUND,
            Self::Malformed => StatusCode::BAD_REQUEST,
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::TooManyAttempts => StatusCode::TOO_MANY_REQUESTS,
            Self::Wrong(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Conflict(_) => StatusCode::CONFLICT,
            Self::Unusable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let text = error.to_string();
        match error {
            StoreError::NotFound { .. } => Self::NotFound(text),
            StoreError::Field(_) => Self::Wrong(text),
            StoreError::InvalidRow { .. }
            | StoreError::Damaged(_)
            | StoreError::DiskFull(_)
            | StoreError::Database(_) => Self::Internal(text),
            _ => Self::Conflict(text),
        }
    }
}

impl From<RunnerError> for Failure {
    fn from(error: RunnerError) -> Self {
        match error {
            RunnerError::Store(error) => error.into(),
            other => Self::Conflict(other.to_string()),
        }
    }
}

/// Makes a page on a thread that may wait for the database.
pub(crate) async fn page<F>(turn: Turn, make: F) -> Response
where
    F: FnOnce(&mut Session, &Turn) -> Result<Markup, Failure> + Send + 'static,
{
    match blocking(turn.clone(), make).await {
        Ok(markup) => markup.into_response(),
        Err(failure) => failed(&failure, Some(&turn)),
    }
}

/// Does something on a thread that may wait for the database.
pub(crate) async fn blocking<F, T>(turn: Turn, make: F) -> Result<T, Failure>
where
    F: FnOnce(&mut Session, &Turn) -> Result<T, Failure> + Send + 'static,
    T: Send + 'static,
{
    let made = tokio::task::spawn_blocking(move || {
        let mut session = Arc::clone(&turn.site).open()?;
        make(&mut session, &turn)
    });
    made.await
        .unwrap_or_else(|error| Err(Failure::Internal(error.to_string())))
}

/// Whom an answer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A person, on a page.
    Person,
    /// A program, in JSON.
    Program,
}

impl Reader {
    /// Returns who asks for an address.
    pub(crate) fn of(path: &str) -> Self {
        if is_below(path) {
            Self::Program
        } else {
            Self::Person
        }
    }

    /// Says what went wrong.
    pub(crate) fn failed(self, failure: &Failure, turn: Option<&Turn>) -> Response {
        let mut response = match self {
            Self::Person => failed(failure, turn),
            Self::Program => json_failed(failure),
        };
        if matches!(failure, Failure::TooManyAttempts) {
            let headers = response.headers_mut();
            headers.insert(RETRY_AFTER, HeaderValue::from_static("3"));
        }
        response
    }
}

/// Says on a page what went wrong.
pub(crate) fn failed(failure: &Failure, turn: Option<&Turn>) -> Response {
    if matches!(failure, Failure::Internal(_)) {
        tracing::error!(%failure, "a request failed");
    }
    (failure.status(), problem(failure, turn)).into_response()
}
