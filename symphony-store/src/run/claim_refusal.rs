//! Why a claim was refused.

use symphony_core::id::{PhaseName, RunId};
use symphony_core::issue::IssueStatus;
use symphony_core::plan::state::{PhaseStatus, PlanStatus};

/// Why a claim was not granted: the world moved on since the plan was made. The next tick plans anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimRefusal {
    /// The issue is not where the plan saw it.
    IssueMoved(IssueStatus),
    /// The issue is in another phase than the plan saw; none without a phase label.
    InAnotherPhase(Option<PhaseName>),
    /// Another run is live on the issue, or of the same agent on the project.
    AlreadyRunning(RunId),
    /// The pull request is no longer open, its gates have run, or the claim awaits no judge any more.
    ReviewEnded,
    /// The gates are tried again later.
    GatesNotDue,
    /// Intake has looked at it.
    Triaged,
    /// It got dependencies that are not done; so many.
    WaitsFor(u32),
    /// All slots were taken meanwhile.
    NoSlot,
    /// The plan starts nothing.
    PlanStands(PlanStatus),
    /// The plan has no such phase any more.
    PhaseGone,
    /// The phase is not where the plan's loop saw it.
    PhaseMoved(PhaseStatus),
}
