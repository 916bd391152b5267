//! Files of the set-up that the commits of a run's branch contain, for the record of the run.

use serde_json::json;
use symphony_core::by_products::{
    BY_PRODUCTS_NAMED_MAX, COMMITTED_BY_PRODUCTS, committed_by_products,
};
use symphony_workspace::{BranchName, Repository, WorkspaceError, Worktree};

use crate::supervise::outcome::AgentOutcome;

/// Records in the outcome which files that the set-up created are in the commits unchanged. This is only a report: if
/// git cannot look, the run ends as usual.
pub(super) fn note_by_products(
    repository: &Repository,
    worktree: &Worktree,
    base: &BranchName,
    outcome: &mut AgentOutcome,
) {
    let mut paths = match by_products(repository, worktree, base) {
        Ok(paths) => paths,
        Err(error) => {
            tracing::warn!(%error, "cannot find out which files of the set-up are committed");
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
