//! A tiny MCP server for tests: the issue tools of the recorded streams, on stdio.
//!
//! `mcp_probe` serves; `mcp_probe hang` never answers, to test the limit on its start.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock};
use rmcp::schemars::{self, JsonSchema};
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
struct Issue {
    issue_id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Comment {
    issue_id: String,
    body: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Variable {
    name: String,
}

#[derive(Debug, Clone)]
struct Probe;

#[tool_router]
impl Probe {
    /// Returns the issue as a text.
    #[tool]
    fn get_issue(Parameters(issue): Parameters<Issue>) -> CallToolResult {
        let text = serde_json::json!({"issue": {
            "id": issue.issue_id, "title": "Fix the frobnicator", "state": "open", "labels": ["bug", "p1"],
        }});
        CallToolResult::success(vec![ContentBlock::text(format!("{text:#}"))])
    }

    /// Takes a comment; the answer is structured.
    #[tool]
    fn add_comment(Parameters(comment): Parameters<Comment>) -> CallToolResult {
        CallToolResult::structured(serde_json::json!({
            "ok": true, "comment_id": 7, "issue": comment.issue_id, "body": comment.body,
        }))
    }

    /// Returns a variable of the server's environment.
    #[tool]
    fn variable(Parameters(variable): Parameters<Variable>) -> CallToolResult {
        let value = std::env::var(variable.name).unwrap_or_else(|_| "unset".to_owned());
        CallToolResult::success(vec![ContentBlock::text(value)])
    }

    /// Fails.
    #[tool]
    fn fail() -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text("this tool always fails")])
    }
}

#[tool_handler(router = Self::tool_router())]
impl ServerHandler for Probe {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().nth(1).as_deref() == Some("hang") {
        std::future::pending::<()>().await;
    }
    let service = Probe.serve(rmcp::transport::stdio()).await?;
    service.waiting().await?;
    Ok(())
}
