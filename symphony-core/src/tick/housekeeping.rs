//! What a tick does to issues without starting a run: next phases, ended sub-tasks, worktrees that are no longer
//! needed.

use super::holds::no_base;
use super::live_run::{LiveRun, LockState};
use super::reason::Reason;
use super::schedule::{Action, Decision, Schedule};
use super::snapshot::{CleanUp, Leftover, LeftoverOwner, Snapshot, SubtasksOutcome};
use crate::Timestamp;
use crate::id::IssueId;
use crate::retry::after;
use crate::watchdog::Watch;

/// How long a run without a lock file is left alone: its maker may be about to create one, which takes milliseconds.
pub const LEFTOVER_GRACE_MS: u64 = 60_000;

/// Returns the actions that follow from the looks at supervisors: suspicions are kept, stuck supervisors are ended. A
/// run whose lock is free has no supervisor to look at.
pub fn watch_supervisors(snapshot: &Snapshot) -> impl Iterator<Item = Action> {
    let held = |run: &&LiveRun| run.lock == LockState::Held;
    snapshot.live.iter().filter(held).filter_map(|live| {
        let (run, issue) = (live.run.clone(), live.issue.clone());
        match snapshot.watched.get(&run)?.clone() {
            Watch::InTime => None,
            Watch::Suspect(suspicion) => Some(Action::Suspect {
                run,
                issue,
                suspicion,
            }),
            Watch::Stuck(stuck) => Some(Action::EndStuck { run, issue, stuck }),
        }
    })
}

/// Moves issues to their next phase, but never while a run is live on them: its exit handling does it then.
pub(super) fn advance_phases(snapshot: &Snapshot, schedule: &mut Schedule) {
    for accepted in &snapshot.accepted {
        let issue = accepted.issue.clone();
        match running(snapshot, &issue) {
            None => schedule.actions.push(Action::AdvancePhase { issue }),
            Some(reason) => schedule.decisions.push(Decision {
                issue,
                reasons: vec![reason],
            }),
        }
    }
}

/// Moves issues back to `todo` whose sub-tasks have ended, at least one of them successfully. While their planner is
/// running, it may be about to create the next one.
pub(super) fn unblock(snapshot: &Snapshot, schedule: &mut Schedule) {
    for split in &snapshot.split {
        let issue = split.issue.clone();
        let reason = match (running(snapshot, &issue), split.outcome) {
            (Some(reason), _) => reason,
            (None, SubtasksOutcome::AllCancelled) => Reason::SubtasksCancelled,
            (None, SubtasksOutcome::SomeDone) => {
                schedule.actions.push(Action::Unblock { issue });
                continue;
            }
        };
        schedule.decisions.push(Decision {
            issue,
            reasons: vec![reason],
        });
    }
}

/// Removes worktrees of issues that have ended, except those that a run still works in, and none while it is unknown
/// how much of their work the base branch has. A failed removal is retried when it is due.
pub(super) fn clean_up(snapshot: &Snapshot, now: Timestamp, schedule: &mut Schedule) {
    let is_due = |clean_up: &&CleanUp| {
        let put_off = clean_up.put_off.as_ref();
        put_off.is_none_or(|put_off| put_off.is_due(now))
    };
    for clean_up in snapshot.clean_ups.iter().filter(is_due) {
        let (issue, project) = (clean_up.issue.clone(), clean_up.project.clone());
        let held = || snapshot.projects.get(&project).and_then(no_base);
        match running(snapshot, &issue).or_else(held) {
            None => schedule.actions.push(Action::CleanUp { issue, project }),
            Some(reason) => schedule.decisions.push(Decision {
                issue,
                reasons: vec![reason],
            }),
        }
    }
}

/// Tidies the files of runs that no one will return to: the prompts of a run whose supervisor died after its end was
/// recorded, the folder of a run that was never claimed.
pub(super) fn tidy(snapshot: &Snapshot, now: Timestamp, schedule: &mut Schedule) {
    for leftover in snapshot.leftovers.iter().filter(|left| is_over(left, now)) {
        let (run, project) = (leftover.run.clone(), leftover.project.clone());
        schedule.actions.push(Action::TidyRun {
            run,
            project,
            owner: leftover.owner,
        });
    }
}

/// Returns whether no one works on a run that left something. A run is locked before it is claimed, and the lock is
/// held until its files are tidied.
pub fn is_over(leftover: &Leftover, now: Timestamp) -> bool {
    match (leftover.lock, leftover.owner) {
        (LockState::Held, _) => false,
        (LockState::Missing, LeftoverOwner::Unclaimed) => {
            after(leftover.since, LEFTOVER_GRACE_MS) <= now || leftover.since > now
        }
        (LockState::Free | LockState::Missing, _) => true,
    }
}

/// Returns the run that works on an issue, as a reason to leave it alone.
fn running(snapshot: &Snapshot, issue: &IssueId) -> Option<Reason> {
    snapshot.run_on(issue).map(LiveRun::reason)
}
