//! Plans: creating, finding and listing them.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::{PlanId, PlanPhaseId, ProjectId};
use symphony_core::log::LogEvent;
use symphony_core::plan::failure::FailureClass;
use symphony_core::plan::state::{PhaseProgress, PhaseState, PlanState, PlanStatus};
use symphony_core::plan::{Plan, PlanOptions};

use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::{count, json as from_json, parsed, parsed_opt, time, to_json};
use crate::db::{OptionalExtension, Row, Transaction, params};
use crate::error::StoreError;
use crate::plan::change::{settle_in, write_changes};
use crate::plan::log::append_plan;
use crate::plan::record::{PlanRecord, PlanTarget, dag_of, load_head, load_plan, plan_under_way};
use crate::plan::refusal::PlanRefusal;

/// A plan to be created.
#[derive(Debug, Clone)]
pub struct NewPlan {
    /// Its id, which no plan has ever had.
    pub id: PlanId,
    /// Its project.
    pub project: ProjectId,
    /// Its file, relative to the project if it is inside.
    pub path: String,
    /// The plan.
    pub document: Plan,
    /// How it is carried out.
    pub options: PlanOptions,
    /// Where its work starts and where it goes; `None` without worktrees.
    pub target: Option<PlanTarget>,
}

/// A plan in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanOverview {
    /// Its id.
    pub id: PlanId,
    /// Its project.
    pub project: ProjectId,
    /// Its file.
    pub path: String,
    /// Its status.
    pub status: PlanStatus,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// How many phases it has.
    pub total: u64,
    /// How many are complete, including skipped ones.
    pub complete: u64,
    /// How many failed for good.
    pub failed: u64,
    /// How many are running.
    pub running: u64,
    /// How many wait for a person.
    pub awaiting_decision: u64,
}

/// A phase that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanDecision {
    /// Its plan.
    pub plan: PlanId,
    /// The plan's project.
    pub project: ProjectId,
    /// The plan's file.
    pub path: String,
    /// The phase.
    pub phase: PlanPhaseId,
    /// What went wrong.
    pub error: String,
    /// What kind of failure it was.
    pub class: Option<FailureClass>,
    /// Retries so far.
    pub retry_count: u32,
    /// Since when it has been waiting.
    pub asked_at: Timestamp,
}

pub(crate) fn insert(
    tx: &Transaction<'_>,
    context: &Context,
    new: &NewPlan,
) -> Result<(), StoreError> {
    if let Some(other) = plan_under_way(tx, &new.project, &new.path)? {
        return Err(PlanRefusal::UnderWay {
            path: new.path.clone(),
            other,
            waiting: None,
        }
        .into());
    }
    let target = new.target.as_ref();
    tx.execute(
        "INSERT INTO plan (id, project, path, document, options, target_branch, base_commit, status, started_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'running', ?8)",
        params![
            new.id.as_str(),
            new.project.as_str(),
            new.path,
            to_json(&new.document),
            to_json(&new.options),
            target.map(|target| &target.branch),
            target.map(|target| &target.base_commit),
            context.now.as_millisecond(),
        ],
    )?;
    let dag = dag_of(&new.document)?;
    append_plan(
        tx,
        context,
        &new.id,
        &LogEvent::PlanCreated {
            path: new.path.clone(),
            phases: dag.ids().to_vec(),
        },
    )?;
    let before = load_head(tx, &new.id)?;
    let mut record = before.clone();
    record.state = PlanState::new(dag.ids(), before.state.started_at);
    settle_in(tx, context, &mut record, &dag)?;
    write_changes(tx, context, &before, &record)
}

impl Store {
    /// Creates a plan. Phases without dependencies are ready.
    ///
    /// # Errors
    /// When the id is taken, or the file has a plan that has not ended.
    pub fn create_plan(
        &mut self,
        context: &Context,
        new: &NewPlan,
    ) -> Result<PlanRecord, StoreError> {
        self.write(context, |tx| {
            insert(tx, context, new)?;
            load_plan(tx, &new.id)
        })
    }

    /// Returns whether a plan ever had this id.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_plan(&self, id: &PlanId) -> Result<bool, StoreError> {
        Ok(self.conn.query_row(
            "SELECT EXISTS (SELECT 1 FROM plan WHERE id = ?1)",
            [id.as_str()],
            |row| row.get(0),
        )?)
    }

    /// Returns a plan.
    ///
    /// # Errors
    /// When there is no plan with this id.
    pub fn plan(&mut self, id: &PlanId) -> Result<PlanRecord, StoreError> {
        self.read(|tx| load_plan(tx, id))
    }

    /// Returns the number of a plan's last change.
    ///
    /// # Errors
    /// When there is no plan with this id.
    pub fn plan_revision(&self, id: &PlanId) -> Result<u64, StoreError> {
        let revision: Option<i64> = self
            .conn
            .prepare_cached("SELECT revision FROM plan WHERE id = ?1")?
            .query_row([id.as_str()], |row| row.get(0))
            .optional()?;
        let revision = revision.ok_or_else(|| StoreError::not_found("plan", id))?;
        Ok(u64::try_from(revision).unwrap_or(0))
    }

    /// Returns the newest plan of a file.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn last_plan_of(
        &self,
        project: &ProjectId,
        path: &str,
    ) -> Result<Option<PlanId>, StoreError> {
        let id: Option<String> = self
            .conn
            .prepare_cached(
                "SELECT id FROM plan WHERE project = ?1 AND path = ?2 ORDER BY started_at DESC, id DESC LIMIT 1",
            )?
            .query_row([project.as_str(), path], |row| row.get(0))
            .optional()?;
        parsed_opt("plan id", id)
    }

    /// Lists the plans of a project, or of all projects, newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn plans(&self, project: Option<&ProjectId>) -> Result<Vec<PlanOverview>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT p.id, p.project, p.path, p.status, p.started_at, p.completed_at, count(f.phase) AS total,
                    coalesce(sum(f.status = 'complete'), 0) AS complete, coalesce(sum(f.status = 'failed'), 0) AS failed,
                    coalesce(sum(f.status = 'running'), 0) AS running, coalesce(sum(f.status = 'awaiting_decision'), 0) AS awaiting
             FROM plan p LEFT JOIN plan_phase f ON f.plan = p.id WHERE CAST(?1 AS TEXT) IS NULL OR p.project = ?1
             GROUP BY p.id ORDER BY p.started_at DESC, p.id DESC",
        )?;
        let mut rows = statement.query([project.map(ProjectId::as_str)])?;
        let mut plans = Vec::new();
        while let Some(row) = &rows.next()? {
            plans.push(overview_from(row)?);
        }
        Ok(plans)
    }

    /// Returns the ids of the plans of a project that have not ended, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn open_plans(&self, project: &ProjectId) -> Result<Vec<PlanId>, StoreError> {
        self.plan_ids(
            project,
            "SELECT id FROM plan WHERE project = ?1 AND status IN ('running', 'paused', 'awaiting_user_decision', 'review') ORDER BY started_at, id",
        )
    }

    /// Returns the plans of a project that completed in worktrees of their own and whose work is not on the user's
    /// branch, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn unmerged_plans(&self, project: &ProjectId) -> Result<Vec<PlanId>, StoreError> {
        self.plan_ids(
            project,
            "SELECT id FROM plan WHERE project = ?1 AND status = 'completed' AND target_branch IS NOT NULL AND merged_commit IS NULL
             ORDER BY started_at, id",
        )
    }

    pub(crate) fn plan_ids(
        &self,
        project: &ProjectId,
        select: &str,
    ) -> Result<Vec<PlanId>, StoreError> {
        let mut statement = self.conn.prepare_cached(select)?;
        let ids: Vec<String> = statement
            .query_map([project.as_str()], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        ids.into_iter().map(|id| parsed("plan id", id)).collect()
    }

    /// Returns the phases that wait for a person, the one that has waited longest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn plan_decisions(
        &self,
        project: Option<&ProjectId>,
    ) -> Result<Vec<PlanDecision>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT f.plan, f.phase, f.progress, p.project, p.path FROM plan_phase f JOIN plan p ON p.id = f.plan
             WHERE f.status = 'awaiting_decision' AND (CAST(?1 AS TEXT) IS NULL OR p.project = ?1)",
        )?;
        let mut rows = statement.query([project.map(ProjectId::as_str)])?;
        let mut decisions = Vec::new();
        while let Some(row) = &rows.next()? {
            decisions.extend(decision_from(row)?);
        }
        decisions
            .sort_by(|a, b| (a.asked_at, &a.plan, &a.phase).cmp(&(b.asked_at, &b.plan, &b.phase)));
        Ok(decisions)
    }
}

pub(crate) fn overview_from(row: &Row<'_>) -> Result<PlanOverview, StoreError> {
    let completed_at: Option<i64> = row.get("completed_at")?;
    Ok(PlanOverview {
        id: parsed("plan id", row.get("id")?)?,
        project: parsed("project id", row.get("project")?)?,
        path: row.get("path")?,
        status: parsed("plan status", row.get("status")?)?,
        started_at: time(row.get("started_at")?)?,
        completed_at: completed_at.map(time).transpose()?,
        total: count(row, "total")?,
        complete: count(row, "complete")?,
        failed: count(row, "failed")?,
        running: count(row, "running")?,
        awaiting_decision: count(row, "awaiting")?,
    })
}

pub(crate) fn decision_from(row: &Row<'_>) -> Result<Option<PlanDecision>, StoreError> {
    let progress: PhaseProgress = from_json("plan phase", &row.get::<_, String>("progress")?)?;
    let PhaseState::AwaitingDecision { asked_at } = progress.state else {
        return Ok(None);
    };
    let failure = progress.failure;
    Ok(Some(PlanDecision {
        plan: parsed("plan id", row.get("plan")?)?,
        project: parsed("project id", row.get("project")?)?,
        path: row.get("path")?,
        phase: parsed("plan phase id", row.get("phase")?)?,
        class: failure.as_ref().map(|failure| failure.class),
        error: failure.map_or_else(String::new, |failure| failure.error),
        retry_count: progress.retry_count,
        asked_at,
    }))
}
