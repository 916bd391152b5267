//! Calls of tools. An agent announces a call, and tells its arguments in a later update, so a call is an event when
//! they are known, or when it ends.

use std::collections::VecDeque;

use serde_json::Value;

use crate::stream::event::AgentEvent;
use crate::stream::format::MCP_SERVER_NAME;
use crate::stream::rpc::text_at;
use crate::stream::text::WORD_BYTES_MAX;
use crate::stream::tool::tool_use;

/// Most calls that are open at once.
const CALLS_MAX: usize = 64;

/// The calls that have begun.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls(VecDeque<Call>);

#[derive(Debug, Clone)]
struct Call {
    id: String,
    name: String,
    is_reported: bool,
}

impl Calls {
    /// Takes in an announcement or an update; returns the call's event when it is due.
    pub(super) fn update(&mut self, update: &Value) -> Option<AgentEvent> {
        let mut call = self.take(update);
        let is_due = match update.get("status").and_then(Value::as_str) {
            Some("completed" | "failed") => true,
            Some("in_progress") => has_input(update),
            _ => false,
        };
        let event = is_due.then(|| report(&mut call, update)).flatten();
        self.keep(call);
        event
    }

    /// Takes in that the agent asks for permission: then the arguments are known.
    pub(super) fn asked(&mut self, asked: &Value) -> Option<AgentEvent> {
        let mut call = self.take(asked);
        let event = report(&mut call, asked);
        self.keep(call);
        event
    }

    /// Takes the call that an update is about out of the list, or makes it.
    fn take(&mut self, update: &Value) -> Call {
        let id = text_at(update, "/toolCallId", WORD_BYTES_MAX);
        let at = self.0.iter().position(|call| call.id == id);
        let known = at.and_then(|at| self.0.remove(at));
        known.unwrap_or_else(|| Call {
            id,
            name: name_of(update),
            is_reported: false,
        })
    }

    fn keep(&mut self, call: Call) {
        if self.0.len() >= CALLS_MAX {
            self.0.pop_front();
        }
        self.0.push_back(call);
    }
}

fn has_input(update: &Value) -> bool {
    let input = update.get("rawInput").and_then(Value::as_object);
    input.is_some_and(|input| !input.is_empty())
}

fn report(call: &mut Call, update: &Value) -> Option<AgentEvent> {
    if std::mem::replace(&mut call.is_reported, true) {
        return None;
    }
    let input = update.get("rawInput").unwrap_or(&Value::Null);
    Some(tool_use(call.id.clone(), call.name.clone(), input))
}

/// Returns the tool's name: where an agent does not say it, the title of the announcement is the nearest to it.
fn name_of(update: &Value) -> String {
    let name = text_at(update, "/_meta/toolName", WORD_BYTES_MAX);
    let name = if name.is_empty() {
        text_at(update, "/title", WORD_BYTES_MAX)
    } else {
        name
    };
    match own_tool(&name) {
        Some(tool) => format!("mcp__{MCP_SERVER_NAME}__{tool}"),
        None => name,
    }
}

/// Returns which of Symphony's tools a name means: each agent joins the names of server and tool in its own way.
fn own_tool(name: &str) -> Option<&str> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_tool = |tool: &&str| !tool.is_empty() && tool.bytes().all(is_name);
    if let Some(tool) = name.strip_suffix(" (symphony MCP Server)") {
        return Some(tool).filter(is_tool);
    }
    let starts = ["mcp__", "mcp_"];
    let rest = starts.iter().find_map(|start| name.strip_prefix(start));
    let rest = rest.unwrap_or(name).strip_prefix(MCP_SERVER_NAME)?;
    let joints = ["__", "_", "-", "."];
    let tool = joints.iter().find_map(|joint| rest.strip_prefix(joint));
    tool.filter(is_tool)
}

#[cfg(test)]
mod tests {
    use super::own_tool;

    #[test]
    fn symphonys_tools_have_one_name_whoever_calls_them() {
        for (name, expected) in [
            ("symphony_get_issue", Some("get_issue")),
            ("mcp__symphony__get_issue", Some("get_issue")),
            ("mcp_symphony_get_issue", Some("get_issue")),
            ("symphony-get_issue", Some("get_issue")),
            ("get_issue (symphony MCP Server)", Some("get_issue")),
            ("bash", None),
            ("symphony", None),
            ("symphony_", None),
            ("symphony_is an orchestrator", None),
        ] {
            assert_eq!(own_tool(name), expected, "{name}");
        }
    }
}
