//! Runs of other hosts: nothing is known of them but their beats, so the control ends those only that are lost, and those that no host has.

use super::live_run::LiveRun;
use super::schedule::Action;
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
            Whereabouts::Queued { pool, .. } if is_unwanted(live, pool, snapshot) => {
                Some(Action::Withdraw {
                    run,
                    issue,
                    pool: pool.clone(),
                })
            }
            _ => None,
        }
    })
}

/// Returns whether a run waits in vain: someone asked for its end, or its project has another pool by now. Whatever else its project is
/// doing, a worker may begin it at any moment.
fn is_unwanted(live: &LiveRun, pool: &Pool, snapshot: &Snapshot) -> bool {
    let project = snapshot.projects.get(&live.project);
    let has_moved =
        project.is_some_and(|view| view.broken.is_none() && view.pool.as_ref() != Some(pool));
    live.cancelled || has_moved
}
