//! A request and an answer, as a fake sees them.

use serde_json::Value;
use symphony_core::Timestamp;

/// A request, complete.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The segments of the path, without their escapes.
    pub(crate) segments: Vec<String>,
    /// Path and query as they came.
    pub(crate) target: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The address of this server, without a slash at the end.
    pub(crate) own_address: String,
}

impl Request {
    /// Returns a header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns a parameter of the query.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the token, with or without a word before it.
    pub(crate) fn token(&self) -> Option<&str> {
        let value = self.header("authorization")?;
        Some(value.rsplit_once(' ').map_or(value, |(_, token)| token))
    }

    /// Reads the body as JSON; nothing if it is none.
    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

/// An answer, complete.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    /// Makes an answer of JSON.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: vec![(
                "content-type".to_owned(),
                "application/json; charset=utf-8".to_owned(),
            )],
            body: body.to_string(),
        }
    }

    /// Makes an answer without a body.
    pub(crate) fn empty(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    /// Adds a header.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

/// What answers the requests to a server.
pub(crate) trait Backend: Send + 'static {
    /// The name in records.
    const NAME: &'static str;

    /// Returns the time by its clock.
    fn now(&self) -> Timestamp;

    /// Answers a request.
    fn answer(&mut self, request: &Request) -> Answer;
}
