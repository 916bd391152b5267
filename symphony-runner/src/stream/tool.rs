//! Calls of tools whose arguments are parsed JSON.

use serde_json::Value;

use super::event::{AgentEvent, ToolUse};
use super::text::{DETAIL_BYTES_MAX, beginning, digest};

/// Returns the event of a call.
pub(super) fn tool_use(id: String, name: String, input: &Value) -> AgentEvent {
    let input = input.to_string();
    AgentEvent::ToolUse(ToolUse {
        id,
        name,
        input_digest: digest(input.as_bytes()),
        input: beginning(input.as_bytes(), DETAIL_BYTES_MAX),
    })
}
