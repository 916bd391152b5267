//! The tools as MCP lists them: names, descriptions, schemas.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as McpTool};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use symphony_core::tools::{Tool, ToolSet};

use crate::params;

/// The tools that the service carries out.
pub const IMPLEMENTED: ToolSet = ToolSet::of(&[
    Tool::GetIssue,
    Tool::ListIssues,
    Tool::UpdateIssueStatus,
    Tool::CreateIssue,
    Tool::AddFinding,
    Tool::AddLearning,
    Tool::AddComment,
    Tool::SearchLearnings,
    Tool::CreatePr,
    Tool::ApprovePr,
    Tool::RejectPr,
]);

/// Returns the names of the tools of a set, in the order of the catalogue.
pub fn tool_names(tools: ToolSet) -> Vec<&'static str> {
    tools.iter().map(Tool::name).collect()
}

/// Renders the tools of a set; done once a session.
pub(crate) fn render(tools: ToolSet) -> Vec<McpTool> {
    tools.intersection(IMPLEMENTED).iter().map(describe).collect()
}

fn describe(tool: Tool) -> McpTool {
    let (description, schema) = match tool {
        Tool::GetIssue => (
            "Returns the issue with its comments, findings, dependencies, sub-tasks and pull request.",
            schema::<params::GetIssue>(),
        ),
        Tool::ListIssues => (
            "Lists issues of the project by status, label or text, page by page.",
            schema::<params::ListIssues>(),
        ),
        Tool::UpdateIssueStatus => (
            "Moves the issue you work on: `todo` gives it back, `blocked` asks for a human. Say why.",
            schema::<params::UpdateIssueStatus>(),
        ),
        Tool::CreateIssue => (
            "Files a new issue in the backlog. Refused when an open issue has the same title; at most 20 a run.",
            schema::<params::CreateIssue>(),
        ),
        Tool::AddFinding => (
            "Adds a structured finding to the issue you work on: what the next reader must know.",
            schema::<params::AddFinding>(),
        ),
        Tool::AddLearning => (
            "Records something that helps with other issues of this project too.",
            schema::<params::AddLearning>(),
        ),
        Tool::AddComment => (
            "Adds a comment to the issue you work on, or to another one of the project.",
            schema::<params::AddComment>(),
        ),
        Tool::SearchLearnings => (
            "Searches what was learned on other issues, best match first.",
            schema::<params::SearchLearnings>(),
        ),
        Tool::CreatePr => (
            "Opens the pull request for the issue you work on, from what is committed; the issue goes to review. \
             Refused when nothing is committed or the worktree has uncommitted changes: commit first. \
             Symphony runs the gates itself afterwards.",
            schema::<params::CreatePr>(),
        ),
        Tool::ApprovePr => (
            "Approves the pull request you review, on the commit you were shown.",
            schema::<params::ApprovePr>(),
        ),
        Tool::RejectPr => (
            "Rejects the pull request you review; the feedback goes to the next worker.",
            schema::<params::RejectPr>(),
        ),
        Tool::CreateSubtask
        | Tool::CompletePhase
        | Tool::ApprovePhase
        | Tool::RejectPhase
        | Tool::RecordCoverage
        | Tool::RecordTestHealth
        | Tool::ConfigureProject => ("", JsonObject::new()),
    };
    McpTool::new(tool.name(), description, Arc::new(schema))
}

/// Makes a schema without references and without Rust's number formats, which some clients do not know.
fn schema<T: JsonSchema>() -> JsonObject {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(|schema: &mut Schema| {
        schema.remove("format");
    })
    .transform(&mut schema);
    schema.remove("$schema");
    schema.remove("title");
    match schema.to_value() {
        serde_json::Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}
