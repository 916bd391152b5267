//! Runs: reading them, and what their supervisor records while they are live.

use serde_json::Value;
use symphony_core::Timestamp;
use symphony_core::id::{IssueId, PlanId, ProjectId, RunId};
use symphony_core::log::LogEvent;
use symphony_core::run::{ProtectionLevel, Run, RunStatus, SandboxRecord, Usage};

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::{int, parsed, parsed_opt, time, to_json};
use crate::db::{Connection, OptionalExtension, params, params_from_iter};
use crate::error::StoreError;
use crate::run::exit_handling::hurry;
use crate::run::row::{from_row, load_run};
use crate::run::spending::add_growth;

/// Which runs to list, newest first.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Only those of this project.
    pub project: Option<ProjectId>,
    /// Only those on this issue.
    pub issue: Option<IssueId>,
    /// Only those on this plan.
    pub plan: Option<PlanId>,
    /// Only live ones.
    pub live_only: bool,
    /// Only those of agents, not of gates.
    pub agents_only: bool,
    /// At most this many.
    pub limit: Option<u32>,
}

/// What is known when the agent is about to start.
#[derive(Debug, Clone, Default)]
pub struct RunStart {
    /// The model, when one is set.
    pub model: Option<String>,
    /// Its worktree, relative to the project.
    pub worktree: Option<String>,
    /// Its branch.
    pub branch: Option<String>,
    /// What confines its agent; `None` where there is no agent.
    pub sandbox: Option<StartSandbox>,
    /// Anything else, such as the report about its prompt and where its model was set.
    pub metadata: Value,
}

/// What confines the agent of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartSandbox {
    /// The level, its network, and the kernel's Landlock.
    pub record: SandboxRecord,
    /// What follows from it for this agent.
    pub protection: ProtectionLevel,
}

/// What is known while the agent runs.
#[derive(Debug, Clone)]
pub struct RunProgress {
    /// The last event, in words.
    pub last_event: String,
    /// What has been used so far.
    pub usage: Usage,
}

/// Writes what a run used, and adds the growth to what its project spent.
pub(crate) fn write_usage(
    conn: &Connection,
    run: &RunId,
    usage: &Usage,
    now: Timestamp,
) -> Result<(), StoreError> {
    // Before the update: the growth is the difference to the usage that the update replaces.
    add_growth(conn, run, usage, now)?;
    conn.prepare_cached(
        "UPDATE run SET input_tokens = ?2, output_tokens = ?3, cache_read_tokens = ?4, cache_write_tokens = ?5, cost_micros = ?6, turns = ?7 WHERE id = ?1",
    )?
    .execute(params![
        run.as_str(),
        int(usage.input_tokens.get()),
        int(usage.output_tokens.get()),
        int(usage.cache_read_tokens.get()),
        int(usage.cache_creation_tokens.get()),
        usage.cost.map(|cost| int(cost.get())),
        int(usage.turns),
    ])?;
    Ok(())
}

/// Returns the SQL of a list, and its values. It names only what the filter does, so that each list uses an index and
/// costs what it returns, however long the history is.
fn list_sql(filter: &RunFilter) -> (String, Vec<&str>) {
    // Few runs are live, and an issue or a plan has few, but a project has many: its column is used for an index only
    // without them.
    let index = if filter.live_only && filter.issue.is_none() {
        " INDEXED BY run_live"
    } else {
        ""
    };
    let project = if filter.issue.is_some() || filter.plan.is_some() {
        "+project"
    } else {
        "project"
    };
    let named = [
        (project, filter.project.as_ref().map(ProjectId::as_str)),
        ("issue", filter.issue.as_ref().map(IssueId::as_str)),
        ("plan", filter.plan.as_ref().map(PlanId::as_str)),
    ];
    let mut wheres = Vec::new();
    let mut values = Vec::new();
    for (column, value) in named {
        if let Some(value) = value {
            wheres.push(format!("{column} = ?"));
            values.push(value);
        }
    }
    if filter.agents_only {
        wheres.push("agent <> 'gates'".to_owned());
    }
    if filter.live_only {
        wheres.push("status IN ('starting', 'running')".to_owned());
    }
    if wheres.is_empty() {
        wheres.push("1 = 1".to_owned());
    }
    let limit = filter.limit.map_or(i64::MAX, i64::from);
    let wheres = wheres.join(" AND ");
    let sql = format!("SELECT * FROM run{index} WHERE {wheres} ORDER BY fence DESC LIMIT {limit}");
    (sql, values)
}

/// How many ids an error names. Anyone who typed so few characters has to type more anyway.
const CANDIDATES_MAX: usize = 5;

/// Returns the error for a part of an id that fits several, with these ids. Their ends differ, also when they were made
/// at the same time.
pub(crate) fn several_fit(what: &str, text: &str, ids: &[String]) -> StoreError {
    let more = if ids.len() > CANDIDATES_MAX {
        " …"
    } else {
        ""
    };
    let names: Vec<&str> = ids
        .iter()
        .take(CANDIDATES_MAX)
        .map(String::as_str)
        .collect();
    StoreError::refused(format!(
        "several {what} match `{text}`: {}{more}; the last characters of the id make it unique",
        names.join(", ")
    ))
}

impl Store {
    /// Returns a run.
    ///
    /// # Errors
    /// When there is no run with this id.
    pub fn run(&self, id: &RunId) -> Result<Run, StoreError> {
        load_run(&self.conn, id)
    }

    /// Finds a run by the beginning or the end of its id.
    ///
    /// # Errors
    /// When no run fits, or several do.
    pub fn find_run(&self, text: &str) -> Result<Run, StoreError> {
        let clean: String = text
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
            .map(|c| c.to_ascii_lowercase())
            .collect();
        if clean.len() != text.len() || clean.is_empty() {
            return Err(StoreError::not_found("run", text));
        }
        let mut statement = self.conn.prepare_cached(
            "SELECT id FROM run WHERE id LIKE ?1 OR id LIKE ?2 ORDER BY id DESC LIMIT 6",
        )?;
        let found: Vec<String> = statement
            .query_map([format!("{clean}%"), format!("%{clean}")], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        match found.as_slice() {
            [one] => self.run(&parsed("run id", one.clone())?),
            [] => Err(StoreError::not_found("run", text)),
            several => Err(several_fit("runs", text, several)),
        }
    }

    /// Lists runs, newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<Run>, StoreError> {
        let (sql, values) = list_sql(filter);
        let mut statement = self.conn.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut runs = Vec::new();
        while let Some(row) = &rows.next()? {
            runs.push(from_row(row)?);
        }
        Ok(runs)
    }

    /// Returns the live runs, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn live_runs(&self) -> Result<Vec<Run>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT * FROM run WHERE status IN ('starting', 'running') ORDER BY started_at, id",
        )?;
        let mut rows = statement.query([])?;
        let mut runs = Vec::new();
        while let Some(row) = &rows.next()? {
            runs.push(from_row(row)?);
        }
        Ok(runs)
    }

    /// Returns the last event of a live run, in words, and when it happened.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn last_event(&self, run: &RunId) -> Result<Option<(String, Timestamp)>, StoreError> {
        let found: Option<(String, Option<i64>)> = self
            .conn
            .prepare_cached("SELECT last_event, last_event_at FROM run WHERE id = ?1")?
            .query_row([run.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        match found {
            Some((text, Some(at))) => Ok(Some((text, time(at)?))),
            _ => Ok(None),
        }
    }

    /// Records that the agent of a run is about to start.
    ///
    /// # Errors
    /// When the run has ended.
    pub fn record_start(
        &mut self,
        context: &Context,
        run: &RunId,
        start: &RunStart,
    ) -> Result<Run, StoreError> {
        self.write_of_run(context, run, |tx| {
            let sandbox = start.sandbox.as_ref();
            tx.execute(
                "UPDATE run SET status = 'running', model = ?2, worktree = ?3, branch = ?4, metadata = ?5,
                     protection = coalesce(?6, protection), sandbox_level = ?7, sandbox_network = ?8, landlock_abi = ?9
                 WHERE id = ?1 AND status = 'starting'",
                params![
                    run.as_str(),
                    start.model,
                    start.worktree,
                    start.branch,
                    to_json(&start.metadata),
                    sandbox.map(|sandbox| sandbox.protection.name()),
                    sandbox.map(|sandbox| sandbox.record.level.name()),
                    sandbox.map(|sandbox| sandbox.record.network.name()),
                    sandbox.and_then(|sandbox| sandbox.record.landlock_abi),
                ],
            )?;
            load_run(tx, run)
        })
    }

    /// Records what a live run did last and has used so far.
    ///
    /// # Errors
    /// When the run has ended.
    pub fn record_progress(
        &mut self,
        context: &Context,
        run: &RunId,
        progress: &RunProgress,
    ) -> Result<(), StoreError> {
        self.write_of_run(context, run, |tx| {
            write_usage(tx, run, &progress.usage, context.now)?;
            tx.prepare_cached("UPDATE run SET last_event = ?2, last_event_at = ?3 WHERE id = ?1")?
                .execute(params![
                    run.as_str(),
                    progress.last_event,
                    context.now.as_millisecond()
                ])?;
            Ok(())
        })
    }

    /// Requests that a live run ends. Its supervisor reacts within a second. The log names the person who asked first.
    ///
    /// # Errors
    /// When there is no such run, or it has already ended.
    pub fn request_cancel(&mut self, context: &Context, run: &RunId) -> Result<Run, StoreError> {
        self.write(context, |tx| {
            let found = load_run(tx, run)?;
            if !found.status.is_live() {
                return Err(StoreError::refused(format!("run {run} has already ended ({})", found.status)));
            }
            tx.execute(
                "UPDATE run SET cancel_requested_at = coalesce(cancel_requested_at, ?2) WHERE id = ?1",
                params![run.as_str(), context.now.as_millisecond()],
            )?;
            if found.cancel_requested_at.is_none() && context.actor.is_human() {
                let about = About {
                    project: Some(&found.project),
                    issue: found.target.issue(),
                    run: Some(run),
                    ..About::default()
                };
                append(tx, context, about, &LogEvent::RunCancelRequested {})?;
            }
            // Postponed exit handling has no supervisor that could react, and may not be due for minutes.
            hurry(tx, run)?;
            load_run(tx, run)
        })
    }

    /// Returns whether a person requested the end of a run.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn cancel_requested(&self, run: &RunId) -> Result<bool, StoreError> {
        let at: Option<Option<i64>> = self
            .conn
            .prepare_cached("SELECT cancel_requested_at FROM run WHERE id = ?1")?
            .query_row([run.as_str()], |row| row.get(0))
            .optional()?;
        Ok(at.flatten().is_some())
    }

    /// Returns a run that was live at a moment.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn run_at_work(&self, at: Timestamp) -> Result<Option<RunId>, StoreError> {
        let found: Option<String> = self
            .conn
            .prepare_cached(AT_WORK_SQL)?
            .query_row([at.as_millisecond()], |row| row.get(0))
            .optional()?;
        parsed_opt("run", found)
    }

    /// Returns the status of a run.
    ///
    /// # Errors
    /// When there is no such run.
    pub fn run_status(&self, run: &RunId) -> Result<RunStatus, StoreError> {
        let status: Option<String> = self
            .conn
            .prepare_cached("SELECT status FROM run WHERE id = ?1")?
            .query_row([run.as_str()], |row| row.get(0))
            .optional()?;
        parsed(
            "run status",
            status.ok_or_else(|| StoreError::not_found("run", run))?,
        )
    }
}

/// The first run that was live at a moment: of those that are live, and of those that have ended since.
const AT_WORK_SQL: &str = "SELECT id FROM (
         SELECT id, started_at FROM run INDEXED BY run_live WHERE status IN ('starting', 'running') AND started_at <= ?1
         UNION ALL SELECT id, started_at FROM run INDEXED BY run_ended WHERE ended_at IS NOT NULL AND ended_at >= ?1 AND started_at <= ?1) AS at_work
     ORDER BY started_at LIMIT 1";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::query_plan::query_plan;

    fn filter(issue: Option<&str>, project: Option<&str>, plan: Option<&str>) -> RunFilter {
        RunFilter {
            issue: issue.map(|id| IssueId::parse(id).unwrap()),
            project: project.map(|id| ProjectId::parse(id).unwrap()),
            plan: plan.map(|id| PlanId::parse(id).unwrap()),
            ..RunFilter::default()
        }
    }

    #[test]
    fn every_list_goes_through_the_index_of_what_it_asks_for() {
        let store = Store::open_in_memory().unwrap();
        let live = |filter| RunFilter {
            live_only: true,
            ..filter
        };
        let (issue, project, plan) = (Some("P-1"), Some("p"), Some("plan"));
        let newest = "SCAN run USING INDEX sqlite_autoindex_run_2";
        for (filter, step) in [
            (filter(None, None, None), newest),
            (
                filter(issue, None, None),
                "SEARCH run USING INDEX run_issue (issue=?)",
            ),
            (
                filter(issue, project, None),
                "SEARCH run USING INDEX run_issue (issue=?)",
            ),
            (
                filter(None, project, None),
                "SEARCH run USING INDEX run_project (project=?)",
            ),
            (
                filter(None, None, plan),
                "SEARCH run USING INDEX run_plan (plan=?)",
            ),
            (
                filter(None, project, plan),
                "SEARCH run USING INDEX run_plan (plan=?)",
            ),
            (
                live(filter(None, None, None)),
                "SCAN run USING INDEX run_live",
            ),
            (
                live(filter(None, project, None)),
                "SCAN run USING INDEX run_live",
            ),
            (
                live(filter(None, None, plan)),
                "SCAN run USING INDEX run_live",
            ),
            (
                live(filter(issue, None, None)),
                "SEARCH run USING INDEX run_live_issue (issue=?)",
            ),
        ] {
            let (sql, _) = list_sql(&filter);
            let plan = query_plan(&store.conn, &sql);
            assert_eq!(plan.first().map(String::as_str), Some(step), "{filter:?}");
            // only the few live ones are sorted
            let sorts = filter.live_only && filter.issue.is_none();
            assert_eq!(plan.len() > 1, sorts, "{filter:?}: {plan:?}");
        }
    }
}
