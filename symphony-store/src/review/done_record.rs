//! What the database has about a proposal, to decide whether it may be confirmed.

use symphony_core::done::DoneRecord;
use symphony_core::id::{IssueId, PrId};
use symphony_core::left_behind::LeftBehind;
use symphony_core::pull_request::PullRequest;

use crate::database::open::Store;
use crate::database::row::parsed;
use crate::db::{Connection, params};
use crate::error::StoreError;
use crate::review::point::load_points;
use crate::review::pull_request_query::load_pr;
use crate::run::left_behind::load_left_behind;

/// Open sub-tasks, through the index of parents.
const OPEN_SUBTASKS_SQL: &str = "SELECT id FROM issue WHERE parent = ?1 AND status NOT IN ('done', 'cancelled') ORDER BY number";
/// Whether a person edited or commented on an issue after the judge of its verdict started to read, or after a person's
/// verdict.
const CHANGED_SQL: &str =
    "SELECT EXISTS (SELECT 1 FROM event e WHERE e.issue = ?1 AND e.actor = 'human'
    AND e.kind IN ('issue_edited', 'comment_added')
    AND e.at > coalesce((SELECT started_at FROM run WHERE id = ?2), ?3))";

impl Store {
    /// Returns what is known about a proposal, to decide whether it may be confirmed.
    ///
    /// # Errors
    /// When there is no such proposal, or the database cannot be read.
    pub fn done_record(&self, id: PrId) -> Result<DoneRecord, StoreError> {
        load_done_record(&self.conn, load_pr(&self.conn, id)?)
    }
}

/// Reads what is known about a proposal besides its own record.
pub(crate) fn load_done_record(
    conn: &Connection,
    proposal: PullRequest,
) -> Result<DoneRecord, StoreError> {
    let points = load_points(conn, &proposal.of)?;
    let open_must = points
        .iter()
        .filter(|point| point.is_open_must())
        .map(|point| point.number)
        .collect();
    let (open_subtasks, left_behind, changed) = match proposal.of.issue() {
        Some(issue) => (
            load_open_subtasks(conn, issue)?,
            load_left_on(conn, &proposal, issue)?,
            is_changed(conn, &proposal, issue)?,
        ),
        None => (Vec::new(), Vec::new(), false),
    };
    Ok(DoneRecord {
        proposal,
        open_must,
        open_subtasks,
        left_behind,
        changed_since_verdict: changed,
    })
}

fn load_open_subtasks(conn: &Connection, issue: &IssueId) -> Result<Vec<IssueId>, StoreError> {
    let mut statement = conn.prepare_cached(OPEN_SUBTASKS_SQL)?;
    let mut rows = statement.query([issue.as_str()])?;
    let mut open = Vec::new();
    while let Some(row) = &rows.next()? {
        open.push(parsed("issue id", row.get(0)?)?);
    }
    Ok(open)
}

/// Returns the paths that the inbox reports as left behind by runs on an issue.
fn load_left_on(
    conn: &Connection,
    proposal: &PullRequest,
    issue: &IssueId,
) -> Result<Vec<String>, StoreError> {
    let runs = load_left_behind(conn, &proposal.project)?;
    let of_issue = runs
        .into_iter()
        .filter(|run| run.issue.as_ref().is_some_and(|(id, _)| id == issue));
    Ok(of_issue
        .flat_map(|run| run.left)
        .filter(LeftBehind::is_work)
        .map(|left| left.path)
        .collect())
}

fn is_changed(
    conn: &Connection,
    proposal: &PullRequest,
    issue: &IssueId,
) -> Result<bool, StoreError> {
    let Some(verdict) = proposal.verdict_on_head() else {
        return Ok(false);
    };
    let run = verdict.run.as_ref().map(symphony_core::id::RunId::as_str);
    let at = verdict.at.as_millisecond();
    Ok(conn
        .prepare_cached(CHANGED_SQL)?
        .query_row(params![issue.as_str(), run, at], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::query_plan::query_plan;

    #[test]
    fn the_facts_of_a_proposal_are_found_through_indexes() {
        let store = Store::open_in_memory().unwrap();
        for sql in [OPEN_SUBTASKS_SQL, CHANGED_SQL] {
            let plan = query_plan(&store.conn, sql);
            let scans = |line: &&String| line.starts_with("SCAN") && !line.contains("CONSTANT");
            assert!(plan.iter().find(scans).is_none(), "{plan:#?}");
        }
    }
}
