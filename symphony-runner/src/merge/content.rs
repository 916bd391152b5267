//! Unwanted content of a pull request: links to commits that no one can fetch, and commits that a person took out of
//! the base. A merge refuses it, and a tick finds it before anyone tries to merge.

use symphony_core::config::ProjectConfig;
use symphony_core::outside::{BaseView, CheckoutInTheWay, MergeObstacle, OpenInto};
use symphony_core::pull_request::PullRequest;
use symphony_store::{Project, Store};
use symphony_workspace::{BaseCheckout, BranchName, CommitId, Repository, WorkspaceError};

use crate::error::RunnerError;
use crate::merge::MergeOptions;
use crate::merge::incoming::Incoming;
use crate::merge::not_merged::{MergeRefusal, NotMerged};
use crate::merge::unpublished::unpublished_head;
use crate::repository::open_repository;
use crate::upkeep::rewound::returning_commits;

/// Looks once at the checkout of a base into which approved pull requests can be merged; `None` when it is not checked out, or there are none.
///
/// # Errors
/// When the repository cannot be opened, or git fails.
pub(crate) fn checkout_for(
    project: &Project,
    config: &ProjectConfig,
    base: &str,
    open: &[&OpenInto],
) -> Result<Option<BaseCheckout>, RunnerError> {
    if !open.iter().any(|open| open.is_approved) {
        return Ok(None);
    }
    let repository = open_repository(project, config)?;
    Ok(repository.base_checkout(&BranchName::parse(base)?)?)
}

/// Adds the unwanted content of a pull request that a person may merge. If git cannot look now, the next tick tries
/// again.
///
/// # Errors
/// When the repository cannot be opened, git fails, or the database cannot be read.
pub(crate) fn look_for_unwanted(
    store: &Store,
    project: &Project,
    config: &ProjectConfig,
    open: &OpenInto,
    base: &CommitId,
    checkout: Option<&BaseCheckout>,
    view: &mut BaseView,
) -> Result<(), RunnerError> {
    let head = RunnerError::commit(
        &open.head_commit,
        format_args!("the head of pull request {}", open.pr),
    )?;
    let repository = open_repository(project, config)?;
    let incoming = Incoming {
        project: &project.id,
        pr: open.pr,
        of: &open.of,
        branch: &open.base,
        base,
        head: &head,
    };
    let unpublished = unpublished_head(&repository, incoming)?;
    view.unpublished.extend(unpublished);
    let returning = returning_commits(store, &repository, incoming)?;
    view.returning.extend(returning);
    if let Some(checkout) = checkout.filter(|_| open.is_approved) {
        let files = repository.in_the_way_of(&head, checkout, base)?;
        if !files.is_empty() {
            view.overwriting.push(CheckoutInTheWay {
                pr: open.pr,
                path: checkout.path().display().to_string(),
                files,
            });
        }
    }
    Ok(())
}

/// Refuses a merge that would bring unwanted content into the base, unless it is forced.
///
/// # Errors
/// When there is such content, or git fails.
pub(crate) fn refuse_unwanted(
    store: &Store,
    repository: &Repository,
    pr: &PullRequest,
    base: &CommitId,
    head: &CommitId,
    options: &MergeOptions,
) -> Result<(), RunnerError> {
    if options.force {
        return Ok(());
    }
    refuse_filters(repository, base, head, pr)?;
    let incoming = Incoming {
        project: &pr.project,
        pr: pr.id,
        of: &pr.of,
        branch: &pr.base,
        base,
        head,
    };
    if let Some(found) = unpublished_head(repository, incoming)? {
        return Err(NotMerged::found(pr, MergeObstacle::Unpublished(found)).into());
    }
    match returning_commits(store, repository, incoming)? {
        Some(found) => Err(NotMerged::found(pr, MergeObstacle::Returning(found)).into()),
        None => Ok(()),
    }
}

/// Refuses a change that adds a filter which Symphony may not run. The checkout of the base would get its files
/// unfiltered, and the project would be on hold from then on.
fn refuse_filters(
    repository: &Repository,
    base: &CommitId,
    head: &CommitId,
    pr: &PullRequest,
) -> Result<(), RunnerError> {
    let (name, patterns) = match repository.require_filters_of(head) {
        Err(WorkspaceError::FilterNotRun { name, patterns, .. }) => (name, patterns),
        other => return Ok(other?),
    };
    if repository.require_filters_of(base).is_err() {
        // A filter that the base already has holds the project, and is reported there.
        return Ok(());
    }
    Err(NotMerged::new(pr, MergeRefusal::Filter { name, patterns }).into())
}
