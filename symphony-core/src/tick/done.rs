//! Proposals that nothing is left to do: confirmed by the tick where that is configured, returned where the base moved under them.

use super::plan::{Action, Plan};
use super::reason::Reason;
use super::snapshot::{ReviewCandidate, ReviewSubject, Snapshot};
use crate::id::IssueId;

/// Returns the confirmation of a proposal that `auto_done` leaves to Symphony; none where a person confirms it, or something is
/// still to come.
pub(super) fn confirm(review: &ReviewCandidate, snapshot: &Snapshot) -> Option<Action> {
    let ReviewSubject::Done {
        pr,
        is_confirmable: true,
    } = &review.subject
    else {
        return None;
    };
    let issue = review.of.issue()?;
    let view = snapshot.projects.get(&review.project)?;
    let is_ready = view.auto_done
        && view.broken.is_none()
        && view.no_base.is_none()
        && !snapshot.paused
        && snapshot.run_on(issue).is_none();
    is_ready.then(|| Action::ConfirmDone {
        issue: issue.clone(),
        project: review.project.clone(),
        pr: *pr,
    })
}

/// Sends the proposals back whose base has moved in a way that concerns them, and returns their issues. What a run is at work on
/// waits for its end: the tick after it looks again.
pub(super) fn return_proposals<'a>(snapshot: &'a Snapshot, plan: &mut Plan) -> Vec<&'a IssueId> {
    let mut issues = Vec::new();
    for moved in &snapshot.base.moved {
        if snapshot.run_on(&moved.issue).is_some() {
            continue;
        }
        let why = moved.why.clone();
        plan.wait_issue(moved.issue.clone(), vec![Reason::DoneMoved { why }]);
        plan.actions.push(Action::ReturnProposal(moved.clone()));
        issues.push(&moved.issue);
    }
    issues
}
