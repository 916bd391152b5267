//! The tools as MCP lists them: names, descriptions, schemas.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as McpTool};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use symphony_core::issue::IssueStatus;
use symphony_core::tools::{Role, Tool, ToolSet};

use crate::params;
use crate::tools::sorts;

/// Renders the tools of a set, as a role has them; done once a session.
pub(crate) fn render(tools: ToolSet, role: Role) -> Vec<McpTool> {
    let described = |tool| match (tool, role) {
        (Tool::CompletePhase, Role::PlanWorker) => complete_plan_phase(),
        _ => describe(tool, role),
    };
    tools.iter().map(described).collect()
}

/// `complete_phase` as it is in the run of a plan's phase.
fn complete_plan_phase() -> McpTool {
    McpTool::new(
        Tool::CompletePhase.name(),
        "Ends your phase of the plan: `complete` if all success criteria are met, otherwise `failed` with the exact message \
         of what failed. `artifacts` tell later phases what they need to know. Call it once, as the last thing you do. Refused \
         while a `must` point of a review has no answer and no other phase is left to give it.",
        Arc::new(schema::<params::CompletePlanPhase>()),
    )
}

fn describe(tool: Tool, role: Role) -> McpTool {
    let (description, schema) = match tool {
        Tool::GetIssue => (
            "Returns an issue with its comments, findings, dependencies, sub-tasks, pull request and open review points.",
            schema::<params::GetIssue>(),
        ),
        Tool::ListIssues => (
            "Lists issues of the project by status, label or text, page by page.",
            schema::<params::ListIssues>(),
        ),
        Tool::UpdateIssueStatus if sorts(role) => (
            "Triages the issue: sets its labels, size, priority and phase in one call. The status stays as it is unless you pass one.",
            offering(schema::<params::TriageIssue>(), role),
        ),
        Tool::UpdateIssueStatus if gives_back(role) => (
            "Gives back the issue you work on (`todo`), or asks for a person (`blocked`). Give the reason.",
            offering(schema::<params::UpdateIssueStatus>(), role),
        ),
        Tool::UpdateIssueStatus => (
            "Asks for a person: the issue you work on is `blocked` until someone answers. Give the reason.",
            offering(schema::<params::BlockIssue>(), role),
        ),
        Tool::CreateIssue => (
            "Files a new issue in the backlog. Refused if an open issue has nearly the same title. At most 20 per run.",
            schema::<params::CreateIssue>(),
        ),
        Tool::CreateSubtask => (
            "Creates one sub-task of the issue you split: a piece that one worker can finish and that can be reviewed on \
             its own. 2 to 6 are usual, at most 20 per run. From the first one on, the issue waits until all have ended.",
            schema::<params::CreateSubtask>(),
        ),
        Tool::AddFinding if matches!(role, Role::Scanner | Role::BackgroundResearcher) => (
            "Records a finding about the project as a whole: what people and the next agent need to know.",
            schema::<params::AddFinding>(),
        ),
        Tool::AddFinding => (
            "Records a finding on the issue you work on: what the next reader needs to know.",
            schema::<params::AddFinding>(),
        ),
        Tool::AddLearning => (
            "Records something that will help with other issues of this project too.",
            schema::<params::AddLearning>(),
        ),
        Tool::AddComment => (
            "Adds a comment to the issue you work on, or to another issue of the project.",
            schema::<params::AddComment>(),
        ),
        Tool::SearchLearnings if role.allowed().contains(Tool::RecordCoverage) => (
            "Searches what was learned on other issues; the best match comes first. `read_before` names files that research has read for \
             something like it.",
            schema::<params::SearchLearnings>(),
        ),
        Tool::SearchLearnings => (
            "Searches what was learned on other issues; the best match comes first.",
            schema::<params::SearchLearnings>(),
        ),
        Tool::CreatePr => (
            "Opens the pull request for the issue you work on, from what is committed. The issue goes to review, and \
             Symphony runs the gates. Refused if nothing is committed, if the worktree has uncommitted changes, or while a \
             `must` point of a review has no answer.",
            schema::<params::CreatePr>(),
        ),
        Tool::ProposeDone => (
            "Says that nothing is left to do on the issue you work on: the base meets every requirement already. The issue goes to \
             review without a pull request. Refused while your branch has commits that are not merged, or a `must` point has no \
             answer; each item of evidence is checked at once, and a refusal names what is wrong.",
            schema::<params::ProposeDone>(),
        ),
        Tool::AnswerReviewPoint => (
            "Answers one point of a review of your work: `fixed` with the commit, `declined` with the reason, or `question` \
             if only a person can say what is meant, which blocks the issue until someone replies.",
            schema::<params::AnswerReviewPoint>(),
        ),
        Tool::ApprovePr => (
            "Approves the pull request you review, at the commit you were shown. Close every open `must` point in the same call.",
            schema::<params::ApprovePr>(),
        ),
        Tool::RejectPr => (
            "Rejects the pull request you review. The next worker gets every open point in full and answers each one. Pass one \
             point for each problem; at most 50 can be open.",
            schema::<params::RejectPr>(),
        ),
        Tool::ApproveDone => (
            "Approves the proposal that nothing is left to do: on the commit you were shown, every requirement of the issue is met. \
             Close every open `must` point in the same call.",
            schema::<params::ApproveDone>(),
        ),
        Tool::RejectDone => (
            "Rejects the proposal that nothing is left to do. The next worker gets every open point in full and answers each one. Pass \
             one point for each requirement that is not met; at most 50 can be open.",
            schema::<params::RejectDone>(),
        ),
        Tool::RecordCoverage => (
            "Records that you read a file to learn about a concept. A new record of the same file and concept replaces the earlier one.",
            schema::<params::RecordCoverage>(),
        ),
        Tool::RecordTestHealth => (
            "Records the number of tests and their duration, as the full run reported them. The answer says whether \
             more tests were added than the change explains, or two share a name. Commit first: only what is committed counts as the change.",
            schema::<params::RecordTestHealth>(),
        ),
        Tool::CompletePhase => (
            "Claims that your phase of the issue is delivered. Symphony checks the artifact and the paths you changed at once. \
             A refusal names every reason: fix them and claim again. Refused while a `must` point of a review has no answer. \
             An accepted claim ends your work.",
            schema::<params::CompletePhase>(),
        ),
        Tool::ApprovePhase => (
            "Approves the phase claim you review, at the commit you were shown; the issue goes on to its next phase. Close every \
             open `must` point in the same call.",
            schema::<params::ApprovePhase>(),
        ),
        Tool::RejectPhase => (
            "Rejects the phase claim you review. The phase's next agent gets every open point in full and answers each one. Pass \
             one point for each problem; at most 50 can be open.",
            schema::<params::RejectPhase>(),
        ),
        Tool::ConfigureProject => (
            "Sets the project up: the gates that every change has to pass, sensitive paths, risk thresholds, and instructions \
             for its workers and judges. A refusal names everything that is wrong: correct it and call again.",
            schema::<params::ConfigureProject>(),
        ),
    };
    McpTool::new(tool.name(), description, Arc::new(schema))
}

/// Narrows the statuses of a schema to those that the role may set.
fn offering(mut schema: JsonObject, role: Role) -> JsonObject {
    let names: Vec<&str> = role
        .settable_statuses()
        .iter()
        .map(|status| status.name())
        .collect();
    if let Some(Value::Object(status)) = schema
        .get_mut("properties")
        .and_then(|properties| properties.get_mut("status"))
    {
        status.insert("enum".to_owned(), json!(names));
    }
    schema
}

/// Says whether a role may give its issue back, besides asking for a human.
fn gives_back(role: Role) -> bool {
    role.settable_statuses().contains(&IssueStatus::Todo)
}

/// Makes a schema in the plain form that every client understands: without references, number formats and `null`
/// for what may be left out.
fn schema<T: JsonSchema>() -> JsonObject {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    plain(&mut schema);
    match schema {
        Value::Object(mut object) => {
            object.remove("$schema");
            object.remove("title");
            // the type's documentation is for readers of the source; the tool has its own description
            object.remove("description");
            object
        }
        _ => JsonObject::new(),
    }
}

fn plain(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(plain),
        Value::Object(object) => {
            object.values_mut().for_each(plain);
            object.remove("format");
            without_null(object);
        }
        _ => {}
    }
}

/// Turns "this or null" into "this": an argument that is not wanted is left out.
fn without_null(object: &mut JsonObject) {
    if object.get("default") == Some(&Value::Null) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            object.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(names)) = object.get_mut("enum") {
        names.retain(|name| !name.is_null());
    }
}
