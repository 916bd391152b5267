//! Trying an issue again.

use symphony_core::id::IssueId;
use symphony_core::issue::{Issue, IssueStatus, Review, human_move};
use symphony_store::{Context, Store, StoreError};

use super::OrderRefusal;
use crate::error::RunnerError;

/// Puts an issue into `todo` that waits in the backlog or is blocked, and resets its count of attempts.
///
/// # Errors
/// When there is no such issue, or it has ended: taking that up again is a move, which says so.
pub fn retry_issue(
    store: &mut Store,
    context: &Context,
    id: &IssueId,
) -> Result<Issue, RunnerError> {
    let issue = store.issue(id)?;
    let status = issue.state.status();
    if status.is_terminal() {
        return Err(OrderRefusal::Ended {
            issue: issue.id,
            status,
        }
        .into());
    }
    if matches!(status, IssueStatus::Backlog | IssueStatus::Blocked) {
        let event =
            human_move(&issue.state, IssueStatus::Todo, Review::None).map_err(|source| {
                StoreError::Transition {
                    id: issue.id.to_string(),
                    source,
                }
            })?;
        store.move_issue(context, id, &event)?;
    }
    Ok(store.clear_counts(context, id)?)
}
