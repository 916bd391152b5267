//! Exit handling as a series of steps that any later supervisor can go on with: what the agent came to is recorded before
//! anything is done with its work, and a fault of the machine puts the rest off.

use symphony_core::Timestamp;
use symphony_core::exit_handling::{AfterFault, ExitFault, MACHINE_TRIES_MAX, PutOff, after_fault};
use symphony_core::retry::after;
use symphony_core::wording::counted;
use symphony_mcp::StoreThread;

use super::Job;
use super::outcome::AgentOutcome;
use super::space::when_there_is_space;
use crate::error::RunnerError;
use crate::watchdog::what_ended;

/// Exit handling that is to be done.
#[derive(Debug)]
pub(super) struct PendingExit {
    /// What the agent came to.
    pub(super) outcome: AgentOutcome,
    /// Which try this is, from 1.
    tries: u32,
}

impl PendingExit {
    /// The first try, by the supervisor of the agent.
    pub(super) fn new(outcome: AgentOutcome) -> Self {
        Self { outcome, tries: 1 }
    }

    /// What the dead supervisor of a run left: its agent's outcome when it got as far, else its own death. The try that begins
    /// is counted, so that supervisors that die, or get stuck, in the same place do so at growing distances.
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
            tracing::warn!(%error, "what the agent came to cannot be read");
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
        if let AfterFault::Again(wait) = pending.decide(ExitFault::Machine, job) {
            pending.note(job, store, wait, problem).await?;
        }
        Ok(pending)
    }

    /// Refuses another try where so many ended in the middle, with their supervisor.
    ///
    /// # Errors
    /// When this one would be one too many.
    pub(super) fn require_hope(&self) -> Result<(), RunnerError> {
        if self.tries <= MACHINE_TRIES_MAX {
            return Ok(());
        }
        Err(RunnerError::refused(format!(
            "its exit handling did not finish in {}",
            counted(MACHINE_TRIES_MAX.into(), "attempt")
        )))
    }

    /// Records what the agent came to. Doing it again changes nothing.
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
        when_there_is_space(
            job,
            store,
            "what the agent came to is recorded",
            move |store| store.begin_exit(&Job::as_system(), &run, &outcome),
        )
        .await
    }

    /// Puts the rest off after a failed try, where another one may end better; says whether it did.
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
        // a person who ends the run does not wait
        let is_cancelled = store
            .call(move |store| store.cancel_requested(&run))
            .await??;
        let fault = match () {
            () if is_cancelled || error.is_disk_full() || error.is_base_missing() => {
                ExitFault::Work
            }
            () => error.exit_fault(),
        };
        let AfterFault::Again(wait) = self.decide(fault, job) else {
            return Ok(false);
        };
        tracing::warn!(%error, tries = self.tries, wait, "exit handling is put off");
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
        store
            .call(move |store| store.put_exit_off(&Job::as_system(), &run, &put_off))
            .await??;
        Ok(())
    }
}

/// The outcome of a run whose supervisor is dead: what a person asked for, or why it died.
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
