//! The MCP servers of a run, as an agent's CLI has them: started from its MCP configuration, each a process.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock};
use rmcp::service::{RoleClient, RunningService};
use serde::Deserialize;
use serde_json::Value;
use tokio::process::{Child, Command};

use crate::answer::Answer;
use crate::error::ScriptError;

/// How long a server may take to end once its stdin is closed.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Debug, Deserialize)]
struct McpConfig {
    #[serde(rename = "mcpServers", default)]
    servers: BTreeMap<String, ServerConfig>,
}

#[derive(Debug, Deserialize)]
struct ServerConfig {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// The servers of a run; without a connection where one did not come up.
#[derive(Default)]
pub(crate) struct McpClients {
    servers: Vec<(String, Option<Connection>)>,
}

struct Connection {
    service: RunningService<RoleClient, ()>,
    child: Child,
    tools: Vec<String>,
}

impl McpClients {
    /// Starts the servers of a configuration. One that fails to come up does not end the run, as with the real CLI.
    pub(crate) async fn connect(
        config: &Path,
        cwd: &Path,
        timeout: Duration,
    ) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(config).map_err(|source| ScriptError::File {
            path: config.to_owned(),
            source,
        })?;
        let config: McpConfig =
            serde_json::from_str(&text).map_err(|error| ScriptError::Scenario {
                path: config.to_owned(),
                what: format!("not an MCP configuration: {error}"),
            })?;
        let mut servers = Vec::new();
        for (name, server) in config.servers {
            let connection = tokio::time::timeout(timeout, start(&server, cwd))
                .await
                .ok()
                .flatten();
            servers.push((name, connection));
        }
        Ok(Self { servers })
    }

    /// Returns the servers with their status.
    pub(crate) fn status(&self) -> Vec<(String, &'static str)> {
        self.servers
            .iter()
            .map(|(name, connection)| {
                let status = if connection.is_some() {
                    "connected"
                } else {
                    "failed"
                };
                (name.clone(), status)
            })
            .collect()
    }

    /// Returns the names of all tools, as a model sees them.
    pub(crate) fn tool_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (server, connection) in &self.servers {
            for tool in connection.iter().flat_map(|connection| &connection.tools) {
                names.push(format!("mcp__{server}__{tool}"));
            }
        }
        names
    }

    /// Calls a tool by the name a model uses; none when no server has it.
    pub(crate) async fn call(&self, name: &str, input: &Value) -> Option<Answer> {
        let (connection, tool) = self.servers.iter().find_map(|(server, connection)| {
            let tool = name.strip_prefix("mcp__")?.strip_prefix(server.as_str())?;
            Some((connection.as_ref()?, tool.strip_prefix("__")?))
        })?;
        let mut request = CallToolRequestParams::new(tool.to_owned());
        request.arguments = input.as_object().cloned();
        Some(match connection.service.call_tool(request).await {
            Ok(result) => answer(&result),
            Err(error) => Answer::error(format!("Error executing tool {tool}: {error}")),
        })
    }

    /// Ends the servers: their stdin closes, and who does not leave is killed.
    pub(crate) async fn close(self) {
        for (_, connection) in self.servers {
            if let Some(mut connection) = connection {
                drop(connection.service.cancel().await);
                let left = tokio::time::timeout(SHUTDOWN_TIMEOUT, connection.child.wait()).await;
                if left.is_err() {
                    drop(connection.child.kill().await);
                }
            }
        }
    }
}

/// Starts one server in the agent's process group, with the agent's environment and working directory, as the Claude CLI
/// does. Its stderr is the agent's.
async fn start(server: &ServerConfig, cwd: &Path) -> Option<Connection> {
    let mut child = Command::new(&server.command)
        .args(&server.args)
        .envs(&server.env)
        .current_dir(cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .ok()?;
    let transport = (child.stdout.take()?, child.stdin.take()?);
    let service = ().serve(transport).await.ok()?;
    let tools = service.list_all_tools().await.ok()?;
    Some(Connection {
        service,
        child,
        tools: tools
            .into_iter()
            .map(|tool| tool.name.into_owned())
            .collect(),
    })
}

/// Turns a result into what the model gets: the structured content where there is one, else the texts.
fn answer(result: &CallToolResult) -> Answer {
    let text = if let Some(structured) = &result.structured_content {
        structured.to_string()
    } else {
        let texts: Vec<&str> = result
            .content
            .iter()
            .filter_map(|block| match block {
                ContentBlock::Text(text) => Some(text.text.as_str()),
                _ => None,
            })
            .collect();
        texts.join("\n")
    };
    Answer {
        text,
        is_error: result.is_error == Some(true),
    }
}
