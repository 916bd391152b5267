//! Base branches that were moved back. A check of the base notices and records this, so that a merge does not undo it.

use symphony_core::id::ProjectId;
use symphony_core::outside::{ReturningCommits, RewoundBase};
use symphony_store::Store;
use symphony_workspace::{BranchName, CommitId, Repository};

use crate::error::RunnerError;
use crate::merge::incoming::Incoming;

/// Returns what a base branch lost since it was at `was`; `None` if it still has all of it.
///
/// # Errors
/// When git fails.
pub(crate) fn rewound_base(
    repository: &Repository,
    branch: &BranchName,
    was: &CommitId,
    now: &CommitId,
) -> Result<Option<RewoundBase>, RunnerError> {
    if repository.is_merged(was, now)? {
        return Ok(None);
    }
    Ok(Some(RewoundBase {
        branch: branch.to_string(),
        was: was.to_string(),
        now: now.to_string(),
        lost: repository.commits_ahead(now, was)?,
    }))
}

/// Returns where a base branch was before it was moved back, newest first.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn earlier_places(
    store: &Store,
    project: &ProjectId,
    branch: &str,
    base: &CommitId,
) -> Result<Vec<CommitId>, RunnerError> {
    // If the base was moved since the last check, no notice has that place yet.
    let seen = store.base_look(project, branch)?;
    let seen = seen.filter(|seen| seen != base.as_str()).into_iter();
    let places = seen.chain(store.rewound_heads(project, branch)?);
    Ok(places
        .filter_map(|was| CommitId::parse(&was).ok())
        .collect())
}

/// Returns the commits that a pull request's head has and that were taken out of its base, compared with the newest of
/// the places where the base was; `None` if there are none.
///
/// # Errors
/// When git fails.
pub(crate) fn returning_commits(
    repository: &Repository,
    incoming: Incoming<'_>,
    places: &[CommitId],
) -> Result<Option<ReturningCommits>, RunnerError> {
    let Incoming {
        branch, base, head, ..
    } = incoming;
    for was in places {
        let lost = repository.returning_commits(base, head, was)?;
        if lost > 0 {
            return Ok(Some(ReturningCommits {
                pr: incoming.pr,
                base: RewoundBase {
                    branch: branch.to_owned(),
                    was: was.to_string(),
                    now: base.to_string(),
                    lost,
                },
            }));
        }
    }
    Ok(None)
}
