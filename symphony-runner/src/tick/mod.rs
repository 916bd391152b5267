//! One tick: observe, decide (in `symphony-core`), commit, act, record (spec: orchestrator).
//!
//! All effects of a tick on the machine (locks, processes, worktrees) go through [`Effects`]. [`LocalEffects`] are the
//! real ones; a simulation replaces them, and uses everything else unchanged.

mod act;
mod base_gates;
mod effects;
mod elsewhere;
mod holder;
mod notes;
mod observe;
mod observed;
mod once;
mod outside;
mod outside_merge;
mod proposals;
mod report;
mod start;
mod turn;
mod wait;

pub use crate::upkeep::leftovers::UnfinishedRun;
pub use act::act;
pub(crate) use effects::end_strays_of;
pub use effects::{Effects, LocalEffects};
pub use holder::stuck_tick;
pub(crate) use observe::observe;
pub use observe::{look, observe_snapshot, observe_with_phases, project_view};
pub use observed::{KnownProject, Observed};
pub use once::{TickOptions, TickOutcome, TickReport, tick};
pub(crate) use proposals::{base_now, gates_now};
pub use report::ActReport;
pub use turn::last_tick;
pub(crate) use turn::{Taken, Turn, TurnWish};
pub use wait::wait_for;
