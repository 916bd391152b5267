//! Active plans: begun, moved on round by round, concluded (spec: plan, "One engine").
//!
//! A round is observe → decide (`core::plan::state::plan_step`) → commit → act. Nothing is kept in memory between
//! rounds: whoever holds the plan's lock, `plan run` or a tick, makes the next one. Phases run in their supervisors,
//! which need neither. A phase's supervisor records the end of its run.

mod base;
mod begin;
mod clean_up;
mod conclude;
mod drive;
mod lock;
mod order;
mod ready;
mod refusal;
mod review;
mod round;
mod state_file;
mod taken_over;
mod tick;
mod watch;

pub(crate) use base::{BaseRecord, PlanBase, record_base, tell_lost_base};
pub use begin::{BeginRequest, Begun, OptionChanges, begin_plan, recorded_path};
pub use clean_up::{clean_up_phase, ended_phase_worktrees};
pub use conclude::{Conclusion, clean_up_plan};
pub use drive::PlanDrive;
pub use lock::is_plan_driven;
pub use order::{PlanOrder, carry_out_order};
pub use refusal::PlanRunRefusal;
pub use round::{PlanRound, StartsLeft};
pub use state_file::{show_plan_of, write_state_file};
pub use tick::{PlanTick, tick_plans};
pub use watch::PlanWatch;
