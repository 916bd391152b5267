//! Checks that depend on the configuration: scheduled retries, attempts, slots (I6, I7, I16).

use std::collections::BTreeMap;

use symphony_core::agent::AgentType;
use symphony_core::id::{IssueId, ProjectId};
use symphony_core::invariant::{Invariant, Violation};
use symphony_core::retry::CONTINUATION_MS;

use super::AuditRequest;
use crate::database::row::{count32, int, parsed, parsed_opt};
use crate::db::Connection;
use crate::error::StoreError;

pub(super) fn check(
    conn: &Connection,
    request: &AuditRequest,
    found: &mut Vec<Violation>,
) -> Result<(), StoreError> {
    check_live(conn, request, found)?;
    check_appointments(conn, request, found)
}

fn check_live(
    conn: &Connection,
    request: &AuditRequest,
    found: &mut Vec<Violation>,
) -> Result<(), StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT id, project, issue, agent, attempt, EXISTS (
             SELECT 1 FROM exit_handling x WHERE x.run = run.id AND x.problem IS NOT NULL) AS is_put_off
         FROM run WHERE status IN ('starting', 'running')",
    )?;
    let mut rows = statement.query([])?;
    let (mut total, mut gates) = (0_u32, 0_u32);
    let mut by_project: BTreeMap<ProjectId, u32> = BTreeMap::new();
    let mut by_agent: BTreeMap<AgentType, u32> = BTreeMap::new();
    while let Some(row) = &rows.next()? {
        let project: ProjectId = parsed("project id", row.get("project")?)?;
        let issue: Option<IssueId> = parsed_opt("issue id", row.get("issue")?)?;
        let (run, attempt): (String, u32) = (row.get("id")?, count32(row, "attempt")?);
        let agent: AgentType = parsed("agent type", row.get("agent")?)?;
        if let (Some(view), Some(_)) = (request.projects.get(&project), issue) {
            // What the last attempt hands in is judged, too, by at most as many judges.
            let reviews = u32::from(agent == AgentType::Judge);
            let limit = view.max_retries.saturating_mul(1 + reviews);
            if attempt > limit {
                let detail = format!("it is attempt {attempt}, the limit is {limit}");
                found.push(Violation::new(Invariant::I7, run, detail));
            }
        }
        if row.get("is_put_off")? {
            continue;
        }
        if agent == AgentType::Gates {
            gates += 1;
            continue;
        }
        total += 1;
        *by_project.entry(project).or_default() += 1;
        *by_agent.entry(agent).or_default() += 1;
    }
    let mut over = |what: String, count: u32, limit: Option<u32>| {
        if let Some(limit) = limit.filter(|limit| count > *limit) {
            let detail = format!("{count} runs live, the limit is {limit}");
            found.push(Violation::new(Invariant::I16, what, detail));
        }
    };
    over("installation".to_owned(), total, Some(request.slots.total));
    over("gates".to_owned(), gates, Some(request.slots.gates));
    for (project, count) in by_project {
        let view = request.projects.get(&project);
        let limit = view.and_then(|view| view.max_concurrency);
        over(format!("project {project}"), count, limit);
    }
    for (agent, count) in by_agent {
        let limit = request.slots.by_agent.get(&agent).copied();
        over(format!("agent {agent}"), count, limit);
    }
    Ok(())
}

/// A retry is scheduled by the end of a run, and never later than the longest wait.
fn check_appointments(
    conn: &Connection,
    request: &AuditRequest,
    found: &mut Vec<Violation>,
) -> Result<(), StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT r.issue, i.project, r.due_at, (SELECT max(ended_at) FROM run WHERE issue = r.issue) AS ended
         FROM retry r JOIN issue i ON i.id = r.issue",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = &rows.next()? {
        let project: ProjectId = parsed("project id", row.get("project")?)?;
        let Some(view) = request.projects.get(&project) else {
            continue;
        };
        let longest = view.max_backoff_ms.max(CONTINUATION_MS);
        let (issue, due, ended): (String, i64, Option<i64>) =
            (row.get("issue")?, row.get("due_at")?, row.get("ended")?);
        let detail = match ended {
            None => "a retry is due, but no run of it has ended".to_owned(),
            Some(ended) if due.saturating_sub(ended) > int(longest) => format!(
                "its retry is due {} ms after the end of its last run; the longest wait is {longest} ms",
                due.saturating_sub(ended)
            ),
            Some(_) => continue,
        };
        found.push(Violation::new(Invariant::I6, issue, detail));
    }
    Ok(())
}
