//! Exit handling (spec: lifecycle, "Exit handling"): once per run, whoever does it; a crash in the middle is repeated
//! without harm.

use symphony_core::config::ProviderName;
use symphony_core::failure::ErrorClass;
use symphony_core::hold::{account_advice, condition_scope};
use symphony_core::outcome::FailureLimits;
use symphony_core::pull_request::PullRequest;
use symphony_core::run::Run;
use symphony_core::tick::HoldScope;
use symphony_core::watchdog::Step;
use symphony_mcp::StoreThread;
use symphony_store::{FinishedRun, GatesAtEnd, NewHold, RunFinish};
use symphony_workspace::Failpoint;

use super::Job;
use super::exit::PendingExit;
use super::outcome::AgentOutcome;
use super::settle::{Settled, note_settings, settle_work};
use super::space::when_there_is_space;
use super::spending::cap_at_end;
use crate::error::RunnerError;
use crate::gates::{GatesEnded, base_hold, start_gates};
use crate::plan::write_state_file;
use crate::process::Supervision;
use crate::repository::open_repository;
use crate::upkeep::leftovers::left_files;

/// First wait before a full disk is tried again, in milliseconds.
const DISK_HOLD_MS: u64 = 60_000;

/// Brings a run to its recorded end. Its processes are gone and its socket is closed.
pub(crate) async fn finish(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    pending: PendingExit,
) -> Result<(), RunnerError> {
    // The outcome is recorded before anything is settled: if this process dies below, only the record tells the next one how
    // the agent ended, and without it a finished run would count as crashed.
    pending.record(job, store).await?;
    job.steps.enter(Step::Settle);
    Failpoint::FinishBegun.reach();
    let mut outcome = pending.outcome.clone();
    let settled = match pending.require_hope() {
        Ok(()) => settle_work(job, store, supervision, &mut outcome).await,
        Err(error) => Err(error),
    };
    let settled = match settled {
        Ok(settled) => settled,
        // the run stays live with its outcome recorded, so that no other run gets the worktree; a later tick tries again
        Err(error) if pending.put_off(job, store, &error).await? => return Ok(()),
        // the work stays in the worktree as the agent left it; a run that never ended would hold its issue forever
        Err(error) => {
            tracing::error!(%error, "exit handling could not settle the work");
            let class = match () {
                () if error.is_disk_full() => ErrorClass::DiskFull,
                () if error.is_base_missing() => ErrorClass::Cancelled,
                () => ErrorClass::WorktreeFailed,
            };
            outcome.fail_unless_worse(class, format!("after the agent's end: {error}"));
            Settled::default()
        }
    };
    Failpoint::FinishSettled.reach();
    let hold = hold(job, store, &outcome).await?;
    let cap = cap_at_end(job, store, &outcome).await?;
    let finish = RunFinish {
        run: job.run.id.clone(),
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
        cap,
        limits: limits(job),
    };
    // The work is committed by now. If the end were recorded first, the next tick could start another run in a worktree that
    // still has uncommitted changes of this one.
    let ended = record_end(job, store, finish).await?;
    Failpoint::FinishRecorded.reach();
    tracing::info!(run = %ended.run.id, status = %ended.run.status, "the run has ended");
    show_plan(job, store, &ended.run).await?;
    // The index of live runs allows one for each issue: until the end of this run is recorded, no gates of it can be claimed.
    if let Err(error) = start_due_gates(job, store, &ended.run).await {
        tracing::warn!(%error, "the next tick starts the gates");
    }
    tidy(job);
    Ok(())
}

/// Brings a run of gates to its recorded end. Its processes are gone, and so is its checkout.
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
    // what the gates came to counts all the same
    if let Err(error) = note_settings(job, &mut outcome) {
        tracing::warn!(%error, "the configuration was not compared after the gates");
    }
    Failpoint::FinishSettled.reach();
    let finish = RunFinish {
        run: job.run.id.clone(),
        status: outcome.status,
        hold: base_hold.or_else(|| disk_hold(&outcome)),
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

/// A full disk holds everything, whoever met it; other errors of a run of gates are its own.
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

/// Puts the files of the run in order, last: until its end is recorded they may be needed to do it again.
fn tidy(job: &Job<'_>) {
    let owner = left_files(&job.config);
    if let Err(error) = job.paths.tidy(owner) {
        tracing::warn!(%error, "the next tick puts the files of the run in order");
    }
}

/// Starts the gates of the pull request that the run opened, without waiting for the next tick. Whatever keeps them from
/// starting now (a slot, a pause) is left to that.
async fn start_due_gates(job: &Job<'_>, store: &StoreThread, run: &Run) -> Result<(), RunnerError> {
    let Some(pr) = open_pr(job, store)
        .await?
        .filter(|pr| pr.run.as_ref() == Some(&run.id) && pr.gates_of_head().is_none())
    else {
        return Ok(());
    };
    let (installation, project) = (job.installation.clone(), job.project.clone());
    let started = store
        .call(move |store| {
            let held = HoldScope::Gates(project.id.clone());
            let holds = store.holds()?;
            if store.is_paused()? || holds.iter().any(|hold| hold.scope == held) {
                return Ok(None);
            }
            start_gates(&installation, store, &project, &pr).map(Some)
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

/// Records the end of a run, as soon as the disk takes it.
async fn record_end(
    job: &Job<'_>,
    store: &StoreThread,
    finish: RunFinish,
) -> Result<FinishedRun, RunnerError> {
    job.steps.enter(Step::Record);
    when_there_is_space(job, store, "the end of the run is recorded", move |store| {
        store.finish_run(&Job::as_system(), &finish)
    })
    .await
}

/// Shows in the state file of a plan what the end of its phase's or its judge's run came to: no one else may be at work
/// with it.
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

/// The hold of a condition that the run met. What a person can do about it is part of its reason, so that it is shown
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
    // the model was recorded when the agent was started, after this run was read
    let run = job.run.id.clone();
    let model = store.call(move |store| store.run(&run)).await??.model;
    let advice = account_advice(error.class, &job.run.provider);
    let advice = advice.map_or_else(String::new, |advice| format!("; {advice}"));
    // a provider that is not in the set any more has no settings: its first hold is as short as the default
    let provider = ProviderName::parse(&job.run.provider).unwrap_or(ProviderName::ClaudeCli);
    Ok(Some(NewHold {
        tried: None,
        scope: condition_scope(error.class, &job.run.provider, model.as_deref()),
        class: error.class,
        reason: format!("{}: {}{advice}", error.class, error.message),
        until: outcome.hold_until,
        first_ms: job.config.providers.settings(provider).hold_ms.get(),
    }))
}
