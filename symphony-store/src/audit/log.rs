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

use super::step::{AuditStep, AuditWatch};
use crate::database::event::{EVENT_COLUMNS, EventRecord, fold_issue, load_events, read_event};
use crate::database::row::parsed;
use crate::db::{Connection, params};
use crate::error::StoreError;
use crate::issue::query::load_issue;

/// How many issues are read at once, with their logs: a server is asked seldom, and memory holds a few hundred logs.
const PAGE_ISSUES: i64 = 500;

/// A page of issues, and what the next page begins after.
const PAGE_SQL: &str = "SELECT id, project, number FROM issue WHERE (project, number) > (?1, ?2) ORDER BY project, number LIMIT ?3";

/// Checks every issue in one pass over the issues and their logs. Reports after each page how many are done.
pub(super) fn check_all(
    conn: &Connection,
    watch: AuditWatch<'_>,
    found: &mut Vec<Violation>,
) -> Result<(), StoreError> {
    let total = conn.query_row("SELECT count(*) FROM issue", [], |row| row.get::<_, i64>(0))?;
    let mut done = 0;
    let mut after = (String::new(), 0);
    loop {
        watch(AuditStep::Logs { done, total });
        let mut logs = logs_after(conn, &after)?;
        let mut statement = conn.prepare_cached(PAGE_SQL)?;
        let page: Vec<(String, String, i64)> = statement
            .query_map(params![after.0, after.1, PAGE_ISSUES], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?
            .collect::<Result<_, _>>()?;
        let Some((_, project, number)) = page.last() else {
            return Ok(());
        };
        after = (project.clone(), *number);
        for (id, ..) in page {
            let id = parsed("issue id", id)?;
            let log = logs.remove(&id).unwrap_or_default();
            check_issue(conn, &id, &log, found)?;
            done += 1;
        }
    }
}

/// Reads the logs of a page of issues.
fn logs_after(
    conn: &Connection,
    after: &(String, i64),
) -> Result<BTreeMap<IssueId, Vec<EventRecord>>, StoreError> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {EVENT_COLUMNS} FROM event WHERE issue IN (SELECT id FROM ({PAGE_SQL}) AS page) ORDER BY issue, id"
    ))?;
    let mut rows = statement.query(params![after.0, after.1, PAGE_ISSUES])?;
    let mut logs: BTreeMap<IssueId, Vec<EventRecord>> = BTreeMap::new();
    while let Some(row) = &rows.next()? {
        let record = read_event(row)?;
        if let Some(issue) = record.issue.clone() {
            logs.entry(issue).or_default().push(record);
        }
    }
    Ok(logs)
}

/// The issues of the newest entries. Their index is ordered by issue, so it would be read from end to end.
const TOUCHED_SQL: &str = "SELECT DISTINCT issue FROM event NOT INDEXED WHERE id > ?1 AND issue IS NOT NULL ORDER BY issue";

/// Checks the issues that have an entry after `event`.
pub(super) fn check_since(
    conn: &Connection,
    event: i64,
    found: &mut Vec<Violation>,
) -> Result<(), StoreError> {
    let mut statement = conn.prepare_cached(TOUCHED_SQL)?;
    let ids: Vec<String> = statement
        .query_map([event], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for id in ids {
        let id = parsed("issue id", id)?;
        check_issue(conn, &id, &load_events(conn, &id)?, found)?;
    }
    Ok(())
}

fn check_issue(
    conn: &Connection,
    id: &IssueId,
    log: &[EventRecord],
    found: &mut Vec<Violation>,
) -> Result<(), StoreError> {
    let issue = match load_issue(conn, id) {
        Ok(issue) => issue,
        Err(StoreError::NotFound { .. }) if is_deleted(log) => return Ok(()),
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
    match fold_issue(log) {
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
    check_counts(id, issue.counts, log, found);
    Ok(())
}

/// Returns whether a person deleted the issue, whose log is kept.
fn is_deleted(log: &[EventRecord]) -> bool {
    log.iter()
        .any(|record| matches!(record.event(), LogEvent::IssueDeleted { .. }))
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

    #[test]
    fn a_page_of_issues_is_read_from_its_index() {
        let store = Store::open_in_memory().unwrap();
        let plan = query_plan(&store.conn, PAGE_SQL);
        assert_eq!(plan.len(), 1, "{plan:?}");
        assert!(plan[0].starts_with("SEARCH issue USING"), "{plan:?}");
        assert!(plan[0].ends_with("((project,number)>(?,?))"), "{plan:?}");
    }
}
