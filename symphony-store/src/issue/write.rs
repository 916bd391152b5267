//! Writes single columns of an issue and decides nothing: `cascade` decides what follows from a change.

use symphony_core::id::{IssueId, PhaseName};
use symphony_core::issue::{AttemptCounts, IssueState, PHASE_LABEL_PREFIX};

use crate::database::context::Context;
use crate::database::row::to_json;
use crate::db::{Transaction, params};
use crate::error::StoreError;
use crate::issue::query::load_issue;

fn sorted(labels: &[String]) -> Vec<String> {
    let mut labels = labels.to_vec();
    labels.sort();
    labels.dedup();
    labels
}

/// Replaces an issue's labels.
pub(crate) fn set_labels(
    tx: &Transaction<'_>,
    id: &IssueId,
    labels: &[String],
) -> Result<(), StoreError> {
    let labels = sorted(labels);
    tx.prepare_cached("UPDATE issue SET labels = ?2 WHERE id = ?1")?
        .execute([id.as_str(), &to_json(&labels)])?;
    tx.prepare_cached("DELETE FROM issue_label WHERE issue = ?1")?
        .execute([id.as_str()])?;
    for label in &labels {
        tx.prepare_cached("INSERT INTO issue_label (issue, label) VALUES (?1, ?2)")?
            .execute([id.as_str(), label])?;
    }
    Ok(())
}

/// Writes what counts towards the circuit breaker.
pub(crate) fn set_counts(
    tx: &Transaction<'_>,
    id: &IssueId,
    counts: AttemptCounts,
) -> Result<(), StoreError> {
    tx.prepare_cached("UPDATE issue SET consecutive_failures = ?2, total_runs = ?3 WHERE id = ?1")?
        .execute(params![
            id.as_str(),
            counts.consecutive_failures,
            counts.total_runs
        ])?;
    Ok(())
}

/// Writes the state. Only the cascade may call it: a status that changes without its consequences breaks the issue.
pub(crate) fn set_issue_state(
    tx: &Transaction<'_>,
    context: &Context,
    id: &IssueId,
    state: &IssueState,
) -> Result<(), StoreError> {
    let block = state.block();
    tx.prepare_cached(
        "UPDATE issue SET status = ?2, blocked_by = ?3, blocked_reason = ?4, updated_at = ?5 WHERE id = ?1",
    )?
    .execute(params![
        id.as_str(),
        state.status().name(),
        block.map(|b| b.by.name()),
        block.map(|b| b.reason.as_str()),
        context.now.as_millisecond(),
    ])?;
    Ok(())
}

/// Replaces the phase label.
pub(crate) fn set_phase(
    tx: &Transaction<'_>,
    id: &IssueId,
    phase: &PhaseName,
) -> Result<(), StoreError> {
    let mut labels = load_issue(tx, id)?.labels;
    labels.retain(|label| !label.starts_with(PHASE_LABEL_PREFIX));
    labels.push(format!("{PHASE_LABEL_PREFIX}{phase}"));
    set_labels(tx, id, &labels)
}

/// Removes a scheduled retry.
pub(crate) fn remove_retry(tx: &Transaction<'_>, id: &IssueId) -> Result<(), StoreError> {
    tx.prepare_cached("DELETE FROM retry WHERE issue = ?1")?
        .execute([id.as_str()])?;
    Ok(())
}
