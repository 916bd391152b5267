//! What an issue depends on: never itself, not through others either.

use rusqlite::Transaction;
use symphony_core::id::IssueId;
use symphony_core::issue::{Issue, IssueStatus};

use crate::error::StoreError;
use crate::issue::query::load_issue;

/// Issues that one issue may depend on: more is a plan of its own.
const DEPENDENCIES_MAX: usize = 100;

/// Replaces an issue's dependencies.
pub(crate) fn set_dependencies(
    tx: &Transaction<'_>,
    id: &IssueId,
    dependencies: &[IssueId],
) -> Result<(), StoreError> {
    if dependencies.len() > DEPENDENCIES_MAX {
        return Err(StoreError::refused(format!(
            "{id} would depend on {} issues; the limit is {DEPENDENCIES_MAX}",
            dependencies.len()
        )));
    }
    tx.execute(
        "DELETE FROM issue_dependency WHERE issue = ?1",
        [id.as_str()],
    )?;
    for dependency in dependencies {
        load_issue(tx, dependency)?;
        if dependency == id {
            return Err(StoreError::refused(format!("{id} cannot depend on itself")));
        }
        // a parent waits for its sub-tasks, so that neither could ever begin
        if waits_for(tx, dependency, id)? {
            return Err(StoreError::refused(format!(
                "{id} cannot depend on {dependency}: {dependency} waits for {id}, by its dependencies or its sub-tasks"
            )));
        }
        tx.execute(
            "INSERT OR IGNORE INTO issue_dependency (issue, depends_on) VALUES (?1, ?2)",
            [id.as_str(), dependency.as_str()],
        )?;
    }
    tx.execute(
        "UPDATE issue SET open_dependencies = (
             SELECT count(*) FROM issue_dependency d JOIN issue i ON i.id = d.depends_on
             WHERE d.issue = ?1 AND i.status <> 'done') WHERE id = ?1",
        [id.as_str()],
    )?;
    Ok(())
}

/// Refuses a dependency that a sub-task could never get: the parent waits for the sub-task, so nothing that waits for
/// the parent may be waited for.
pub(crate) fn check_dependency(
    tx: &Transaction<'_>,
    parent: &Issue,
    dependency: &IssueId,
) -> Result<(), StoreError> {
    let found = load_issue(tx, dependency)?;
    if found.project != parent.project {
        return Err(StoreError::refused(format!(
            "{dependency} belongs to another project"
        )));
    }
    if found.state.status() == IssueStatus::Cancelled {
        return Err(StoreError::refused(format!(
            "a sub-task cannot depend on {dependency}: it is cancelled and will never be done"
        )));
    }
    if waits_for(tx, dependency, &parent.id)? {
        return Err(StoreError::refused(format!(
            "a sub-task of {} cannot depend on {dependency}: it would wait for itself",
            parent.id
        )));
    }
    Ok(())
}

/// Says whether an issue is, or waits for, another one: by its dependencies or its sub-tasks, directly or through others.
fn waits_for(tx: &Transaction<'_>, from: &IssueId, to: &IssueId) -> Result<bool, StoreError> {
    Ok(tx.query_row(
        "WITH RECURSIVE reach (id) AS (
             SELECT ?1
             UNION SELECT d.depends_on FROM issue_dependency d JOIN reach r ON d.issue = r.id
             UNION SELECT c.id FROM issue c JOIN reach r ON c.parent = r.id)
         SELECT EXISTS (SELECT 1 FROM reach WHERE id = ?2)",
        [from.as_str(), to.as_str()],
        |row| row.get(0),
    )?)
}
