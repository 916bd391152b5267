//! Answers: pages, and what went wrong.

use std::sync::Arc;

use axum::http::HeaderValue;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use maud::Markup;
use symphony_runner::session::Session;

use super::failure::Failure;
use super::site::Turn;
use crate::api::{is_below, json_failed};
use crate::page::problem;

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
