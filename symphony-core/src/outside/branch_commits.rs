//! Commits of a branch that the base has.

use serde::Serialize;

use crate::id::{PrId, ProjectId};
use crate::issue::IssueStatus;
use crate::plan::state::PlanStatus;
use crate::pull_request::{PrState, PullRequestOf};

/// The newest pull request of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BranchReview {
    /// The pull request.
    pub pr: PrId,
    /// Where it is.
    pub state: PrState,
    /// Whether its head has all the commits that were found.
    pub holds_all: bool,
}

/// The state of an issue or a plan, as far as it explains its commits on the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Worked on, under review, or still to be.
    Open,
    /// A person declared it done, or gave a plan up: what is on its branch is theirs to merge by hand.
    Done,
    /// The issue is cancelled.
    Cancelled,
}

impl From<IssueStatus> for Standing {
    fn from(status: IssueStatus) -> Self {
        match status {
            IssueStatus::Done => Self::Done,
            IssueStatus::Cancelled => Self::Cancelled,
            _ => Self::Open,
        }
    }
}

impl From<PlanStatus> for Standing {
    fn from(status: PlanStatus) -> Self {
        if status.is_ended() {
            Self::Done
        } else {
            Self::Open
        }
    }
}

/// Commits that were made on the branch of an issue or a plan and that the base has now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BranchCommits {
    /// The project.
    pub project: ProjectId,
    /// What the branch was made for.
    pub of: PullRequestOf,
    /// Where that is.
    pub standing: Standing,
    /// The base branch.
    pub base: String,
    /// The commits, newest first.
    pub commits: Vec<String>,
    /// The newest pull request of the branch.
    pub review: Option<BranchReview>,
}
