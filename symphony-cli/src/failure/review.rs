//! What to type when something is not reviewed or published.

use symphony_core::pull_request::{PrState, PullRequestOf};
use symphony_store::ReviewRefusal;

/// Says how something that was refused about a review can go on.
pub(super) fn review_hint(error: &ReviewRefusal) -> Option<String> {
    match error {
        ReviewRefusal::Ended {
            pr,
            of: PullRequestOf::Plan(_),
            state: PrState::Rejected | PrState::Closed,
            ..
        } => Some(format!(
            "`symphony pr approve {pr} --force --comment TEXT` overrides that"
        )),
        ReviewRefusal::Proposal { pr, of } => Some(format!(
            "`symphony done approve {}` confirms it",
            of.reference(*pr)
        )),
        _ => None,
    }
}
