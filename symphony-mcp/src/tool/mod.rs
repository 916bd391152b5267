//! The tools. Each is one file with its description for agents, its parameters, and what a call does. Its name and
//! which roles have it are in core, [`Tool`] and [`Role::allowed`].

mod add_comment;
mod add_finding;
mod add_learning;
mod answer_review_point;
mod approve_done;
mod approve_phase;
mod approve_pr;
mod complete_phase;
mod complete_plan_phase;
mod configure_project;
mod create_issue;
mod create_pr;
mod create_subtask;
mod get_issue;
mod list_issues;
mod propose_done;
mod record_coverage;
mod record_test_health;
mod reject_done;
mod reject_phase;
mod reject_pr;
mod search_learnings;
mod triage_issue;
mod update_issue_status;

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as McpTool};
use symphony_core::hand_in::RefusedCall;
use symphony_core::tools::{Role, StatusPermission, Tool, ToolSet};
use symphony_store::Store;

use crate::answer::{Answer, ToolError};
use crate::identity::Identity;
use crate::tool_call::Specification;

/// The one list of all tools: returns the specification of a tool for a role.
fn specification(tool: Tool, role: Role) -> Specification {
    match tool {
        Tool::GetIssue => Specification::of::<get_issue::GetIssue>(),
        Tool::ListIssues => Specification::of::<list_issues::ListIssues>(),
        Tool::UpdateIssueStatus if sorts(role) => Specification::of::<triage_issue::TriageIssue>(),
        Tool::UpdateIssueStatus => Specification::of::<update_issue_status::UpdateIssueStatus>(),
        Tool::CreateIssue => Specification::of::<create_issue::CreateIssue>(),
        Tool::CreateSubtask => Specification::of::<create_subtask::CreateSubtask>(),
        Tool::AddFinding => Specification::of::<add_finding::AddFinding>(),
        Tool::AddLearning => Specification::of::<add_learning::AddLearning>(),
        Tool::AddComment => Specification::of::<add_comment::AddComment>(),
        Tool::SearchLearnings => Specification::of::<search_learnings::SearchLearnings>(),
        Tool::CreatePr => Specification::of::<create_pr::CreatePr>(),
        Tool::ProposeDone => Specification::of::<propose_done::ProposeDone>(),
        Tool::AnswerReviewPoint => Specification::of::<answer_review_point::AnswerReviewPoint>(),
        Tool::ApprovePr => Specification::of::<approve_pr::ApprovePr>(),
        Tool::RejectPr => Specification::of::<reject_pr::RejectPr>(),
        Tool::ApproveDone => Specification::of::<approve_done::ApproveDone>(),
        Tool::RejectDone => Specification::of::<reject_done::RejectDone>(),
        Tool::CompletePhase if role == Role::PlanWorker => {
            Specification::of::<complete_plan_phase::CompletePlanPhase>()
        }
        Tool::CompletePhase => Specification::of::<complete_phase::CompletePhase>(),
        Tool::ApprovePhase => Specification::of::<approve_phase::ApprovePhase>(),
        Tool::RejectPhase => Specification::of::<reject_phase::RejectPhase>(),
        Tool::RecordCoverage => Specification::of::<record_coverage::RecordCoverage>(),
        Tool::RecordTestHealth => Specification::of::<record_test_health::RecordTestHealth>(),
        Tool::ConfigureProject => Specification::of::<configure_project::ConfigureProject>(),
    }
}

/// Returns whether a role sorts issues with `update_issue_status`, instead of only moving its own.
fn sorts(role: Role) -> bool {
    role == Role::Human || role.status_permission() == Some(StatusPermission::Triage)
}

/// Returns the tools of a set as MCP lists them for a role; computed once per session.
pub(crate) fn list(tools: ToolSet, role: Role) -> Vec<McpTool> {
    let listed = |tool: Tool| {
        let specification = specification(tool, role);
        let schema = Arc::new((specification.schema)(role));
        McpTool::new(tool.name(), (specification.description)(role), schema)
    };
    tools.iter().map(listed).collect()
}

/// Carries out one call. If the run exists to call this tool, a refusal is kept with the run: its end names it, and
/// repeated refusals are noticed by it.
pub(crate) fn call(
    store: &mut Store,
    identity: &Identity,
    tool: Tool,
    arguments: JsonObject,
) -> Result<Answer, ToolError> {
    let tool_call = specification(tool, identity.role).carry_out;
    let answer = tool_call(store, identity, arguments);
    if let Err(error) = &answer
        && identity.role.hands_in_with(tool)
    {
        let refused = RefusedCall::new(tool, error.kind, &error.text);
        store.record_refused_call(&identity.context(), &refused)?;
    }
    answer
}
