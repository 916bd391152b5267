//! Commits of submodules that only Symphony's worktrees have. A pull request that refers to them is not merged, and
//! removing them is reported.

use symphony_core::Timestamp;
use symphony_core::id::ProjectId;
use symphony_core::outside::{
    BaseNotice, SavedCommits, UnpublishedCommit, UnpublishedHead, UnpublishedIn,
};
use symphony_core::pull_request::PullRequestOf;
use symphony_store::{Context, Store};
use symphony_workspace::{Removed, Repository};

use crate::error::RunnerError;
use crate::merge::incoming::Incoming;
use crate::repository::PullRequestPlace;

/// Returns the never published commits of submodules that the head of a pull request refers to, or `None` if there are
/// none.
///
/// # Errors
/// When git fails.
pub(crate) fn unpublished_head(
    repository: &Repository,
    incoming: Incoming<'_>,
) -> Result<Option<UnpublishedHead>, RunnerError> {
    let links = repository.unpublished_links(incoming.base, incoming.head)?;
    let commits: Vec<UnpublishedCommit> = links
        .into_iter()
        .map(|link| UnpublishedCommit {
            path: link.path,
            commit: link.commit,
            folder: link.folder.display().to_string(),
            found: if link.is_submodule {
                UnpublishedIn::Submodule
            } else {
                UnpublishedIn::Rescue
            },
        })
        .collect();
    Ok((!commits.is_empty()).then(|| UnpublishedHead {
        pr: incoming.pr,
        branch: PullRequestPlace::of(incoming.of).branch.to_string(),
        commits,
    }))
}

/// Adds a notice about the commits of submodules that were saved when a worktree was removed.
///
/// # Errors
/// When the database cannot be written.
pub(crate) fn note_saved_submodules(
    store: &mut Store,
    project: &ProjectId,
    of: &PullRequestOf,
    removed: &Removed,
) -> Result<(), RunnerError> {
    let saved: Vec<SavedCommits> = removed
        .submodules
        .iter()
        .map(|saved| SavedCommits {
            name: saved.name.clone(),
            rescue: saved.rescue.reference.clone(),
        })
        .collect();
    if let Some(notice) = BaseNotice::of_saved_submodules(project, of, &saved) {
        store.note_base(&Context::system(Timestamp::now()), &notice)?;
    }
    Ok(())
}
