//! Reading pull requests.

use rusqlite::{Connection, OptionalExtension, Row, params};
use symphony_core::id::{IssueId, PrId, ProjectId};
use symphony_core::pull_request::{PrState, PullRequest};

use crate::error::StoreError;
use crate::open::Store;
use crate::row::{json as from_json, parsed, parsed_opt, time};

/// Which pull requests to list, newest first.
#[derive(Debug, Clone, Default)]
pub struct PrFilter {
    /// Of this project.
    pub project: Option<ProjectId>,
    /// In this state.
    pub state: Option<PrState>,
    /// Of this issue.
    pub issue: Option<IssueId>,
}

fn from_row(row: &Row<'_>) -> Result<PullRequest, StoreError> {
    let gates: Option<String> = row.get("verified_gates")?;
    let verdict: Option<String> = row.get("verdict")?;
    Ok(PullRequest {
        id: PrId::new(row.get("id")?),
        project: parsed("project id", row.get("project")?)?,
        issue: parsed("issue id", row.get("issue")?)?,
        run: parsed_opt("run id", row.get("run")?)?,
        title: row.get("title")?,
        body: row.get("body")?,
        branch: row.get("branch")?,
        base: row.get("base")?,
        base_commit: row.get("base_commit")?,
        head_commit: row.get("head_commit")?,
        diff: row.get("diff")?,
        files: from_json("files", &row.get::<_, String>("files")?)?,
        reported_gates: from_json("reported gates", &row.get::<_, String>("reported_gates")?)?,
        verified_gates: gates
            .map(|text| from_json("verified gates", &text))
            .transpose()?,
        verdict: verdict
            .map(|text| from_json("verdict", &text))
            .transpose()?,
        state: parsed("pull request state", row.get("state")?)?,
        merged_commit: row.get("merged_commit")?,
        created_at: time(row.get("created_at")?)?,
    })
}

/// Reads one pull request, inside or outside a transaction.
pub(crate) fn load_pr(conn: &Connection, id: PrId) -> Result<PullRequest, StoreError> {
    conn.prepare_cached("SELECT * FROM pull_request WHERE id = ?1")?
        .query_row([id.get()], |row| Ok(from_row(row)))
        .optional()?
        .ok_or_else(|| StoreError::not_found("pull request", id))?
}

/// Reads the open pull request of an issue.
pub(crate) fn load_open_pr(
    conn: &Connection,
    issue: &IssueId,
) -> Result<Option<PullRequest>, StoreError> {
    conn.prepare_cached(
        "SELECT * FROM pull_request WHERE issue = ?1 AND state IN ('open', 'approved')",
    )?
    .query_row([issue.as_str()], |row| Ok(from_row(row)))
    .optional()?
    .transpose()
}

impl Store {
    /// Returns a pull request.
    ///
    /// # Errors
    /// When there is none of this id.
    pub fn pr(&self, id: PrId) -> Result<PullRequest, StoreError> {
        load_pr(&self.conn, id)
    }

    /// Returns the open pull request of an issue.
    ///
    /// # Errors
    /// When the database can not be read.
    pub fn open_pr(&self, issue: &IssueId) -> Result<Option<PullRequest>, StoreError> {
        load_open_pr(&self.conn, issue)
    }

    /// Lists pull requests, newest first.
    ///
    /// # Errors
    /// When the database can not be read.
    pub fn prs(&self, filter: &PrFilter) -> Result<Vec<PullRequest>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT * FROM pull_request WHERE (?1 IS NULL OR project = ?1) AND (?2 IS NULL OR state = ?2)
             AND (?3 IS NULL OR issue = ?3) ORDER BY id DESC",
        )?;
        let mut rows = statement.query(params![
            filter.project.as_ref().map(ProjectId::as_str),
            filter.state.map(PrState::name),
            filter.issue.as_ref().map(IssueId::as_str),
        ])?;
        let mut prs = Vec::new();
        while let Some(row) = rows.next()? {
            prs.push(from_row(row)?);
        }
        Ok(prs)
    }
}
