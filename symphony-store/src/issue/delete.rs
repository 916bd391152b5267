//! Deleting an issue that was added by mistake. Its history stays in the event log.
//!
//! This module removes nothing that holds work: the caller has already ended the issue and removed its worktree and
//! branch, which saves unmerged work, and an issue with a merged pull request is never deleted.

use symphony_core::id::{IssueId, PrId};
use symphony_core::issue::Issue;
use symphony_core::log::LogEvent;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::parsed;
use crate::db::{Connection, Transaction, params};
use crate::error::StoreError;
use crate::issue::dependency::set_dependencies;
use crate::issue::query::load_issue;
use crate::issue::refusal::{IssueRefusal, KeptFor};
use crate::issue::reparent::leave_parent;
use crate::learning::state::remove_source;
use crate::run::spending::settle_issue;

/// What refers to an issue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IssueReferrers {
    /// Issues that depend on it, ended or not.
    pub dependents: Vec<IssueId>,
    /// Its sub-tasks.
    pub subtasks: Vec<IssueId>,
    /// Its merged pull request, if it has one.
    pub merged: Option<PrId>,
}

/// What happens to the links of other issues to a deleted one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// They prevent the deletion.
    Refuse,
    /// They are removed.
    Detach,
}

impl IssueReferrers {
    /// Returns whether other issues refer to it.
    pub const fn has_links(&self) -> bool {
        !(self.dependents.is_empty() && self.subtasks.is_empty())
    }
}

impl Store {
    /// Returns what refers to an issue.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn issue_referrers(&self, id: &IssueId) -> Result<IssueReferrers, StoreError> {
        referrers(&self.conn, id)
    }

    /// Deletes an ended issue with its comments, findings, runs and pull requests. Its learnings stay.
    ///
    /// # Errors
    /// When the issue has not ended, has a worktree, a live run or a merged pull request, or when other issues refer to
    /// it.
    pub fn delete_issue(
        &mut self,
        context: &Context,
        id: &IssueId,
        links: Links,
    ) -> Result<Issue, StoreError> {
        self.write(context, |tx| {
            // Runs and pull requests refer to each other, so neither could be removed first.
            tx.defer_references()?;
            let issue = load_issue(tx, id)?;
            // Read again in this transaction: the caller looked before, and a person may have reopened the issue, or a
            // tick started a run.
            refuse_unfinished(tx, &issue)?;
            let found = referrers(tx, id)?;
            if let Some(pr) = found.merged {
                return Err(kept(id, KeptFor::Merged(pr)));
            }
            if found.has_links() && links == Links::Refuse {
                return Err(kept(id, KeptFor::Links));
            }
            detach(tx, context, id, &found)?;
            append(
                tx,
                context,
                About {
                    project: Some(&issue.project),
                    ..About::issue(id)
                },
                &LogEvent::IssueDeleted {
                    title: issue.title.clone(),
                },
            )?;
            remove_source(tx, context, id)?;
            remove_rows(tx, id)?;
            Ok(issue)
        })
    }
}

fn referrers(conn: &Connection, id: &IssueId) -> Result<IssueReferrers, StoreError> {
    let ids = |sql: &str| -> Result<Vec<IssueId>, StoreError> {
        let mut statement = conn.prepare_cached(sql)?;
        let mut rows = statement.query([id.as_str()])?;
        let mut found = Vec::new();
        while let Some(row) = &rows.next()? {
            found.push(parsed("issue id", row.get(0)?)?);
        }
        Ok(found)
    };
    let merged: Option<i64> = conn
        .prepare_cached("SELECT max(id) FROM pull_request WHERE issue = ?1 AND state = 'merged'")?
        .query_row([id.as_str()], |row| row.get(0))?;
    Ok(IssueReferrers {
        dependents: ids(
            "SELECT d.issue FROM issue_dependency d JOIN issue i ON i.id = d.issue WHERE d.depends_on = ?1
             ORDER BY i.project, i.number",
        )?,
        subtasks: ids("SELECT id FROM issue WHERE parent = ?1 ORDER BY project, number")?,
        merged: merged.map(PrId::new),
    })
}

fn refuse_unfinished(tx: &Transaction<'_>, issue: &Issue) -> Result<(), StoreError> {
    let id = &issue.id;
    let has_worktree: bool = tx.query_row(
        "SELECT has_worktree FROM issue WHERE id = ?1",
        [id.as_str()],
        |row| row.get(0),
    )?;
    let is_live: bool = tx.query_row(
        "SELECT EXISTS (SELECT 1 FROM run WHERE issue = ?1 AND status IN ('starting', 'running'))",
        [id.as_str()],
        |row| row.get(0),
    )?;
    let why = if is_live {
        KeptFor::Run
    } else if !issue.state.status().is_terminal() {
        KeptFor::Work
    } else if has_worktree {
        KeptFor::Worktree
    } else {
        return Ok(());
    };
    Err(kept(id, why))
}

fn kept(id: &IssueId, why: KeptFor) -> StoreError {
    let issue = id.clone();
    IssueRefusal::Kept { issue, why }.into()
}

/// Removes the issue from other issues' dependencies and parents.
fn detach(
    tx: &Transaction<'_>,
    context: &Context,
    id: &IssueId,
    found: &IssueReferrers,
) -> Result<(), StoreError> {
    let released = LogEvent::IssueEdited {
        released_from: Some(id.clone()),
        labels_added: Vec::new(),
        priority: None,
    };
    for dependent in &found.dependents {
        let kept: Vec<IssueId> = load_issue(tx, dependent)?
            .depends_on
            .into_iter()
            .filter(|dependency| dependency != id)
            .collect();
        set_dependencies(tx, dependent, &kept)?;
        append(tx, context, About::issue(dependent), &released)?;
    }
    for subtask in &found.subtasks {
        tx.execute(
            "UPDATE issue SET parent = NULL WHERE id = ?1",
            [subtask.as_str()],
        )?;
        append(tx, context, About::issue(subtask), &released)?;
    }
    leave_parent(tx, context, id)
}

/// Statements that remove what belongs to an issue, and clear references to it elsewhere.
const REMOVAL: [&str; 43] = [
    "DELETE FROM tracker_comment WHERE link IN (SELECT id FROM tracker_link WHERE issue = ?1)",
    "DELETE FROM tracker_change WHERE link IN (SELECT id FROM tracker_link WHERE issue = ?1)",
    "DELETE FROM tracker_change WHERE state = 'waiting' AND covers ->> '$.issue' = ?1",
    // The link stays: without it, the tracker's issue would be taken in again as a new one.
    "UPDATE tracker_link SET issue = NULL WHERE issue = ?1",
    "DELETE FROM case_learning WHERE issue = ?1",
    "DELETE FROM issue_case WHERE issue = ?1",
    "DELETE FROM learning_source WHERE issue = ?1",
    "UPDATE learning SET run = NULL WHERE run IN (SELECT id FROM run WHERE issue = ?1)",
    "UPDATE learning SET issue = NULL WHERE issue = ?1",
    "UPDATE learning_prepared SET issue = NULL WHERE issue = ?1",
    "DELETE FROM learning_given WHERE run IN (SELECT id FROM run WHERE issue = ?1)",
    "UPDATE test_health SET run = NULL WHERE run IN (SELECT id FROM run WHERE issue = ?1)",
    "UPDATE test_health SET issue = NULL WHERE issue = ?1",
    "UPDATE coverage SET run = NULL WHERE run IN (SELECT id FROM run WHERE issue = ?1)",
    "UPDATE hold SET canary = NULL WHERE canary IN (SELECT id FROM run WHERE issue = ?1)",
    "UPDATE comment SET run = NULL WHERE run IN (SELECT id FROM run WHERE issue = ?1)",
    "UPDATE comment SET read_by = NULL, read_at = NULL WHERE read_by IN (SELECT id FROM run WHERE issue = ?1)",
    "UPDATE finding SET run = NULL WHERE run IN (SELECT id FROM run WHERE issue = ?1)",
    "DELETE FROM publication WHERE pull_request IN (SELECT id FROM pull_request WHERE issue = ?1)",
    // A fencing number is never used twice, although its run is deleted.
    "INSERT INTO setting (key, value) SELECT 'fence_floor', max(fence) FROM run WHERE issue = ?1 HAVING max(fence) IS NOT NULL
     ON CONFLICT (key) DO UPDATE SET value = max(CAST(setting.value AS BIGINT), CAST(excluded.value AS BIGINT))",
    "DELETE FROM point_answer WHERE point IN (SELECT id FROM review_point WHERE issue = ?1)",
    "DELETE FROM review_point WHERE issue = ?1",
    "DELETE FROM phase_claim WHERE issue = ?1",
    "DELETE FROM gate_failure WHERE issue = ?1",
    "DELETE FROM clean_up_fault WHERE issue = ?1",
    "DELETE FROM exit_handling WHERE run IN (SELECT id FROM run WHERE issue = ?1)",
    // None is left: what they spent stays their project's.
    "DELETE FROM run_spending WHERE run IN (SELECT id FROM run WHERE issue = ?1)",
    "DELETE FROM run_log WHERE run IN (SELECT id FROM run WHERE issue = ?1)",
    "DELETE FROM run WHERE issue = ?1",
    // A change to what the project shares with its runs still needs a person's attention.
    "UPDATE base_notice SET issue = NULL WHERE issue = ?1 AND dismissed_at IS NULL AND kind IN ('settings', 'configuration', 'submodules', 'refs')",
    "DELETE FROM base_notice WHERE issue = ?1",
    // Their numbers stay until they are closed at the forge.
    "INSERT INTO forge_left (project, number) SELECT f.project, f.number FROM forge_pull f
     JOIN pull_request p ON p.id = f.pr WHERE p.issue = ?1 AND f.is_open = 1 AND f.number IS NOT NULL ON CONFLICT DO NOTHING",
    "DELETE FROM forge_reply WHERE pull IN (SELECT f.id FROM forge_pull f JOIN pull_request p ON p.id = f.pr WHERE p.issue = ?1)",
    "DELETE FROM forge_seen WHERE pull IN (SELECT f.id FROM forge_pull f JOIN pull_request p ON p.id = f.pr WHERE p.issue = ?1)",
    "DELETE FROM forge_pull WHERE pr IN (SELECT id FROM pull_request WHERE issue = ?1)",
    "DELETE FROM pull_request WHERE issue = ?1",
    "DELETE FROM comment WHERE issue = ?1",
    "DELETE FROM finding WHERE issue = ?1",
    "DELETE FROM retry WHERE issue = ?1",
    "DELETE FROM issue_label WHERE issue = ?1",
    "DELETE FROM issue_dependency WHERE issue = ?1",
    "DELETE FROM notification WHERE state = 'queued' AND item ->> '$.issue' = ?1",
    "DELETE FROM issue WHERE id = ?1",
];

fn remove_rows(tx: &Transaction<'_>, id: &IssueId) -> Result<(), StoreError> {
    settle_issue(tx, id)?;
    for sql in REMOVAL {
        tx.execute(sql, params![id.as_str()])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::open::Store;

    /// References that are refused or detached before, and runs of plans, which are never an issue's.
    const ELSEWHERE: [&str; 4] = [
        "issue.parent",
        "issue_dependency.depends_on",
        "plan_outcome.run",
        "plan_phase.run",
    ];

    #[test]
    fn whatever_refers_to_a_deleted_row_is_removed_or_cut() {
        let store = Store::open_in_memory().unwrap();
        let sql = r#"SELECT m.name, f."from" FROM sqlite_schema m JOIN pragma_foreign_key_list(m.name) f
            WHERE m.type = 'table' AND f."table" IN ('issue', 'run', 'pull_request', 'phase_claim')"#;
        let mut statement = store.conn.prepare(sql).unwrap();
        let references: Vec<(String, String)> = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert!(references.len() > 20, "{references:?}");
        for (table, column) in references {
            let removed = format!("DELETE FROM {table} WHERE");
            let cut = format!("UPDATE {table} SET {column} = NULL");
            assert!(
                ELSEWHERE.contains(&format!("{table}.{column}").as_str())
                    || REMOVAL
                        .iter()
                        .any(|sql| sql.starts_with(&removed) || sql.starts_with(&cut)),
                "{table}.{column} keeps its issue from being deleted"
            );
        }
    }
}
