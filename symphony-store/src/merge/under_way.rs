//! Which pull request is being merged. Nothing else may happen to it meanwhile.

use symphony_core::id::{IssueId, PlanId, PrId};
use symphony_core::pull_request::PullRequestOf;

use crate::db::{OptionalExtension, Transaction, params};
use crate::error::StoreError;

/// Refuses to change a pull request that is being merged, or its issue or plan.
pub(crate) fn refuse_under_merge(
    tx: &Transaction<'_>,
    of: &PullRequestOf,
) -> Result<(), StoreError> {
    begun_merge_of(tx, of)?.map_or(Ok(()), |pr| Err(StoreError::MergeBegun { pr }))
}

/// Returns the pull request of an issue or a plan that is being merged.
pub(crate) fn begun_merge_of(
    tx: &Transaction<'_>,
    of: &PullRequestOf,
) -> Result<Option<PrId>, StoreError> {
    let begun: Option<i64> = tx
        .prepare_cached(
            "SELECT id FROM pull_request INDEXED BY pull_request_merging
             WHERE merge_intent IS NOT NULL AND (issue = ?1 OR plan = ?2) LIMIT 1",
        )?
        .query_row(
            params![
                of.issue().map(IssueId::as_str),
                of.plan().map(PlanId::as_str)
            ],
            |row| row.get(0),
        )
        .optional()?;
    Ok(begun.map(PrId::new))
}
