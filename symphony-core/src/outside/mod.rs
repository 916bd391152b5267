//! Merges that somebody made outside Symphony (`git merge`, a squash, a rebase, the forge), and commits of agents that reached the
//! base branch without one.
//!
//! What is seen of the base branch comes in as values; what follows from it is decided here and in `tick::outside`. See
//! `docs/design/0019-merges-made-outside.md`.

mod gone;
mod notice;
mod obstacle;
mod rewound;
mod unpublished;

pub use gone::{GoneBase, OpenInto, ways_on};
pub use notice::{BaseNotice, NoticeKind, SavedCommits, notice_answers};
pub use obstacle::{
    CheckoutInTheWay, HeadFound, LostHead, MergeConflict, MergeObstacle, reject_for_conflict,
};
pub use rewound::{ReturningCommits, RewoundBase};
pub use unpublished::{UnpublishedCommit, UnpublishedHead, UnpublishedIn};

use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;
use crate::done::MovedProposal;
use crate::id::{PrId, ProjectId};
use crate::issue::IssueStatus;
use crate::plan::state::PlanStatus;
use crate::pull_request::{PrState, PullRequest, PullRequestOf, VerdictKind, VerifiedGates};

closed_set!(
    /// How the base shows that it has a change.
    Evidence, "evidence of a merge", {
        /// Its history holds the approved head itself: a fast-forward or a merge commit.
        History = "history",
        /// Merging the head into it changes no file: a squash, a rebase, picked commits.
        Tree = "tree",
        /// It has a commit with the same patch for each commit of the branch, and was edited afterwards.
        Patch = "patch",
    }
);

impl Evidence {
    /// Says how the change got there, as far as it can be told.
    pub const fn words(self) -> &'static str {
        match self {
            Self::History => "with its commits",
            Self::Tree => "with the same files",
            Self::Patch => "with the same patches",
        }
    }
}

/// A merge that was not made by Symphony.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutsideMerge {
    /// The first commit of the base that has the whole change.
    pub commit: String,
    /// How the base shows it.
    pub evidence: Evidence,
    /// Who made it, if git says so.
    pub by: Option<String>,
}

closed_set!(
    /// What a change did not have when it was merged outside.
    Missing, "missing part of a review", {
        /// Nobody approved its head.
        Approval = "approval",
        /// Its required gates were not green on its head.
        Gates = "green gates",
    }
);

/// Returns what a pull request lacks that is merged outside now. Gates that have not run are not green.
pub fn missing_of(pr: &PullRequest) -> Vec<Missing> {
    let approved = pr
        .verdict_on_head()
        .is_some_and(|verdict| verdict.kind == VerdictKind::Approved);
    let green = pr.gates_of_head().is_some_and(VerifiedGates::green);
    let mut missing = Vec::new();
    if !green {
        missing.push(Missing::Gates);
    }
    if !approved {
        missing.push(Missing::Approval);
    }
    missing
}

/// An open pull request whose whole change the base has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundMerge {
    /// The project.
    pub project: ProjectId,
    /// What the pull request finishes.
    pub of: PullRequestOf,
    /// The pull request.
    pub pr: PrId,
    /// Its base branch.
    pub base: String,
    /// The head whose change was found.
    pub head: String,
    /// What was found.
    pub merge: OutsideMerge,
    /// What it lacked.
    pub missing: Vec<Missing>,
}

/// The newest pull request of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BranchReview {
    /// The pull request.
    pub pr: PrId,
    /// Where it is.
    pub state: PrState,
    /// Whether its head has all of the commits that were found.
    pub holds_all: bool,
}

/// Where an issue or a plan is, as far as its commits on the base are explained by it.
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

/// A look at a base branch that is to be remembered: the next one begins where it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BaseLook {
    /// The project.
    pub project: ProjectId,
    /// The branch.
    pub branch: String,
    /// Its head.
    pub head: String,
    /// Its head at the look before, if there was one.
    pub since: Option<String>,
    /// The pull requests that were looked for.
    pub prs: Vec<PrId>,
}

/// What was seen of the base branches that moved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaseView {
    /// Open pull requests that the base has.
    pub merges: Vec<FoundMerge>,
    /// Commits of branches that the base has.
    pub commits: Vec<BranchCommits>,
    /// What is to be told of pull requests that cannot be merged as they are.
    pub conflicts: Vec<BaseNotice>,
    /// The looks.
    pub looks: Vec<BaseLook>,
    /// Branches that do not exist any more.
    pub gone: Vec<GoneBase>,
    /// Pull requests that wait for a person and conflict with their base.
    pub conflicting: Vec<MergeConflict>,
    /// Approved pull requests whose merge would write over files in the checkout of their base.
    pub overwriting: Vec<CheckoutInTheWay>,
    /// Proposals that nothing is left to do whose base has moved in a way that concerns them.
    pub moved: Vec<MovedProposal>,
    /// Pull requests whose reviewed commit is not what their branch has, or is nowhere.
    pub lost: Vec<LostHead>,
    /// Pull requests that name commits of submodules which were never published.
    pub unpublished: Vec<UnpublishedHead>,
    /// Branches that do not have all commits any more that they had.
    pub rewound: Vec<BaseNotice>,
    /// Pull requests that have commits which were taken out of their base.
    pub returning: Vec<ReturningCommits>,
}

/// Returns why it is not explained that the base has these commits; none when it is.
///
/// A merge of a whole open pull request is a person's decision, whoever approved it. A done issue was declared done. Everything
/// else (a part of a change, a change that was turned down or that nobody ever asked to merge) is for a person to look at.
pub fn unexplained(found: &BranchCommits, merges: &[FoundMerge]) -> Option<NoticeKind> {
    let is_found = |pr: PrId| merges.iter().any(|merge| merge.pr == pr);
    match (found.standing, found.review) {
        (_, Some(review)) if review.state == PrState::Merged || is_found(review.pr) => {
            (!review.holds_all).then_some(NoticeKind::Beyond)
        }
        (Standing::Done, _) => None,
        (Standing::Cancelled, _) => Some(NoticeKind::Cancelled),
        (_, None) => Some(NoticeKind::NoPullRequest),
        (_, Some(review)) if review.state.is_open() => Some(NoticeKind::Part),
        (_, Some(_)) => Some(NoticeKind::TurnedDown),
    }
}

#[cfg(test)]
mod tests;
