//! Entries of the log as the database stores them: a kind and a payload.

use serde_json::{Value, json};

use super::event::LogEvent;

impl LogEvent {
    /// Reads an entry. One that this version cannot read becomes [`LogEvent::Unknown`].
    pub fn read(kind: &str, payload: &Value) -> Self {
        let entry = json!({ "kind": kind, "payload": payload });
        serde_json::from_value(entry).unwrap_or_else(|_unreadable| Self::Unknown {
            kind: kind.to_owned(),
            payload: payload.clone(),
        })
    }

    /// Returns the payload, as the database stores it.
    pub fn payload(&self) -> Value {
        let mut entry = serde_json::to_value(self).expect("the entries have string keys only");
        let payload = entry.get_mut("payload");
        payload.map_or_else(|| json!({}), Value::take)
    }
}
