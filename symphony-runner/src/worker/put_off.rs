//! Runs whose exit handling waits for its next try, mostly for the hub. Their supervisor has ended, so the worker gives their signs of life:
//! without them they would count as lost with their host, and their work would be done again.

use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::exit_handling::{AfterFault, EXIT_WAIT_MAX_MS, ExitFault, PutOff, after_fault};
use symphony_core::failure::ErrorClass;
use symphony_core::retry::after;
use symphony_core::run::Run;
use symphony_store::{Context, GatesAtEnd, RunFinish, RunKey, Store, StoreError};

use super::round::Round;
use crate::placement::limits_of;
use crate::supervise::AgentOutcome;

impl Round<'_> {
    /// Puts off the exit handling of a run for which no supervisor can be started now, as one would: its agent's end is recorded, and its work is
    /// in the worktree. After too many tries, or when someone asked for its end, it ends the run. Returns whether it did either: a run whose agent's
    /// end is not recorded is given up with its host's lease.
    pub(super) fn put_off(
        &mut self,
        store: &mut Store,
        run: &Run,
        problem: String,
    ) -> Result<bool, StoreError> {
        let Some(recorded) = store.exit_handling(&run.id)? else {
            return Ok(false);
        };
        let (tries, now) = (recorded.tries.saturating_add(1), Timestamp::now());
        let is_cancelled = run.cancel_requested_at.is_some();
        let fault = if is_cancelled {
            ExitFault::Work
        } else {
            ExitFault::Machine
        };
        let AfterFault::Again(wait) = after_fault(fault, tries, EXIT_WAIT_MAX_MS) else {
            let Ok(mut outcome) = serde_json::from_value::<AgentOutcome>(recorded.outcome) else {
                return Ok(false);
            };
            let class = if is_cancelled {
                ErrorClass::Cancelled
            } else {
                ErrorClass::WorktreeFailed
            };
            let host = self.host;
            let message = format!("host {host} could not hand in what it did: {problem}");
            outcome.fail_unless_worse(class, message);
            end_as_it_is(store, run, outcome)?;
            return Ok(true);
        };
        let put_off = PutOff {
            tries,
            due_at: after(now, wait),
            problem,
        };
        let context = Context::supervisor(RunKey::of(run), now);
        store.put_exit_off(&context, &run.id, &put_off)?;
        self.beat_for(store, run)?;
        Ok(true)
    }

    /// Gives a sign of life of a run whose exit handling waits, as often as a supervisor would.
    pub(super) fn beat_for(&mut self, store: &mut Store, run: &Run) -> Result<(), StoreError> {
        let pause = Duration::from_millis(self.installation.lease().beat_ms());
        let last = self.beaten.get(&run.id);
        if last.is_some_and(|last| last.elapsed() < pause) {
            return Ok(());
        }
        // One that is another host's by now is not in the next round's list.
        store.beat(&run.id, run.fence)?;
        self.beaten.insert(run.id.clone(), Instant::now());
        Ok(())
    }
}

/// Ends a run with what is recorded of its agent, and nothing of its work, which stays in the worktree.
fn end_as_it_is(store: &mut Store, run: &Run, outcome: AgentOutcome) -> Result<(), StoreError> {
    let finish = RunFinish {
        run: run.id.clone(),
        fence: run.fence,
        status: outcome.status,
        error: outcome.error,
        exit_code: outcome.exit_code,
        usage: outcome.usage,
        output_tail: outcome.output_tail,
        metadata: outcome.metadata,
        phase: None,
        gates: GatesAtEnd::Due,
        hold: None,
        ahead: None,
        cap: None,
        limits: limits_of(None),
    };
    let context = Context::supervisor(RunKey::of(run), Timestamp::now());
    match store.finish_run(&context, &finish) {
        Ok(_) | Err(StoreError::Superseded { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns whether exit handling waits for its next try.
pub(super) fn is_put_off(store: &Store, run: &Run) -> Result<bool, StoreError> {
    let put_off = store.exit_handling(&run.id)?.and_then(|exit| exit.put_off);
    Ok(put_off.is_some_and(|put_off| !put_off.is_due(Timestamp::now())))
}
