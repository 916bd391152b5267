//! Dependencies of an issue, which never lead back to it.

use symphony_core::id::IssueId;
use symphony_core::issue::{Issue, IssueStatus};

use crate::db::Transaction;
use crate::error::StoreError;
use crate::issue::query::load_issue;
use crate::issue::refusal::{DEPENDENCIES_MAX, IssueRefusal};

/// Replaces an issue's dependencies.
pub(crate) fn set_dependencies(
    tx: &Transaction<'_>,
    id: &IssueId,
    dependencies: &[IssueId],
) -> Result<(), StoreError> {
    if dependencies.len() > DEPENDENCIES_MAX {
        return Err(IssueRefusal::TooManyDependencies {
            issue: id.clone(),
            count: dependencies.len(),
        }
        .into());
    }
    tx.execute(
        "DELETE FROM issue_dependency WHERE issue = ?1",
        [id.as_str()],
    )?;
    for dependency in dependencies {
        load_issue(tx, dependency)?;
        if dependency == id {
            return Err(IssueRefusal::DependsOnItself(id.clone()).into());
        }
        // A parent waits for its sub-tasks: if a sub-task depended on it, neither could ever begin.
        if waits_for(tx, dependency, id)? {
            let (issue, dependency) = (id.clone(), dependency.clone());
            return Err(IssueRefusal::DependsInCircle { issue, dependency }.into());
        }
        tx.execute(
            "INSERT INTO issue_dependency (issue, depends_on) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
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

/// Refuses a dependency of a new sub-task that would never be done. The parent waits for the sub-task, so the sub-task
/// cannot depend on anything that waits for the parent.
pub(crate) fn check_dependency(
    tx: &Transaction<'_>,
    parent: &Issue,
    dependency: &IssueId,
) -> Result<(), StoreError> {
    let found = load_issue(tx, dependency)?;
    let dependency = found.id;
    if found.project != parent.project {
        return Err(IssueRefusal::DependencyElsewhere(dependency).into());
    }
    if found.state.status() == IssueStatus::Cancelled {
        return Err(IssueRefusal::DependencyCancelled(dependency).into());
    }
    if waits_for(tx, &dependency, &parent.id)? {
        let parent = parent.id.clone();
        return Err(IssueRefusal::SubtaskInCircle { parent, dependency }.into());
    }
    Ok(())
}

/// Returns whether an issue is another one or waits for it, through dependencies or sub-tasks, directly or through
/// others.
pub(crate) fn waits_for(
    tx: &Transaction<'_>,
    from: &IssueId,
    to: &IssueId,
) -> Result<bool, StoreError> {
    Ok(tx.query_row(
        "WITH RECURSIVE reach (id) AS (
             SELECT id FROM issue WHERE id = ?1
             UNION SELECT coalesce(d.depends_on, c.id) FROM reach r
             CROSS JOIN (SELECT 1 AS is_dependency UNION ALL SELECT 0) way
             LEFT JOIN issue_dependency d ON is_dependency = 1 AND d.issue = r.id
             LEFT JOIN issue c ON is_dependency = 0 AND c.parent = r.id
             WHERE coalesce(d.depends_on, c.id) IS NOT NULL)
         SELECT EXISTS (SELECT 1 FROM reach WHERE id = ?2)",
        [from.as_str(), to.as_str()],
        |row| row.get(0),
    )?)
}
