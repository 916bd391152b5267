//! What was seen of the base branches.

use serde::Serialize;

use super::branch_commits::BranchCommits;
use super::conflict::MergeConflict;
use super::found::FoundMerge;
use super::gone::GoneBase;
use super::notice::BaseNotice;
use super::obstacle::{CheckoutInTheWay, LostHead, MergeObstacle};
use super::rewound::ReturningCommits;
use super::unpublished::UnpublishedHead;
use crate::done::MovedProposal;
use crate::id::{PrId, ProjectId};

/// A look at a base branch that has to be recorded: the next one starts where it ended.
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
    /// The pull requests that were searched for.
    pub prs: Vec<PrId>,
}

/// What was seen of the base branches that moved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaseView {
    /// Open pull requests that the base has.
    pub merges: Vec<FoundMerge>,
    /// Commits of branches that the base has.
    pub commits: Vec<BranchCommits>,
    /// Notices about pull requests that cannot be merged as they are.
    pub conflicts: Vec<BaseNotice>,
    /// The looks.
    pub looks: Vec<BaseLook>,
    /// Branches that no longer exist.
    pub gone: Vec<GoneBase>,
    /// Pull requests that wait for a person and conflict with their base.
    pub conflicting: Vec<MergeConflict>,
    /// Approved pull requests whose merge would overwrite files in the checkout of their base.
    pub overwriting: Vec<CheckoutInTheWay>,
    /// Proposals that nothing is left to do whose base has moved in a way that concerns them.
    pub moved: Vec<MovedProposal>,
    /// Pull requests whose branch has moved away from the reviewed commit, or whose reviewed commit is gone.
    pub lost: Vec<LostHead>,
    /// Pull requests that refer to commits of submodules that were never published.
    pub unpublished: Vec<UnpublishedHead>,
    /// Branches that have lost commits.
    pub rewound: Vec<BaseNotice>,
    /// Pull requests with commits that were removed from their base.
    pub returning: Vec<ReturningCommits>,
}

impl BaseView {
    /// Returns the known obstacle to the merge of a pull request, if any.
    pub fn obstacle_to(&self, pr: PrId) -> Option<MergeObstacle> {
        let gone = self.gone.iter().find(|gone| {
            let mut prs = gone.prs.iter();
            prs.any(|open| open.pr == pr)
        });
        if let Some(gone) = gone {
            return Some(MergeObstacle::NoBase {
                base: gone.branch.clone(),
                commit: gone.commit.clone(),
            });
        }
        let mut lost = self.lost.iter();
        if let Some(lost) = lost.find(|lost| lost.pr == pr) {
            return Some(MergeObstacle::Head(lost.clone()));
        }
        let mut unpublished = self.unpublished.iter();
        if let Some(head) = unpublished.find(|head| head.pr == pr) {
            return Some(MergeObstacle::Unpublished(head.clone()));
        }
        let mut returning = self.returning.iter();
        if let Some(commits) = returning.find(|commits| commits.pr == pr) {
            return Some(MergeObstacle::Returning(commits.clone()));
        }
        let mut conflicting = self.conflicting.iter();
        if let Some(conflict) = conflicting.find(|conflict| conflict.pr == pr) {
            return Some(MergeObstacle::Conflict {
                base: conflict.base.clone(),
                files: conflict.files.clone(),
            });
        }
        let mut overwriting = self.overwriting.iter();
        let found = overwriting.find(|checkout| checkout.pr == pr)?;
        Some(MergeObstacle::Checkout(found.clone()))
    }
}
