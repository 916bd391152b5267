//! How gates failed on an issue. Repeated failures stop it.

use symphony_core::gates::{FailurePrint, PastFailure, RepeatedFailure};
use symphony_core::id::IssueId;
use symphony_core::run::Run;

use crate::database::context::Context;
use crate::database::row::{json, to_json};
use crate::db::{Connection, Transaction, params};
use crate::error::StoreError;

/// Forgets how gates failed on an issue, because a person starts it again.
pub(crate) fn forget_failures(tx: &Transaction<'_>, issue: &IssueId) -> Result<(), StoreError> {
    tx.prepare_cached("DELETE FROM gate_failure WHERE issue = ?1")?
        .execute([issue.as_str()])?;
    Ok(())
}

pub(crate) fn note_failure(
    tx: &Transaction<'_>,
    context: &Context,
    run: &Run,
    issue: &IssueId,
    failure: &PastFailure,
) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO gate_failure (issue, run, tree, print, at, gates) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            issue.as_str(),
            run.id.as_str(),
            failure.tree,
            failure.print.as_str(),
            context.now.as_millisecond(),
            to_json(&failure.gates),
        ],
    )?;
    Ok(())
}

/// Records that the gates of an issue passed. Failures on the same files were not the fault of these files, and are
/// forgotten. The output of other failures is kept: otherwise a change that brings them back after each green run would
/// be paid for endlessly.
pub(crate) fn note_pass(
    tx: &Transaction<'_>,
    issue: &IssueId,
    tree: &str,
) -> Result<(), StoreError> {
    tx.prepare_cached("DELETE FROM gate_failure WHERE issue = ?1 AND tree = ?2")?
        .execute([issue.as_str(), tree])?;
    tx.prepare_cached("UPDATE gate_failure SET passed_since = 1 WHERE issue = ?1")?
        .execute([issue.as_str()])?;
    Ok(())
}

/// Returns how a failure repeats earlier ones of the same issue.
pub(crate) fn repeated_failure(
    conn: &Connection,
    issue: &IssueId,
    failure: &PastFailure,
) -> Result<RepeatedFailure, StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT tree, print, gates, passed_since FROM gate_failure WHERE issue = ?1 ORDER BY id",
    )?;
    let mut rows = statement.query([issue.as_str()])?;
    let mut past = Vec::new();
    while let Some(row) = &rows.next()? {
        let print: String = row.get("print")?;
        past.push(PastFailure {
            tree: row.get("tree")?,
            print: FailurePrint::stored(print),
            gates: json("gates of a failure", &row.get::<_, String>("gates")?)?,
            passed_since: row.get("passed_since")?,
        });
    }
    Ok(RepeatedFailure::of(&past, failure))
}
