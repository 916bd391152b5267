//! Records a merge that was made outside Symphony.

use symphony_core::outside::FoundMerge;
use symphony_core::pull_request::PullRequestOf;
use symphony_store::{Context, Store};
use symphony_workspace::Failpoint;

use super::effects::Effects;
use super::observed::Observed;
use crate::error::RunnerError;
use crate::step_event::{MergeStepEvent, StepEvent};

/// Records a merge that was found, and removes the worktree if no run is live in it.
pub(super) fn record_merge(
    store: &mut Store,
    effects: &mut impl Effects,
    observed: &Observed,
    merge: &FoundMerge,
) -> Result<Option<StepEvent>, RunnerError> {
    let now = effects.now();
    if !store.record_outside_merge(&Context::system(now), merge)? {
        return Ok(None);
    }
    Failpoint::OutsideMergeRecorded.reach();
    let recorded = |worktree| {
        let by = merge.merge.by.clone();
        Ok(Some(StepEvent::Merge {
            of: merge.of.clone(),
            pr: merge.pr,
            base: merge.base.clone(),
            event: MergeStepEvent::Outside { by, worktree },
        }))
    };
    // The branches and worktrees of a plan are removed later in this tick.
    let PullRequestOf::Issue(issue) = &merge.of else {
        return recorded(None);
    };
    let at_work = observed
        .snapshot
        .live
        .iter()
        .any(|run| run.issue.as_ref() == Some(issue));
    let Some((project, Some(config))) = observed.projects.get(&merge.project) else {
        return recorded(None);
    };
    if at_work {
        return recorded(None);
    }
    // Best effort: the next tick tries again.
    let removed = effects.remove_worktree(store, project, config, issue);
    recorded(Some(removed.unwrap_or_else(|error| {
        format!("its worktree was not removed: {error}")
    })))
}
