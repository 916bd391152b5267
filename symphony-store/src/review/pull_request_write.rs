//! Writes the rows of pull requests.

use symphony_core::criteria::ChecklistEntry;
use symphony_core::id::{IssueId, PlanId, PrId, ProjectId, RunId};
use symphony_core::pull_request::{FileStat, PullRequestOf, ReportedGate, VerifiedGates};

use crate::database::context::Context;
use crate::database::row::to_json;
use crate::db::{Transaction, params};
use crate::error::StoreError;
use crate::merge::under_way::refuse_under_merge;

/// A pull request to be opened, or whose head is to be replaced.
#[derive(Debug, Clone)]
pub struct NewPullRequest {
    /// The issue or plan that it finishes.
    pub of: PullRequestOf,
    /// Title.
    pub title: String,
    /// Body.
    pub body: String,
    /// The branch with the change.
    pub branch: String,
    /// The branch that it will be merged into.
    pub base: String,
    /// Merge base.
    pub base_commit: String,
    /// The commit to be judged and merged.
    pub head_commit: String,
    /// The diff, cut to its limit.
    pub diff: String,
    /// Its files.
    pub files: Vec<FileStat>,
    /// Gates as the agent reports them.
    pub reported_gates: Vec<ReportedGate>,
    /// The answers to the acceptance criteria.
    pub checklist: Vec<ChecklistEntry>,
}

pub(crate) fn insert_pr(
    tx: &Transaction<'_>,
    context: &Context,
    project: &ProjectId,
    new: &NewPullRequest,
) -> Result<PrId, StoreError> {
    let id = tx.query_row(
        "INSERT INTO pull_request (project, issue, plan, run, title, body, branch, base, base_commit, head_commit, diff, files, reported_gates, checklist, state, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 'open', ?15, ?15) RETURNING id",
        params![
            project.as_str(),
            new.of.issue().map(IssueId::as_str),
            new.of.plan().map(PlanId::as_str),
            context.actor.run().map(RunId::as_str),
            new.title,
            new.body,
            new.branch,
            new.base,
            new.base_commit,
            new.head_commit,
            new.diff,
            to_json(&new.files),
            to_json(&new.reported_gates),
            to_json(&new.checklist),
            context.now.as_millisecond(),
        ],
        |row| row.get(0),
    )?;
    Ok(PrId::new(id))
}

/// Replaces the head of a pull request, with its gates and verdict, which applied to the old one.
pub(crate) fn update_head(
    tx: &Transaction<'_>,
    context: &Context,
    id: PrId,
    new: &NewPullRequest,
) -> Result<(), StoreError> {
    refuse_under_merge(tx, &new.of)?;
    tx.execute(
        "UPDATE pull_request SET run = ?2, title = ?3, body = ?4, base_commit = ?5, head_commit = ?6, diff = ?7, files = ?8,
         reported_gates = ?9, verified_gates = NULL, gates_due_at = 0, gates_tries = 0, gates_problem = NULL, gates_fresh = 0,
         base_seen = NULL, verdict = NULL, state = 'open', updated_at = ?10, checklist = ?11 WHERE id = ?1",
        params![
            id.get(),
            context.actor.run().map(RunId::as_str),
            new.title,
            new.body,
            new.base_commit,
            new.head_commit,
            new.diff,
            to_json(&new.files),
            to_json(&new.reported_gates),
            context.now.as_millisecond(),
            to_json(&new.checklist),
        ],
    )?;
    Ok(())
}

/// Writes the results of the gates that Symphony ran.
pub(crate) fn write_gates(
    tx: &Transaction<'_>,
    pr: PrId,
    gates: &VerifiedGates,
) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE pull_request SET verified_gates = ?2 WHERE id = ?1",
        params![pr.get(), to_json(gates)],
    )?;
    Ok(())
}
