//! The review of a plan's work: its pull request, which opens when every phase is complete, and how its end changes the
//! plan.
//!
//! The record is the same as for issues. Opening it and moving the plan are one transaction: a crash in between would
//! leave a second pull request, or one that its plan does not know.

use symphony_core::Timestamp;
use symphony_core::gates::{BaseComparison, FailurePrint, GatesOutcome, route_plan_gates_end};
use symphony_core::id::{PlanId, PrId, ProjectId};
use symphony_core::inbox::{PlanWaitsFor, WaitingPlan};
use symphony_core::log::LogEvent;
use symphony_core::plan::state::{PlanEvent, PlanStatus};
use symphony_core::pull_request::{PrState, PullRequest, PullRequestOf, VerifiedGates};
use symphony_core::standing::UNSEEN_PUBLICATION_MS;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::{parsed, time};
use crate::db::{Row, Transaction, params};
use crate::error::StoreError;
use crate::gates::delay::{GATE_TRIES_MIN, forget_delay};
use crate::gates::record::record_gates;
use crate::plan::record::{load_head, load_plan};
use crate::plan::refusal::PlanRefusal;
use crate::plan::review_end::{end_review_runs, forget_lost_base, move_plan};
use crate::review::pull_request_query::{load_open_pr_of, load_pr};
use crate::review::pull_request_write::{NewPullRequest, insert_pr, update_head};
use crate::review::state::{refuse_not_in_review, set_pr_state};

/// Opens the pull request of a plan whose phases are all complete, and moves the plan to review. One that is already
/// open is returned unchanged: the caller may have crashed after the transaction and be trying again.
pub(crate) fn open_plan_pr(
    tx: &Transaction<'_>,
    context: &Context,
    plan: &PlanId,
    new: &NewPullRequest,
) -> Result<PullRequest, StoreError> {
    if let Some(open) = load_open_pr_of(tx, &new.of)? {
        return Ok(open);
    }
    let before = load_plan(tx, plan)?;
    if !before.state.awaits_review(before.completion()) {
        let (plan, status) = (plan.clone(), before.state.status);
        return Err(PlanRefusal::NothingToReview { plan, status }.into());
    }
    let pr = insert_pr(tx, context, &before.project, new)?;
    forget_lost_base(tx, plan)?;
    tx.execute(
        "UPDATE plan SET base_head = ?2 WHERE id = ?1",
        [plan.as_str(), &new.head_commit],
    )?;
    move_plan(tx, context, &before, PlanEvent::ReviewOpened { pr })?;
    let opened = LogEvent::PullRequestOpened {
        pr,
        head: new.head_commit.clone(),
    };
    append(tx, context, About::of(&new.of), &opened)?;
    load_pr(tx, pr)
}

/// Refuses to undo the end of a pull request that a later one of the same plan has replaced.
fn refuse_not_newest(tx: &Transaction<'_>, plan: &PlanId, id: PrId) -> Result<(), StoreError> {
    let newest: i64 = tx.query_row(
        "SELECT max(id) FROM pull_request WHERE plan = ?1",
        [plan.as_str()],
        |row| row.get(0),
    )?;
    if newest == id.get() {
        return Ok(());
    }
    Err(PlanRefusal::Replaced {
        pr: id,
        plan: plan.clone(),
        newest: PrId::new(newest),
    }
    .into())
}

/// Records the result of the gates of a plan's pull request. Red gates leave it open for a person to decide.
pub(crate) fn settle_plan_gates(
    tx: &Transaction<'_>,
    context: &Context,
    pr: &PullRequest,
    gates: &VerifiedGates,
    print: Option<&FailurePrint>,
    base: BaseComparison,
) -> Result<(), StoreError> {
    let outcome = route_plan_gates_end(print, base);
    if outcome == GatesOutcome::Held {
        forget_delay(tx, pr.id)
    } else {
        record_gates(tx, context, pr, gates)
    }
}

/// Plans whose pull request was rejected or closed, and whose phases are all still complete.
const REJECTED_SQL: &str = "SELECT p.id, p.path, r.id AS pr, r.verdict ->> '$.comment' AS comment, r.updated_at AS since
    FROM plan p JOIN pull_request r ON r.id = (SELECT max(id) FROM pull_request WHERE plan = p.id)
    WHERE p.project = ?1 AND p.status = 'awaiting_user_decision' AND r.state IN ('rejected', 'closed')
      AND NOT EXISTS (SELECT 1 FROM plan_phase f WHERE f.plan = p.id AND f.status <> 'complete')
    ORDER BY p.started_at, p.id";
/// Open pull requests of plans whose gates repeatedly could not run, or that were not published.
const STUCK_SQL: &str =
    "SELECT p.id, p.path, r.id AS pr, r.gates_tries, r.gates_problem, r.updated_at AS since,
           n.state AS publication, n.output
    FROM plan p INDEXED BY plan_review
    JOIN pull_request r ON r.plan = p.id AND r.state IN ('open', 'approved')
    LEFT JOIN publication n ON n.id = (SELECT max(id) FROM publication WHERE pull_request = r.id)
         AND (n.state = 'failed' OR n.state = 'running' AND n.started_at <= ?3)
    WHERE p.project = ?1 AND p.status = 'review' AND (r.gates_tries >= ?2 OR n.id IS NOT NULL)
    ORDER BY p.started_at, p.id";

impl Store {
    /// Undoes the rejection of a plan's pull request because a person now approves it: pull request and plan are in
    /// review again. An open pull request, or one of an issue, is left unchanged.
    ///
    /// # Errors
    /// When the pull request does not exist, or its plan has continued.
    pub fn resume_rejected_review(
        &mut self,
        context: &Context,
        id: PrId,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            let pr = load_pr(tx, id)?;
            let PullRequestOf::Plan(plan) = &pr.of else {
                return Ok(());
            };
            if !matches!(pr.state, PrState::Rejected | PrState::Closed) {
                return Ok(());
            }
            let before = load_plan(tx, plan)?;
            refuse_not_newest(tx, plan, id)?;
            if before.state.status != PlanStatus::AwaitingUserDecision
                || !before.state.is_complete()
            {
                return Err(PlanRefusal::HasContinued {
                    plan: plan.clone(),
                    pr: id,
                    state: pr.state,
                }
                .into());
            }
            set_pr_state(tx, context, &pr.of, id, PrState::Open)?;
            move_plan(tx, context, &before, PlanEvent::ReviewResumed { pr: id })?;
            Ok(())
        })
    }

    /// Gives the open pull request of a plan a new head, because its branch has moved. Gates and verdict applied to the
    /// old one, and live runs on it are asked to end.
    ///
    /// # Errors
    /// When the plan has no open pull request, or it is being merged.
    pub fn renew_plan_pr(
        &mut self,
        context: &Context,
        plan: &PlanId,
        new: &NewPullRequest,
    ) -> Result<PullRequest, StoreError> {
        self.write(context, |tx| {
            let Some(open) = load_open_pr_of(tx, &new.of)? else {
                return Err(PlanRefusal::NoOpenPullRequest(plan.clone()).into());
            };
            if open.head_commit == new.head_commit {
                return Ok(open);
            }
            update_head(tx, context, open.id, new)?;
            forget_lost_base(tx, plan)?;
            tx.execute(
                "UPDATE plan SET base_head = ?2 WHERE id = ?1",
                [plan.as_str(), &new.head_commit],
            )?;
            // What these runs find is about the old head and counts no longer, and while they live, no gates or judge
            // of the new one start.
            end_review_runs(tx, context, plan)?;
            let opened = LogEvent::PullRequestOpened {
                pr: open.id,
                head: new.head_commit.clone(),
            };
            append(tx, context, About::of(&new.of), &opened)?;
            load_pr(tx, open.id)
        })
    }

    /// Checks that the issue or the plan of a pull request is in review.
    ///
    /// # Errors
    /// When it is not. The message names the way back.
    pub fn require_review(&self, pr: &PullRequest) -> Result<(), StoreError> {
        refuse_not_in_review(&self.conn, pr)
    }

    /// Returns the plans of a project whose review waits for a person, as far as the database alone shows.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn waiting_plans(
        &self,
        project: &ProjectId,
        now: Timestamp,
    ) -> Result<Vec<WaitingPlan>, StoreError> {
        let mut found = Vec::new();
        let mut statement = self.conn.prepare_cached(REJECTED_SQL)?;
        let mut rows = statement.query([project.as_str()])?;
        while let Some(row) = &rows.next()? {
            let comment: Option<String> = row.get("comment")?;
            let why = PlanWaitsFor::Decision {
                comment: comment.unwrap_or_default(),
            };
            found.push(waiting_plan(row, project, why)?);
        }
        let lost = now.as_millisecond().saturating_sub(UNSEEN_PUBLICATION_MS);
        let mut statement = self.conn.prepare_cached(STUCK_SQL)?;
        let mut rows = statement.query(params![project.as_str(), GATE_TRIES_MIN, lost])?;
        while let Some(row) = &rows.next()? {
            let tries: u32 = row.get("gates_tries")?;
            let why = if tries >= GATE_TRIES_MIN {
                PlanWaitsFor::GatesNotRun {
                    tries,
                    problem: row
                        .get::<_, Option<String>>("gates_problem")?
                        .unwrap_or_default(),
                }
            } else {
                PlanWaitsFor::Publication {
                    problem: row.get::<_, Option<String>>("output")?.unwrap_or_default(),
                }
            };
            found.push(waiting_plan(row, project, why)?);
        }
        Ok(found)
    }

    /// Returns the plans of a project whose phases are all complete and whose pull request is not open yet.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn plans_awaiting_review(&self, project: &ProjectId) -> Result<Vec<PlanId>, StoreError> {
        self.plan_ids(
            project,
            "SELECT id FROM plan p WHERE project = ?1 AND status = 'running' AND target_branch IS NOT NULL AND is_abort_requested = 0
               AND NOT EXISTS (SELECT 1 FROM plan_phase f WHERE f.plan = p.id AND f.status <> 'complete') ORDER BY started_at, id",
        )
    }

    /// Returns the plans of a project that are in review.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn plans_in_review(&self, project: &ProjectId) -> Result<Vec<PlanId>, StoreError> {
        self.plan_ids(
            project,
            "SELECT id FROM plan INDEXED BY plan_review WHERE project = ?1 AND status = 'review' ORDER BY started_at, id",
        )
    }

    /// Returns the recorded path of a plan's file.
    ///
    /// # Errors
    /// When there is no plan with this id.
    pub fn plan_path(&self, id: &PlanId) -> Result<String, StoreError> {
        Ok(load_head(&self.conn, id)?.path)
    }

    /// Returns the merged plans of a project whose branches and worktrees have not been removed yet.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn plans_to_clean_up(&self, project: &ProjectId) -> Result<Vec<PlanId>, StoreError> {
        self.plan_ids(
            project,
            "SELECT id FROM plan WHERE project = ?1 AND needs_clean_up = 1 ORDER BY id",
        )
    }

    /// Records that the branches and worktrees of a merged plan have been removed.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_plan_cleaned(
        &mut self,
        context: &Context,
        id: &PlanId,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE plan SET needs_clean_up = 0 WHERE id = ?1",
                [id.as_str()],
            )?;
            Ok(())
        })
    }
}

/// Parses a plan whose review waits for a person.
fn waiting_plan(
    row: &Row<'_>,
    project: &ProjectId,
    why: PlanWaitsFor,
) -> Result<WaitingPlan, StoreError> {
    Ok(WaitingPlan {
        plan: parsed("plan id", row.get("id")?)?,
        project: project.clone(),
        path: row.get("path")?,
        since: time(row.get("since")?)?,
        pr: PrId::new(row.get("pr")?),
        why,
    })
}
