//! What follows from a base branch that moved: merges are recorded, unexplained commits are reported.

use super::reason::Reason;
use super::schedule::{Action, Schedule};
use super::snapshot::Snapshot;
use crate::agent::AgentType;
use crate::outside::{BaseNotice, FoundMerge, unexplained};

/// Records merges that were made outside, and reports what a person has to look at. The look is recorded last: if the
/// process dies before, the next tick looks at the same commits again, and each record is made once.
pub(super) fn notice_outside(snapshot: &Snapshot, schedule: &mut Schedule) {
    let base = &snapshot.base;
    for merge in &base.merges {
        if agent_at_work(snapshot, merge) {
            schedule
                .actions
                .push(Action::NoteBase(BaseNotice::of_live_agent(merge)));
            let run = snapshot
                .run_on_source(&merge.of)
                .map(super::LiveRun::reason);
            schedule.wait_review(&merge.of, merge.pr, run.into_iter().collect());
        } else {
            schedule.actions.push(Action::RecordMerge(merge.clone()));
            let base = merge.base.clone();
            schedule.wait_review(&merge.of, merge.pr, vec![Reason::MergedOutside { base }]);
        }
    }
    for found in &base.commits {
        if let Some(kind) = unexplained(found, &base.merges) {
            schedule
                .actions
                .push(Action::NoteBase(BaseNotice::of_commits(found, kind)));
        }
    }
    for conflict in &base.conflicts {
        schedule.actions.push(Action::NoteBase(conflict.clone()));
    }
    for rewound in &base.rewound {
        schedule.actions.push(Action::NoteBase(rewound.clone()));
    }
    for look in &base.looks {
        schedule.actions.push(Action::RememberBase(look.clone()));
    }
}

/// Returns whether the agent that writes the branch is running. It may have moved the base itself, so that no one
/// decided anything. Judges and gates only read.
fn agent_at_work(snapshot: &Snapshot, merge: &FoundMerge) -> bool {
    let run = snapshot.run_on_source(&merge.of);
    run.is_some_and(|run| !matches!(run.agent, AgentType::Judge | AgentType::Gates))
}
