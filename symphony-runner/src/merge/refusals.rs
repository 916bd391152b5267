//! Why a pull request is not merged.

use std::path::Path;

use symphony_core::outside::{HeadFound, LostHead, MergeObstacle};
use symphony_core::pull_request::{PullRequest, VerifiedGates};
use symphony_core::review_point::PointError;
use symphony_store::{PrStep, Store, StoreError, refuse_ended, refuse_proposal};
use symphony_workspace::{CommitId, Repository};

use crate::error::RunnerError;
use crate::merge::MergeOptions;
use crate::merge::not_merged::{MergeRefusal, NotMerged};
use crate::repository::{PullRequestPlace, gone_head, way_back};

/// Secrets that a refusal lists.
const LISTED_MAX: usize = 20;

pub(crate) fn refuse_unmergeable(
    store: &Store,
    pr: &PullRequest,
    options: &MergeOptions,
) -> Result<(), RunnerError> {
    refuse_proposal(pr).map_err(StoreError::from)?;
    refuse_ended(pr, PrStep::Merge).map_err(StoreError::from)?;
    store.require_review(pr)?;
    if !options.force {
        refuse_open_points(store, pr)?;
    }
    pr.gates_of_head()
        .map_or(Ok(()), |gates| refuse_red(pr, gates, options, None))
}

/// Refuses a pull request with an open `must` point of a review.
fn refuse_open_points(store: &Store, pr: &PullRequest) -> Result<(), RunnerError> {
    let Err(open) = store.require_points_closed(pr) else {
        return Ok(());
    };
    let StoreError::Point(PointError::Open { points }) = open else {
        return Err(open.into());
    };
    Err(NotMerged::new(pr, MergeRefusal::OpenPoints(points)).into())
}

/// Says that the base branch no longer exists.
pub(crate) fn base_gone(store: &Store, pr: &PullRequest) -> Result<RunnerError, RunnerError> {
    let seen = store.base_look(&pr.project, &pr.base)?;
    let gone = MergeObstacle::NoBase {
        base: pr.base.clone(),
        commit: seen.unwrap_or_else(|| pr.base_commit.clone()),
    };
    Ok(NotMerged::found(pr, gone).into())
}

/// Refuses a head that the repository no longer has.
pub(crate) fn refuse_gone(
    repository: &Repository,
    pr: &PullRequest,
    head: &CommitId,
) -> Result<(), RunnerError> {
    if repository.has_commit(head)? {
        return Ok(());
    }
    let lost = gone_head(repository, pr.id, &pr.of, head.as_str())?;
    Err(NotMerged::found(pr, MergeObstacle::Head(lost)).into())
}

/// Refuses a branch that has moved since its review: the verdict is about the earlier commit, and merging that commit
/// would silently leave out the later ones.
pub(crate) fn refuse_moved(
    repository: &Repository,
    pr: &PullRequest,
    head: &CommitId,
) -> Result<(), RunnerError> {
    let place = PullRequestPlace::of(&pr.of);
    let now = repository.branch_head(&place.branch)?;
    let Some(now) = now.filter(|now| now != head) else {
        return Ok(());
    };
    let moved = LostHead {
        pr: pr.id,
        of: pr.of.clone(),
        found: HeadFound::Moved {
            branch: pr.branch.clone(),
            now: now.as_str().to_owned(),
            back: way_back(repository, &place, head.as_str()),
        },
    };
    Err(NotMerged::found(pr, MergeObstacle::Head(moved)).into())
}

/// Refuses to move anything after a person pressed Ctrl-C.
pub(crate) fn refuse_stopped(pr: &PullRequest, stop: &dyn Fn() -> bool) -> Result<(), RunnerError> {
    if !stop() {
        return Ok(());
    }
    Err(NotMerged::new(pr, MergeRefusal::Stopped).into())
}

pub(crate) fn refuse_red(
    pr: &PullRequest,
    gates: &VerifiedGates,
    options: &MergeOptions,
    logs: Option<&Path>,
) -> Result<(), RunnerError> {
    if gates.green() || options.force {
        return Ok(());
    }
    let red = MergeRefusal::RedGates {
        commit: gates.commit.clone(),
        gates: gates.red().map(|gate| gate.name.clone()).collect(),
        logs: logs.map(Path::to_owned),
    };
    Err(NotMerged::new(pr, red).into())
}

/// Refuses a head with values of the project's configuration files. They are read again here, since they may have
/// changed since the pull request was opened.
pub(crate) fn refuse_secrets(
    repository: &Repository,
    pr: &PullRequest,
    base: &CommitId,
    head: &CommitId,
) -> Result<(), RunnerError> {
    let place = PullRequestPlace::of(&pr.of);
    let worktree = repository.worktree(&place.key, Some(&place.branch)).ok();
    let scan = repository.scan_secrets(worktree.as_ref(), base, head)?;
    if scan.is_clean() {
        return Ok(());
    }
    let problems = scan.problems(LISTED_MAX);
    Err(NotMerged::new(pr, MergeRefusal::Secrets(problems)).into())
}
