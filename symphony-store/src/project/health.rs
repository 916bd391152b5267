//! Test health: what runs report about the tests, and the bloat found in it.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::{IssueId, ProjectId, RunId};
use symphony_core::log::LogEvent;
use symphony_core::test_health::{BloatFlag, TestBaseline, TestReport, bloat_flags, check_report};

use crate::database::context::{Actor, Context};
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::{count, int, json as from_json, parsed, parsed_opt, time, to_json};
use crate::db::{OptionalExtension, Transaction, params};
use crate::error::StoreError;
use crate::issue::note::check_run_limit;

/// How many reports one run may make. A run that makes more is looping.
const RUN_REPORTS_MAX: i64 = 100;

/// A report to be recorded.
#[derive(Debug, Clone)]
pub struct NewTestHealth {
    /// The project.
    pub project: ProjectId,
    /// The issue it was made for.
    pub issue: Option<IssueId>,
    /// The report.
    pub report: TestReport,
    /// How many lines the issue's branch adds and removes, if known.
    pub changed_lines: Option<u64>,
}

/// A recorded report. The names of the tests are analysed, not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestHealthRecord {
    /// The project.
    pub project: ProjectId,
    /// The issue it was made for.
    pub issue: Option<IssueId>,
    /// The run that made it.
    pub run: Option<RunId>,
    /// How many tests ran.
    pub test_count: u64,
    /// How long they took, in milliseconds.
    pub duration_ms: u64,
    /// The signs of bloat.
    pub flags: Vec<BloatFlag>,
    /// When it was created.
    pub created_at: Timestamp,
}

impl Store {
    /// Records a report, and looks for bloat in it. It is compared with the project's last report on other work from
    /// before this run, since what an earlier run on the same issue added belongs to the same change.
    ///
    /// # Errors
    /// When the report breaks a limit, or the run has made too many reports.
    pub fn record_test_health(
        &mut self,
        context: &Context,
        new: &NewTestHealth,
    ) -> Result<TestHealthRecord, StoreError> {
        check_report(&new.report)?;
        self.write(context, |tx| {
            check_run_limit(tx, context, "test_health", RUN_REPORTS_MAX)?;
            let baseline = TestBaseline {
                previous_count: previous_count(tx, context, new)?,
                changed_lines: new.changed_lines,
            };
            let flags = bloat_flags(&new.report, baseline);
            tx.execute(
                "INSERT INTO test_health (project, issue, run, test_count, duration_ms, flags, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    new.project.as_str(),
                    new.issue.as_ref().map(IssueId::as_str),
                    context.actor.run().map(RunId::as_str),
                    int(new.report.test_count),
                    int(new.report.duration_ms),
                    to_json(&flags),
                    context.now.as_millisecond(),
                ],
            )?;
            let about = About {
                project: Some(&new.project),
                issue: new.issue.as_ref(),
                plan: None,
                run: None,
            };
            let recorded = LogEvent::TestHealthRecorded {
                test_count: new.report.test_count,
                flags: flags.len() as u64,
            };
            append(tx, context, about, &recorded)?;
            Ok(TestHealthRecord {
                project: new.project.clone(),
                issue: new.issue.clone(),
                run: context.actor.run().cloned(),
                test_count: new.report.test_count,
                duration_ms: new.report.duration_ms,
                flags,
                created_at: context.now,
            })
        })
    }

    /// Returns a project's last reports, newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn test_health(
        &self,
        project: &ProjectId,
        limit: u32,
    ) -> Result<Vec<TestHealthRecord>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT * FROM test_health WHERE project = ?1 ORDER BY id DESC LIMIT ?2",
        )?;
        let mut rows = statement.query(params![project.as_str(), limit])?;
        let mut records = Vec::new();
        while let Some(row) = &rows.next()? {
            records.push(TestHealthRecord {
                project: parsed("project id", row.get("project")?)?,
                issue: parsed_opt("issue id", row.get("issue")?)?,
                run: parsed_opt("run", row.get("run")?)?,
                test_count: count(row, "test_count")?,
                duration_ms: count(row, "duration_ms")?,
                flags: from_json("bloat flags", &row.get::<_, String>("flags")?)?,
                created_at: time(row.get("created_at")?)?,
            });
        }
        Ok(records)
    }
}

fn previous_count(
    tx: &Transaction<'_>,
    context: &Context,
    new: &NewTestHealth,
) -> Result<Option<u64>, StoreError> {
    let before = match &context.actor {
        Actor::Run(key) => tx.query_row(
            "SELECT started_at FROM run WHERE id = ?1",
            [key.run.as_str()],
            |row| row.get(0),
        )?,
        Actor::Human(_) | Actor::System | Actor::Supervisor(_) | Actor::Tracker(_) => {
            context.now.as_millisecond()
        }
    };
    let found: Option<i64> = tx
        .query_row(
            "SELECT test_count FROM test_health
             WHERE project = ?1 AND created_at <= ?2 AND (CAST(?3 AS TEXT) IS NULL OR issue IS DISTINCT FROM ?3) ORDER BY id DESC LIMIT 1",
            params![
                new.project.as_str(),
                before,
                new.issue.as_ref().map(IssueId::as_str)
            ],
            |row| row.get(0),
        )
        .optional()?;
    Ok(found.map(|count| u64::try_from(count).unwrap_or(0)))
}
