//! The outcome of a done issue, written in the transaction that ends it: one case, with the learnings that its agents
//! were given.

use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::id::IssueId;
use symphony_core::issue::IssueStatus;

use crate::database::context::Context;
use crate::database::row::{int, parsed_opt};
use crate::db::{Transaction, params};
use crate::error::StoreError;
use crate::issue::query::load_issue;
use crate::run::spending::of_issue;

/// Writes the case of a done issue. An issue that is not done, such as a reopened one, or that no worker attempted, has
/// none.
pub(crate) fn record_case(
    tx: &Transaction<'_>,
    context: &Context,
    id: &IssueId,
) -> Result<(), StoreError> {
    remove_case(tx, id)?;
    let issue = load_issue(tx, id)?;
    if issue.state.status() != IssueStatus::Done {
        return Ok(());
    }
    let attempts = attempts(tx, id)?;
    let Some(first) = attempts.first() else {
        return Ok(());
    };
    let tokens = of_issue(tx, id)?.tokens;
    tx.prepare_cached(
        "INSERT INTO issue_case (issue, project, merged_first_time, attempts, tokens, ended_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        id.as_str(),
        issue.project.as_str(),
        is_merged_first_time(tx, id)?,
        int(u64::try_from(attempts.len()).unwrap_or(u64::MAX)),
        int(tokens.get()),
        context.now.as_millisecond(),
    ])?;
    tx.prepare_cached(
        "INSERT INTO case_learning (learning, issue) SELECT g.learning, ?1 FROM learning_given g JOIN learning l ON l.id = g.learning
         WHERE g.run = ?2 AND l.issue IS DISTINCT FROM ?1
         AND NOT EXISTS (SELECT 1 FROM learning_source s WHERE s.learning = g.learning AND s.issue = ?1)",
    )?
    .execute([id.as_str(), first.as_str()])?;
    Ok(())
}

/// Removes the case of an issue.
pub(crate) fn remove_case(tx: &Transaction<'_>, id: &IssueId) -> Result<(), StoreError> {
    for sql in [
        "DELETE FROM case_learning WHERE issue = ?1",
        "DELETE FROM issue_case WHERE issue = ?1",
    ] {
        tx.prepare_cached(sql)?.execute([id.as_str()])?;
    }
    Ok(())
}

/// Returns the runs of workers that prove something about the issue, first one first. Runs that ended by an outage, or
/// before their agent started, prove nothing.
fn attempts(tx: &Transaction<'_>, id: &IssueId) -> Result<Vec<String>, StoreError> {
    let mut statement = tx.prepare_cached(
        "SELECT id, error_class FROM run WHERE issue = ?1 AND agent = ?2 AND metadata ->> 'interactive' IS NULL
         ORDER BY started_at, fence",
    )?;
    let mut rows = statement.query([id.as_str(), AgentType::Worker.name()])?;
    let mut attempts = Vec::new();
    while let Some(row) = &rows.next()? {
        let class: Option<ErrorClass> = parsed_opt("error class", row.get(1)?)?;
        if !class.is_some_and(says_nothing) {
            attempts.push(row.get(0)?);
        }
    }
    Ok(attempts)
}

const fn says_nothing(class: ErrorClass) -> bool {
    class.uses_no_attempt() || class.precedes_the_agent()
}

/// Returns whether the first pull request of an issue was merged.
fn is_merged_first_time(tx: &Transaction<'_>, id: &IssueId) -> Result<bool, StoreError> {
    let merged = tx
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM pull_request WHERE issue = ?1 AND state = 'merged'
             AND id = (SELECT min(id) FROM pull_request WHERE issue = ?1))",
        )?
        .query_row([id.as_str()], |row| row.get(0))?;
    Ok(merged)
}
