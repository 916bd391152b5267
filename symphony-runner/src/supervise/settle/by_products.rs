//! What of the set-up's the commits of a run's branch have, for the record of the run.

use serde_json::json;
use symphony_core::by_products::{
    BY_PRODUCTS_NAMED_MAX, COMMITTED_BY_PRODUCTS, committed_by_products,
};
use symphony_workspace::{BranchName, Repository, WorkspaceError, Worktree};

use crate::supervise::outcome::AgentOutcome;

/// Notes in the outcome which files the set-up had made and the commits have as they were. It is a report: what keeps git from
/// looking ends no run differently.
pub(super) fn note_by_products(
    repository: &Repository,
    worktree: &Worktree,
    base: &BranchName,
    outcome: &mut AgentOutcome,
) {
    let mut paths = match by_products(repository, worktree, base) {
        Ok(paths) => paths,
        Err(error) => {
            tracing::warn!(%error, "cannot say what of the set-up's is committed");
            return;
        }
    };
    if paths.is_empty() {
        return;
    }
    tracing::info!(count = paths.len(), "files of the set-up are committed");
    paths.truncate(BY_PRODUCTS_NAMED_MAX);
    outcome
        .metadata
        .insert(COMMITTED_BY_PRODUCTS.to_owned(), json!(paths));
}

fn by_products(
    repository: &Repository,
    worktree: &Worktree,
    base: &BranchName,
) -> Result<Vec<String>, WorkspaceError> {
    let Some(base) = repository.branch_head(base)? else {
        return Ok(Vec::new());
    };
    let traces = repository.set_up_traces(worktree, &base)?;
    Ok(committed_by_products(&traces))
}
