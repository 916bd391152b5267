//! Documents of phases that agents still need: their commits are kept, and lost ones are reported.

use std::collections::BTreeSet;

use symphony_core::config::ProjectConfig;
use symphony_core::contract::{NeededDocument, plan_kept};
use symphony_core::id::IssueId;
use symphony_core::inbox::LostDocument;
use symphony_store::{Project, Store, StoreError};
use symphony_workspace::Repository;

use crate::error::RunnerError;
use crate::repository::open_repository;

/// Returns the accepted documents of a project that are no longer in its repository, oldest first.
///
/// # Errors
/// When the database cannot be read, or git fails.
pub fn lost_documents(
    store: &Store,
    project: &Project,
    config: &ProjectConfig,
) -> Result<Vec<LostDocument>, RunnerError> {
    let needed = store.needed_documents(&project.id)?;
    let mut lost = Vec::new();
    if needed.is_empty() {
        return Ok(lost);
    }
    let repository = open_repository(project, config)?;
    let base = repository.base()?.branch;
    for document in needed {
        if !repository.is_lost(&document)? {
            continue;
        }
        lost.extend(document.path.map(|path| LostDocument {
            project: project.id.clone(),
            issue: document.issue,
            phase: document.phase,
            path,
            commit: document.commit,
            base: base.as_str().to_owned(),
            since: document.since,
        }));
    }
    Ok(lost)
}

/// Keeps the commits of documents that agents still need, including those that a dead process missed.
///
/// # Errors
/// When the database cannot be read, or git fails.
pub(crate) fn keep_documents(
    store: &Store,
    project: &Project,
    config: &ProjectConfig,
) -> Result<(), RunnerError> {
    let needed = store.needed_documents(&project.id)?;
    if needed.is_empty() {
        return Ok(());
    }
    settle_kept(store, &open_repository(project, config)?, &needed)
}

/// Keeps the commits of these documents of a project, and releases those of ended issues.
///
/// # Errors
/// When the database cannot be read, or git fails.
pub(crate) fn settle_kept(
    store: &Store,
    repository: &Repository,
    needed: &[NeededDocument],
) -> Result<(), RunnerError> {
    let kept = repository.kept_commits()?;
    let mut known: BTreeSet<IssueId> = BTreeSet::new();
    for commit in &kept {
        match store.issue(&commit.issue) {
            Ok(_) => known.insert(commit.issue.clone()),
            Err(StoreError::NotFound { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
    }
    // Commits of issues that this database does not know are left alone: another database of the same repository may
    // need them.
    let plan = plan_kept(needed, &kept, &known);
    for commit in &plan.keep {
        repository.keep_commit(commit)?;
    }
    for commit in &plan.release {
        repository.release_commit(commit)?;
    }
    Ok(())
}
