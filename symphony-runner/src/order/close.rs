//! Closing a pull request without merging it.

use symphony_core::pull_request::PullRequest;
use symphony_store::{Context, PrStep};

use super::verdict::end_work_on;
use crate::error::RunnerError;
use crate::plan::show_plan_of;
use crate::session::Session;

/// Closes a pull request, after what is at work on it was ended.
///
/// # Errors
/// When it has ended.
pub fn close_pr(
    session: &mut Session,
    context: &Context,
    found: &PullRequest,
) -> Result<PullRequest, RunnerError> {
    let pr = end_work_on(session, context, found, PrStep::Close)?;
    let closed = session.store.close_pr(context, pr.id)?;
    show_plan_of(&mut session.store, &closed);
    Ok(closed)
}
