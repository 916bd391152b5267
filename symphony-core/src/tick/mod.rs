//! Planning one tick: what is done, and why everything else is not (spec: orchestrator).

mod gate;
mod plan;
mod predicate;
mod reason;
mod snapshot;

pub use gate::{free_worker_slots, pass_holds};
pub use plan::{Action, Decision, Plan, StartRun, plan_tick};
pub use predicate::{obstacles, review_obstacles, wanted_agent};
pub use reason::{Reason, SlotLimit};
pub use snapshot::{
    Candidate, CleanUp, DueRetry, Hold, HoldScope, LiveRun, LockState, ProjectView,
    ReviewCandidate, SlotLimits, Snapshot, SplitIssue, SubtasksOutcome,
};
