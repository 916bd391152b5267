//! When a plan's next round is due.

use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::plan::state::{NotStarted, PlanAction};
use symphony_core::tick::LockState;
use symphony_store::{Project, Store};

use super::round::{PlanRound, StartsLeft};
use crate::error::RunnerError;
use crate::paths::RunPaths;
use crate::process::lock_state;

/// Longest time between rounds while a phase waits for resources that others hold: nothing else shows that slots and
/// holds were released.
const ROUND_MAX: Duration = Duration::from_secs(2);

/// Longest time between rounds while a phase runs: nothing reports that a supervisor makes no progress.
const SUPERVISORS_LOOK: Duration = Duration::from_secs(30);

/// The state after a round, to be compared with the current one.
#[derive(Debug)]
pub struct PlanWatch {
    revision: u64,
    locks: Vec<std::path::PathBuf>,
    wake_at: Option<Timestamp>,
    waits_for_others: bool,
    starts_left: StartsLeft,
    since: Instant,
}

impl PlanWatch {
    /// Begins to watch after a round.
    pub fn after(round: &PlanRound, project: &Project) -> Self {
        Self {
            revision: round.record.revision,
            locks: round
                .live
                .keys()
                .filter(|run| !round.put_off.contains(run))
                .map(|run| RunPaths::new(&project.root, run).lock())
                .collect(),
            wake_at: round.step.wake_at,
            waits_for_others: waits_for_others(round),
            starts_left: round.starts_left,
            since: Instant::now(),
        }
    }

    /// Returns whether anything changed: the plan, the life of one of its runs, or the time.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_due(&self, store: &Store, round: &PlanRound) -> Result<bool, RunnerError> {
        if store.plan_revision(&round.record.id)? != self.revision
            || self.wake_at.is_some_and(|wake| wake <= Timestamp::now())
            || self.starts_left == StartsLeft::AtOnce
            || ((self.waits_for_others || self.starts_left == StartsLeft::Soon)
                && self.since.elapsed() >= ROUND_MAX)
            || (!self.locks.is_empty() && self.since.elapsed() >= SUPERVISORS_LOOK)
        {
            return Ok(true);
        }
        for lock in &self.locks {
            if lock_state(lock)? != LockState::Held {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns whether something may change that neither the plan's revision nor a watched lock shows: other work in the
/// installation, and exit handling that was just restarted, whose process may die like the one before.
fn waits_for_others(round: &PlanRound) -> bool {
    let is_held_up = round.step.decisions.iter().any(|decision| {
        matches!(
            decision.reason,
            NotStarted::NoInstallationSlot
                | NotStarted::EarlierRunEnding { .. }
                // A person may lift the hold before its end.
                | NotStarted::ProviderOnHold { .. }
        )
    });
    let finishes = |action: &PlanAction| matches!(action, PlanAction::FinishRun { .. });
    is_held_up || !round.put_off.is_empty() || round.step.actions.iter().any(finishes)
}
