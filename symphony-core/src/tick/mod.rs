//! Planning one tick: what is done, and why everything else is not (spec: orchestrator).

mod agents_view;
mod asked;
mod done;
mod elsewhere;
mod gate;
mod gates;
mod holds;
mod housekeeping;
mod live_run;
mod models;
mod named_providers;
mod open_plan;
mod outside;
mod own_runs;
mod planning;
mod predicate;
mod project_agents;
mod reason;
mod repair;
mod rotation;
mod running;
mod schedule;
mod slot_limit;
mod slots;
mod snapshot;
mod waiting;

pub use crate::hold::{Hold, HoldScope};
pub use agents_view::{IDLE_BACKLOG_MAX, IntakeCandidate, ProjectAgents};
pub use asked::{AskedAgent, obeys_issue};
pub use gate::{free_worker_slots, pass_holds};
pub use gates::{NO_PROVIDER, gates_obstacles};
pub use housekeeping::{LEFTOVER_GRACE_MS, is_over, watch_supervisors};
pub use live_run::{LiveRun, LockState};
pub use models::{AskedModels, phase_of_model};
pub use named_providers::NamedProviders;
pub use open_plan::{OpenPhase, OpenPlan, PlanDriver};
pub use planning::{plan_tick, probe_candidates};
pub use predicate::{obstacles, project_obstacles, review_obstacles, wanted_agent};
pub use project_agents::{intake_obstacles, project_agent_obstacles};
pub use reason::{Due, NEXT_TRY, Reason};
pub use rotation::phases_turn;
pub use schedule::{
    Action, Decision, PlanReviewDecision, ProjectDecision, Schedule, StartRun, Unwanted,
};
pub use slot_limit::SlotLimit;
pub use snapshot::{
    AcceptedPhase, CANDIDATES_MAX, Candidate, CleanUp, DueRetry, GatesState, Leftover,
    LeftoverOwner, NoBase, ProjectView, ReviewCandidate, ReviewSubject, SlotLimits, Snapshot,
    SplitIssue, SubtasksOutcome,
};
