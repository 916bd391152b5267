//! Runs that could not be prepared, or lost their host. They prove nothing about their issue: the wait before the next one grows, and many
//! in a row stop it. A run that was cancelled before its agent started, as each pause does to those that wait in a pool, interrupts no row.

use symphony_core::failure::ErrorClass;
use symphony_core::id::{IssueId, PlanId, PlanPhaseId, RunId};
use symphony_core::run::AttemptsOf;

use crate::database::open::Store;
use crate::db::{Connection, Params, params};
use crate::error::StoreError;

/// How many runs are read at most: the wait has stopped growing long before.
const RUNS_MAX: u32 = 100;

impl Store {
    /// Returns how many of the newest runs in a row on an issue or a plan's phase could not be prepared; gates and live runs do not count.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn unprepared_before(&self, of: &AttemptsOf) -> Result<u32, StoreError> {
        match of {
            AttemptsOf::Issue(issue) => unprepared_in_a_row(&self.conn, issue),
            AttemptsOf::Phase(plan, phase) => {
                unprepared_phases_in_a_row(&self.conn, plan, phase, None)
            }
        }
    }
}

pub(crate) fn unprepared_in_a_row(conn: &Connection, issue: &IssueId) -> Result<u32, StoreError> {
    count(
        conn,
        ErrorClass::NotPrepared,
        OF_ISSUE,
        params![issue.as_str(), RUNS_MAX],
    )
}

/// Returns how many of the newest runs in a row on an issue lost their host; gates and live runs do not count.
pub(crate) fn hosts_lost_in_a_row(conn: &Connection, issue: &IssueId) -> Result<u32, StoreError> {
    count(
        conn,
        ErrorClass::HostLost,
        OF_ISSUE,
        params![issue.as_str(), RUNS_MAX],
    )
}

const OF_ISSUE: &str =
    "SELECT error_class FROM run WHERE issue = ?1 AND agent <> 'gates' AND ended_at IS NOT NULL
         AND (status <> 'cancelled' OR worktree IS NOT NULL)
     ORDER BY fence DESC LIMIT ?2";

/// Counts those of a plan's phase, without the run `except`.
pub(crate) fn unprepared_phases_in_a_row(
    conn: &Connection,
    plan: &PlanId,
    phase: &PlanPhaseId,
    except: Option<&RunId>,
) -> Result<u32, StoreError> {
    count(
        conn,
        ErrorClass::NotPrepared,
        "SELECT error_class FROM run WHERE plan = ?1 AND plan_phase = ?2 AND ended_at IS NOT NULL AND id IS DISTINCT FROM ?3
             AND (status <> 'cancelled' OR worktree IS NOT NULL)
         ORDER BY fence DESC LIMIT ?4",
        params![
            plan.as_str(),
            phase.as_str(),
            except.map(RunId::as_str),
            RUNS_MAX
        ],
    )
}

/// Counts the newest runs up to the first one that ended otherwise.
fn count(
    conn: &Connection,
    ended: ErrorClass,
    sql: &'static str,
    params: impl Params,
) -> Result<u32, StoreError> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut count = 0;
    while let Some(row) = &rows.next()? {
        let class: Option<String> = row.get(0)?;
        if class.as_deref() != Some(ended.name()) {
            break;
        }
        count += 1;
    }
    Ok(count)
}
