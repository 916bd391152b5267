//! Proposals that nothing is left to do: confirmed by the tick if that is configured, returned if the base has moved.

use super::reason::Reason;
use super::schedule::{Action, Schedule};
use super::snapshot::{GatesState, ReviewCandidate, ReviewSubject, Snapshot};
use crate::done::{Obstacle, StaleLook, StaleProposal};
use crate::id::IssueId;

/// Returns the confirmation of a proposal that `auto_done` leaves to Symphony, or what has to look at it again before
/// anyone can confirm it; `None` if a person decides, or something is still missing.
pub(super) fn confirm_or_refresh(review: &ReviewCandidate, snapshot: &Snapshot) -> Option<Action> {
    let ReviewSubject::Done {
        pr,
        obstacles,
        base: Some(base),
    } = &review.subject
    else {
        return None;
    };
    let issue = review.of.issue()?;
    let view = snapshot.projects.get(&review.project)?;
    let is_ready = view.broken.is_none()
        && view.no_base.is_none()
        && !snapshot.paused
        && snapshot.run_on(issue).is_none();
    if !is_ready {
        return None;
    }
    if obstacles.is_empty() {
        return view.auto_done.then(|| Action::ConfirmDone {
            issue: issue.clone(),
            project: review.project.clone(),
            pr: *pr,
            base: base.clone(),
        });
    }
    let what = what_is_stale(review, obstacles, view.judge_enabled)?;
    Some(Action::RefreshProposal(StaleProposal {
        project: review.project.clone(),
        issue: issue.clone(),
        pr: *pr,
        what,
    }))
}

/// Returns what looks at a proposal again. Gates run after the judge has decided, or if no judge will: on a base that
/// keeps moving, a judge would otherwise wait for gates for ever.
fn what_is_stale(
    review: &ReviewCandidate,
    obstacles: &[Obstacle],
    judge_enabled: bool,
) -> Option<StaleLook> {
    if obstacles.contains(&Obstacle::ChangedSinceVerdict) && judge_enabled {
        return Some(StaleLook::Verdict);
    }
    let has_run = matches!(review.gates, GatesState::Verified | GatesState::Red);
    let is_stale = obstacles.iter().any(Obstacle::asks_for_gates);
    (has_run && is_stale && (review.has_verdict || !judge_enabled)).then_some(StaleLook::Gates)
}

/// Returns the proposals whose base has moved in a way that concerns them to their workers; returns their issues. What
/// a run is working on waits for its end: the tick after it looks again.
pub(super) fn return_proposals<'a>(
    snapshot: &'a Snapshot,
    schedule: &mut Schedule,
) -> Vec<&'a IssueId> {
    let mut issues = Vec::new();
    for moved in &snapshot.base.moved {
        if snapshot.run_on(&moved.issue).is_some() {
            continue;
        }
        let why = moved.why.clone();
        schedule.wait_issue(moved.issue.clone(), vec![Reason::DoneMoved { why }]);
        schedule.actions.push(Action::ReturnProposal(moved.clone()));
        issues.push(&moved.issue);
    }
    issues
}
