//! The tools: one function each, from typed arguments to an answer, in one transaction of the store.

mod done;
mod health;
mod issue;
mod learning;
mod note;
mod phase;
mod plan;
mod point;
mod project;
mod review;
mod status;
mod subtask;
mod typed;

use rmcp::model::JsonObject;
use symphony_core::hand_in::RefusedCall;
use symphony_core::id::IssueId;
use symphony_core::issue::Issue;
use symphony_core::tools::{Role, StatusPermission, Tool};
use symphony_store::Store;

use self::typed::typed;
use crate::answer::{Answer, ToolError};
use crate::identity::Identity;

/// Carries out one call. A refusal of the tool that the run is for is kept with the run: its end names it, and runs that are
/// refused over and over are seen by it.
pub(crate) fn call(
    store: &mut Store,
    identity: &Identity,
    tool: Tool,
    arguments: JsonObject,
) -> Result<Answer, ToolError> {
    let answer = carry_out(store, identity, tool, arguments);
    if let Err(error) = &answer
        && identity.role.hands_in_with(tool)
    {
        let refused = RefusedCall::new(tool, error.kind, &error.text);
        store.record_refused_call(&identity.context(), &refused)?;
    }
    answer
}

fn carry_out(
    store: &mut Store,
    identity: &Identity,
    tool: Tool,
    arguments: JsonObject,
) -> Result<Answer, ToolError> {
    match tool {
        Tool::CompletePhase if identity.role == Role::PlanWorker => {
            plan::complete_phase(store, identity, typed(arguments)?)
        }
        Tool::GetIssue => issue::get(store, identity, &typed(arguments)?),
        Tool::ListIssues => issue::list(store, identity, &typed(arguments)?),
        Tool::UpdateIssueStatus if sorts(identity.role) => {
            status::triage(store, identity, typed(arguments)?)
        }
        Tool::UpdateIssueStatus => status::update(store, identity, &typed(arguments)?),
        Tool::CreateIssue => issue::create(store, identity, typed(arguments)?),
        Tool::CreateSubtask => subtask::create(store, identity, typed(arguments)?),
        Tool::AddFinding => note::add_finding(store, identity, typed(arguments)?),
        Tool::AddComment => note::add_comment(store, identity, &typed(arguments)?),
        Tool::AddLearning => learning::add(store, identity, typed(arguments)?),
        Tool::SearchLearnings => learning::search(store, identity, &typed(arguments)?),
        Tool::CreatePr => review::create_pr(store, identity, typed(arguments)?),
        Tool::ProposeDone => done::propose(store, identity, typed(arguments)?),
        Tool::ApproveDone => done::approve(store, identity, typed(arguments)?),
        Tool::RejectDone => done::reject(store, identity, typed(arguments)?),
        Tool::AnswerReviewPoint => point::answer(store, identity, typed(arguments)?),
        Tool::ApprovePr => review::approve(store, identity, typed(arguments)?),
        Tool::RejectPr => review::reject(store, identity, typed(arguments)?),
        Tool::RecordCoverage => health::record_coverage(store, identity, typed(arguments)?),
        Tool::RecordTestHealth => health::record_test_health(store, identity, typed(arguments)?),
        Tool::CompletePhase => phase::complete(store, identity, typed(arguments)?),
        Tool::ApprovePhase => phase::approve(store, identity, typed(arguments)?),
        Tool::RejectPhase => phase::reject(store, identity, typed(arguments)?),
        Tool::ConfigureProject => project::configure(store, identity, typed(arguments)?),
    }
}

/// Says whether a role sorts issues with `update_issue_status`, instead of only moving its own.
pub(crate) fn sorts(role: Role) -> bool {
    role == Role::Human || role.status_permission() == Some(StatusPermission::Triage)
}

/// Returns the issue that a call is about: the session's own, or another one of the same project.
fn target(store: &Store, identity: &Identity, named: Option<&str>) -> Result<Issue, ToolError> {
    let id = match (named, &identity.issue) {
        (Some(text), _) => {
            IssueId::parse(text).map_err(|error| ToolError::new(error.to_string()))?
        }
        (None, Some(own)) => own.clone(),
        (None, None) => {
            return Err(ToolError::new(
                "this run has no issue of its own: name one with `issue`",
            ));
        }
    };
    let issue = store.issue(&id)?;
    if issue.project != identity.project {
        return Err(ToolError::new(format!("{id} belongs to another project")));
    }
    Ok(issue)
}

/// Returns the session's own issue.
fn own_issue(identity: &Identity) -> Result<&IssueId, ToolError> {
    identity
        .issue
        .as_ref()
        .ok_or_else(|| ToolError::new("this run has no issue of its own"))
}
