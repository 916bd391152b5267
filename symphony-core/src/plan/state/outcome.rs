//! The consequences of a failed or lost attempt.

use crate::Timestamp;
use serde::{Deserialize, Serialize};

use super::event::{PhaseEvent, ReleaseCause};
use super::phase_state::{PhaseFailure, PhaseProgress};
use crate::id::RunId;
use crate::plan::failure::{FailureClass, RetryPolicy, retry_delay_ms};
use crate::retry::after;

/// How many runs in a row may die without an outcome before that counts as a failure: a phase that kills its supervisor
/// would otherwise be started for ever.
pub const CRASHES_MAX: u32 = 3;

/// Whether failed phases are tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryMode {
    /// As the policy says; then someone decides.
    #[default]
    Again,
    /// Never: a failure is final (`--no-retry`).
    Never,
}

/// What happens after failures.
#[derive(Debug, Clone, Copy, Default)]
pub struct FailurePolicy {
    /// How often and how soon.
    pub retry: RetryPolicy,
    /// Whether at all.
    pub mode: RetryMode,
}

/// A failed attempt.
#[derive(Debug, Clone, Copy)]
pub struct FailureReport<'a> {
    /// The run.
    pub run: Option<&'a RunId>,
    /// What happened.
    pub error: &'a str,
    /// Its class; a conflict on merging is of class `logic`.
    pub class: FailureClass,
    /// The plan and the phase: the jitter's seed.
    pub seed: (&'a str, &'a str),
}

/// Decides the consequences of a failed attempt: another one later, a question, or the phase's end.
pub fn plan_failure(
    progress: &PhaseProgress,
    report: &FailureReport<'_>,
    policy: &FailurePolicy,
    now: Timestamp,
) -> PhaseEvent {
    let run = report.run.cloned();
    let failure = PhaseFailure::new(progress.attempts, report.error, report.class, now);
    if policy.mode == RetryMode::Never {
        return PhaseEvent::Failed { run, failure };
    }
    if !report.class.is_retried() || progress.retry_count >= policy.retry.max_retries {
        return PhaseEvent::DecisionAsked { run, failure };
    }
    let (plan, phase) = report.seed;
    let delay = retry_delay_ms(&policy.retry, plan, phase, progress.retry_count + 1);
    PhaseEvent::RetryScheduled {
        run,
        failure,
        due_at: after(now, delay),
    }
}

/// Decides the consequences of a run that died without an outcome: the phase is ready again, or, after [`CRASHES_MAX`]
/// such runs in a row, has failed an attempt.
pub fn plan_crash(
    progress: &PhaseProgress,
    report: &FailureReport<'_>,
    policy: &FailurePolicy,
    now: Timestamp,
) -> PhaseEvent {
    if progress.crash_count < CRASHES_MAX {
        return PhaseEvent::Released {
            run: report.run.cloned(),
            cause: ReleaseCause::Crashed,
        };
    }
    plan_failure(progress, report, policy, now)
}
