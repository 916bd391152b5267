//! Issues: added and edited.

use symphony_core::contract::Delivery;
use symphony_core::gates::{GateRepair, repaired_gates};
use symphony_core::id::{IssueId, PhaseName};
use symphony_core::issue::{Issue, phase_of};
use symphony_core::pull_request::PullRequest;
use symphony_store::{Context, IssueEdit, NewIssue, SupersededReview};

use super::OrderRefusal;
use crate::cancel::end_run_of;
use crate::database::note_mark;
use crate::error::RunnerError;
use crate::repository::keep_head;
use crate::session::Session;

/// What an edit did.
#[derive(Debug, Clone)]
pub struct Edited {
    /// The issue, as it is now.
    pub issue: Issue,
    /// The review that ended because the issue is in another phase now.
    pub ended: Option<EndedReview>,
}

/// A review that ended with the phase it was of.
#[derive(Debug, Clone)]
pub enum EndedReview {
    /// A delivery, which is superseded.
    Delivery(Box<Delivery>),
    /// A pull request, which is closed.
    PullRequest {
        /// The pull request.
        pr: Box<PullRequest>,
        /// The ref that keeps its commits.
        kept: String,
    },
}

/// Adds an issue.
///
/// # Errors
/// When a field is wrong, or a label names a gate that it cannot repair.
pub fn add_issue(
    session: &mut Session,
    context: &Context,
    new: &NewIssue,
) -> Result<Issue, RunnerError> {
    check_repairs(session, &new.labels)?;
    let issue = session.store.add_issue(context, new)?;
    note_mark(&session.installation, &mut session.store);
    Ok(issue)
}

/// Returns the phase that an issue's label names, where its project has no contract for it: no agent starts on the issue then.
/// Prompts that cannot be read are reported elsewhere, and say nothing here.
pub fn unknown_phase(session: &Session, issue: &Issue) -> Option<PhaseName> {
    let phase = issue.phase()?;
    let project = session.store.project(&issue.project).ok()?;
    let config = session.installation.project_config(&project).ok()?;
    let library = session.installation.library(&config).ok()?;
    library.pipeline.get(&phase).is_none().then_some(phase)
}

/// Returns why the provider that is set on an issue cannot be used; `None` if it can, or none is set. A configuration that
/// cannot be read is reported elsewhere, and says nothing here.
pub fn unusable_choice(session: &Session, issue: &Issue) -> Option<String> {
    let provider = issue.choice.provider.as_deref()?;
    let project = session.store.project(&issue.project).ok()?;
    let config = session.installation.project_config(&project).ok()?;
    let used = session
        .installation
        .usable_named_provider(&config, provider);
    used.err()
}

/// Edits an issue.
///
/// # Errors
/// When there is no such issue, a field is wrong, or a new label names a gate that it cannot repair.
pub fn edit_issue(
    session: &mut Session,
    context: &Context,
    id: &IssueId,
    edit: &IssueEdit,
) -> Result<Edited, RunnerError> {
    let old = session.store.issue(id)?.labels;
    let ended = match &edit.labels {
        None => None,
        Some(labels) => {
            let mut added = labels.clone();
            added.retain(|label| !old.contains(label));
            check_repairs(session, &added)?;
            end_review(session, context, id, labels)?
        }
    };
    let issue = session.store.edit_issue(context, id, edit)?;
    Ok(Edited { issue, ended })
}

/// Prepares what is open for review for its end, when the labels take the issue to another phase: a run on the issue is ended first, as
/// when a pull request is closed, and the commits of a pull request are kept whatever the next agent does to the branch.
fn end_review(
    session: &mut Session,
    context: &Context,
    id: &IssueId,
    labels: &[String],
) -> Result<Option<EndedReview>, RunnerError> {
    let phase = phase_of(labels);
    if session.store.superseded_by(id, phase.as_ref())?.is_none() {
        return Ok(None);
    }
    end_run_of(&session.installation, &mut session.store, context, id)?;
    Ok(match session.store.superseded_by(id, phase.as_ref())? {
        None => None,
        Some(SupersededReview::Delivery(delivery)) => Some(EndedReview::Delivery(delivery)),
        Some(SupersededReview::PullRequest(pr)) => {
            let project = session.store.project(&pr.project)?;
            let kept = keep_head(&session.installation, &project, &pr)?.to_string();
            Some(EndedReview::PullRequest { pr, kept })
        }
    })
}

/// Refuses labels for the repair of a gate that the project does not have, and of one that another issue is to repair: the same work
/// would be paid for twice.
fn check_repairs(session: &Session, labels: &[String]) -> Result<(), RunnerError> {
    repaired_gates(labels).try_for_each(|gate| check_repair(session, gate))
}

fn check_repair(session: &Session, gate: &str) -> Result<(), RunnerError> {
    let config = session.config()?;
    if !config.gates.iter().any(|known| known.name == gate) {
        return Err(OrderRefusal::NoGate {
            gate: gate.to_owned(),
        }
        .into());
    }
    let repairs = session.store.gate_repairs(&session.project.id)?;
    if let Some(GateRepair { issue, status, .. }) = repairs.iter().find(|r| r.gate == gate) {
        return Err(OrderRefusal::RepairedElsewhere {
            gate: gate.to_owned(),
            issue: issue.clone(),
            status: *status,
        }
        .into());
    }
    Ok(())
}
