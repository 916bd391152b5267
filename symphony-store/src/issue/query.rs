//! Reading issues.

use symphony_core::id::{IssueId, ProjectId};
use symphony_core::issue::{AttemptCounts, Block, Issue, IssueState, IssueStatus, Priority};
use symphony_core::profile::{AgentChoice, ModelName};

use crate::database::open::Store;
use crate::database::row::{count32, json, parsed, parsed_opt, time};
use crate::db::{Connection, OptionalExtension, Row, params_from_iter};
use crate::error::StoreError;

/// Which issues to list.
#[derive(Debug, Clone, Default)]
pub struct IssueFilter {
    /// Only those of this project.
    pub project: Option<ProjectId>,
    /// Only those in this status.
    pub status: Option<IssueStatus>,
    /// Only those with this label.
    pub label: Option<String>,
    /// Only those with this text in the title or description, ignoring case.
    pub text: Option<String>,
    /// Only children of this issue.
    pub parent: Option<IssueId>,
    /// At most this many.
    pub limit: Option<u32>,
    /// Only those after this issue, the last one of the previous page.
    pub after: Option<IssueId>,
    /// Which come first.
    pub order: IssueOrder,
}

/// Which issues come first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IssueOrder {
    /// The oldest: by project and number.
    #[default]
    Oldest,
    /// The newest: by project and number, backwards.
    Newest,
}

impl IssueOrder {
    const fn sql(self) -> (&'static str, &'static str) {
        match self {
            Self::Oldest => (">", "i.project, i.number"),
            Self::Newest => ("<", "i.project DESC, i.number DESC"),
        }
    }
}

/// One page of a list.
#[derive(Debug, Clone)]
pub struct IssuePage {
    /// The issues, ordered by project and number.
    pub items: Vec<Issue>,
    /// The cursor of the next page, if there is one.
    pub next: Option<IssueId>,
}

/// Parses the state columns of an issue's row.
pub(crate) fn state_from(row: &Row<'_>) -> Result<IssueState, StoreError> {
    let status: IssueStatus = parsed("status", row.get("status")?)?;
    Ok(match status {
        IssueStatus::Backlog => IssueState::Backlog,
        IssueStatus::Todo => IssueState::Todo,
        IssueStatus::InProgress => IssueState::InProgress,
        IssueStatus::Review => IssueState::Review,
        IssueStatus::Done => IssueState::Done,
        IssueStatus::Cancelled => IssueState::Cancelled,
        IssueStatus::Blocked => {
            let by: Option<String> = row.get("blocked_by")?;
            let reason: Option<String> = row.get("blocked_reason")?;
            IssueState::Blocked(Block {
                by: parsed("blocked_by", by.unwrap_or_default())?,
                reason: reason.unwrap_or_default(),
            })
        }
    })
}

/// Parses a priority column.
pub(crate) fn priority_from(row: &Row<'_>) -> Result<Priority, StoreError> {
    let rank = usize::try_from(row.get::<_, i64>("priority")?).unwrap_or(usize::MAX);
    Ok(Priority::ALL.get(rank).copied().unwrap_or(Priority::None))
}

/// Parses the counts of an issue's row.
pub(crate) fn counts_from(row: &Row<'_>) -> Result<AttemptCounts, StoreError> {
    Ok(AttemptCounts {
        consecutive_failures: count32(row, "consecutive_failures")?,
        total_runs: count32(row, "total_runs")?,
    })
}

/// Parses what an issue's row says of the agent.
pub(crate) fn choice_from(row: &Row<'_>) -> Result<AgentChoice, StoreError> {
    let model: Option<String> = row.get("model")?;
    let model = model.map(|name| ModelName::parse(&name)).transpose();
    Ok(AgentChoice {
        provider: row.get("provider")?,
        model: model.map_err(|error| StoreError::InvalidRow {
            what: "model",
            found: error.found,
        })?,
    })
}

fn from_row(conn: &Connection, row: &Row<'_>) -> Result<Issue, StoreError> {
    let id: IssueId = parsed("issue id", row.get("id")?)?;
    let mut depends_on = Vec::new();
    let mut statement = conn.prepare_cached(
        "SELECT d.depends_on FROM issue_dependency d JOIN issue i ON i.id = d.depends_on WHERE d.issue = ?1 ORDER BY i.project, i.number",
    )?;
    let mut rows = statement.query([id.as_str()])?;
    while let Some(row) = &rows.next()? {
        depends_on.push(parsed("issue id", row.get(0)?)?);
    }
    Ok(Issue {
        id,
        project: parsed("project id", row.get("project")?)?,
        title: row.get("title")?,
        description: row.get("description")?,
        state: state_from(row)?,
        priority: priority_from(row)?,
        size: parsed_opt("size", row.get("size")?)?,
        labels: json("labels", &row.get::<_, String>("labels")?)?,
        parent: parsed_opt("parent", row.get("parent")?)?,
        depends_on,
        external_id: row.get("external_id")?,
        choice: choice_from(row)?,
        created_at: time(row.get("created_at")?)?,
        updated_at: time(row.get("updated_at")?)?,
        counts: counts_from(row)?,
    })
}

/// Reads one issue, inside or outside a transaction.
pub(crate) fn load_issue(conn: &Connection, id: &IssueId) -> Result<Issue, StoreError> {
    conn.prepare_cached("SELECT * FROM issue WHERE id = ?1")?
        .query_row([id.as_str()], |row| Ok(from_row(conn, row)))
        .optional()?
        .ok_or_else(|| StoreError::not_found("issue", id))?
}

impl Store {
    /// Returns an issue.
    ///
    /// # Errors
    /// When there is no issue with this identifier.
    pub fn issue(&self, id: &IssueId) -> Result<Issue, StoreError> {
        load_issue(&self.conn, id)
    }

    /// Lists issues by project and number.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_issues(&self, filter: &IssueFilter) -> Result<IssuePage, StoreError> {
        let mut wheres = vec!["1 = 1".to_owned()];
        let mut values: Vec<String> = Vec::new();
        let mut bind = |sql: &str, value: String| {
            values.push(value);
            wheres.push(sql.replace('?', &format!("?{}", values.len())));
        };
        if let Some(project) = &filter.project {
            bind("i.project = ?", project.to_string());
        }
        if let Some(status) = filter.status {
            bind("i.status = ?", status.to_string());
        }
        if let Some(label) = &filter.label {
            bind(
                "i.id IN (SELECT issue FROM issue_label WHERE label = ?)",
                label.clone(),
            );
        }
        if let Some(parent) = &filter.parent {
            bind("i.parent = ?", parent.to_string());
        }
        if let Some(text) = &filter.text {
            bind(
                "(instr(lower(i.title), lower(?)) > 0 OR instr(lower(i.description), lower(?)) > 0)",
                text.clone(),
            );
        }
        let (beyond, order) = filter.order.sql();
        if let Some(after) = &filter.after {
            match self.number_in(after, filter.project.as_ref())? {
                // SQLite goes on in the index where the last page ended.
                Some(number) => bind(
                    &format!("i.number {beyond} CAST(? AS BIGINT)"),
                    number.to_string(),
                ),
                None => bind(
                    &format!(
                        "(i.project, i.number) {beyond} (SELECT project, number FROM issue WHERE id = ?)"
                    ),
                    after.to_string(),
                ),
            }
        }
        let limit = filter.limit.map_or(i64::MAX - 1, i64::from);
        let sql = format!(
            "SELECT i.* FROM issue i WHERE {} ORDER BY {order} LIMIT {}",
            wheres.join(" AND "),
            limit.saturating_add(1)
        );
        let mut statement = self.conn.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut items = Vec::new();
        while let Some(row) = &rows.next()? {
            items.push(from_row(&self.conn, row)?);
        }
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = if more {
            items.last().map(|issue| issue.id.clone())
        } else {
            None
        };
        Ok(IssuePage { items, next })
    }

    /// Returns the number of an issue if it is in this project.
    fn number_in(
        &self,
        issue: &IssueId,
        project: Option<&ProjectId>,
    ) -> Result<Option<i64>, StoreError> {
        let Some(project) = project else {
            return Ok(None);
        };
        let mut statement = self
            .conn
            .prepare_cached("SELECT number FROM issue WHERE id = ?1 AND project = ?2")?;
        let number = statement.query_row([issue.as_str(), project.as_str()], |row| row.get(0));
        Ok(number.optional()?)
    }

    /// Returns the issues that depend on this one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn dependents(&self, id: &IssueId) -> Result<Vec<IssueId>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT issue FROM issue_dependency WHERE depends_on = ?1 ORDER BY issue",
        )?;
        let mut rows = statement.query([id.as_str()])?;
        let mut dependents = Vec::new();
        while let Some(row) = &rows.next()? {
            dependents.push(parsed("issue id", row.get(0)?)?);
        }
        Ok(dependents)
    }
}
