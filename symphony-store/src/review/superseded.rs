//! What happens when a label changes the phase of an issue: a review of the previous phase ends.

use symphony_core::contract::Delivery;
use symphony_core::id::{IssueId, PhaseName};
use symphony_core::issue::{Issue, IssueEvent, IssueStatus};
use symphony_core::pull_request::{PrState, PullRequest};

use crate::database::context::Context;
use crate::database::open::Store;
use crate::db::Transaction;
use crate::error::StoreError;
use crate::issue::cascade::move_in;
use crate::issue::note::add_comment_in;
use crate::issue::query::load_issue;
use crate::review::delivery_query::load_open_delivery;
use crate::review::end::end_review;
use crate::review::pull_request_query::load_open_pr;
use crate::review::refusal::{ReviewRefusal, phase_words};
use crate::review::state::reject_delivery;

/// An open review that ends when its issue is in another phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SupersededReview {
    /// A pull request: the work of the phase `ready`, or of an issue without a phase.
    PullRequest(Box<PullRequest>),
    /// The delivery of a phase.
    Delivery(Box<Delivery>),
}

impl Store {
    /// Returns the review of an issue that would end if the issue were in another phase. `phase` is `None` for an issue
    /// without a phase label.
    ///
    /// # Errors
    /// When the issue does not exist.
    pub fn superseded_by(
        &self,
        id: &IssueId,
        phase: Option<&PhaseName>,
    ) -> Result<Option<SupersededReview>, StoreError> {
        load_issue(&self.conn, id)?;
        superseded(&self.conn, id, phase)
    }
}

fn superseded(
    conn: &crate::db::Connection,
    id: &IssueId,
    phase: Option<&PhaseName>,
) -> Result<Option<SupersededReview>, StoreError> {
    let delivery = load_open_delivery(conn, id)?.filter(|delivery| phase != Some(&delivery.phase));
    if let Some(delivery) = delivery {
        return Ok(Some(SupersededReview::Delivery(Box::new(delivery))));
    }
    if phase.is_none_or(PhaseName::is_ready) {
        return Ok(None);
    }
    let pr = load_open_pr(conn, id)?;
    Ok(pr.map(|pr| SupersededReview::PullRequest(Box::new(pr))))
}

/// Ends the open reviews of phases that the issue is no longer in: an agent may have left a delivery and a pull request.
pub(crate) fn end_superseded(
    tx: &Transaction<'_>,
    context: &Context,
    id: &IssueId,
) -> Result<(), StoreError> {
    loop {
        let issue = load_issue(tx, id)?;
        match superseded(tx, id, issue.phase().as_ref())? {
            None => return Ok(()),
            Some(SupersededReview::Delivery(delivery)) => {
                let reason = format!(
                    "superseded: the issue {} now",
                    phase_words(issue.phase().as_ref())
                );
                reject_delivery(tx, context, id, delivery.id, &reason)?;
                if issue.state.status() == IssueStatus::Review {
                    move_in(tx, context, id, &IssueEvent::ReviewRejected)?;
                }
            }
            Some(SupersededReview::PullRequest(pr)) => {
                end_review(tx, context, &pr, PrState::Closed)?;
                let comment = format!(
                    "Pull request {} is closed: the issue {} now. Its commits stay on the branch `{}`.",
                    pr.id,
                    phase_words(issue.phase().as_ref()),
                    pr.branch
                );
                add_comment_in(tx, &Context::system(context.now), id, &comment)?;
            }
        }
    }
}

/// Refuses a pull request of an issue whose phase has another deliverable.
pub(crate) fn refuse_superseded_pr(issue: &Issue) -> Result<(), StoreError> {
    let phase = issue.phase();
    if phase.as_ref().is_none_or(PhaseName::is_ready) {
        return Ok(());
    }
    let issue = issue.id.clone();
    Err(ReviewRefusal::PrSuperseded { issue, phase }.into())
}
