//! Ends runs of other hosts: one whose host was lost, and one that no host has begun.

use symphony_core::id::RunId;
use symphony_core::placement::{Host, Pool};
use symphony_core::run::Run;
use symphony_core::tick::Unwanted;
use symphony_store::{Context, Store};
use symphony_workspace::Failpoint;

use super::effects::Effects;
use super::observed::Observed;
use crate::error::RunnerError;
use crate::placement::control::is_control;
use crate::placement::{Saved, UnattendedEnd, end_unattended, limits_of_view};
use crate::step_event::{RunStepEvent, StepEvent};

/// Takes a run away from its lost host, and ends it without its worktree. `None` when its host came back meanwhile. A run that a tick took out
/// of its pool, and died before it ended it, had no host to lose.
pub(super) fn end_lost(
    store: &mut Store,
    effects: &mut impl Effects,
    observed: &Observed,
    id: &RunId,
    host: &Host,
) -> Result<Option<StepEvent>, RunnerError> {
    let mut run = store.run(id)?;
    let control = effects.control();
    if !run.status.is_live() {
        return Ok(None);
    }
    // One that is a control's already was taken back, or out of its pool, by a control that died before it ended it.
    let was_withdrawn = run.host.as_ref().is_some_and(is_control) && store.is_withdrawn(id)?;
    if run.host.as_ref() != Some(&control) {
        match store.take_back(id, run.fence, &control, effects.lease())? {
            Some(raised) => run.fence = raised,
            None => return Ok(None),
        }
    }
    if let Some(pool) = run.pool.clone().filter(|_| was_withdrawn) {
        return end_withdrawn(store, effects, observed, &run, (pool, None)).map(Some);
    }
    Failpoint::LostTakenBack.reach();
    let project = store.project(&run.project)?;
    let saved = match effects.saved_work(&project, &run) {
        Ok(None) => Saved::Nothing,
        Ok(Some(reference)) => Saved::At(reference),
        // The issue does not wait for a hub that is away: what is there stays there.
        Err(error) => {
            tracing::warn!(%error, run = %run.id, "what the lost host had saved was not fetched");
            Saved::Unknown
        }
    };
    let end = UnattendedEnd::HostLost(host.clone(), saved);
    finish(store, effects, observed, &run, &end)?;
    Ok(Some(StepEvent::Run(
        id.clone(),
        RunStepEvent::HostLost(host.clone()),
    )))
}

/// Takes a run out of its pool and ends it. `None` when a worker was faster.
pub(super) fn withdraw(
    store: &mut Store,
    effects: &mut impl Effects,
    observed: &Observed,
    id: &RunId,
    (pool, why): (&Pool, Unwanted),
) -> Result<Option<StepEvent>, RunnerError> {
    let control = effects.control();
    if !effects.placement().withdraw(store, id, &control)? {
        return Ok(None);
    }
    Failpoint::RunWithdrawn.reach();
    let run = store.run(id)?;
    end_withdrawn(store, effects, observed, &run, (pool.clone(), Some(why))).map(Some)
}

fn end_withdrawn(
    store: &mut Store,
    effects: &mut impl Effects,
    observed: &Observed,
    run: &Run,
    (pool, why): (Pool, Option<Unwanted>),
) -> Result<StepEvent, RunnerError> {
    let end = UnattendedEnd::Withdrawn(why);
    finish(store, effects, observed, run, &end)?;
    Ok(StepEvent::Run(
        run.id.clone(),
        RunStepEvent::Withdrawn(pool, why),
    ))
}

fn finish(
    store: &mut Store,
    effects: &mut impl Effects,
    observed: &Observed,
    run: &Run,
    end: &UnattendedEnd,
) -> Result<(), RunnerError> {
    let view = observed.snapshot.projects.get(&run.project);
    let Some(view) = view else {
        return Err(RunnerError::refused("its project is gone"));
    };
    let context = Context::system(effects.now());
    end_unattended(store, &context, run, end, limits_of_view(view))?;
    Ok(())
}
