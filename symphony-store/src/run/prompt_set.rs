//! Prompt trials in real work: which set an issue was assigned, and the runs that used it.

use symphony_core::id::{IssueId, ProjectId, RunId};
use symphony_core::issue::Issue;
use symphony_core::prompt_trial::{Assignment, LiveTrial, TrialName};
use symphony_core::run::Run;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::parsed;
use crate::db::{Connection, OptionalExtension, params};
use crate::error::StoreError;
use crate::issue::query::load_issue;
use crate::run::row::{assignment, from_row, load_run, parsed_name};

/// How deep issues are followed up or down: a chain of parents has only a few.
const DEPTH_MAX: u32 = 100;

/// A trial that runs of a project were part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownTrial {
    /// Its name.
    pub name: TrialName,
    /// The issues that were assigned set A; a sub-task counts as its topmost issue.
    pub issues_a: u32,
    /// The issues that were assigned set B.
    pub issues_b: u32,
}

impl Store {
    /// Assigns a run the set of its issue, and records it. The first record for the issue, or for its topmost issue,
    /// counts, whatever the share is now.
    ///
    /// # Errors
    /// When the run is over, or works on no issue.
    pub fn assign_prompt_set(
        &mut self,
        context: &Context,
        run: &RunId,
        trial: &LiveTrial,
    ) -> Result<Assignment, StoreError> {
        self.write(context, |tx| {
            let target = load_run(tx, run)?.target;
            let issue = target.issue().ok_or_else(|| {
                StoreError::refused(format!(
                    "run {run} works on no issue: it has no set of prompts"
                ))
            })?;
            let found = prompt_set_of(tx, issue, trial)?;
            tx.execute(
                "UPDATE run SET trial = ?2, prompt_set = ?3, trial_issue = ?4 WHERE id = ?1",
                params![
                    run.as_str(),
                    found.trial.as_str(),
                    found.set.name(),
                    found.issue.as_str()
                ],
            )?;
            Ok(found)
        })
    }

    /// Returns the set that the next run of an issue would be built with.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn prompt_set_of(
        &self,
        issue: &IssueId,
        trial: &LiveTrial,
    ) -> Result<Assignment, StoreError> {
        prompt_set_of(&self.conn, issue, trial)
    }

    /// Returns the trials that runs of a project were part of, newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn known_trials(&self, project: &ProjectId) -> Result<Vec<KnownTrial>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT trial, count(DISTINCT CASE prompt_set WHEN 'A' THEN trial_issue END),
                    count(DISTINCT CASE prompt_set WHEN 'B' THEN trial_issue END)
             FROM run WHERE trial IS NOT NULL AND project = ?1 GROUP BY trial ORDER BY max(fence) DESC",
        )?;
        let mut rows = statement.query([project.as_str()])?;
        let mut trials = Vec::new();
        while let Some(row) = &rows.next()? {
            trials.push(KnownTrial {
                name: parsed_name(row.get(0)?)?,
                issues_a: row.get(1)?,
                issues_b: row.get(2)?,
            });
        }
        Ok(trials)
    }

    /// Returns the runs of a project that were part of a trial, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn trial_runs(
        &self,
        project: &ProjectId,
        trial: &TrialName,
    ) -> Result<Vec<Run>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT * FROM run WHERE trial = ?1 AND project = ?2 ORDER BY trial_issue, fence",
        )?;
        let mut rows = statement.query([trial.as_str(), project.as_str()])?;
        let mut runs = Vec::new();
        while let Some(row) = &rows.next()? {
            runs.push(from_row(row)?);
        }
        Ok(runs)
    }

    /// Returns an issue, if it still exists, and all issues below it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn issue_tree(&self, top: &IssueId) -> Result<Vec<Issue>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "WITH RECURSIVE below (id, depth) AS (
                 SELECT id, 0 FROM issue WHERE id = ?1
                 UNION SELECT i.id, b.depth + 1 FROM issue i JOIN below b ON i.parent = b.id WHERE b.depth < ?2)
             SELECT DISTINCT id FROM below ORDER BY id",
        )?;
        let ids: Vec<String> = statement
            .query_map(params![top.as_str(), DEPTH_MAX], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        ids.into_iter()
            .map(|id| load_issue(&self.conn, &parsed("issue id", id)?))
            .collect()
    }
}

fn prompt_set_of(
    conn: &Connection,
    issue: &IssueId,
    trial: &LiveTrial,
) -> Result<Assignment, StoreError> {
    let name = trial.name.as_str();
    // A sub-task whose topmost issue was deleted meanwhile keeps the set that it was assigned itself.
    if let Some(own) = recorded(conn, "issue", issue, name)? {
        return Ok(own);
    }
    let top = topmost(conn, issue)?;
    if let Some(of_top) = recorded(conn, "trial_issue", &top, name)? {
        return Ok(of_top);
    }
    Ok(trial.assign(&top))
}

/// Returns the assignment that the first run recorded.
fn recorded(
    conn: &Connection,
    column: &str,
    issue: &IssueId,
    trial: &str,
) -> Result<Option<Assignment>, StoreError> {
    let sql = format!(
        "SELECT trial, prompt_set, trial_issue FROM run WHERE {column} = ?1 AND trial = ?2 ORDER BY fence LIMIT 1"
    );
    let found: Option<(String, String, String)> = conn
        .prepare_cached(&sql)?
        .query_row([issue.as_str(), trial], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    found.map(assignment).transpose()
}

/// Returns the topmost issue above an issue, or the issue itself if it has no parent.
fn topmost(conn: &Connection, issue: &IssueId) -> Result<IssueId, StoreError> {
    let top: String = conn
        .prepare_cached(
            "WITH RECURSIVE above (id, depth) AS (
                 SELECT id, 0 FROM issue WHERE id = ?1
                 UNION ALL SELECT i.parent, a.depth + 1 FROM above a JOIN issue i ON i.id = a.id
                 WHERE i.parent IS NOT NULL AND a.depth < ?2)
             SELECT id FROM above ORDER BY depth DESC LIMIT 1",
        )?
        .query_row(params![issue.as_str(), DEPTH_MAX], |row| row.get(0))?;
    parsed("issue id", top)
}
