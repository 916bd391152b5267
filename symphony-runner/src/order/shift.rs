//! Moving an issue to another status.

use symphony_core::id::IssueId;
use symphony_core::issue::{Issue, IssueStatus, Review, allowed_moves, human_move};
use symphony_core::pull_request::{PrState, PullRequest};
use symphony_store::{Context, StoreError};

use crate::cancel::end_run_of;
use crate::error::RunnerError;
use crate::session::Session;

/// What a move did.
#[derive(Debug, Clone)]
pub struct Shifted {
    /// The issue, as it is now.
    pub issue: Issue,
    /// The pull request that was open and is closed now.
    pub closed: Option<PullRequest>,
}

/// Moves an issue that is not cancelled by it, after a live run on it was ended.
///
/// # Errors
/// When there is no such issue, or the move is not allowed.
pub fn shift_issue(
    session: &mut Session,
    context: &Context,
    id: &IssueId,
    to: IssueStatus,
) -> Result<Shifted, RunnerError> {
    let open = session.store.open_pr(id)?;
    let issue = carry_out(session, context, id, to)?;
    let closed = match open {
        Some(pr) => Some(session.store.pr(pr.id)?).filter(|pr| pr.state == PrState::Closed),
        None => None,
    };
    Ok(Shifted { issue, closed })
}

fn carry_out(
    session: &mut Session,
    context: &Context,
    id: &IssueId,
    to: IssueStatus,
) -> Result<Issue, RunnerError> {
    let store = &mut session.store;
    let issue = store.issue(id)?;
    let review = if store.has_open_review(id)? {
        Review::Open
    } else {
        Review::None
    };
    let could = allowed_moves(&issue.state, review).contains(&to);
    // a move that is refused must not cost the run that is at work
    let issue = if could && end_run_of(&session.installation, store, context, id)?.is_some() {
        store.issue(id)?
    } else {
        issue
    };
    if could && issue.state.status() == to {
        // the end of its run brought it there
        return Ok(issue);
    }
    let event = human_move(&issue.state, to, review).map_err(|source| StoreError::Transition {
        id: id.to_string(),
        source,
    })?;
    Ok(store.move_issue(context, id, &event)?)
}
