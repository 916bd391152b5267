//! What a tick reads for the agents of a project itself, and for intake. Disabled agents are skipped.

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::id::{IssueId, ProjectId};
use symphony_core::tick::{IDLE_BACKLOG_MAX, IntakeCandidate, ProjectAgents};

use super::limit::CANDIDATES_LIMIT;
use crate::database::open::Store;
use crate::database::row::{parsed, time};
use crate::db::{Connection, OptionalExtension, Row, params};
use crate::error::StoreError;
use crate::issue::query::priority_from;
use crate::project::record::load_project;

pub(super) const HAS_TODO_SQL: &str =
    "SELECT EXISTS (SELECT 1 FROM issue WHERE project = ?1 AND status = 'todo')";

pub(super) const BACKLOG_SQL: &str = "SELECT count(*) FROM (SELECT 1 FROM issue WHERE project = ?1 AND status = 'backlog' LIMIT ?2) AS subquery";

/// The last run of an agent on the project itself.
pub(super) const LAST_RUN_SQL: &str = "SELECT coalesce(ended_at, started_at) FROM run
    WHERE project = ?1 AND agent = ?2 AND issue IS NULL AND plan IS NULL ORDER BY fence DESC LIMIT 1";

pub(super) const UNTRIAGED_SQL: &str = "SELECT id, project, priority, created_at FROM issue
    WHERE project = ?1 AND status = 'backlog' AND intake IS NULL ORDER BY priority, created_at, id LIMIT ?2";

/// Adds what the database knows about a project's own agents.
pub(super) fn load_agents(
    conn: &Connection,
    project: &ProjectId,
    agents: &mut ProjectAgents,
) -> Result<(), StoreError> {
    if agents.wizard_enabled {
        agents.wizard = load_project(conn, project)?.wizard;
    }
    if !agents.scanner_enabled && !agents.background_research {
        return Ok(());
    }
    agents.has_todo = conn
        .prepare_cached(HAS_TODO_SQL)?
        .query_row([project.as_str()], |row| row.get(0))?;
    agents.backlog = conn
        .prepare_cached(BACKLOG_SQL)?
        .query_row(params![project.as_str(), IDLE_BACKLOG_MAX], |row| {
            row.get(0)
        })?;
    agents.last_scan = last_run(conn, project, &AgentType::Scanner)?;
    agents.last_research = last_run(conn, project, &AgentType::Researcher)?;
    Ok(())
}

fn last_run(
    conn: &Connection,
    project: &ProjectId,
    agent: &AgentType,
) -> Result<Option<Timestamp>, StoreError> {
    let ended: Option<i64> = conn
        .prepare_cached(LAST_RUN_SQL)?
        .query_row([project.as_str(), agent.name()], |row| row.get(0))
        .optional()?;
    ended.map(time).transpose()
}

/// Reads the issues that intake has not looked at, in the order of dispatch.
pub(super) fn load_intake(
    conn: &Connection,
    project: &ProjectId,
    agents: &ProjectAgents,
) -> Result<Vec<IntakeCandidate>, StoreError> {
    let mut candidates = Vec::new();
    if !agents.intake_enabled {
        return Ok(candidates);
    }
    let mut statement = conn.prepare_cached(UNTRIAGED_SQL)?;
    let mut rows = statement.query(params![project.as_str(), CANDIDATES_LIMIT])?;
    while let Some(row) = &rows.next()? {
        candidates.push(candidate_from(row)?);
    }
    Ok(candidates)
}

fn candidate_from(row: &Row<'_>) -> Result<IntakeCandidate, StoreError> {
    Ok(IntakeCandidate {
        issue: parsed("issue id", row.get("id")?)?,
        project: parsed("project id", row.get("project")?)?,
        priority: priority_from(row)?,
        created_at: time(row.get("created_at")?)?,
    })
}

impl Store {
    /// Returns an issue as intake would take it, however many come before it; `None` when it is not in `backlog`, or
    /// intake has triaged it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn intake_candidate(&self, id: &IssueId) -> Result<Option<IntakeCandidate>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT id, project, priority, created_at FROM issue
             WHERE id = ?1 AND status = 'backlog' AND intake IS NULL",
        )?;
        let mut rows = statement.query([id.as_str()])?;
        rows.next()?.map(|row| candidate_from(&row)).transpose()
    }
}
