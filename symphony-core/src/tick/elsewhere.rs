//! Runs of other hosts: nothing is known of them but their beats, so the control ends those only that are lost, and those that no host has.

use super::live_run::LiveRun;
use super::schedule::{Action, Unwanted};
use super::snapshot::Snapshot;
use crate::placement::{Liveness, Pool, Whereabouts};

/// Returns the actions that end runs of other hosts. A silent run keeps its issue: its own host may still come back and save its work.
pub(super) fn end_elsewhere(snapshot: &Snapshot) -> impl Iterator<Item = Action> {
    snapshot.live.iter().filter_map(|live| {
        let (run, issue) = (live.run.clone(), live.issue.clone());
        match &live.whereabouts {
            Whereabouts::Begun {
                host,
                liveness: Liveness::Lost,
                ..
            } => Some(Action::EndLost {
                run,
                issue,
                host: host.clone(),
            }),
            Whereabouts::Queued { pool, .. } => {
                unwanted(live, pool, snapshot).map(|why| Action::Withdraw {
                    run,
                    issue,
                    pool: pool.clone(),
                    why,
                })
            }
            _ => None,
        }
    })
}

/// Returns why a run waits in vain; `None` when it may begin. Whatever else its project is doing, a worker may begin it at any moment; during
/// a pause none does, and nobody should have to wait for its end.
fn unwanted(live: &LiveRun, pool: &Pool, snapshot: &Snapshot) -> Option<Unwanted> {
    let project = snapshot.projects.get(&live.project);
    let has_moved =
        project.is_some_and(|view| view.broken.is_none() && view.pool.as_ref() != Some(pool));
    if live.cancelled {
        Some(Unwanted::Cancelled)
    } else if has_moved {
        Some(Unwanted::Moved)
    } else {
        snapshot.paused.then_some(Unwanted::Paused)
    }
}
