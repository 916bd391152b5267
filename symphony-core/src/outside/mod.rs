//! Merges that someone made outside Symphony (`git merge`, a squash, a rebase, the forge), and commits of agents that
//! reached the base branch without one.
//!
//! The observations of the base branch are plain values; this module and `tick::outside` decide what follows. See
//! `docs/design/0019-merges-made-outside.md`.

mod base_view;
mod branch_commits;
mod conflict;
mod found;
mod gone;
mod landed;
pub(crate) mod merge;
mod notice;
mod obstacle;
mod rewound;
mod unpublished;

pub use base_view::{BaseLook, BaseView};
pub use branch_commits::{BranchCommits, BranchReview, Standing};
pub use conflict::{MergeConflict, reject_for_conflict};
pub use found::{FoundMerge, Missing, missing_of};
pub use gone::{GoneBase, OpenInto, ways_on};
pub use landed::{LandedIssue, MERGED_BY, RecordedIssue, ShownMerge, landed, merged_issue};
pub use merge::{Evidence, OutsideMerge};
pub use notice::{BaseNotice, NoticeKind, SavedCommits, notice_answers};
pub use obstacle::{CheckoutInTheWay, HeadFound, LostHead, MergeObstacle};
pub use rewound::{ReturningCommits, RewoundBase};
pub use unpublished::{UnpublishedCommit, UnpublishedHead, UnpublishedIn};

use crate::id::PrId;
use crate::pull_request::PrState;

/// Returns why the commits on the base are unexplained; `None` if they are explained.
///
/// A merge of a whole open pull request is a person's decision, whoever approved it. A done issue was declared done.
/// Everything else (a part of a change, a change that was turned down or that no one ever asked to merge) is for a
/// person to look at.
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
