//! Why a plan does not begin, continue or come under review.

use std::path::PathBuf;

use symphony_core::config::SandboxSetting;
use symphony_core::id::PlanId;
use symphony_core::outside::ways_on;
use symphony_core::plan::Isolation;

/// What keeps a plan from being carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each text shows what its fields are")]
#[non_exhaustive]
pub enum PlanRunRefusal {
    /// Its file has changed, but the user's branch cannot have the work of the plan that the file had.
    #[error("the file of plan {plan} has changed, and {branch} lacks its work: {reason}")]
    WorkLeft {
        branch: String,
        plan: PlanId,
        /// Why the branch does not have it.
        reason: String,
        /// The command that takes the work over.
        command: String,
    },
    /// Where its phases work was decided when it began.
    #[error(
        "plan {plan} began with isolation `{isolation}`, which cannot change while it is under way"
    )]
    IsolationFixed { plan: PlanId, isolation: Isolation },
    /// Its phases would work in the user's own folder, and the configuration confines agents.
    #[error(
        "with isolation `none` the agents of a plan work in your own folder, but `sandbox.level` is `{0}`"
    )]
    NotConfined(SandboxSetting),
    /// Its file says something else than when it began.
    #[error("{path} was changed since plan {plan} began ({changes})")]
    FileChanged {
        path: String,
        plan: PlanId,
        changes: String,
        has_ended: bool,
    },
    /// The branch that is checked out is one of Symphony's, of another plan.
    #[error(
        "`{0}`, which is checked out here, is Symphony's branch of another plan and will be removed with that plan"
    )]
    OnPlanBranch(String),
    /// Something else than Symphony wrote the state file.
    #[error("{} was not written by Symphony (it has no `managedBy`): a skill may be using it", .0.display())]
    ForeignStateFile(PathBuf),
    /// The branch that its work goes into is gone. A tick reports it too, so that the text says what to do.
    #[error(
        "plan {plan} is complete, but the branch `{branch}`, which its work goes into, no longer exists, so no pull request is \
         opened. {}",
        ways_on(branch, base_commit)
    )]
    TargetGone {
        plan: PlanId,
        branch: String,
        /// The commit that the plan began at.
        base_commit: String,
    },
    /// Other phases kept moving its base.
    #[error("the base of plan {plan} moved {tries} times before it could be recorded: try again")]
    BaseKeepsMoving { plan: PlanId, tries: usize },
    /// Every id that its file could give it is taken.
    #[error("every id for a plan of {0} is taken")]
    NoIdLeft(String),
}
