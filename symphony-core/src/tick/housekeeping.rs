//! What a tick does to issues without starting a run: next phases, ended sub-tasks, worktrees that are no longer needed.

use super::plan::{Action, Decision, Plan};
use super::reason::Reason;
use super::snapshot::{Snapshot, SubtasksOutcome};
use crate::id::IssueId;

/// Takes issues to their next phase, but never while a run is live on them: its exit handling does it then.
pub(super) fn advance_phases(snapshot: &Snapshot, plan: &mut Plan) {
    for accepted in &snapshot.accepted {
        let issue = accepted.issue.clone();
        match running(snapshot, &issue) {
            None => plan.actions.push(Action::AdvancePhase { issue }),
            Some(reason) => plan.decisions.push(Decision {
                issue,
                reasons: vec![reason],
            }),
        }
    }
}

/// Puts issues back to `todo` whose sub-tasks have ended, at least one of them well. While their planner is at work it
/// may be about to make the next one.
pub(super) fn unblock(snapshot: &Snapshot, plan: &mut Plan) {
    for split in &snapshot.split {
        let issue = split.issue.clone();
        let reason = match (running(snapshot, &issue), split.outcome) {
            (Some(reason), _) => reason,
            (None, SubtasksOutcome::AllCancelled) => Reason::SubtasksCancelled,
            (None, SubtasksOutcome::SomeDone) => {
                plan.actions.push(Action::Unblock { issue });
                continue;
            }
        };
        plan.decisions.push(Decision {
            issue,
            reasons: vec![reason],
        });
    }
}

/// Removes worktrees of issues that have ended, but none that a run still works in.
pub(super) fn clean_up(snapshot: &Snapshot, plan: &mut Plan) {
    for clean_up in &snapshot.clean_ups {
        let (issue, project) = (clean_up.issue.clone(), clean_up.project.clone());
        match running(snapshot, &issue) {
            None => plan.actions.push(Action::CleanUp { issue, project }),
            Some(reason) => plan.decisions.push(Decision {
                issue,
                reasons: vec![reason],
            }),
        }
    }
}

/// Returns the run at work on an issue, as a reason to leave it alone.
fn running(snapshot: &Snapshot, issue: &IssueId) -> Option<Reason> {
    snapshot
        .live
        .iter()
        .find(|run| run.issue.as_ref() == Some(issue))
        .map(|live| Reason::Running {
            run: live.run.clone(),
        })
}
