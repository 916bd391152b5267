//! What runs leave outside of commits: work in their worktree, and changed configuration.

use symphony_core::Timestamp;
use symphony_core::config_change::AtWork;
use symphony_core::id::{IssueId, PlanId, PlanPhaseId, ProjectId, RunId};
use symphony_core::left_behind::{LeftBehind, LeftKind, shared_changes};
use symphony_core::outside::BaseNotice;
use symphony_core::pull_request::PullRequestOf;
use symphony_core::run::Run;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::{json as from_json, parsed, parsed_opt, time};
use crate::db::{Connection, Transaction, params};
use crate::error::StoreError;
use crate::merge::notice::insert_notice;

/// The key of the configuration that `project rename-prefix` writes.
const PREFIX_KEY: &str = "prefix";
/// How many runs of a project are read, more than a person would.
const RUNS_MAX: i64 = 1_000;

/// The last run of an agent on an issue or a phase of a plan, if it left something, while its worktree exists or will
/// be used again.
const LEFT_SQL: &str = "SELECT r.id, r.issue, i.title, r.plan, r.plan_phase, r.ended_at AS since,
        json_extract(r.metadata, '$.left_behind') AS paths
     FROM run r INDEXED BY run_left_behind
     LEFT JOIN issue i ON i.id = r.issue
     LEFT JOIN plan p ON p.id = r.plan
     WHERE r.project = ?1 AND json_extract(r.metadata, '$.left_behind') IS NOT NULL AND r.ended_at IS NOT NULL
       AND (i.id IS NOT NULL AND (i.status NOT IN ('done', 'cancelled') OR i.has_worktree = 1)
            OR p.id IS NOT NULL AND p.status NOT IN ('completed', 'aborted'))
       AND NOT EXISTS (SELECT 1 FROM run l WHERE l.issue = r.issue AND l.fence > r.fence AND l.ended_at IS NOT NULL
                       AND l.pull_request IS NULL AND l.claim IS NULL)
       AND NOT EXISTS (SELECT 1 FROM run l WHERE l.plan = r.plan AND l.plan_phase = r.plan_phase AND l.fence > r.fence
                       AND l.ended_at IS NOT NULL)
     ORDER BY r.fence LIMIT ?2";

/// A run that left something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftBehindRun {
    /// The run.
    pub run: RunId,
    /// The issue that it worked on, with its title.
    pub issue: Option<(IssueId, String)>,
    /// The plan that it worked on or reviewed.
    pub plan: Option<PlanId>,
    /// The phase of a plan that it worked on.
    pub phase: Option<(PlanId, PlanPhaseId)>,
    /// When it ended.
    pub since: Timestamp,
    /// What it left.
    pub left: Vec<LeftBehind>,
}

impl Store {
    /// Returns the runs of a project that left uncommitted work, oldest first, without those that a later run on the
    /// same issue or phase superseded and those whose issue or plan has ended.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn left_behind_runs(&self, project: &ProjectId) -> Result<Vec<LeftBehindRun>, StoreError> {
        load_left_behind(&self.conn, project)
    }
}

/// As [`Store::left_behind_runs`], inside a transaction.
pub(crate) fn load_left_behind(
    conn: &Connection,
    project: &ProjectId,
) -> Result<Vec<LeftBehindRun>, StoreError> {
    let mut statement = conn.prepare_cached(LEFT_SQL)?;
    let mut rows = statement.query(params![project.as_str(), RUNS_MAX])?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        let issue: Option<IssueId> = parsed_opt("issue id", row.get("issue")?)?;
        let title: Option<String> = row.get("title")?;
        let plan: Option<PlanId> = parsed_opt("plan id", row.get("plan")?)?;
        let phase: Option<PlanPhaseId> = parsed_opt("plan phase id", row.get("plan_phase")?)?;
        let paths: String = row.get("paths")?;
        found.push(LeftBehindRun {
            run: parsed("run id", row.get("id")?)?,
            issue: issue.map(|issue| (issue, title.unwrap_or_default())),
            phase: plan.clone().zip(phase),
            plan,
            since: time(row.get("since")?)?,
            left: from_json("what a run left behind", &paths)?,
        });
    }
    Ok(found)
}

/// Removes the prefix from the changes: `project rename-prefix` itself writes it into the configuration during a run.
pub(crate) fn without_own_changes(
    tx: &Transaction<'_>,
    run: &Run,
    mut left: Vec<LeftBehind>,
) -> Result<Vec<LeftBehind>, StoreError> {
    let is_prefix =
        |left: &LeftBehind| left.kind == LeftKind::Configuration && left.path == PREFIX_KEY;
    if left.iter().any(is_prefix) {
        let is_renamed: bool = tx
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM event WHERE project = ?1 AND kind = 'prefix_renamed' AND at >= ?2)",
            )?
            .query_row(
                params![run.project.as_str(), run.started_at.as_millisecond()],
                |row| row.get(0),
            )?;
        left.retain(|left| !(is_renamed && is_prefix(left)));
    }
    Ok(left)
}

/// Adds a notice for each change that a run made, or that happened during it, to what it shares with people. It stays
/// until a person dismisses it.
pub(crate) fn note_changes(
    tx: &Transaction<'_>,
    context: &Context,
    run: &Run,
    left: &[LeftBehind],
) -> Result<(), StoreError> {
    let issue = run.target.issue().cloned().map(PullRequestOf::from);
    let of = issue.or_else(|| run.target.plan().cloned().map(PullRequestOf::from));
    let (at_work, changes) = (AtWork::of(&run.agent), shared_changes(left));
    for notice in BaseNotice::of_changes(&run.project, of.as_ref(), &run.id, at_work, &changes) {
        insert_notice(tx, context, &notice)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::query_plan::query_plan;

    #[test]
    fn runs_that_left_something_are_found_without_reading_the_others() {
        let store = Store::open_in_memory().unwrap();
        let plan = query_plan(&store.conn, LEFT_SQL);
        assert!(plan[0].contains("run_left_behind"), "{plan:#?}");
        assert!(
            plan.iter().all(|line| !line.starts_with("SCAN")),
            "{plan:#?}"
        );
    }
}
