//! Everything that decides what happens to an issue.

use crate::hand_in::RefusedCall;
use crate::idle::{IdleRow, LimitRow};
use crate::issue::{BreakerTarget, Issue, NextPhase};
use crate::run::{Run, RunError, RunStatus};
use crate::spending::CapReached;

/// The limits that decide between another attempt and the circuit breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureLimits {
    /// Failures in a row, or runs since the last advance, at which the breaker opens.
    pub max_retries: u32,
    /// Longest backoff, in milliseconds.
    pub max_backoff_ms: u64,
    /// Where an open breaker puts the issue.
    pub breaker_target: BreakerTarget,
}

/// What a run left behind that shows its work, apart from a change of status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// A verdict, a delivery, sub-tasks: what the agent's type is for.
    Found,
    /// Nothing of the kind.
    None,
    /// Nothing of the kind, and tool calls of the agent were refused.
    NoneAfterDenials,
}

/// Everything that decides what happens to an issue.
#[derive(Debug, Clone)]
pub struct RunEnd<'a> {
    /// The run, as it was claimed.
    pub run: &'a Run,
    /// The current state of its issue.
    pub issue: &'a Issue,
    /// How the run ended.
    pub status: RunStatus,
    /// Why it did not succeed.
    pub error: Option<RunError>,
    /// Whether it left what its type is for.
    pub evidence: Evidence,
    /// The issue's phase is accepted, by a delivery of this run or a verdict, and its label has not gone on yet:
    /// whether another phase follows.
    pub accepted: Option<NextPhase>,
    /// Whether the gates of its pull request have not run yet: only they show whether it succeeded.
    pub awaits_gates: bool,
    /// The spending cap that ended the run; or the issue's, when it is reached however the run ended.
    pub cap: Option<CapReached>,
    /// How many runs on the issue before this one could not be prepared, in a row.
    pub unprepared_before: u32,
    /// How many runs on the issue before this one lost their host, in a row.
    pub hosts_lost_before: u32,
    /// Why the run's last call of the tool that it is for was refused, and how many runs before this one were refused
    /// for the same reason, in a row.
    pub refused: Option<(RefusedCall, u32)>,
    /// The runs in a row that brought nothing new, if this one is the last of them.
    pub idle: Option<IdleRow>,
    /// The runs in a row that ended at a limit, if this one is the last of them.
    pub limited: Option<LimitRow>,
    /// If a judge's run rejected a proposal that nothing is left to do: how many proposals in a row were rejected
    /// before, or ended without a result in another way.
    pub rejected_before: Option<u32>,
    /// The limits.
    pub limits: FailureLimits,
}

/// Returns whether the run delivers a phase other than `ready`, whatever its profile.
pub(super) fn is_in_phase(run: &Run) -> bool {
    run.phase.as_ref().is_some_and(|phase| !phase.is_ready())
}
