//! One message of a conversation by JSON-RPC 2.0 (<https://www.jsonrpc.org/specification>), one a line.
//!
//! The Agent Client Protocol and Codex's app-server differ in the member `jsonrpc` alone, which is not looked at.

use serde::Deserialize;
use serde_json::Value;

use super::event::AgentEvent;
use super::json::Broken;
use super::text::{MESSAGE_BYTES_MAX, WORD_BYTES_MAX, beginning};

/// A message of the other side.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// It asks for something.
    Request {
        /// What the answer must name.
        id: Value,
        /// What it asks for.
        method: String,
        /// With what.
        params: Value,
    },
    /// It reports something.
    Notification {
        /// What it reports.
        method: String,
        /// With what.
        params: Value,
    },
    /// It answers.
    Response {
        /// The id of what it answers.
        id: Value,
        /// The answer.
        outcome: Result<Value, RpcError>,
    },
}

/// An error that a request was answered with.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RpcError {
    /// Its number.
    pub code: i64,
    /// Its text.
    pub message: String,
    /// Whatever else there is.
    pub data: Value,
}

impl RpcError {
    /// Returns the text for people, with the details that some programs put beside it.
    pub fn text(&self) -> String {
        let details = ["/details", "/message"];
        let details = details.iter().find_map(|path| self.data.pointer(path));
        let text = match details.and_then(Value::as_str) {
            Some(details) if details != self.message => format!("{}: {details}", self.message),
            _ => self.message.clone(),
        };
        beginning(text.as_bytes(), MESSAGE_BYTES_MAX)
    }
}

/// All members that a message may have.
#[derive(Deserialize)]
struct Members {
    #[serde(default, deserialize_with = "there")]
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default, deserialize_with = "there")]
    result: Option<Value>,
    error: Option<RpcError>,
}

/// Tells a member that is null from one that is missing.
fn there<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Message {
    /// Parses a line.
    ///
    /// # Errors
    /// When it is no message.
    pub fn parse(line: &[u8]) -> Result<Self, Broken> {
        let members: Members = match serde_json::from_slice(line) {
            Ok(members) => members,
            // Invalid UTF-8 in a text makes it no other message.
            Err(_) => serde_json::from_str(&String::from_utf8_lossy(line))
                .map_err(|_no_message| Broken)?,
        };
        let Members {
            id,
            method,
            params,
            result,
            error,
        } = members;
        match (id, method, result, error) {
            (Some(id), Some(method), ..) => Ok(Self::Request { id, method, params }),
            (None, Some(method), ..) => Ok(Self::Notification { method, params }),
            (Some(id), None, _, Some(error)) => Ok(Self::Response {
                id,
                outcome: Err(error),
            }),
            (Some(id), None, result, None) => Ok(Self::Response {
                id,
                outcome: Ok(result.unwrap_or_default()),
            }),
            (None, None, ..) => Err(Broken),
        }
    }
}

/// Returns a text below a path (RFC 6901), cut at a limit; empty if there is none.
pub(crate) fn text_at(value: &Value, path: &str, bytes_max: usize) -> String {
    let text = value.pointer(path).and_then(Value::as_str);
    beginning(text.unwrap_or_default().as_bytes(), bytes_max)
}

/// Returns a name or an id below a path; `None` if there is none.
pub(crate) fn word_at(value: &Value, path: &str) -> Option<String> {
    let text = text_at(value, path, WORD_BYTES_MAX);
    (!text.is_empty()).then_some(text)
}

/// Returns the event of a message that means nothing else.
pub(crate) fn other(kind: &str) -> AgentEvent {
    AgentEvent::Other {
        kind: beginning(kind.as_bytes(), WORD_BYTES_MAX),
    }
}

/// Returns a count below a path; 0 if there is none.
pub(crate) fn count_at(value: &Value, path: &str) -> u64 {
    let count = value.pointer(path).and_then(Value::as_u64);
    count.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_is_a_request_a_notification_or_a_response() {
        let request = |id: Value| Message::Request {
            id,
            method: "m".to_owned(),
            params: json!({"a": 1}),
        };
        let error = RpcError {
            code: -32603,
            message: "Internal error".to_owned(),
            data: json!({"details": "401 no"}),
        };
        let response = |outcome| Message::Response {
            id: json!("initialize"),
            outcome,
        };
        for (line, expected) in [
            (
                r#"{"id":0,"method":"m","params":{"a":1}}"#,
                Ok(request(json!(0))),
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"m","params":{"a":1}}"#,
                Ok(request(Value::Null)),
            ),
            (
                r#"{"method":"m"}"#,
                Ok(Message::Notification {
                    method: "m".to_owned(),
                    params: Value::Null,
                }),
            ),
            (
                r#"{"id":"initialize","result":null}"#,
                Ok(response(Ok(Value::Null))),
            ),
            (
                r#"{"id":"initialize","error":{"code":-32603,"message":"Internal error","data":{"details":"401 no"}}}"#,
                Ok(response(Err(error.clone()))),
            ),
            (r#"{"result":1}"#, Err(Broken)),
            ("{", Err(Broken)),
            ("[]", Err(Broken)),
        ] {
            assert_eq!(Message::parse(line.as_bytes()), expected, "{line}");
        }
        assert_eq!(error.text(), "Internal error: 401 no");
        let line = b"{\"method\":\"\xff\"}";
        assert!(Message::parse(line).is_ok(), "invalid UTF-8 is replaced");
    }
}
