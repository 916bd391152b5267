//! The lines that are said to an agent.

use serde_json::{Map, Value, json};

/// The JSON-RPC number for a method that does not exist.
const METHOD_NOT_FOUND: i64 = -32601;

/// Lines under construction.
#[derive(Debug, Default)]
pub(crate) struct Outgoing(Vec<u8>);

impl Outgoing {
    /// Says an object that is no JSON-RPC.
    pub(crate) fn object(&mut self, message: &Value) {
        self.0.extend_from_slice(message.to_string().as_bytes());
        self.0.push(b'\n');
    }

    /// Asks for something. The answer will name the id.
    pub(crate) fn request(&mut self, id: &str, method: &str, params: Value) {
        self.say([
            ("id", json!(id)),
            ("method", json!(method)),
            ("params", params),
        ]);
    }

    /// Reports something.
    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.say([("method", json!(method)), ("params", params)]);
    }

    /// Answers a request.
    pub(crate) fn answer(&mut self, id: Value, result: Value) {
        self.say([("id", id), ("result", result)]);
    }

    /// Answers a request that is for nothing that Symphony offers.
    pub(crate) fn refuse(&mut self, id: Value, method: &str) {
        let message = format!("Symphony does not offer `{method}`");
        let error = json!({ "code": METHOD_NOT_FOUND, "message": message });
        self.say([("id", id), ("error", error)]);
    }

    /// Returns the lines.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }

    fn say<const N: usize>(&mut self, members: [(&str, Value); N]) {
        // Codex's app-server does without this member, and does not mind it.
        let version = [("jsonrpc", json!("2.0"))];
        let members = version.into_iter().chain(members);
        let message: Map<String, Value> = members
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        self.object(&Value::Object(message));
    }
}
