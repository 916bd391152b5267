//! Pull requests: opened by a worker, judged by a judge.

use serde_json::json;
use symphony_core::pull_request::{PrState, PullRequest, PullRequestOf, ReportedGate, VerdictKind};
use symphony_core::wording::counted;
use symphony_store::{NewVerdict, Store};

use super::own_issue;
use super::point::{changes, require_answers};
use crate::answer::{Answer, ToolError};
use crate::committable::Nested;
use crate::criteria::{read_checklist, read_criteria};
use crate::identity::{Identity, ReviewTarget, Verdicts};
use crate::params::{ApprovePr, CreatePr, RejectPr};
use crate::pull_request_source::read_change;

/// Gates that one call may report: more than any project has.
const REPORTED_GATES_MAX: usize = 50;

/// `create_pr`
pub(super) fn create_pr(
    store: &mut Store,
    identity: &Identity,
    params: CreatePr,
) -> Result<Answer, ToolError> {
    let issue = own_issue(identity)?.clone();
    require_answers(store, identity)?;
    let checklist = read_checklist(store, identity, params.checklist)?;
    if params.gate_results.len() > REPORTED_GATES_MAX {
        return Err(ToolError::new(format!(
            "gate_results has more than {REPORTED_GATES_MAX} items"
        )));
    }
    let workspace = identity.workspace.as_ref().ok_or_else(|| {
        ToolError::new(format!(
            "{issue} has no worktree, so there is nothing to open a pull request from"
        ))
    })?;
    let nested = Nested::from_parameter(params.absorb);
    let mut new = read_change(&issue, workspace, nested)?;
    new.title = params.title;
    new.body = params.body;
    new.checklist = checklist;
    new.reported_gates = params
        .gate_results
        .into_iter()
        .map(|gate| ReportedGate {
            name: gate.name,
            passed: gate.passed,
            output: gate.output,
        })
        .collect();
    let approach = params
        .approach
        .as_deref()
        .filter(|text| !text.trim().is_empty());
    let pr = store.create_pr_with_approach(&identity.context(), &new, approach)?;
    let (insertions, deletions) = pr.totals();
    let message = format!(
        "opened pull request {} for {issue}: {}, +{insertions} -{deletions}, head {}. The issue is in review; \
         Symphony runs the gates when this run ends. You are done: end your turn.",
        pr.id,
        counted(pr.files.len() as u64, "file"),
        pr.head_commit
    );
    Ok(Answer::new(message).with(
        "pull_request",
        json!({ "id": pr.id, "head_commit": pr.head_commit, "files": pr.files, "checklist": pr.checklist }),
    ))
}

/// Returns the pull request under review and the commit that a verdict is about.
pub(super) fn reviewed(
    store: &Store,
    identity: &Identity,
) -> Result<(PullRequest, String), ToolError> {
    if identity.verdicts == Verdicts::Refused {
        return Err(ToolError::new(Verdicts::REFUSAL));
    }
    match &identity.review {
        Some(ReviewTarget::PullRequest { pr, commit, .. }) => Ok((store.pr(*pr)?, commit.clone())),
        _ if identity.actor.is_human() => {
            let issue = own_issue(identity)?;
            let pr = store
                .open_pr(issue)?
                .ok_or_else(|| ToolError::new(format!("{issue} has no open pull request")))?;
            let head = pr.head_commit.clone();
            Ok((pr, head))
        }
        _ => Err(ToolError::new("this run reviews no pull request")),
    }
}

/// The same for the tools that decide on a change.
fn change(store: &Store, identity: &Identity) -> Result<(PullRequest, String), ToolError> {
    let (found, commit) = reviewed(store, identity)?;
    if found.proposal.is_some() {
        return Err(ToolError::new(format!(
            "{} is a proposal that nothing is left to do: `approve_done` and `reject_done` decide on it",
            found.id
        )));
    }
    Ok((found, commit))
}

/// `approve_pr`
pub(super) fn approve(
    store: &mut Store,
    identity: &Identity,
    params: ApprovePr,
) -> Result<Answer, ToolError> {
    let (pr, commit) = change(store, identity)?;
    let verdict = NewVerdict {
        force: false,
        kind: VerdictKind::Approved,
        points: changes(&params.points, || read_criteria(store, identity))?,
        comment: params.comment.unwrap_or_default(),
        commit: commit.clone(),
    };
    let pr = store.record_review(&identity.context(), pr.id, &verdict)?;
    let message = if pr.state == PrState::Approved {
        format!(
            "approved pull request {} at commit {commit}; a person merges it",
            pr.id
        )
    } else {
        format!(
            "recorded your approval of pull request {} at commit {commit}: it takes effect when the person whose review points are open has \
             closed them",
            pr.id
        )
    };
    Ok(Answer::new(message).with("state", json!(pr.state)))
}

/// `reject_pr`
pub(super) fn reject(
    store: &mut Store,
    identity: &Identity,
    params: RejectPr,
) -> Result<Answer, ToolError> {
    let (pr, commit) = change(store, identity)?;
    let verdict = NewVerdict {
        force: false,
        kind: VerdictKind::Rejected,
        points: changes(&params.points, || read_criteria(store, identity))?,
        comment: params.feedback.unwrap_or_default(),
        commit,
    };
    let pr = store.record_review(&identity.context(), pr.id, &verdict)?;
    let next = match &pr.of {
        PullRequestOf::Issue(issue) => {
            format!("{issue} goes back to a worker with every open point")
        }
        PullRequestOf::Plan(plan) => {
            format!("a person reads your points and decides how plan {plan} goes on")
        }
    };
    let message = format!("rejected pull request {}; {next}", pr.id);
    Ok(Answer::new(message).with("state", json!(pr.state)))
}
