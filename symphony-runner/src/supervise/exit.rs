//! Exit handling as a series of steps that any later supervisor can continue: how the agent ended is recorded before
//! anything is done with its work, and a fault of the machine postpones the rest.

use symphony_core::Timestamp;
use symphony_core::exit_handling::{AfterFault, ExitFault, MACHINE_TRIES_MAX, PutOff, after_fault};
use symphony_core::retry::after;
use symphony_core::wording::counted;
use symphony_mcp::StoreThread;
use symphony_store::Beat;

use super::Job;
use super::outcome::AgentOutcome;
use super::space::when_there_is_space;
use crate::error::RunnerError;
use crate::watchdog::what_ended;

/// Exit handling that has not been done yet.
#[derive(Debug)]
pub(super) struct PendingExit {
    /// How the agent ended.
    pub(super) outcome: AgentOutcome,
    /// Which try this is, from 1.
    tries: u32,
}

impl PendingExit {
    /// Returns the first try, by the supervisor of the agent.
    pub(super) fn new(outcome: AgentOutcome) -> Self {
        Self { outcome, tries: 1 }
    }

    /// Returns what the dead supervisor of a run left: its agent's outcome if it got that far, or else its own death.
    /// The new try is counted before it begins, so that a step in which each supervisor dies or gets stuck is tried
    /// with growing delays.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub(super) async fn of_dead_supervisor(
        job: &Job<'_>,
        store: &StoreThread,
    ) -> Result<Self, RunnerError> {
        let run = job.run.id.clone();
        let recorded = store.call(move |store| store.exit_handling(&run)).await??;
        let Some(recorded) = recorded else {
            return Ok(Self::new(dead(job, store).await?));
        };
        let outcome = serde_json::from_value(recorded.outcome).unwrap_or_else(|error| {
            tracing::warn!(%error, "the agent's outcome cannot be read");
            AgentOutcome::crashed(&job.run, None)
        });
        let pending = Self {
            outcome,
            tries: recorded.tries.saturating_add(1),
        };
        let problem = recorded.put_off.map_or_else(
            || "its supervisor died in its exit handling".to_owned(),
            |put_off| put_off.problem,
        );
        // Counted before the try: a supervisor that dies in the middle cannot count it, and would be started again at
        // once, for ever.
        if let AfterFault::Again(wait) = pending.decide(ExitFault::Machine, job) {
            pending.note(job, store, wait, problem).await?;
        }
        Ok(pending)
    }

    /// Refuses another try when too many supervisors died in the middle of theirs.
    ///
    /// # Errors
    /// When this try would be one too many.
    pub(super) fn require_hope(&self) -> Result<(), RunnerError> {
        if self.tries <= MACHINE_TRIES_MAX {
            return Ok(());
        }
        Err(RunnerError::refused(format!(
            "its exit handling did not finish in {}",
            counted(MACHINE_TRIES_MAX.into(), "attempt")
        )))
    }

    /// Records how the agent ended. Repeating it changes nothing.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(super) async fn record(
        &self,
        job: &Job<'_>,
        store: &StoreThread,
    ) -> Result<(), RunnerError> {
        let run = job.run.id.clone();
        let outcome = serde_json::to_value(&self.outcome).expect("an outcome has string keys only");
        let context = job.as_supervisor();
        when_there_is_space(
            job,
            store,
            "the agent's outcome is recorded",
            move |store| store.begin_exit(&context, &run, &outcome),
        )
        .await
    }

    /// Puts off the rest after a failed try if another one may succeed. Returns whether it did.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(super) async fn put_off(
        &self,
        job: &Job<'_>,
        store: &StoreThread,
        error: &RunnerError,
    ) -> Result<bool, RunnerError> {
        let run = job.run.id.clone();
        // A person who ends the run does not want to wait.
        let is_cancelled = store
            .call(move |store| store.cancel_requested(&run))
            .await??;
        let fault = match () {
            () if is_cancelled || error.is_base_missing() || is_own_disk_full(job, error) => {
                ExitFault::Work
            }
            () => error.exit_fault(),
        };
        let AfterFault::Again(wait) = self.decide(fault, job) else {
            return Ok(false);
        };
        tracing::warn!(%error, tries = self.tries, wait, "exit handling is postponed");
        self.note(job, store, wait, error.with_causes()).await?;
        Ok(true)
    }

    fn decide(&self, fault: ExitFault, job: &Job<'_>) -> AfterFault {
        after_fault(fault, self.tries, job.config.max_retry_backoff_ms.get())
    }

    async fn note(
        &self,
        job: &Job<'_>,
        store: &StoreThread,
        wait_ms: u64,
        problem: String,
    ) -> Result<(), RunnerError> {
        let run = job.run.id.clone();
        let put_off = PutOff {
            tries: self.tries,
            due_at: after(Timestamp::now(), wait_ms),
            problem,
        };
        let context = job.as_supervisor();
        store
            .call(move |store| store.put_exit_off(&context, &run, &put_off))
            .await??;
        Ok(())
    }
}

/// Returns whether this machine's disk is full, and not that of the database's server, which has a machine of its own for each worker.
fn is_own_disk_full(job: &Job<'_>, error: &RunnerError) -> bool {
    let is_of_server =
        matches!(error, RunnerError::Store(_)) && job.installation.worker_data().is_some();
    error.is_disk_full() && !is_of_server
}

/// Returns the outcome of a run whose supervisor is dead: a person's request, or why it died.
pub(super) async fn dead(job: &Job<'_>, store: &StoreThread) -> Result<AgentOutcome, RunnerError> {
    let run = job.run.id.clone();
    let is_cancelled = store
        .call(move |store| store.cancel_requested(&run))
        .await??;
    Ok(if is_cancelled {
        AgentOutcome::cancelled_without_answer()
    } else {
        AgentOutcome::crashed(&job.run, what_ended(&job.paths))
    })
}

/// Waits for an answer of the database that the run is still this host's, before its end is recorded. A run of a single machine is.
///
/// # Errors
/// When the database cannot be reached for an hour.
pub(super) async fn is_still_held(job: &Job<'_>, store: &StoreThread) -> Result<bool, RunnerError> {
    if job.holding.is_none() {
        return Ok(true);
    }
    let (run, fence) = (job.run.id.clone(), job.run.fence);
    let what = "the end of the run is handled";
    let beat = when_there_is_space(job, store, what, move |store| store.beat(&run, fence)).await?;
    Ok(beat != Beat::Lost)
}
