//! The end of a review in which the change is not accepted.

use symphony_core::issue::{IssueEvent, IssueStatus};
use symphony_core::pull_request::{PrState, PullRequest, PullRequestOf};

use crate::database::context::Context;
use crate::db::Transaction;
use crate::error::StoreError;
use crate::issue::cascade::move_in;
use crate::issue::query::load_issue;
use crate::plan::review_end::reject_plan_review;
use crate::review::state::set_pr_state;

/// Ends a review without accepting the change: sets the state of the pull request, and moves the issue back to `todo`
/// or makes the plan wait for a person.
pub(crate) fn end_review(
    tx: &Transaction<'_>,
    context: &Context,
    pr: &PullRequest,
    state: PrState,
) -> Result<(), StoreError> {
    set_pr_state(tx, context, &pr.of, pr.id, state)?;
    match &pr.of {
        PullRequestOf::Issue(issue) => {
            if load_issue(tx, issue)?.state.status() == IssueStatus::Review {
                move_in(tx, context, issue, &IssueEvent::ReviewRejected)?;
            }
            Ok(())
        }
        PullRequestOf::Plan(plan) => reject_plan_review(tx, context, plan, pr.id),
    }
}
