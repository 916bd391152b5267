//! The MCP configuration file of a run.

use serde_json::json;

use super::invocation::McpServerCommand;
use crate::stream::MCP_SERVER_NAME;

/// Returns the file's content: the single server `symphony`, which the CLIs start.
///
/// `alwaysLoad` puts its tools into the first request; otherwise the model would have to search for them.
pub fn mcp_config(server: &McpServerCommand) -> String {
    let config = json!({
        "mcpServers": {
            MCP_SERVER_NAME: {
                "type": "stdio",
                "command": server.program.to_string_lossy(),
                "args": server.args(),
                "alwaysLoad": true,
            }
        }
    });
    let mut text = format!("{config:#}");
    text.push('\n');
    text
}
