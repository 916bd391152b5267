//! Spending: of a run, its issue and its project, and of today.

use symphony_core::Timestamp;
use symphony_core::id::{IssueId, ProjectId, RunId};
use symphony_core::run::Usage;
use symphony_core::spending::{DAY_MS, Spent, SpentByProject, SpentSoFar, day_number};
use symphony_core::unit::{Tokens, UsdMicros};

use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::{count, int, parsed, to_json};
use crate::db::{Connection, Params, Row, params};
use crate::error::StoreError;
use crate::run::row::load_run;

/// Adds what a live run used since its usage was last written to its own rows. Must be called before the new usage is written.
///
/// Rows of its own, because each run writes with each progress: in one row of the project, 16 runs repeated every fifth write.
pub(crate) fn add_growth(
    conn: &Connection,
    run: &RunId,
    usage: &Usage,
    now: Timestamp,
) -> Result<(), StoreError> {
    let spent = Spent::of(usage);
    conn.prepare_cached(
        "INSERT INTO run_spending (run, day, project, tokens, cost_micros)
         SELECT id, ?2, project, ?3 - (input_tokens + output_tokens + cache_read_tokens + cache_write_tokens),
                ?4 - coalesce(cost_micros, 0)
         FROM run WHERE id = ?1
         ON CONFLICT (run, day) DO UPDATE SET
             tokens = run_spending.tokens + excluded.tokens, cost_micros = run_spending.cost_micros + excluded.cost_micros",
    )?
    .execute(params![
        run.as_str(),
        day_number(now),
        int(spent.tokens.get()),
        int(spent.usd.get()),
    ])?;
    Ok(())
}

/// Runs that have ended and still have rows of their own.
const UNSETTLED_SQL: &str = "SELECT DISTINCT l.run FROM run_spending l JOIN run r ON r.id = l.run
     WHERE r.status NOT IN ('starting', 'running') ORDER BY l.run LIMIT ?1";
/// Runs of an issue that still have rows of their own.
const OF_ISSUE_UNSETTLED_SQL: &str =
    "SELECT DISTINCT l.run FROM run_spending l JOIN run r ON r.id = l.run
     WHERE r.issue = ?1 ORDER BY l.run";
/// How many of the ended ones one transaction takes: a long one loses against those of live runs again and again.
const SETTLED_MAX: u32 = 16;

/// Adds what runs spent to what their projects spent.
const SETTLE_SQL: &str = "INSERT INTO spending (project, day, tokens, cost_micros)
     SELECT project, day, sum(tokens), sum(cost_micros) FROM run_spending
     WHERE run IN (SELECT value FROM json_each(?1)) GROUP BY project, day ORDER BY project, day
     ON CONFLICT (project, day) DO UPDATE SET
         tokens = spending.tokens + excluded.tokens, cost_micros = spending.cost_micros + excluded.cost_micros";
const SETTLED_SQL: &str = "DELETE FROM run_spending WHERE run IN (SELECT value FROM json_each(?1))";

/// Adds what runs spent to what their projects spent. With two statements for all of them: with two for each, a tick on a busy server
/// spent seconds here.
fn settle(conn: &Connection, runs: &[RunId]) -> Result<(), StoreError> {
    let runs = to_json(runs);
    for sql in [SETTLE_SQL, SETTLED_SQL] {
        conn.prepare_cached(sql)?.execute(params![&runs])?;
    }
    Ok(())
}

/// Adds what the ended runs on an issue spent to what its project spent, before they are deleted.
pub(crate) fn settle_issue(conn: &Connection, issue: &IssueId) -> Result<(), StoreError> {
    let runs = unsettled(conn, OF_ISSUE_UNSETTLED_SQL, params![issue.as_str()])?;
    settle(conn, &runs)
}

/// Returns the runs that a query of one column finds.
fn unsettled(conn: &Connection, sql: &str, bound: impl Params) -> Result<Vec<RunId>, StoreError> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(bound)?;
    let mut runs = Vec::new();
    while let Some(row) = &rows.next()? {
        runs.push(parsed("run id", row.get("run")?)?);
    }
    Ok(runs)
}

fn spent_from(row: &Row<'_>) -> Result<Spent, StoreError> {
    Ok(Spent {
        tokens: Tokens::new(count(row, "tokens")?),
        usd: UsdMicros::new(count(row, "usd")?),
    })
}

/// Usage of the runs on an issue, judges included.
const OF_ISSUE_SQL: &str =
    "SELECT coalesce(sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens), 0) AS tokens,
            coalesce(sum(cost_micros), 0) AS usd
     FROM run WHERE issue = ?1";
/// Usage of a project's runs since a day: of those that a tick has added, and of those that have rows of their own.
const OF_PROJECT_SQL: &str =
    "SELECT coalesce(sum(tokens), 0) AS tokens, coalesce(sum(cost_micros), 0) AS usd FROM (
         SELECT tokens, cost_micros FROM spending WHERE project = ?1 AND day >= ?2
         UNION ALL
         SELECT tokens, cost_micros FROM run_spending WHERE project = ?1 AND day >= ?2) AS parts";

/// Returns what the runs on an issue spent, judges included.
pub(crate) fn of_issue(conn: &Connection, issue: &IssueId) -> Result<Spent, StoreError> {
    conn.prepare_cached(OF_ISSUE_SQL)?
        .query_row([issue.as_str()], |row| Ok(spent_from(row)))?
}

/// Returns what a project spent.
pub(crate) fn of_project(
    conn: &Connection,
    project: &ProjectId,
    now: Timestamp,
) -> Result<SpentByProject, StoreError> {
    let mut statement = conn.prepare_cached(OF_PROJECT_SQL)?;
    let mut since = |day: i64| {
        statement.query_row(params![project.as_str(), day], |row| Ok(spent_from(row)))?
    };
    Ok(SpentByProject {
        in_all: since(i64::MIN)?,
        today: since(day_number(now))?,
    })
}

/// How many of a project's newest runs are searched for the last spending: more than run at once.
const RUNS_LOOKED_AT: u32 = 100;

/// When one of a project's newest runs last used something.
const LAST_SPENT_SQL: &str =
    "SELECT max(coalesce(ended_at, last_event_at, started_at)) FROM (
         SELECT ended_at, last_event_at, started_at,
                input_tokens + output_tokens + cache_read_tokens + cache_write_tokens AS tokens, cost_micros
         FROM run WHERE project = ?1 ORDER BY fence DESC LIMIT ?2) AS newest
     WHERE tokens > 0 OR cost_micros > 0";

/// Rows of a split; the largest come first.
const SPLIT_ROWS_MAX: u32 = 20;

/// By what spending is split up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpentBy {
    /// By type of agent.
    Agent,
    /// By model.
    Model,
    /// By issue.
    Issue,
}

impl SpentBy {
    fn sql(self) -> String {
        let name = match self {
            Self::Agent => "agent",
            Self::Model => "coalesce(model, provider)",
            Self::Issue => "coalesce(issue, plan, 'the project itself')",
        };
        format!(
            "SELECT {name} AS name,
                    sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens) AS tokens,
                    coalesce(sum(cost_micros), 0) AS usd
             FROM run WHERE project = ?1 AND started_at >= ?2
             GROUP BY 1 HAVING sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens) > 0 ORDER BY usd DESC, tokens DESC, name LIMIT {SPLIT_ROWS_MAX}"
        )
    }
}

/// What the agents of a project used in all.
const USED_SQL: &str =
    "SELECT coalesce(sum(input_tokens), 0) AS input, coalesce(sum(output_tokens), 0) AS output,
            coalesce(sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens), 0) AS tokens,
            coalesce(sum(max(0, coalesce(ended_at, ?2) - started_at)), 0) AS ms
     FROM run WHERE project = ?1 AND agent <> 'gates'";

/// What the agents of a project used in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// Tokens that models read, without those from a cache.
    pub input: Tokens,
    /// Tokens that models wrote.
    pub output: Tokens,
    /// Tokens of all kinds.
    pub tokens: Tokens,
    /// Time that agents ran, in milliseconds.
    pub ms: u64,
}

/// What a project spent on each day.
const BY_DAY_SQL: &str =
    "SELECT day, coalesce(sum(tokens), 0) AS tokens, coalesce(sum(cost_micros), 0) AS usd FROM (
         SELECT day, tokens, cost_micros FROM spending WHERE project = ?1 AND day >= ?2
         UNION ALL
         SELECT day, tokens, cost_micros FROM run_spending WHERE project = ?1 AND day >= ?2) AS parts
     GROUP BY day ORDER BY day";

impl Store {
    /// Adds what ended runs spent to what their projects spent. Not when a run ends: on a server, ends of many runs would fail each other
    /// at the project's row, which a tick alone writes.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub fn settle_spending(&mut self, now: Timestamp) -> Result<(), StoreError> {
        loop {
            let ended = unsettled(&self.conn, UNSETTLED_SQL, params![SETTLED_MAX])?;
            if ended.is_empty() {
                return Ok(());
            }
            self.write(&Context::system(now), |tx| settle(tx, &ended))?;
        }
    }

    /// Returns what the agents of a project used in all, those at work until now.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn used(&self, project: &ProjectId, now: Timestamp) -> Result<Used, StoreError> {
        let mut statement = self.conn.prepare_cached(USED_SQL)?;
        statement.query_row(params![project.as_str(), now.as_millisecond()], |row| {
            Ok((|| {
                Ok(Used {
                    input: Tokens::new(count(row, "input")?),
                    output: Tokens::new(count(row, "output")?),
                    tokens: Tokens::new(count(row, "tokens")?),
                    ms: count(row, "ms")?,
                })
            })())
        })?
    }

    /// Returns what a project spent on each day since one (days since 1970, UTC); days without spending are missing.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn spent_by_day(
        &self,
        project: &ProjectId,
        since: i64,
    ) -> Result<Vec<(i64, Spent)>, StoreError> {
        let mut statement = self.conn.prepare_cached(BY_DAY_SQL)?;
        let mut rows = statement.query(params![project.as_str(), since])?;
        let mut days = Vec::new();
        while let Some(row) = &rows.next()? {
            days.push((row.get("day")?, spent_from(row)?));
        }
        Ok(days)
    }

    /// Returns how the spending of the runs that began since a day (days since 1970, UTC) is split up, the largest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn spent_by(
        &self,
        project: &ProjectId,
        by: SpentBy,
        since: i64,
    ) -> Result<Vec<(String, Spent)>, StoreError> {
        let since = since.saturating_mul(DAY_MS);
        let mut statement = self.conn.prepare_cached(&by.sql())?;
        let mut rows = statement.query(params![project.as_str(), since])?;
        let mut split = Vec::new();
        while let Some(row) = &rows.next()? {
            split.push((row.get("name")?, spent_from(row)?));
        }
        Ok(split)
    }

    /// Returns when the runs of a project last spent something. No run starts above a cap, so this is when the cap was
    /// reached.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn last_spent_at(&self, project: &ProjectId) -> Result<Option<Timestamp>, StoreError> {
        let mut statement = self.conn.prepare_cached(LAST_SPENT_SQL)?;
        let at: Option<i64> =
            statement.query_row(params![project.as_str(), RUNS_LOOKED_AT], |row| row.get(0))?;
        Ok(at.and_then(|at| Timestamp::from_millisecond(at).ok()))
    }

    /// Returns what a project's runs spent today (UTC).
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn spent_today(&self, project: &ProjectId, now: Timestamp) -> Result<Spent, StoreError> {
        Ok(of_project(&self.conn, project, now)?.today)
    }

    /// Returns what a project has spent since it was added.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn spent_in_all(&self, project: &ProjectId, now: Timestamp) -> Result<Spent, StoreError> {
        Ok(of_project(&self.conn, project, now)?.in_all)
    }

    /// Returns the recorded spending of a run, and of everything that shares a cap with it.
    ///
    /// # Errors
    /// When there is no such run.
    pub fn spent_so_far(&mut self, run: &RunId, now: Timestamp) -> Result<SpentSoFar, StoreError> {
        self.read(|tx| {
            let run = load_run(tx, run)?;
            let issue = run.target.issue().map(|id| of_issue(tx, id)).transpose()?;
            let spent = of_project(tx, &run.project, now)?;
            Ok(SpentSoFar {
                run: Spent::of(&run.usage),
                issue,
                project: spent.in_all,
                day: spent.today,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::query_plan::query_plan;

    #[test]
    fn the_sums_are_read_through_indexes() {
        let store = Store::open_in_memory().unwrap();
        for sql in [
            OF_ISSUE_SQL,
            OF_PROJECT_SQL,
            BY_DAY_SQL,
            SETTLE_SQL,
            SETTLED_SQL,
        ] {
            let plan = query_plan(&store.conn, sql);
            let reads_whole = |line: &String| line.starts_with("SCAN") && line.contains("spending");
            assert!(
                plan.iter().any(|line| line.starts_with("SEARCH")) && !plan.iter().any(reads_whole),
                "{sql}: {plan:?}"
            );
        }
        let split = query_plan(&store.conn, &SpentBy::Issue.sql());
        assert!(split[0].starts_with("SEARCH run USING INDEX"), "{split:?}");
    }
}
