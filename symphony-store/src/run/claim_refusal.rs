//! Why a claim was refused.

use symphony_core::id::{PhaseName, RunId};
use symphony_core::issue::IssueStatus;
use symphony_core::plan::state::{PhaseStatus, PlanStatus};

/// Why a claim was refused. Something changed since the plan was made; the next tick makes a new plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimRefusal {
    /// The issue no longer has the status that the plan saw.
    IssueMoved(IssueStatus),
    /// The issue is in another phase than the plan saw, or has no phase label.
    InAnotherPhase(Option<PhaseName>),
    /// Another run is live on the issue, or one of the same agent on the project.
    AlreadyRunning(RunId),
    /// The pull request is no longer open, its gates have run, or the delivery no longer waits for a judge.
    ReviewEnded,
    /// The gates are to run again, but not yet.
    GatesNotDue,
    /// Intake has already triaged the issue.
    Triaged,
    /// The issue now depends on this many issues that are not done.
    WaitsFor(u32),
    /// Other runs took all slots meanwhile.
    NoSlot,
    /// Another host took the database over, and this one may not have runs of its own any more.
    TakenOver(String),
    /// The plan has a status in which no run of it starts.
    PlanStands(PlanStatus),
    /// The plan no longer has this phase.
    PhaseGone,
    /// The phase no longer has the status that the plan's loop saw.
    PhaseMoved(PhaseStatus),
}
