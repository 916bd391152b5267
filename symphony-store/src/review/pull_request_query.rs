//! Reading pull requests.

use symphony_core::id::{IssueId, PlanId, PrId, ProjectId};
use symphony_core::pull_request::{GatesWait, PrState, PullRequest, PullRequestOf};

use crate::database::open::Store;
use crate::database::row::{count32, json as from_json, parsed, parsed_opt, time};
use crate::db::{Connection, OptionalExtension, Row, params_from_iter};
use crate::error::StoreError;

/// Which pull requests to list, newest first.
#[derive(Debug, Clone, Default)]
pub struct PrFilter {
    /// Only those of this project.
    pub project: Option<ProjectId>,
    /// Only those in this state.
    pub state: Option<PrState>,
    /// Only those of this issue.
    pub issue: Option<IssueId>,
    /// Only those of this plan.
    pub plan: Option<PlanId>,
    /// At most this many, the newest.
    pub limit: Option<u32>,
}

fn from_row(row: &Row<'_>) -> Result<PullRequest, StoreError> {
    let gates: Option<String> = row.get("verified_gates")?;
    let verdict: Option<String> = row.get("verdict")?;
    Ok(PullRequest {
        id: PrId::new(row.get("id")?),
        project: parsed("project id", row.get("project")?)?,
        of: source_from(row)?,
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
        checklist: from_json("checklist", &row.get::<_, String>("checklist")?)?,
        verified_gates: gates
            .map(|text| from_json("verified gates", &text))
            .transpose()?,
        verdict: verdict
            .map(|text| from_json("verdict", &text))
            .transpose()?,
        state: parsed("pull request state", row.get("state")?)?,
        gates_wait: GatesWait {
            due_at: time(row.get("gates_due_at")?)?,
            tries: count32(row, "gates_tries")?,
            problem: row.get("gates_problem")?,
            fresh: row.get("gates_fresh")?,
        },
        merged_commit: row.get("merged_commit")?,
        merged_outside: row
            .get::<_, Option<String>>("merged_outside")?
            .map(|text| from_json("merge made outside", &text))
            .transpose()?,
        proposal: row
            .get::<_, Option<String>>("proposal")?
            .map(|text| from_json("proposal", &text))
            .transpose()?,
        created_at: time(row.get("created_at")?)?,
    })
}

/// Parses what a pull request finishes: an issue or a plan, in one of two columns.
pub(crate) fn source_from(row: &Row<'_>) -> Result<PullRequestOf, StoreError> {
    source_or_project_from(row)?.ok_or_else(|| StoreError::InvalidRow {
        what: "pull request",
        found: "neither an issue nor a plan".to_owned(),
    })
}

/// As [`source_from`], for rows in which both columns may be empty because they are about the project.
pub(crate) fn source_or_project_from(row: &Row<'_>) -> Result<Option<PullRequestOf>, StoreError> {
    let issue: Option<IssueId> = parsed_opt("issue id", row.get("issue")?)?;
    let plan: Option<PlanId> = parsed_opt("plan id", row.get("plan")?)?;
    Ok(issue
        .map(PullRequestOf::Issue)
        .or(plan.map(PullRequestOf::Plan)))
}

/// Reads one pull request, inside or outside a transaction.
pub(crate) fn load_pr(conn: &Connection, id: PrId) -> Result<PullRequest, StoreError> {
    conn.prepare_cached("SELECT * FROM pull_request WHERE id = ?1")?
        .query_row([id.get()], |row| Ok(from_row(row)))
        .optional()?
        .ok_or_else(|| StoreError::not_found("pull request", id))?
}

/// Returns the number of the open pull request of an issue.
pub(crate) fn open_pr_id(conn: &Connection, issue: &IssueId) -> Result<Option<PrId>, StoreError> {
    Ok(conn
        .prepare_cached(
            "SELECT id FROM pull_request WHERE issue = ?1 AND state IN ('open', 'approved')",
        )?
        .query_row([issue.as_str()], |row| row.get(0))
        .optional()?
        .map(PrId::new))
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

/// Reads the open pull request of an issue or a plan.
pub(crate) fn load_open_pr_of(
    conn: &Connection,
    of: &PullRequestOf,
) -> Result<Option<PullRequest>, StoreError> {
    let plan = match of {
        PullRequestOf::Issue(issue) => return load_open_pr(conn, issue),
        PullRequestOf::Plan(plan) => plan,
    };
    conn.prepare_cached(
        "SELECT * FROM pull_request WHERE plan = ?1 AND state IN ('open', 'approved')",
    )?
    .query_row([plan.as_str()], |row| Ok(from_row(row)))
    .optional()?
    .transpose()
}

/// Returns the SQL of a list, and its values. It names only what the filter does, so that SQLite finds the index.
fn list_sql(filter: &PrFilter) -> (String, Vec<&str>) {
    // An issue or a plan has few pull requests, so project and state only filter, and use no index.
    let (project, state) = if filter.issue.is_some() || filter.plan.is_some() {
        ("+project", "+state")
    } else {
        ("project", "state")
    };
    let named = [
        (project, filter.project.as_ref().map(ProjectId::as_str)),
        (state, filter.state.map(PrState::name)),
        ("issue", filter.issue.as_ref().map(IssueId::as_str)),
        ("plan", filter.plan.as_ref().map(PlanId::as_str)),
    ];
    let mut wheres = vec!["1 = 1".to_owned()];
    let mut values = Vec::new();
    for (column, value) in named {
        if let Some(value) = value {
            wheres.push(format!("{column} = ?"));
            values.push(value);
        }
    }
    let wheres = wheres.join(" AND ");
    let limit = filter.limit.map_or(i64::MAX, i64::from);
    let sql = format!("SELECT * FROM pull_request WHERE {wheres} ORDER BY id DESC LIMIT {limit}");
    (sql, values)
}

impl Store {
    /// Returns a pull request.
    ///
    /// # Errors
    /// When there is no pull request with this id.
    pub fn pr(&self, id: PrId) -> Result<PullRequest, StoreError> {
        load_pr(&self.conn, id)
    }

    /// Returns the open pull request of an issue.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn open_pr(&self, issue: &IssueId) -> Result<Option<PullRequest>, StoreError> {
        load_open_pr(&self.conn, issue)
    }

    /// Returns the open pull request of an issue or a plan.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn open_pr_of(&self, of: &PullRequestOf) -> Result<Option<PullRequest>, StoreError> {
        load_open_pr_of(&self.conn, of)
    }

    /// Lists pull requests, newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn prs(&self, filter: &PrFilter) -> Result<Vec<PullRequest>, StoreError> {
        let (sql, values) = list_sql(filter);
        let mut statement = self.conn.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut prs = Vec::new();
        while let Some(row) = &rows.next()? {
            prs.push(from_row(row)?);
        }
        Ok(prs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::query_plan::query_plan;

    #[test]
    fn every_list_goes_through_the_index_of_what_it_asks_for() {
        let store = Store::open_in_memory().unwrap();
        let project = || Some(ProjectId::parse("p").unwrap());
        let issue = || Some(IssueId::parse("P-1").unwrap());
        let by_issue = "SEARCH pull_request USING INDEX pull_request_issue (issue=?)";
        for (project, state, issue, step) in [
            (None, None, issue(), by_issue),
            (project(), Some(PrState::Merged), issue(), by_issue),
            (
                project(),
                None,
                None,
                "SEARCH pull_request USING INDEX pull_request_state (project=?)",
            ),
            (
                project(),
                Some(PrState::Open),
                None,
                "SEARCH pull_request USING INDEX pull_request_state (project=? AND state=?)",
            ),
        ] {
            let filter = PrFilter {
                project,
                state,
                issue,
                ..PrFilter::default()
            };
            let (sql, _) = list_sql(&filter);
            let plan = query_plan(&store.conn, &sql);
            assert_eq!(plan[0], step, "{filter:?}");
        }
    }
}
