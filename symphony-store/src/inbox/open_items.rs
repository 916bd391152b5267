//! Everything that has not ended, to check that nothing is stranded (`symphony_core::standing`).

use std::collections::BTreeMap;

use symphony_core::id::{IssueId, PlanId, PrId, ProjectId};
use symphony_core::issue::{BlockedBy, IssueStatus};
use symphony_core::plan::state::{Completion, PhaseProgress};
use symphony_core::standing::{
    OpenIssue, OpenItems, OpenPullRequest, OpenState, Parked, UnpublishedPr,
};
use symphony_core::tick::{OpenPhase, OpenPlan, PlanDriver};

use crate::database::open::Store;
use crate::database::row::{json, parsed, time};
use crate::db::{Connection, Row};
use crate::error::StoreError;
use crate::review::pull_request_query::source_from;
use crate::snapshot::{CANDIDATE_COLUMNS, candidate_from};

/// The author of the log entry that put an issue into the backlog: its creation, or its last move. The issue is `i`.
macro_rules! parked {
    () => {
        "(SELECT CASE WHEN e.payload ->> '$.event.event' = 'breaker_opened' THEN 'breaker'
                      WHEN e.kind = 'issue_added' AND e.actor <> 'human' THEN 'agent' ELSE 'person' END
          FROM event e WHERE e.issue = i.id AND e.kind IN ('issue_added', 'issue_moved') ORDER BY e.id DESC LIMIT 1)"
    };
}
pub(crate) use parked;

// Each starts from the projects, so that open items are found by project and status, however many have ended. No one
// waits for what left with its project.
const TODO_FROM: &str = "FROM project q CROSS JOIN issue i INDEXED BY issue_status ON i.project = q.id AND q.removed_at IS NULL AND i.status = 'todo'
     LEFT JOIN retry r ON r.issue = i.id";
const OTHERS_SQL: &str = concat!(
    "SELECT i.id, i.project, i.status, i.blocked_by, CASE WHEN i.status = 'backlog' THEN ",
    parked!(),
    " END AS parked FROM project q CROSS JOIN issue i INDEXED BY issue_status
     ON i.project = q.id AND q.removed_at IS NULL AND i.status IN ('backlog', 'in_progress', 'review', 'blocked')"
);
const SUBTASKS_SQL: &str = "SELECT c.parent, c.id FROM project q
     CROSS JOIN issue p INDEXED BY issue_blocked ON p.project = q.id AND q.removed_at IS NULL AND p.status = 'blocked' AND p.blocked_by = 'subtasks'
     CROSS JOIN issue c ON c.parent = p.id WHERE c.status NOT IN ('done', 'cancelled')";
const DEPENDENCIES_SQL: &str = "SELECT d.issue, d.depends_on FROM project q
     CROSS JOIN issue i INDEXED BY issue_waiting ON i.project = q.id AND q.removed_at IS NULL AND i.status = 'todo' AND i.open_dependencies > 0
     CROSS JOIN issue_dependency d ON d.issue = i.id CROSS JOIN issue o ON o.id = d.depends_on WHERE o.status <> 'done'";
const PULL_REQUESTS_SQL: &str = "SELECT p.id, p.issue, p.plan FROM project q
     CROSS JOIN pull_request p INDEXED BY pull_request_state ON p.project = q.id AND q.removed_at IS NULL AND p.state IN ('open', 'approved') ORDER BY p.id";
const UNPUBLISHED_SQL: &str = "SELECT p.id, p.issue, p.plan, n.state, n.started_at FROM project q
     CROSS JOIN pull_request p INDEXED BY pull_request_state ON p.project = q.id AND q.removed_at IS NULL AND p.state IN ('open', 'approved')
     CROSS JOIN publication n ON n.id = (SELECT max(id) FROM publication WHERE pull_request = p.id) WHERE n.state <> 'published'";

impl Store {
    /// Returns everything that has not ended, on one state of the database.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn open_items(&mut self) -> Result<OpenItems, StoreError> {
        self.read(|tx| {
            let mut issues = load_todo(tx)?;
            issues.extend(load_others(tx)?);
            Ok(OpenItems {
                issues,
                pull_requests: load_pull_requests(tx)?,
                unpublished: load_unpublished(tx)?,
            })
        })
    }

    /// Returns the plans that have not ended, with a `driver` for each, which the caller sets from their locks.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn plans_under_way(&self) -> Result<Vec<OpenPlan>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT p.id, p.project, p.path, p.status, p.started_at, p.target_branch IS NOT NULL AS has_target, f.phase, f.progress
             FROM plan p JOIN plan_phase f ON f.plan = p.id
             WHERE p.status NOT IN ('completed', 'failed', 'aborted') ORDER BY p.started_at, p.id, f.phase",
        )?;
        let mut rows = statement.query([])?;
        let mut plans: Vec<OpenPlan> = Vec::new();
        while let Some(row) = &rows.next()? {
            let id: PlanId = parsed("plan id", row.get("id")?)?;
            if plans.last().is_none_or(|last| last.plan != id) {
                plans.push(plan_from(row, id)?);
            }
            let progress: PhaseProgress = json("plan phase", &row.get::<_, String>("progress")?)?;
            let phase = OpenPhase {
                phase: parsed("plan phase id", row.get("phase")?)?,
                state: progress.state,
            };
            if let Some(plan) = plans.last_mut() {
                plan.phases.push(phase);
            }
        }
        Ok(plans)
    }

    /// Returns issues in the backlog of a project that agents proposed and no one has moved since, oldest first, at
    /// most `max`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn proposed_issues(
        &self,
        project: &ProjectId,
        max: u32,
    ) -> Result<Vec<ProposedIssue>, StoreError> {
        let mut statement = self.conn.prepare_cached(PROPOSED_SQL)?;
        let mut rows = statement.query(crate::db::params![project.as_str(), max])?;
        let mut found = Vec::new();
        while let Some(row) = &rows.next()? {
            found.push(ProposedIssue {
                issue: parsed("issue id", row.get("id")?)?,
                is_triaged: row.get("is_triaged")?,
                since: time(row.get("created_at")?)?,
            });
        }
        Ok(found)
    }
}

const PROPOSED_SQL: &str =
    "SELECT i.id, i.created_at, i.intake IS NOT NULL AS is_triaged FROM issue i INDEXED BY issue_proposed
     WHERE i.project = ?1 AND i.status = 'backlog' AND i.is_proposed = 1 AND i.intake IS DISTINCT FROM 'unchanged' ORDER BY i.number LIMIT ?2";

/// An issue that an agent proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedIssue {
    /// The issue.
    pub issue: IssueId,
    /// Whether intake has triaged it.
    pub is_triaged: bool,
    /// When it was created.
    pub since: symphony_core::Timestamp,
}

fn plan_from(row: &Row<'_>, plan: PlanId) -> Result<OpenPlan, StoreError> {
    Ok(OpenPlan {
        plan,
        project: parsed("project id", row.get("project")?)?,
        path: row.get("path")?,
        status: parsed("plan status", row.get("status")?)?,
        started_at: time(row.get("started_at")?)?,
        phases: Vec::new(),
        completion: if row.get("has_target")? {
            Completion::OpensPullRequest
        } else {
            Completion::Ends
        },
        driver: PlanDriver::None,
    })
}

/// Reads pairs of issues, grouped by the first one.
fn load_pairs(conn: &Connection, sql: &str) -> Result<BTreeMap<IssueId, Vec<IssueId>>, StoreError> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut pairs: BTreeMap<IssueId, Vec<IssueId>> = BTreeMap::new();
    while let Some(row) = &rows.next()? {
        let from = parsed("issue id", row.get(0)?)?;
        let to = parsed("issue id", row.get(1)?)?;
        pairs.entry(from).or_default().push(to);
    }
    Ok(pairs)
}

fn load_todo(conn: &Connection) -> Result<Vec<OpenIssue>, StoreError> {
    let mut dependencies = load_pairs(conn, DEPENDENCIES_SQL)?;
    let sql = format!("SELECT {CANDIDATE_COLUMNS} {TODO_FROM}");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    let mut issues = Vec::new();
    while let Some(row) = &rows.next()? {
        let mut candidate = candidate_from(row)?;
        candidate.waits_for = dependencies.remove(&candidate.issue).unwrap_or_default();
        issues.push(OpenIssue {
            issue: candidate.issue.clone(),
            project: candidate.project.clone(),
            state: OpenState::Todo(Box::new(candidate)),
        });
    }
    Ok(issues)
}

fn load_others(conn: &Connection) -> Result<Vec<OpenIssue>, StoreError> {
    let mut subtasks = load_pairs(conn, SUBTASKS_SQL)?;
    let mut statement = conn.prepare_cached(OTHERS_SQL)?;
    let mut rows = statement.query([])?;
    let mut issues = Vec::new();
    while let Some(row) = &rows.next()? {
        let issue: IssueId = parsed("issue id", row.get("id")?)?;
        let status: IssueStatus = parsed("status", row.get("status")?)?;
        let state = match status {
            IssueStatus::Backlog => OpenState::Backlog(parked_from(row)?),
            IssueStatus::InProgress => OpenState::InProgress,
            IssueStatus::Review => OpenState::Review,
            IssueStatus::Blocked => {
                let by: BlockedBy = parsed("reason to be blocked", row.get("blocked_by")?)?;
                let open_subtasks = subtasks.remove(&issue).unwrap_or_default();
                OpenState::Blocked { by, open_subtasks }
            }
            IssueStatus::Todo | IssueStatus::Done | IssueStatus::Cancelled => continue,
        };
        issues.push(OpenIssue {
            issue,
            project: parsed("project id", row.get("project")?)?,
            state,
        });
    }
    Ok(issues)
}

fn parked_from(row: &Row<'_>) -> Result<Parked, StoreError> {
    let parked: Option<String> = row.get("parked")?;
    Ok(match parked.as_deref() {
        Some("breaker") => Parked::ByBreaker,
        Some("agent") => Parked::Proposed,
        _ => Parked::ByPerson,
    })
}

fn load_pull_requests(conn: &Connection) -> Result<Vec<OpenPullRequest>, StoreError> {
    let mut statement = conn.prepare_cached(PULL_REQUESTS_SQL)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        found.push(OpenPullRequest {
            pr: PrId::new(row.get("id")?),
            of: source_from(row)?,
        });
    }
    Ok(found)
}

fn load_unpublished(conn: &Connection) -> Result<Vec<UnpublishedPr>, StoreError> {
    let mut statement = conn.prepare_cached(UNPUBLISHED_SQL)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        found.push(UnpublishedPr {
            pr: PrId::new(row.get("id")?),
            of: source_from(row)?,
            state: parsed("publication state", row.get("state")?)?,
            started_at: time(row.get("started_at")?)?,
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::query_plan::query_plan;

    #[test]
    fn what_has_ended_is_not_read() {
        let store = Store::open_in_memory().unwrap();
        let todo = format!("SELECT {CANDIDATE_COLUMNS} {TODO_FROM}");
        for sql in [
            &todo,
            OTHERS_SQL,
            SUBTASKS_SQL,
            DEPENDENCIES_SQL,
            PULL_REQUESTS_SQL,
            UNPUBLISHED_SQL,
        ] {
            let plan = query_plan(&store.conn, sql);
            let scans: Vec<_> = plan
                .iter()
                .filter(|line| line.starts_with("SCAN"))
                .collect();
            assert!(
                matches!(scans[..], [projects] if projects.starts_with("SCAN q")),
                "{sql}: {plan:#?}"
            );
        }
    }
}
