//! Replays the log of issues, and compares status and counts with the rows (I4, I5, I11, I12).

use std::collections::BTreeMap;

use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::id::{IssueId, RunId};
use symphony_core::invariant::{Invariant, Violation};
use symphony_core::issue::{AttemptCounts, IssueEvent};
use symphony_core::log::{LogEvent, Replay, RunEnd};
use symphony_core::run::RunStatus;
use symphony_core::wording::counted;

use crate::database::event::{EventRecord, fold_issue, load_events};
use crate::database::row::parsed;
use crate::db::Connection;
use crate::error::StoreError;
use crate::issue::query::load_issue;

pub(super) fn check_all(conn: &Connection, found: &mut Vec<Violation>) -> Result<(), StoreError> {
    check_each(
        conn,
        "SELECT id FROM issue WHERE ?1 = 0 ORDER BY project, number",
        0,
        found,
    )
}

/// The issues of the newest entries. Their index is ordered by issue, so it would be read from end to end.
const TOUCHED_SQL: &str = "SELECT DISTINCT issue FROM event NOT INDEXED WHERE id > ?1 AND issue IS NOT NULL ORDER BY issue";

/// Checks the issues that have an entry after `event`.
pub(super) fn check_since(
    conn: &Connection,
    event: i64,
    found: &mut Vec<Violation>,
) -> Result<(), StoreError> {
    check_each(conn, TOUCHED_SQL, event, found)
}

fn check_each(
    conn: &Connection,
    sql: &str,
    parameter: i64,
    found: &mut Vec<Violation>,
) -> Result<(), StoreError> {
    let mut statement = conn.prepare_cached(sql)?;
    let ids: Vec<String> = statement
        .query_map([parameter], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for id in ids {
        check_issue(conn, &parsed("issue id", id)?, found)?;
    }
    Ok(())
}

fn check_issue(
    conn: &Connection,
    id: &IssueId,
    found: &mut Vec<Violation>,
) -> Result<(), StoreError> {
    let issue = match load_issue(conn, id) {
        Ok(issue) => issue,
        Err(StoreError::NotFound { .. }) if is_deleted(conn, id)? => return Ok(()),
        Err(error @ (StoreError::InvalidRow { .. } | StoreError::NotFound { .. })) => {
            found.push(Violation::new(
                Invariant::I12,
                id.as_str(),
                error.to_string(),
            ));
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let log = load_events(conn, id)?;
    match fold_issue(&log) {
        Err(error) => found.push(Violation::new(
            Invariant::I11,
            id.as_str(),
            error.to_string(),
        )),
        Ok(state) if state != issue.state => {
            let detail = format!(
                "its row says {}, its log {}",
                issue.state.status(),
                state.status()
            );
            found.push(Violation::new(Invariant::I12, id.as_str(), detail));
        }
        Ok(_) => {}
    }
    check_counts(id, issue.counts, &log, found);
    Ok(())
}

/// Returns whether a person deleted the issue, whose log is kept.
fn is_deleted(conn: &Connection, id: &IssueId) -> Result<bool, StoreError> {
    let log = load_events(conn, id)?;
    Ok(log
        .iter()
        .any(|record| matches!(record.event(), LogEvent::IssueDeleted { .. })))
}

/// Replays what counts towards the circuit breaker, and checks for each run whether it had to count.
fn check_counts(
    id: &IssueId,
    recorded: AttemptCounts,
    log: &[EventRecord],
    found: &mut Vec<Violation>,
) {
    let mut counts = AttemptCounts::default();
    let mut agents = BTreeMap::new();
    for record in log {
        let event = record.event();
        match event.replay() {
            Replay::CountsCleared
            | Replay::IssueStep(
                IssueEvent::Queued | IssueEvent::Reopened | IssueEvent::PhaseAccepted { .. },
            ) => counts = AttemptCounts::default(),
            Replay::RunBegins(agent) => {
                let is_session = matches!(
                    event,
                    LogEvent::RunClaimed {
                        interactive: true,
                        ..
                    }
                );
                agents.insert(&record.run, (agent.clone(), is_session));
            }
            Replay::RunEnds(end) => {
                let begun = agents.get(&record.run);
                if let Some((invariant, what)) = misjudged(end, begun) {
                    let run = record.run.as_ref().map_or("?", RunId::as_str);
                    let ended = end.error.map_or(end.status.name(), ErrorClass::name);
                    let detail = format!("the end of run {run} ({ended}) {what}");
                    found.push(Violation::new(invariant, id.as_str(), detail));
                }
                if let Some(failures) = end.failures {
                    counts.total_runs += u32::from(end.counted);
                    counts.consecutive_failures = failures;
                } else if end.counted {
                    counts.total_runs = counts.total_runs.saturating_add(1);
                    counts.consecutive_failures = if end.status == RunStatus::Succeeded {
                        0
                    } else {
                        counts.consecutive_failures.saturating_add(1)
                    };
                }
            }
            Replay::IssueBegins(_)
            | Replay::IssueStep(_)
            | Replay::PlanBegins(_)
            | Replay::PlanStep(_)
            | Replay::Unreadable { .. }
            | Replay::Nothing => {}
        }
    }
    if counts != recorded {
        let detail = format!(
            "its row counts {}, its log {}",
            in_words(recorded),
            in_words(counts)
        );
        found.push(Violation::new(Invariant::I4, id.as_str(), detail));
    }
}

/// Returns what is wrong when the end of a run counts although it must not, or the other way round.
fn misjudged(end: RunEnd, begun: Option<&(AgentType, bool)>) -> Option<(Invariant, &'static str)> {
    let waited =
        end.error.is_some_and(ErrorClass::uses_no_attempt) || end.status == RunStatus::Cancelled;
    // Intake is not an attempt, nor are gates and a person's session; a spending cap is not a failure; and a phase that
    // the issue leaves counts from zero.
    let is_no_attempt = matches!(
        begun,
        Some((AgentType::Intake | AgentType::Gates, _) | (_, true))
    );
    let exempt = is_no_attempt || end.cap.is_some() || end.advanced;
    match (end.counted, waited) {
        (true, true) => Some((
            Invariant::I5,
            "counts, although a global condition ended it",
        )),
        (false, false) if !exempt => Some((Invariant::I4, "does not count")),
        _ => None,
    }
}

fn in_words(counts: AttemptCounts) -> String {
    format!(
        "{} in a row and {}",
        counted(counts.consecutive_failures.into(), "failure"),
        counted(counts.total_runs.into(), "run")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::open::Store;
    use crate::database::query_plan::query_plan;

    #[test]
    fn a_check_since_an_entry_reads_only_what_came_after_it() {
        let store = Store::open_in_memory().unwrap();
        let plan = query_plan(&store.conn, TOUCHED_SQL);
        assert_eq!(plan[0], "SEARCH event USING INTEGER PRIMARY KEY (rowid>?)");
    }
}
