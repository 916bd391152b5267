//! Review points as input for a prompt, and the commits that answer them.

use symphony_core::pull_request::{PullRequest, PullRequestOf};
use symphony_core::review_point::ReviewPoint;
use symphony_prompt::{AnswerPatch, PointAnswerInput, PointInput};
use symphony_store::Store;
use symphony_workspace::{CommitId, Repository, WorkspaceError};

use crate::error::RunnerError;

/// How many bytes of a commit's patch are read for a judge: more than a prompt has room for.
const PATCH_BYTES_MAX: usize = 64 * 1024;
/// How many characters of a commit a prompt shows where it is only a name.
const COMMIT_CHARS: usize = 12;

/// Every open point of an issue or a plan.
pub(super) fn review_points(
    of: &PullRequestOf,
    store: &Store,
) -> Result<Vec<PointInput>, RunnerError> {
    Ok(point_inputs(store.review_points(of)?))
}

/// Returns the open ones of some points.
pub(crate) fn point_inputs(points: Vec<ReviewPoint>) -> Vec<PointInput> {
    let open = points.into_iter().filter(ReviewPoint::is_open);
    open.map(point_input).collect()
}

fn point_input(point: ReviewPoint) -> PointInput {
    let at = point.commit.as_ref().map_or_else(String::new, |commit| {
        let short: String = commit.chars().take(COMMIT_CHARS).collect();
        format!(" at commit {short}")
    });
    PointInput {
        answered: point.is_answered(),
        number: point.number,
        severity: point.severity,
        author: point.author,
        review: point.review.map(|review| format!("{review}{at}")),
        place: point.place.map(|place| place.to_string()),
        text: point.text,
        answers: point
            .answers
            .into_iter()
            .map(|answer| PointAnswerInput {
                kind: answer.kind,
                author: answer.author,
                commit: answer.commit,
                text: answer.text,
            })
            .collect(),
    }
}

/// Returns the changes of the commits that answer open points of a pull request, in the order of the points. A commit
/// that is no longer on the branch is only named.
pub(super) fn answer_patches(
    points: &[ReviewPoint],
    pr: &PullRequest,
    repository: &Repository,
) -> Result<Vec<AnswerPatch>, WorkspaceError> {
    let mut patches: Vec<AnswerPatch> = Vec::new();
    for point in points.iter().filter(|point| point.is_open()) {
        let given = point
            .answers
            .iter()
            .filter(|answer| answer.round == point.round);
        for commit in given.filter_map(|answer| answer.commit.as_ref()) {
            match patches.iter_mut().find(|patch| patch.commit == *commit) {
                Some(known) if known.points.contains(&point.number) => {}
                Some(known) => known.points.push(point.number),
                None => patches.push(AnswerPatch {
                    commit: commit.clone(),
                    points: vec![point.number],
                    patch: patch(commit, pr, repository)?,
                }),
            }
        }
    }
    Ok(patches)
}

fn patch(
    commit: &str,
    pr: &PullRequest,
    repository: &Repository,
) -> Result<Option<String>, WorkspaceError> {
    let (Ok(commit), Ok(head)) = (CommitId::parse(commit), CommitId::parse(&pr.head_commit)) else {
        return Ok(None);
    };
    if !repository.has_merged(&commit, &head)? {
        return Ok(None);
    }
    repository.commit_patch(&commit, PATCH_BYTES_MAX)
}
