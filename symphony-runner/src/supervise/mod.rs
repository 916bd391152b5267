//! One run, from its claim to its end, in a separate process (spec: lifecycle, "Supervisor").
//!
//! prepare (worktree, prompts, socket) → agent (stream, limits) → exit handling (sweep, commit, gates, one
//! transaction).
//! A supervisor that dies is followed by another one, which only does the exit handling. Both do it the same way, and
//! doing it twice does no harm.

mod agent;
mod command;
mod documents;
mod exit;
mod finish;
mod holding;
mod hub;
mod interactive;
mod job;
mod launch;
mod messages;
mod not_prepared;
mod outcome;
mod passing;
mod phase_settings;
mod prepare;
mod project_file;
mod prompts;
mod requests;
mod run_log;
mod saving;
mod served;
mod set_up;
mod settle;
mod space;
mod spending;
mod streams;
mod talk;
mod temporary;
mod until_cancelled;
mod watch;

use std::path::PathBuf;

use symphony_core::agent::AgentType;
use symphony_core::id::RunId;
use symphony_core::run::RunError;
use symphony_core::tick::LeftoverOwner;
use symphony_core::watchdog::Step;
use symphony_mcp::StoreThread;
use symphony_store::{Store, StoreError};
use symphony_workspace::Failpoint;

use self::exit::{PendingExit, dead, is_still_held};
use self::holding::{Holding, Release, first_beat, while_held};
use self::not_prepared::not_prepared;
use self::passing::{DISK_WAIT_MAX, when_readable};
use self::watch::status_of;
use crate::error::RunnerError;
use crate::gates::{GatesEnded, clear_dead_checkout, end_of_dead, run_gates_job};
use crate::installation::Installation;
use crate::placement::control::is_control;
use crate::process::{RunLock, Supervision, become_session_leader};
use crate::repository::options;
use crate::runtime::block_on;
use crate::watchdog::StepLog;
use crate::worker::{HandOver, HubPlace, LocalProject, LogSender};

pub use command::TRAMPOLINE_COMMAND;
pub(crate) use command::{CommandCall, CommandOutcome, Company, LiveLog, run_command};
pub(crate) use documents::{DocumentQuery, Documents, criteria_input};
pub(crate) use job::Job;
pub use launch::SuperviseMode;
pub(crate) use launch::{launch_session, launch_supervisor};
pub(crate) use outcome::AgentOutcome;
pub(crate) use phase_settings::phase_of_plan;
pub(crate) use prepare::{KeptSessions, judged_artifact, override_text, protection};
pub(crate) use project_file::{PROMPT_FILE_BYTES_MAX, read_own};
pub(crate) use prompts::{
    Cut, PhasePart, ProjectRequest, PromptRequest, ShownDiff, budgets, build, build_background,
    build_phase, build_wizard, done_review, phase_review, review_input,
};
pub use prompts::{read_vault, submodule_changes};
pub(crate) use set_up::{SetUp, is_due};
pub(crate) use settle::{record_settings, return_to_recorded_head};
pub(crate) use until_cancelled::until_cancelled;

/// Supervises a run: the implementation of the hidden command `symphony supervise`. It takes the run's lock from
/// standard input. A person works with the agent in `terminal`, if there is one.
///
/// # Errors
/// When the run could not be brought to its recorded end. The next tick starts its exit handling again.
pub fn supervise(
    installation: &Installation,
    run: &RunId,
    mode: SuperviseMode,
    terminal: Option<PathBuf>,
) -> Result<(), RunnerError> {
    become_session_leader()?;
    // The run's lock is held meanwhile: it is this process's standard input.
    let (mut store, local) = when_readable(|| {
        let store = installation.require_store()?;
        let local = LocalProject::of_run(installation, &store, run)?;
        Ok((store, local))
    })?;
    let installation = &local.installation;
    let mut job = when_readable(|| {
        let loaded = store.run(run)?;
        Job::load(installation, &mut store, loaded, local.project.clone())
    })?;
    job.terminal = terminal;
    // Held until this process ends: while it is held, ticks leave the run alone.
    let lock = RunLock::adopt_stdin(job.paths.lock())?;
    job.steps = StepLog::of(&lock, installation.config.watchdog.step_timeout_ms);
    job.steps.enter(Step::Start);
    Failpoint::SuperviseStarted.reach();
    let supervision = Supervision::begin()?.with_cgroups(run);
    if job.run.host.is_some()
        && (was_taken_back(&job) || !hold(&mut job, &mut store, local.hub.as_deref())?)
    {
        return give_up(&job);
    }
    let store = StoreThread::new(store);
    let done = block_on(&job.paths.dir, carry_out(&job, &store, &supervision, mode));
    if let Some(holding) = &job.holding {
        holding.end();
    }
    match done? {
        // A step found out before the next beat did.
        Err(RunnerError::Store(StoreError::Superseded { .. })) if job.holding.is_some() => {
            give_up(&job)
        }
        done => done,
    }
}

/// Returns whether the control has taken the run away from this host before this supervisor read its fencing number: with the raised one,
/// its beats would be answered.
fn was_taken_back(job: &Job<'_>) -> bool {
    let host = job.run.host.as_ref();
    job.installation.worker_data().is_some() && host.is_some_and(is_control)
}

/// Begins to hold a run that this host took from a pool; returns whether it is still this host's.
fn hold(job: &mut Job<'_>, store: &mut Store, hub: Option<&str>) -> Result<bool, RunnerError> {
    let (run, fence) = (job.run.id.clone(), job.run.fence);
    let Some(first) = first_beat(|| store.beat(&run, fence))? else {
        return Ok(false);
    };
    let mut own = when_readable(|| job.installation.require_store())?;
    let (lease, beating) = (job.installation.lease(), run.clone());
    let holding = Holding::begin(lease, first, move || own.beat(&beating, fence))
        .map_err(|error| RunnerError::io("start a thread for", &job.paths.dir, error))?;
    job.holding = Some(holding);
    if let Some(hub) = hub {
        let place = HubPlace {
            folder: job.project.root.clone(),
            options: options(&job.config),
            address: hub.to_owned(),
            environment: job.installation.environment.clone(),
        };
        job.hub = Some(HandOver::new(place, run, fence));
    }
    Ok(true)
}

/// Leaves a run that is not this host's any more: whoever has it now ends it. What its agent committed stays on this host.
fn give_up(job: &Job<'_>) -> Result<(), RunnerError> {
    tracing::warn!(run = %job.run.id, "the run was given up: another host ends it, or has ended it");
    job.paths.tidy(LeftoverOwner::Ended)
}

async fn carry_out(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    mode: SuperviseMode,
) -> Result<(), RunnerError> {
    if !job.run.status.is_live() {
        return Ok(());
    }
    let log = job.holding.as_ref().map(|_held| {
        let (run, fence) = (job.run.id.clone(), job.run.fence);
        LogSender::start(job.paths.log(), run, fence, store.clone())
    });
    if job.run.agent == AgentType::Gates {
        let ended = match mode {
            SuperviseMode::Run => {
                match while_held(job.holding.as_ref(), hub::bring_up_to_date(job, store)).await {
                    Ok(Err(error)) => GatesEnded::not_run(&error),
                    // A hold that is over ends the gates before their first command.
                    Ok(Ok(())) | Err(_) => run_gates_job(job, store, supervision).await,
                }
            }
            SuperviseMode::Finish => {
                clear_after_death(job);
                end_of_dead(job, store, dead(job, store).await?).await
            }
        };
        if !is_still_held(job, store).await? {
            return give_up(job);
        }
        send_rest(log).await;
        return finish::finish_gates(job, store, ended).await;
    }
    let outcome = match mode {
        SuperviseMode::Finish => {
            // The dead supervisor may have been running the set-up on the base.
            clear_after_death(job);
            let pending = PendingExit::of_dead_supervisor(job, store).await?;
            send_rest(log).await;
            return finish::finish(job, store, supervision, pending).await;
        }
        SuperviseMode::Run => match Box::pin(while_held(
            job.holding.as_ref(),
            prepare_run(job, store, supervision),
        ))
        .await
        {
            Err(release) => {
                // A set-up command may be at work.
                supervision.end_rest().await?;
                released(release)
            }
            Ok(Ok(mut prepared)) => {
                let ended = match &job.terminal {
                    None => agent::run_agent(job, store, supervision, &mut prepared).await,
                    Some(terminal) => {
                        interactive::run_session(job, store, supervision, &prepared, terminal).await
                    }
                };
                match ended {
                    // Its processes have ended, and the run failed through no fault of its own.
                    Err(error) if error.is_disk_full() => AgentOutcome::not_started(&error),
                    outcome => outcome?,
                }
            }
            Ok(Err(error)) => not_prepared(job, store, &error).await?,
        },
    };
    if !is_still_held(job, store).await? {
        return give_up(job);
    }
    send_rest(log).await;
    finish::finish(job, store, supervision, PendingExit::new(outcome)).await
}

/// Removes the pristine checkout of a dead run. What cannot be removed, such as files of another user, keeps no run from its end.
fn clear_after_death(job: &Job<'_>) {
    if let Err(error) = clear_dead_checkout(job) {
        tracing::warn!(%error, "the pristine checkout of a dead run stays for now");
    }
}

/// Sends the rest of the log, which no one may add to after the end of the run is recorded.
async fn send_rest(log: Option<LogSender>) {
    if let Some(log) = log {
        log.finish().await;
    }
}

/// Returns the outcome of a run that had to end before its agent started.
fn released(release: Release) -> AgentOutcome {
    let error = RunError {
        class: Release::CLASS,
        message: release.message(),
    };
    AgentOutcome::failed(status_of(error.class), error)
}

async fn prepare_run(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
) -> Result<prepare::Prepared, RunnerError> {
    job.steps.enter(Step::Prepare);
    hub::bring_up_to_date(job, store).await?;
    prepare::prepare(job, store, supervision).await
}
