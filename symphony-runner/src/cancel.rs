//! Ends a live run because a human asks for it. Its exit handling finishes before anything else is done to its issue.

use std::time::{Duration, Instant};

use symphony_core::id::{IssueId, RunId};
use symphony_core::placement::Host;
use symphony_core::pull_request::PullRequestOf;
use symphony_core::run::Run;
use symphony_core::tick::{LockState, Unwanted};
use symphony_store::{Context, Project, RunFilter, Store};
use symphony_workspace::Failpoint;

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::paths::RunPaths;
use crate::placement::{UnattendedEnd, control_host, end_unattended, limits_of, placement_of};
use crate::process::{end_supervisors, lock_state};
use crate::watchdog::finish_dead;

/// How long to wait for the end of a run: a supervisor polls once per pulse, gives its agent ten seconds, and commits.
const END_WAIT_MAX: Duration = Duration::from_mins(1);
/// Polling interval.
const LOOK: Duration = Duration::from_millis(100);

/// How long a supervisor may take to respond before a person's `--force` kills it: its pulse, the agent's grace period,
/// and a few seconds.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(15);

/// As [`END_WAIT_MAX`], for a run of another host, which hears of it with the answer to its next beat.
const ELSEWHERE_WAIT_MAX: Duration = Duration::from_secs(90);

/// Ends the live run of an issue, if there is one, as [`end_if_live`] does.
///
/// # Errors
/// As [`end_if_live`].
pub fn end_run_of(
    installation: &Installation,
    store: &mut Store,
    context: &Context,
    issue: &IssueId,
) -> Result<Option<Run>, RunnerError> {
    end_run_on(
        installation,
        store,
        context,
        &PullRequestOf::from(issue.clone()),
    )
}

/// Ends the live run on what a pull request finishes, if there is one, as [`end_if_live`] does.
///
/// # Errors
/// As [`end_if_live`].
pub fn end_run_on(
    installation: &Installation,
    store: &mut Store,
    context: &Context,
    of: &PullRequestOf,
) -> Result<Option<Run>, RunnerError> {
    let live = store.runs(&live_on(of))?.into_iter().next();
    live.map(|run| end_if_live(installation, store, context, &run.id))
        .transpose()
}

/// Ends the judge's run on what a pull request finishes, if there is one, as [`end_if_live`] does. Its gates go on.
///
/// # Errors
/// As [`end_if_live`].
pub fn end_judge_on(
    installation: &Installation,
    store: &mut Store,
    context: &Context,
    of: &PullRequestOf,
) -> Result<Option<Run>, RunnerError> {
    let live = store.runs(&live_on(of))?.into_iter().next();
    live.filter(|run| run.target.is_review())
        .map(|run| end_if_live(installation, store, context, &run.id))
        .transpose()
}

/// Returns the live run on an issue, if there is one.
///
/// # Errors
/// When the database cannot be read.
pub fn live_run_of(store: &Store, issue: &IssueId) -> Result<Option<Run>, RunnerError> {
    let of = PullRequestOf::from(issue.clone());
    Ok(store.runs(&live_on(&of))?.into_iter().next())
}

/// Returns the live run on an issue if its supervisor is dead: no one holds its lock. Until its exit handling is done, the run
/// looks like one at work.
///
/// # Errors
/// When the database or the lock cannot be read.
pub fn dead_run_of(store: &Store, issue: &IssueId) -> Result<Option<Run>, RunnerError> {
    let Some(run) = live_run_of(store, issue)? else {
        return Ok(None);
    };
    if run.pool.is_some() {
        return Ok(None);
    }
    let project = store.project(&run.project)?;
    let lock = RunPaths::new(&project.root, &run.id).lock();
    Ok((lock_state(&lock)? == LockState::Free).then_some(run))
}

/// Does the exit handling of the live run on an issue if its supervisor is dead, as the next tick would, and waits for it.
///
/// # Errors
/// When a process of the run survives, or the exit handling does not end within a minute: the next tick tries again.
pub fn finish_dead_run_of(
    installation: &Installation,
    store: &Store,
    issue: &IssueId,
) -> Result<(), RunnerError> {
    let Some(run) = dead_run_of(store, issue)? else {
        return Ok(());
    };
    let project = store.project(&run.project)?;
    finish_now(installation, store, &project, &run).map(drop)
}

/// Selects the live run on what a pull request finishes.
pub(crate) fn live_on(of: &PullRequestOf) -> RunFilter {
    RunFilter {
        issue: of.issue().cloned(),
        plan: of.plan().cloned(),
        live_only: true,
        limit: Some(1),
        ..RunFilter::default()
    }
}

/// Ends a run as [`end_run`] does. A run that ended on its own in the meantime is no error: the caller wants it over.
///
/// # Errors
/// When its exit handling does not end within a minute.
pub fn end_if_live(
    installation: &Installation,
    store: &mut Store,
    context: &Context,
    id: &RunId,
) -> Result<Run, RunnerError> {
    match end_run(installation, store, context, id) {
        Err(error) => {
            let run = store.run(id)?;
            if run.status.is_live() {
                Err(error)
            } else {
                Ok(run)
            }
        }
        ended => ended,
    }
}

/// Ends a live run and waits for its exit handling. Exit handling that was postponed, or whose supervisor died, is done
/// at once instead of being left to a tick.
///
/// # Errors
/// When the run is over already, or its exit handling does not end within a minute.
pub fn end_run(
    installation: &Installation,
    store: &mut Store,
    context: &Context,
    id: &RunId,
) -> Result<Run, RunnerError> {
    let (run, project) = request(store, context, id)?;
    if run.pool.is_some() {
        return end_elsewhere(installation, store, context, &run);
    }
    match wait_for_end(store, &run, END_WAIT_MAX)? {
        Some(ended) if !ended.status.is_live() => Ok(ended),
        Some(_) => finish_now(installation, store, &project, &run),
        None => Err(RunnerError::StillAlive {
            run: id.clone(),
            seconds: END_WAIT_MAX.as_secs(),
        }),
    }
}

/// Ends a live run even if its supervisor does not respond: the supervisor is killed, its processes are ended, and a
/// new supervisor does the exit handling, which is waited for.
///
/// # Errors
/// When the run is over already, a process survives, or the exit handling takes longer than a minute.
pub fn force_end_run(
    installation: &Installation,
    store: &mut Store,
    context: &Context,
    id: &RunId,
) -> Result<Run, RunnerError> {
    let (run, project) = request(store, context, id)?;
    if run.pool.is_some() {
        return end_elsewhere(installation, store, context, &run);
    }
    let answered = wait_for_end(store, &run, ANSWER_WAIT_MAX)?;
    if let Some(ended) = answered.as_ref().filter(|run| !run.status.is_live()) {
        return Ok(ended.clone());
    }
    let paths = RunPaths::new(&project.root, id);
    if answered.is_none() {
        end_supervisors(id, &paths.lock())?;
        Failpoint::WatchdogKilled.reach();
    }
    finish_now(installation, store, &project, &run)
}

/// Ends a run of a pool: one that no worker has begun is taken out of it, and ended here; otherwise its host is asked with the answer to its next
/// beat, and waited for. Only ticks end a run whose host is lost.
fn end_elsewhere(
    installation: &Installation,
    store: &mut Store,
    context: &Context,
    run: &Run,
) -> Result<Run, RunnerError> {
    let placement = placement_of(installation);
    if placement.withdraw(store, &run.id, &control_host())? {
        let run = store.run(&run.id)?;
        let project = store.project(&run.project)?;
        let limits = limits_of(installation.project_config(&project).ok().as_ref());
        let end = UnattendedEnd::Withdrawn(Some(Unwanted::Cancelled));
        return Ok(end_unattended(store, context, &run, &end, limits)?.run);
    }
    let begun = Instant::now();
    loop {
        let now = store.run(&run.id)?;
        if !now.status.is_live() {
            return Ok(now);
        }
        if begun.elapsed() > ELSEWHERE_WAIT_MAX {
            let host = now.host.as_ref().map_or("its worker", Host::as_str);
            return Err(RunnerError::refused(format!(
                "run {} is on {host}, which has not ended it within {} s: the host has been asked to, and a tick ends the run if the host does not come back",
                run.id,
                ELSEWHERE_WAIT_MAX.as_secs()
            )));
        }
        std::thread::sleep(LOOK);
    }
}

/// Does the exit handling of a run whose lock no one holds, and waits for it.
fn finish_now(
    installation: &Installation,
    store: &Store,
    project: &Project,
    run: &Run,
) -> Result<Run, RunnerError> {
    // A tick may have started a supervisor first: then we wait for that one.
    let _supervisor = finish_dead(installation, project, run)?;
    match wait_for_end(store, run, END_WAIT_MAX)? {
        Some(run) if !run.status.is_live() => Ok(run),
        Some(_) => Err(RunnerError::refused(format!(
            "the exit handling of run {} did not finish: the next tick tries again",
            run.id
        ))),
        None => Err(RunnerError::StillAlive {
            run: run.id.clone(),
            seconds: END_WAIT_MAX.as_secs(),
        }),
    }
}

/// Records that a person wants the run to end.
fn request(
    store: &mut Store,
    context: &Context,
    id: &RunId,
) -> Result<(Run, Project), RunnerError> {
    let run = store.request_cancel(context, id)?;
    Failpoint::CancelRequested.reach();
    let project = store.project(&run.project)?;
    Ok((run, project))
}

/// Waits until the run's lock is free and returns the run as it is then; `None` if that takes too long.
fn wait_for_end(store: &Store, run: &Run, max: Duration) -> Result<Option<Run>, RunnerError> {
    let project = store.project(&run.project)?;
    let lock = RunPaths::new(&project.root, &run.id).lock();
    let begun = Instant::now();
    // The supervisor holds the lock until the run's files are tidied: its recorded end would be too early.
    while lock_state(&lock)? == LockState::Held {
        if begun.elapsed() > max {
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    }
    Ok(Some(store.run(&run.id)?))
}
