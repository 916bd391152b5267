//! An active plan: states, the events that change them, and what to do next.
//!
//! Every change goes through [`apply()`]. [`settle`] returns what follows from the graph alone, [`plan_step`] what a
//! loop does now; both only return values, so that another process can take a plan over at any moment.

mod apply;
mod board;
mod change;
mod choice;
mod error;
mod event;
mod outcome;
mod passing;
mod phase_state;
mod plan_state;
mod run_end;
mod step;

pub use apply::{apply, apply_all};
pub use board::{settle, settle_now};
pub use change::{PlanChanges, compare_plans};
pub use choice::{
    Choice, Decision, abort_all, abort_branch, decide, retry_failed, retry_phase, skip_phase,
};
pub use error::PlanTransitionError;
pub use event::{Confirmation, PhaseEvent, PlanEvent, ReleaseCause};
pub use outcome::{CRASHES_MAX, FailurePolicy, FailureReport, RetryMode, plan_crash, plan_failure};
pub use passing::artifacts_for;
pub use phase_state::{
    ERROR_BYTES_MAX, FAILURES_KEPT_MAX, PhaseFailure, PhaseProgress, PhaseState, PhaseStatus,
};
pub use plan_state::{Completion, PlanCounts, PlanState, PlanStatus};
pub use run_end::{
    PhaseOutcome, PhaseRunEnd, PhaseWork, PointAnswers, ReportedOutcome, Reporting,
    clean_exit_outcome, is_phase_complete, route_phase_run_end,
};
pub use step::{
    HeldPhase, MAX_PARALLEL_DEFAULT, NotStarted, OnFailure, PhaseDecision, PlanAction, PlanLimits,
    PlanSnapshot, PlanStep, plan_step,
};
