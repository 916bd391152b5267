//! Proposals that nothing is left to do: made by a worker, judged by a judge.

use serde_json::json;
use symphony_core::done::{NewEvidence, check_count};
use symphony_core::hand_in::RefusalKind;
use symphony_core::pull_request::{PullRequest, VerdictKind};
use symphony_core::wording::counted;
use symphony_store::{NewVerdict, Store};
use symphony_workspace::Failpoint;

use super::own_issue;
use super::point::{changes, require_answers};
use super::review::reviewed;
use crate::answer::{Answer, ToolError};
use crate::criteria::read_criteria;
use crate::done_source::read_proposal;
use crate::identity::Identity;
use crate::params::{ApproveDone, EvidenceParam, ProposeDone, RejectDone};

impl From<EvidenceParam> for NewEvidence {
    fn from(param: EvidenceParam) -> Self {
        Self {
            kind: param.kind.0,
            reference: param.reference.trim().to_owned(),
            note: param.note,
        }
    }
}

/// `propose_done`
pub(super) fn propose(
    store: &mut Store,
    identity: &Identity,
    params: ProposeDone,
) -> Result<Answer, ToolError> {
    let issue = own_issue(identity)?.clone();
    require_answers(store, identity)?;
    check_count(params.evidence.len())
        .map_err(|why| ToolError::of_kind(RefusalKind::Evidence, why))?;
    let workspace = identity.workspace.as_ref().ok_or_else(|| {
        ToolError::new(format!(
            "{issue} has no worktree: its base cannot be looked at"
        ))
    })?;
    let evidence: Vec<NewEvidence> = params.evidence.into_iter().map(NewEvidence::from).collect();
    let new = read_proposal(store, (&issue, workspace), params.reason, &evidence)?;
    let proposal = store.propose_done(&identity.context(), &new)?;
    Failpoint::DoneProposed.reach();
    let message = format!(
        "recorded proposal {} that nothing is left to do on {issue}, with {} on commit {}. The issue is in review: Symphony \
         runs the gates on that commit when this run ends, and a judge checks what you say. You are done: end your turn.",
        proposal.id,
        counted(new.evidence.len() as u64, "piece") + " of evidence",
        proposal.head_commit
    );
    Ok(Answer::new(message).with(
        "proposal",
        json!({ "id": proposal.id, "base_commit": proposal.head_commit, "evidence": new.evidence }),
    ))
}

/// Returns the proposal under review and the commit that a verdict is about.
fn proposal(store: &Store, identity: &Identity) -> Result<(PullRequest, String), ToolError> {
    let (found, commit) = reviewed(store, identity)?;
    if found.proposal.is_none() {
        return Err(ToolError::new(format!(
            "pull request {} is a change: `approve_pr` and `reject_pr` decide on it",
            found.id
        )));
    }
    Ok((found, commit))
}

/// `approve_done`
pub(super) fn approve(
    store: &mut Store,
    identity: &Identity,
    params: ApproveDone,
) -> Result<Answer, ToolError> {
    let (found, commit) = proposal(store, identity)?;
    let verdict = NewVerdict {
        force: false,
        kind: VerdictKind::Approved,
        points: changes(&params.points, || read_criteria(store, identity))?,
        comment: params.comment.unwrap_or_default(),
        commit: commit.clone(),
    };
    let found = store.record_review(&identity.context(), found.id, &verdict)?;
    Failpoint::DoneJudged.reach();
    let message = format!(
        "approved proposal {} on commit {commit}: nothing is left to do. It is confirmed by a person, or by Symphony where the \
         project says so",
        found.id
    );
    Ok(Answer::new(message).with("state", json!(found.state)))
}

/// `reject_done`
pub(super) fn reject(
    store: &mut Store,
    identity: &Identity,
    params: RejectDone,
) -> Result<Answer, ToolError> {
    let (found, commit) = proposal(store, identity)?;
    let verdict = NewVerdict {
        force: false,
        kind: VerdictKind::Rejected,
        points: changes(&params.points, || read_criteria(store, identity))?,
        comment: params.feedback.unwrap_or_default(),
        commit,
    };
    let found = store.record_review(&identity.context(), found.id, &verdict)?;
    Failpoint::DoneJudged.reach();
    let message = format!(
        "rejected proposal {}; its issue goes back to a worker with every open point",
        found.id
    );
    Ok(Answer::new(message).with("state", json!(found.state)))
}
