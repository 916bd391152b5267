//! Confirming a proposal that nothing is left to do.

use symphony_core::issue::check_text;
use symphony_core::pull_request::PullRequest;
use symphony_store::{Context, PrStep, StoreError};

use super::OrderRefusal;
use super::verdict::end_work_on;
use crate::confirm::{Confirmation, confirm_done};
use crate::error::RunnerError;
use crate::network::NetworkLog;
use crate::session::Session;

/// Confirms a proposal, after the judge or the gates at work on it were ended. A comment that is not blank is kept with the issue.
/// What its gates reach for is added to `network`.
///
/// # Errors
/// When it has ended, or it is a change.
pub fn confirm_proposal(
    session: &mut Session,
    context: &Context,
    found: &PullRequest,
    comment: Option<&str>,
    stop: &dyn Fn() -> bool,
    network: &NetworkLog,
) -> Result<Confirmation, RunnerError> {
    if let Some(comment) = comment {
        check_text("comment", comment).map_err(StoreError::from)?;
    }
    let proposal = end_work_on(session, context, found, PrStep::Confirm)?;
    let Some(issue) = proposal.of.issue().filter(|_| proposal.proposal.is_some()) else {
        return Err(OrderRefusal::OtherSubject { pr: proposal.id }.into());
    };
    let done = confirm_done(
        &session.installation,
        &mut session.store,
        context,
        proposal.id,
        stop,
        network,
    )?;
    let comment = comment.filter(|comment| !comment.trim().is_empty());
    if let (Confirmation::Confirmed { .. }, Some(comment)) = (&done, comment) {
        session.store.add_comment(context, issue, comment)?;
    }
    Ok(done)
}
