//! What a pull request would bring into its base that no one wants there: links to commits that no one can fetch, and commits that a person
//! took out of the base. A merge refuses it, and a tick finds it before anyone tries.

use symphony_core::config::ProjectConfig;
use symphony_core::listing::list_few;
use symphony_core::outside::{BaseView, CheckoutInTheWay, OpenInto};
use symphony_core::pull_request::PullRequest;
use symphony_store::{Project, Store};
use symphony_workspace::{BranchName, CommitId, Repository, WorkspaceError};

use crate::error::RunnerError;
use crate::merge::MergeOptions;
use crate::merge::incoming::Incoming;
use crate::merge::unpublished::unpublished_head;
use crate::repository::open_repository;
use crate::upkeep::rewound::returning_commits;

/// Patterns of files that a refusal names.
const PATTERNS_MAX: usize = 5;

/// Adds what of it a pull request that a person may merge has. What git cannot tell now it tells the next tick.
///
/// # Errors
/// When the repository cannot be opened, git fails, or the database cannot be read.
pub(crate) fn look_for_unwanted(
    store: &Store,
    project: &Project,
    config: &ProjectConfig,
    open: &OpenInto,
    base: &CommitId,
    view: &mut BaseView,
) -> Result<(), RunnerError> {
    let head = CommitId::parse(&open.head_commit)
        .map_err(|error| RunnerError::refused(error.to_string()))?;
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
    if open.is_approved {
        let branch = BranchName::parse(&open.base)?;
        let found = repository.checkout_in_the_way(&branch, base, &head)?;
        view.overwriting
            .extend(found.map(|(path, files)| CheckoutInTheWay {
                pr: open.pr,
                path: path.display().to_string(),
                files,
            }));
    }
    Ok(())
}

/// Refuses a merge that would bring it into the base, unless it is forced.
///
/// # Errors
/// When it would, or git fails.
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
    let reference = pr.reference();
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
        let why = format!(
            "{}, so {} would refer to commits that cannot be fetched",
            found.text(),
            pr.base
        );
        return Err(refused(pr, &why, &found.answers(&reference)));
    }
    match returning_commits(store, repository, incoming)? {
        Some(found) => Err(refused(pr, &found.text(), &found.answers(&reference))),
        None => Ok(()),
    }
}

/// Refuses a change that brings a filter along that Symphony may not run: the checkout of the base would get its files unfiltered,
/// and the project would be on hold from then on.
fn refuse_filters(
    repository: &Repository,
    base: &CommitId,
    head: &CommitId,
    pr: &PullRequest,
) -> Result<(), RunnerError> {
    let brought = match repository.require_filters_of(head) {
        Err(WorkspaceError::FilterNotRun { name, patterns, .. }) => (name, patterns),
        other => return Ok(other?),
    };
    if repository.require_filters_of(base).is_err() {
        // What the base has already holds the project, and is reported there.
        return Ok(());
    }
    let (name, patterns) = brought;
    let why = format!(
        "its attributes bring the git filter `{name}` along for {}, which Symphony may not run (`git.trusted_filters`)",
        list_few(patterns.iter().map(String::as_str), PATTERNS_MAX)
    );
    let reference = pr.reference();
    let ways = [
        format!("symphony pr reject {reference}"),
        format!("symphony pr merge {reference} --force"),
    ];
    Err(refused(pr, &why, &ways))
}

fn refused(pr: &PullRequest, why: &str, ways: &[String]) -> RunnerError {
    let ways: Vec<String> = ways.iter().map(|way| format!("`{way}`")).collect();
    RunnerError::refused(format!(
        "pull request {} is not merged: {why}. {} continues (`--force` merges anyway)",
        pr.id,
        ways.join(" or ")
    ))
}
