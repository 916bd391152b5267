//! Plans, read from their rows (spec: plan, "One engine").

use std::collections::BTreeMap;

use symphony_core::id::{PlanId, PlanPhaseId, ProjectId};
use symphony_core::plan::state::{Completion, PhaseProgress, PlanState};
use symphony_core::plan::{Artifact, Dag, Plan, PlanOptions};

use crate::database::row::{count, json as from_json, parsed, parsed_opt, time};
use crate::db::{Connection, OptionalExtension, Row, Transaction};
use crate::error::StoreError;

/// Where the work of a plan starts and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanTarget {
    /// The user's branch, which moves when the plan has completed.
    pub branch: String,
    /// The commit from which the plan's own base starts.
    pub base_commit: String,
}

/// A plan with its state.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanRecord {
    /// Its id.
    pub id: PlanId,
    /// Its project.
    pub project: ProjectId,
    /// Its file.
    pub path: String,
    /// The plan.
    pub document: Plan,
    /// How it is carried out.
    pub options: PlanOptions,
    /// Where its work starts and where it goes; `None` without worktrees.
    pub target: Option<PlanTarget>,
    /// The commit that the user's branch moved to when the plan had completed.
    pub merged_commit: Option<String>,
    /// Increases with each change.
    pub revision: u64,
    /// The state of the plan and its phases.
    pub state: PlanState,
}

impl PlanRecord {
    /// Returns what follows when the last phase is complete.
    pub const fn completion(&self) -> Completion {
        if self.target.is_some() {
            Completion::OpensPullRequest
        } else {
            Completion::Ends
        }
    }

    /// Returns the graph of its phases.
    ///
    /// # Errors
    /// When the recorded document is not a valid plan.
    pub fn dag(&self) -> Result<Dag, StoreError> {
        dag_of(&self.document)
    }
}

pub(crate) fn dag_of(document: &Plan) -> Result<Dag, StoreError> {
    Dag::new(&document.phases).map_err(|error| StoreError::InvalidRow {
        what: "plan",
        found: error.to_string(),
    })
}

/// Reads a plan without its phases.
pub(crate) fn load_head(conn: &Connection, id: &PlanId) -> Result<PlanRecord, StoreError> {
    conn.prepare_cached("SELECT * FROM plan WHERE id = ?1")?
        .query_row([id.as_str()], |row| Ok(head_from(row)))
        .optional()?
        .ok_or_else(|| StoreError::not_found("plan", id))?
}

fn head_from(row: &Row<'_>) -> Result<PlanRecord, StoreError> {
    let branch: Option<String> = row.get("target_branch")?;
    let base: Option<String> = row.get("base_commit")?;
    let completed_at: Option<i64> = row.get("completed_at")?;
    Ok(PlanRecord {
        id: parsed("plan id", row.get("id")?)?,
        project: parsed("project id", row.get("project")?)?,
        path: row.get("path")?,
        document: from_json("plan", &row.get::<_, String>("document")?)?,
        options: from_json("plan options", &row.get::<_, String>("options")?)?,
        target: branch.zip(base).map(|(branch, base_commit)| PlanTarget {
            branch,
            base_commit,
        }),
        merged_commit: row.get("merged_commit")?,
        revision: count(row, "revision")?,
        state: PlanState {
            status: parsed("plan status", row.get("status")?)?,
            is_abort_requested: row.get("is_abort_requested")?,
            started_at: time(row.get("started_at")?)?,
            completed_at: completed_at.map(time).transpose()?,
            phases: BTreeMap::new(),
        },
    })
}

/// Reads a whole plan.
pub(crate) fn load_plan(conn: &Connection, id: &PlanId) -> Result<PlanRecord, StoreError> {
    let mut record = load_head(conn, id)?;
    let mut statement =
        conn.prepare_cached("SELECT phase, progress FROM plan_phase WHERE plan = ?1")?;
    let mut rows = statement.query([id.as_str()])?;
    while let Some(row) = &rows.next()? {
        let phase = parsed("plan phase id", row.get(0)?)?;
        let progress = from_json("plan phase", &row.get::<_, String>(1)?)?;
        record.state.phases.insert(phase, progress);
    }
    let mut statement = conn.prepare_cached(
        "SELECT phase, type, path, name, content, metadata FROM plan_artifact WHERE plan = ?1 ORDER BY phase, number",
    )?;
    let mut rows = statement.query([id.as_str()])?;
    while let Some(row) = &rows.next()? {
        let phase: PlanPhaseId = parsed("plan phase id", row.get("phase")?)?;
        if let Some(progress) = record.state.phases.get_mut(&phase) {
            progress.artifacts.push(artifact_from(row)?);
        }
    }
    Ok(record)
}

/// Reads one phase of a plan, without its artifacts.
pub(crate) fn load_phase(
    conn: &Connection,
    plan: &PlanId,
    phase: &PlanPhaseId,
) -> Result<PhaseProgress, StoreError> {
    let text: Option<String> = conn
        .prepare_cached("SELECT progress FROM plan_phase WHERE plan = ?1 AND phase = ?2")?
        .query_row([plan.as_str(), phase.as_str()], |row| row.get(0))
        .optional()?;
    let text = text.ok_or_else(|| StoreError::not_found("phase of the plan", phase))?;
    from_json("plan phase", &text)
}

fn artifact_from(row: &Row<'_>) -> Result<Artifact, StoreError> {
    let metadata: Option<String> = row.get("metadata")?;
    Ok(Artifact {
        kind: parsed("artifact type", row.get("type")?)?,
        path: row.get("path")?,
        name: row.get("name")?,
        content: row.get("content")?,
        metadata: metadata
            .map(|text| from_json("artifact metadata", &text))
            .transpose()?,
    })
}

/// Returns the plan of a file that has not ended. There is at most one.
pub(crate) fn plan_under_way(
    tx: &Transaction<'_>,
    project: &ProjectId,
    path: &str,
) -> Result<Option<PlanId>, StoreError> {
    let id = tx
        .prepare_cached(
            "SELECT id FROM plan WHERE project = ?1 AND path = ?2 AND status IN ('running', 'paused', 'awaiting_user_decision', 'review')",
        )?
        .query_row([project.as_str(), path], |row| row.get(0))
        .optional()?;
    parsed_opt("plan id", id)
}
