//! Commits of submodules that nobody but Symphony's worktrees has: what names them is not merged, and what is removed with them is told.

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::id::{PrId, ProjectId};
use symphony_core::outside::{
    BaseNotice, OpenInto, SavedCommits, UnpublishedCommit, UnpublishedHead, UnpublishedIn,
};
use symphony_core::pull_request::{PullRequest, PullRequestOf};
use symphony_store::{Context, Project, Store};
use symphony_workspace::{CommitId, Removed, Repository};

use crate::error::RunnerError;
use crate::merge::MergeOptions;
use crate::repository::{PullRequestPlace, open_repository};

/// Returns the commits of submodules that the head of a pull request names and that were never published; none when there are none.
///
/// # Errors
/// When git fails.
fn unpublished_head(
    repository: &Repository,
    (pr, of): (PrId, &PullRequestOf),
    (base, head): (&CommitId, &CommitId),
) -> Result<Option<UnpublishedHead>, RunnerError> {
    let links = repository.unpublished_links(base, head)?;
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
        pr,
        branch: PullRequestPlace::of(of).branch.to_string(),
        commits,
    }))
}

/// Looks for such commits in a pull request that a person may merge, where its base is at `base`.
///
/// # Errors
/// As [`unpublished_head`].
pub(crate) fn unpublished_into(
    project: &Project,
    config: &ProjectConfig,
    open: &OpenInto,
    base: &CommitId,
) -> Result<Option<UnpublishedHead>, RunnerError> {
    let head = CommitId::parse(&open.head_commit)
        .map_err(|error| RunnerError::refused(error.to_string()))?;
    let repository = open_repository(project, config)?;
    unpublished_head(&repository, (open.pr, &open.of), (base, &head))
}

/// Refuses to bring a link into the base to a commit that exists nowhere else.
///
/// # Errors
/// When there is one, or git fails.
pub(crate) fn refuse_unpublished(
    repository: &Repository,
    pr: &PullRequest,
    commits: (&CommitId, &CommitId),
    options: &MergeOptions,
) -> Result<(), RunnerError> {
    if options.force {
        return Ok(());
    }
    let Some(found) = unpublished_head(repository, (pr.id, &pr.of), commits)? else {
        return Ok(());
    };
    let ways = found.answers(&pr.reference());
    let ways: Vec<String> = ways.iter().map(|way| format!("`{way}`")).collect();
    Err(RunnerError::refused(format!(
        "pull request {} is not merged: {}, and {} would name what nobody can fetch. {} publishes it (`--force` merges all the same)",
        pr.id,
        found.text(),
        pr.base,
        ways.join(", ")
    )))
}

/// Tells a person which commits of submodules were saved when a worktree was removed.
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
