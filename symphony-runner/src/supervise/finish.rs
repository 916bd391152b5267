//! Exit handling (spec: lifecycle, "Exit handling"): once per run, in whichever process. After a crash in the middle it
//! can be repeated without harm.

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::config::NamedProvider;
use symphony_core::config::defaults::HOLD_MS;
use symphony_core::failure::ErrorClass;
use symphony_core::hold::{account_advice, condition_scope};
use symphony_core::outcome::FailureLimits;
use symphony_core::pull_request::PullRequest;
use symphony_core::run::Run;
use symphony_core::tick::HoldScope;
use symphony_core::watchdog::Step;
use symphony_mcp::StoreThread;
use symphony_store::{Context, FinishedRun, GatesAtEnd, NewHold, RunFinish};
use symphony_workspace::Failpoint;

use super::Job;
use super::exit::PendingExit;
use super::hub::bring_result;
use super::outcome::AgentOutcome;
use super::settle::{Settled, note_settings, settle_work};
use super::space::when_there_is_space;
use super::spending::cap_at_end;
use crate::error::RunnerError;
use crate::gates::{GatesEnded, base_hold, start_gates};
use crate::plan::write_state_file;
use crate::process::Supervision;
use crate::provider::login_command;
use crate::repository::open_repository;
use crate::upkeep::leftovers::left_files;
use crate::worker::HandOver;

/// The first wait before a full disk is tried again, in milliseconds.
const DISK_HOLD_MS: u64 = 60_000;

/// Brings a run to its recorded end. Its processes must be gone, and its socket closed.
pub(crate) async fn finish(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    pending: PendingExit,
) -> Result<(), RunnerError> {
    // Record the outcome before settling anything: if this process dies below, only the record shows the next one how
    // the agent ended. Without it, a finished run would count as crashed.
    pending.record(job, store).await?;
    job.steps.enter(Step::Settle);
    Failpoint::FinishBegun.reach();
    let mut outcome = pending.outcome.clone();
    let settled = match pending.require_hope() {
        Ok(()) => settle(job, store, supervision, &mut outcome).await,
        Err(error) => Err(error),
    };
    let settled = match settled {
        Ok(settled) => settled,
        // The run stays live with its outcome recorded, so that no other run gets the worktree, and a later tick tries
        // again.
        Err(error) if pending.put_off(job, store, &error).await? => return Ok(()),
        // The work stays in the worktree as the agent left it. A run that never ended would hold its issue for ever.
        Err(error) => {
            tracing::error!(%error, "exit handling could not settle the work");
            let class = match () {
                () if error.is_disk_full() => ErrorClass::DiskFull,
                () if error.is_base_missing() => ErrorClass::Cancelled,
                () if matches!(error, RunnerError::Sandbox(_)) => ErrorClass::SandboxUnavailable,
                () => ErrorClass::WorktreeFailed,
            };
            outcome.fail_unless_worse(class, format!("after the agent's end: {error}"));
            Settled::default()
        }
    };
    Failpoint::FinishSettled.reach();
    job.network.record(&mut outcome.metadata);
    blame_host(job, store, &mut outcome).await?;
    let hold = hold(job, store, &outcome).await?;
    let ahead = hold_ahead(job, &outcome);
    let cap = cap_at_end(job, store, &outcome).await?;
    let finish = RunFinish {
        run: job.run.id.clone(),
        fence: job.run.fence,
        status: outcome.status,
        error: outcome.error,
        exit_code: outcome.exit_code,
        usage: outcome.usage,
        output_tail: outcome.output_tail,
        metadata: outcome.metadata,
        phase: settled.phase,
        gates: if job.config.gates.is_empty() {
            GatesAtEnd::NoneConfigured
        } else {
            GatesAtEnd::Due
        },
        hold,
        ahead,
        cap,
        limits: limits(job),
    };
    // The work is committed by now. If the end were recorded first, the next tick could start another run in a worktree
    // that still has uncommitted changes of this one.
    let ended = record_end(job, store, finish).await?;
    Failpoint::FinishRecorded.reach();
    tracing::info!(run = %ended.run.id, status = %ended.run.status, "the run has ended");
    show_plan(job, store, &ended.run).await?;
    // The index of live runs allows one per issue, so its gates cannot be claimed until the end of this run is
    // recorded.
    if let Err(error) = start_due_gates(job, store, &ended.run).await {
        tracing::warn!(%error, "the next tick starts the gates");
    }
    tidy(job);
    Ok(())
}

/// Settles the work of a run, and on a worker brings it to the hub: an end that is recorded first would let the control look for a result
/// that is not there.
async fn settle(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    outcome: &mut AgentOutcome,
) -> Result<Settled, RunnerError> {
    if is_without_clone(job, outcome) {
        return Ok(Settled::default());
    }
    let settled = settle_work(job, store, supervision, outcome).await?;
    bring_result(job, store).await?;
    Ok(settled)
}

/// Returns whether there is nothing to settle: no agent has started, because this host's clone cannot be opened.
fn is_without_clone(job: &Job<'_>, outcome: &AgentOutcome) -> bool {
    let error = outcome.error.as_ref();
    error.is_some_and(|error| error.class == ErrorClass::NotPrepared)
        && job.hub.as_ref().is_some_and(HandOver::has_no_clone)
}

/// Brings a run of gates to its recorded end. Its processes and its checkout must be gone.
pub(crate) async fn finish_gates(
    job: &Job<'_>,
    store: &StoreThread,
    ended: GatesEnded,
) -> Result<(), RunnerError> {
    let GatesEnded {
        mut outcome,
        gates,
        hold: base_hold,
    } = ended;
    // The result of the gates counts even if this fails.
    if let Err(error) = note_settings(job, &mut outcome) {
        tracing::warn!(%error, "the configuration was not compared after the gates");
    }
    Failpoint::FinishSettled.reach();
    job.network.record(&mut outcome.metadata);
    blame_host(job, store, &mut outcome).await?;
    let finish = RunFinish {
        run: job.run.id.clone(),
        fence: job.run.fence,
        status: outcome.status,
        hold: base_hold.or_else(|| disk_hold(&outcome)),
        ahead: None,
        error: outcome.error,
        exit_code: None,
        usage: None,
        output_tail: outcome.output_tail,
        metadata: outcome.metadata,
        phase: None,
        gates,
        cap: None,
        limits: limits(job),
    };
    let ended = record_end(job, store, finish).await?;
    Failpoint::FinishRecorded.reach();
    tracing::info!(run = %ended.run.id, status = %ended.run.status, "the gates have ended");
    tidy(job);
    Ok(())
}

fn limits(job: &Job<'_>) -> FailureLimits {
    FailureLimits {
        max_retries: job.config.max_retries,
        max_backoff_ms: job.config.max_retry_backoff_ms.get(),
        breaker_target: job.config.circuit_breaker_status,
    }
}

/// On a worker, a full disk holds nothing up anywhere else.
async fn blame_host(
    job: &Job<'_>,
    store: &StoreThread,
    outcome: &mut AgentOutcome,
) -> Result<(), RunnerError> {
    let full = outcome
        .error
        .as_mut()
        .filter(|error| error.class == ErrorClass::DiskFull);
    let (Some(error), Some(_)) = (full, job.installation.worker_data()) else {
        return Ok(());
    };
    let run = job.run.id.clone();
    let run = store.call(move |store| store.run(&run)).await??;
    error.message = format!("{}: {}", error.class.words(), error.message);
    error.class = full_on_worker(&run.agent, run.worktree.is_some());
    Ok(())
}

/// Returns what a full disk is on a worker. Before an agent starts, the run could not be prepared there: this worker rests, and others go on.
/// Gates record their worktree before they check it out. Once an agent has started, its task may be why the disk is full, and must not go from
/// host to host.
fn full_on_worker(agent: &AgentType, has_worktree: bool) -> ErrorClass {
    if has_worktree && *agent != AgentType::Gates {
        ErrorClass::WorktreeFailed
    } else {
        ErrorClass::NotPrepared
    }
}

/// A full disk holds everything, whichever run met it. Any other error of a run of gates is its own.
fn disk_hold(outcome: &AgentOutcome) -> Option<NewHold> {
    let error = outcome.error.as_ref()?;
    (error.class == ErrorClass::DiskFull).then(|| NewHold {
        tried: None,
        scope: HoldScope::Everything,
        class: error.class,
        reason: error.message.clone(),
        until: None,
        first_ms: DISK_HOLD_MS,
    })
}

/// Cleans up the files of the run. This comes last: until the run's end is recorded, they may be needed to repeat it.
fn tidy(job: &Job<'_>) {
    let owner = left_files(&job.config);
    if let Err(error) = job.paths.tidy(owner) {
        tracing::warn!(%error, "the next tick puts the files of the run in order");
    }
}

/// Starts the gates of the pull request that the run opened, without waiting for the next tick. If they cannot start
/// now (no slot, a pause), that tick starts them.
async fn start_due_gates(job: &Job<'_>, store: &StoreThread, run: &Run) -> Result<(), RunnerError> {
    let Some(pr) = open_pr(job, store)
        .await?
        .filter(|pr| pr.run.as_ref() == Some(&run.id) && pr.gates_of_head().is_none())
    else {
        return Ok(());
    };
    let (installation, project) = (job.installation.clone(), job.project.clone());
    let place = job.run.pool.clone().zip(job.run.host.clone());
    let started = store
        .call(move |store| {
            let held = HoldScope::Gates(project.id.clone());
            let holds = store.holds()?;
            if store.is_paused()? || holds.iter().any(|hold| hold.scope == held) {
                return Ok(None);
            }
            start_gates(&installation, store, &project, &pr, place.as_ref()).map(Some)
        })
        .await?;
    match started? {
        Some(Ok((run, _supervisor))) => tracing::info!(run = %run.id, "its gates have started"),
        Some(Err(refusal)) => tracing::info!(%refusal, "its gates wait for the next tick"),
        None => {}
    }
    Ok(())
}

async fn open_pr(job: &Job<'_>, store: &StoreThread) -> Result<Option<PullRequest>, RunnerError> {
    let Some(issue) = job.run.target.issue().cloned() else {
        return Ok(None);
    };
    Ok(store.call(move |store| store.open_pr(&issue)).await??)
}

/// Records the end of a run as soon as there is space on the disk.
async fn record_end(
    job: &Job<'_>,
    store: &StoreThread,
    finish: RunFinish,
) -> Result<FinishedRun, RunnerError> {
    job.steps.enter(Step::Record);
    when_there_is_space(job, store, "the end of the run is recorded", move |store| {
        store.finish_run(&Context::system(Timestamp::now()), &finish)
    })
    .await
}

/// Updates the state file of a plan after its phase's or judge's run has ended, since no other process may be running
/// this plan.
async fn show_plan(job: &Job<'_>, store: &StoreThread, run: &Run) -> Result<(), RunnerError> {
    let Some(plan) = run.target.plan() else {
        return Ok(());
    };
    let (project, plan) = (job.project.clone(), plan.clone());
    let written = store
        .call(move |store| write_state_file(store, &project, &plan))
        .await?;
    if let Err(error) = written {
        tracing::warn!(%error, "the plan's next round writes its state file");
    }
    Ok(())
}

/// Returns the hold for a condition that the run met. Its reason includes what a person can do, so that it is shown
/// wherever the hold is.
async fn hold(
    job: &Job<'_>,
    store: &StoreThread,
    outcome: &AgentOutcome,
) -> Result<Option<NewHold>, RunnerError> {
    let Some(error) = outcome.error.as_ref().filter(|error| error.class.is_hold()) else {
        return Ok(None);
    };
    if error.class == ErrorClass::BaseGatesFailed {
        let base = open_repository(&job.project, &job.config)?.base()?;
        let text = error.message.clone();
        let hold = base_hold(&job.project.id, &job.config, &base.commit, text);
        return Ok(Some(hold));
    }
    // The model was recorded when the agent started, after this run was loaded.
    let run = job.run.id.clone();
    let model = store.call(move |store| store.run(&run)).await??.model;
    let login = login_command(&job.run.provider);
    let advice = account_advice(error.class, &job.run.provider, login);
    let advice = advice.map_or_else(String::new, |advice| format!("; {advice}"));
    Ok(Some(NewHold {
        tried: None,
        scope: condition_scope(error.class, &job.run.provider, model.as_deref()),
        class: error.class,
        reason: format!("{}: {}{advice}", error.class, error.message),
        until: outcome.hold_until,
        first_ms: first_ms(job),
    }))
}

/// Returns the hold for a limit that a run which succeeded has used up, so that no other run meets it first.
fn hold_ahead(job: &Job<'_>, outcome: &AgentOutcome) -> Option<NewHold> {
    let until = outcome.hold_until.filter(|_| outcome.error.is_none())?;
    let class = ErrorClass::UsageLimit;
    Some(NewHold {
        tried: None,
        // The limit is the account's, whatever the model.
        scope: HoldScope::Provider(job.run.provider.clone()),
        class,
        reason: format!("{class}: the limit of the account is used up"),
        until: Some(until),
        first_ms: first_ms(job),
    })
}

/// Returns the length of a provider's first hold. One that is no longer known has no settings.
fn first_ms(job: &Job<'_>) -> u64 {
    let provider = NamedProvider::parse(&job.run.provider);
    provider.map_or(HOLD_MS, |provider| {
        job.config.providers.settings_of(&provider).hold_ms.get()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_an_agent_filled_uses_an_attempt() {
        for (agent, has_worktree, expected) in [
            (AgentType::Worker, false, ErrorClass::NotPrepared),
            (AgentType::Worker, true, ErrorClass::WorktreeFailed),
            (AgentType::Judge, true, ErrorClass::WorktreeFailed),
            (AgentType::Gates, false, ErrorClass::NotPrepared),
            (AgentType::Gates, true, ErrorClass::NotPrepared),
        ] {
            let found = full_on_worker(&agent, has_worktree);
            assert_eq!(found, expected, "{agent} {has_worktree}");
        }
    }
}
