//! Branches of Symphony's that the database does not know: from a lost database, or made by a person.

use symphony_core::id::{IssueId, PlanId};
use symphony_core::invariant::{Invariant, Violation};
use symphony_store::Store;
use symphony_workspace::{Repository, is_own_branch};

use crate::error::RunnerError;

/// Returns the branches that are named like Symphony's, but are unknown to its database.
///
/// # Errors
/// When the database or the repository cannot be read.
pub fn unknown_branches(
    store: &Store,
    repository: &Repository,
) -> Result<Vec<String>, RunnerError> {
    let mut unknown = Vec::new();
    for branch in repository.branches()? {
        if is_own_branch(&branch) && !is_known(store, &branch)? {
            unknown.push(branch);
        }
    }
    Ok(unknown)
}

fn is_known(store: &Store, branch: &str) -> Result<bool, RunnerError> {
    let name = branch.strip_prefix("symphony/").unwrap_or(branch);
    if let Ok(issue) = IssueId::parse(name) {
        return Ok(store.knows_branch_of(&issue)?);
    }
    let plan = name
        .strip_prefix("plan-")
        .and_then(|rest| PlanId::parse(rest.split('/').next()?).ok());
    match plan {
        Some(plan) => Ok(store.has_plan(&plan)?),
        None => Ok(true),
    }
}

pub(super) fn check(
    store: &Store,
    repository: &Repository,
    found: &mut Vec<Violation>,
) -> Result<(), RunnerError> {
    for branch in unknown_branches(store, repository)? {
        let detail =
            "the database does not know this branch, and no run uses it: rename it, or delete it";
        found.push(Violation::new(Invariant::I13, branch, detail));
    }
    Ok(())
}
