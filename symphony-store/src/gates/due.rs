//! Gates of pull requests: when they are due, what they found, and which need not run again.

use std::collections::BTreeSet;

use symphony_core::Timestamp;
use symphony_core::consequence::consequences_of_run_end;
use symphony_core::gates::{
    GatesEnd, GatesOutcome, PastFailure, RepeatedFailure, died_text, route_gates_end,
};
use symphony_core::id::{IssueId, PrId, ProjectId, RunId};
use symphony_core::issue::{BlockedBy, IssueEvent};
use symphony_core::log::LogEvent;
use symphony_core::outcome::{FailureLimits, Routing};
use symphony_core::pull_request::{PrState, PullRequest, PullRequestOf, VerdictKind};
use symphony_core::run::{Run, RunError, RunStatus};

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::db::{Connection, OptionalExtension, Transaction, params};
use crate::error::StoreError;
use crate::gates::deaths::{stop_deadly, stop_deadly_of_plan};
use crate::gates::delay::{delay, forget_delay};
use crate::gates::failures::{note_failure, note_pass, repeated_failure};
use crate::gates::findings::{add_gate_findings, reject_for_gates};
use crate::gates::found::{GatePass, GatesFound};
use crate::gates::record::record_gates;
use crate::issue::cascade::{carry_out, load_facts, move_in, mover, refused};
use crate::issue::query::load_issue;
use crate::plan::review::settle_plan_gates;
use crate::review::pull_request_query::{load_open_pr_of, load_pr};
use crate::review::refusal::{PrStep, refuse_ended};
use crate::review::state::refuse_not_in_review;

/// How long a pass counts for the same files. What a gate depends on beyond them, such as a registry or the date,
/// changes slowly.
const PASS_AGE_MAX_MS: u64 = 7 * 24 * 60 * 60 * 1000;

/// Records the result of a pull request's gates. Returns the issue's failures in a row after it, if they were written.
pub(crate) fn settle_gates(
    tx: &Transaction<'_>,
    context: &Context,
    run: &Run,
    pr: PrId,
    found: &GatesFound,
    limits: FailureLimits,
) -> Result<Option<u32>, StoreError> {
    let pr = load_pr(tx, pr)?;
    let (gates, tree, print, base) = match found {
        GatesFound::NotRun { problem } => {
            delay(tx, context, &pr, problem)?;
            return Ok(None);
        }
        GatesFound::Died { running, problem } => {
            let stopped = match &pr.of {
                PullRequestOf::Issue(issue) => {
                    let issue = load_issue(tx, issue)?;
                    stop_deadly(tx, context, run, &pr, &issue, running)?
                }
                PullRequestOf::Plan(_) => stop_deadly_of_plan(tx, context, run, &pr, running)?,
            };
            if !stopped {
                delay(tx, context, &pr, &died_text(running, problem))?;
            }
            return Ok(None);
        }
        GatesFound::Ran {
            gates,
            tree,
            print,
            base,
        } => (gates, tree, print.as_ref(), *base),
    };
    // The head moved while the gates ran, or the pull request was closed: recorded on it now, green results of the old
    // commit would pass a commit that no gate ran on.
    if !pr.state.is_open() || gates.commit != pr.head_commit {
        return Ok(None);
    }
    let issue = match &pr.of {
        PullRequestOf::Issue(issue) => load_issue(tx, issue)?,
        PullRequestOf::Plan(_) => {
            settle_plan_gates(tx, context, &pr, gates, print, base)?;
            return Ok(None);
        }
    };
    let failure = print.map(|print| PastFailure::of(gates, tree, print.clone()));
    let repeated = match &failure {
        Some(failure) => repeated_failure(tx, &issue.id, failure)?,
        None => RepeatedFailure::default(),
    };
    let end = GatesEnd {
        issue: &issue,
        gates,
        print,
        base,
        repeated,
        waived: is_waived(&pr),
        limits,
    };
    // Routed from the issue as it is in this transaction: gates run for minutes, and a person may have moved it since.
    let routing = route_gates_end(&end, context.now);
    if routing.outcome == GatesOutcome::Held {
        forget_delay(tx, pr.id)?;
        return Ok(None);
    }
    record_gates(tx, context, &pr, gates)?;
    match &failure {
        Some(failure) => note_failure(tx, context, run, &issue.id, failure)?,
        None => note_pass(tx, &issue.id, tree)?,
    }
    match routing.outcome {
        GatesOutcome::Rejected => reject_for_gates(tx, context, &issue.id, &pr, gates)?,
        GatesOutcome::Stopped => {
            add_gate_findings(tx, context, &issue.id, gates)?;
        }
        GatesOutcome::Passed | GatesOutcome::Recorded | GatesOutcome::Held => {}
    }
    let failures = routing.counts.consecutive_failures;
    let routing_of_issue = Routing {
        status: RunStatus::Succeeded,
        error: None,
        advance: None,
        event: routing.event,
        counts: routing.counts,
        retry: routing.retry,
        comment: routing.comment,
    };
    let facts = load_facts(tx, &issue.id)?;
    let effects = consequences_of_run_end(&facts, run, &routing_of_issue, mover(context))
        .map_err(|source| refused(&issue.id, source))?;
    carry_out(tx, context, &issue.id, &effects)?;
    Ok(Some(failures))
}

/// Returns whether a person approved the head of a pull request regardless of its gates.
fn is_waived(pr: &PullRequest) -> bool {
    let verdict = pr.verdict.as_ref();
    verdict.is_some_and(|verdict| {
        verdict.force && verdict.kind == VerdictKind::Approved && verdict.commit == pr.head_commit
    })
}

impl Store {
    /// Returns how a failure of an issue's gates repeats earlier ones.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn repeated_gate_failure(
        &self,
        issue: &IssueId,
        failure: &PastFailure,
    ) -> Result<RepeatedFailure, StoreError> {
        repeated_failure(&self.conn, issue, failure)
    }

    /// Returns the digests for which a gate passed recently enough to count.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn gate_passes(
        &self,
        keys: &[String],
        now: Timestamp,
    ) -> Result<BTreeSet<String>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT 1 FROM gate_pass WHERE key = ?1 AND passed_at BETWEEN ?2 AND ?3",
        )?;
        let oldest = now.as_millisecond() - PASS_AGE_MAX_MS.cast_signed();
        let mut found = BTreeSet::new();
        for key in keys {
            let values = params![key, oldest, now.as_millisecond()];
            if statement
                .query_row(values, |_| Ok(()))
                .optional()?
                .is_some()
            {
                found.insert(key.clone());
            }
        }
        Ok(found)
    }

    /// Records gates that passed, and deletes passes that are too old.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_gate_passes(
        &mut self,
        context: &Context,
        project: &ProjectId,
        passes: &[GatePass],
    ) -> Result<(), StoreError> {
        if passes.is_empty() {
            return Ok(());
        }
        self.write(context, |tx| {
            let now = context.now.as_millisecond();
            tx.prepare_cached("DELETE FROM gate_pass WHERE passed_at < ?1")?
                .execute([now - PASS_AGE_MAX_MS.cast_signed()])?;
            let mut insert = tx.prepare_cached(
                "INSERT INTO gate_pass (key, project, gate, tree, passed_at) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (key) DO UPDATE SET project = ?2, gate = ?3, tree = ?4, passed_at = ?5",
            )?;
            for pass in passes {
                insert.execute(params![pass.key, project.as_str(), pass.gate, pass.tree, now])?;
            }
            Ok(())
        })
    }

    /// Requests that the gates of an open pull request run again on its head, whatever passed before. An issue that was
    /// stopped by its gates returns to review.
    ///
    /// # Errors
    /// When the pull request is not open, or its issue is not in review.
    pub fn request_gates(
        &mut self,
        context: &Context,
        id: PrId,
    ) -> Result<PullRequest, StoreError> {
        self.write(context, |tx| {
            let pr = load_pr(tx, id)?;
            refuse_ended(&pr, PrStep::Gates)?;
            // Before the check below: a stopped issue is blocked, and gates run only for an issue in review.
            resume_stopped(tx, context, &pr)?;
            refuse_not_in_review(tx, &pr)?;
            tx.execute(
                "UPDATE pull_request SET verified_gates = NULL, gates_due_at = 0, gates_tries = 0, gates_problem = NULL,
                 gates_fresh = 1 WHERE id = ?1",
                [id.get()],
            )?;
            let requested = LogEvent::GatesRequested { pr: id };
            append(tx, context, About::of(&pr.of), &requested)?;
            load_pr(tx, id)
        })
    }

    /// Returns an issue that was stopped by its gates to review, because a person decides about its pull request
    /// anyway. Any other issue keeps its status.
    ///
    /// # Errors
    /// When the pull request does not exist.
    pub fn resume_stopped_review(&mut self, context: &Context, id: PrId) -> Result<(), StoreError> {
        self.write(context, |tx| {
            let pr = load_pr(tx, id)?;
            resume_stopped(tx, context, &pr)
        })
    }
}

fn resume_stopped(
    tx: &Transaction<'_>,
    context: &Context,
    pr: &PullRequest,
) -> Result<(), StoreError> {
    // A plan is never stopped by its gates: it stays in review.
    let PullRequestOf::Issue(issue) = &pr.of else {
        return Ok(());
    };
    let state = load_issue(tx, issue)?.state;
    if state
        .block()
        .is_some_and(|block| block.by == BlockedBy::Gates)
    {
        move_in(tx, context, issue, &IssueEvent::ReviewResumed)?;
    }
    Ok(())
}

/// Returns why the gates of a pull request may not start now, or `None` if they may.
pub(crate) fn gates_refusal(
    conn: &Connection,
    of: &PullRequestOf,
    pr: PrId,
    now: Timestamp,
) -> Result<Option<GatesRefusal>, StoreError> {
    let Some(open) = load_open_pr_of(conn, of)?.filter(|open| open.id == pr) else {
        return Ok(Some(GatesRefusal::Ended));
    };
    Ok(match () {
        () if open.state != PrState::Open && open.state != PrState::Approved => {
            Some(GatesRefusal::Ended)
        }
        () if open.gates_of_head().is_some() => Some(GatesRefusal::Ended),
        () if open.gates_wait.due_at > now => Some(GatesRefusal::NotDue),
        () => None,
    })
}

/// Why gates may not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GatesRefusal {
    /// The pull request is no longer open, or its gates have run.
    Ended,
    /// Their next try is not due yet.
    NotDue,
}

/// The result of a run of gates whose supervisor died, or that could not be prepared.
pub(crate) fn not_run(error: Option<&RunError>, run: &RunId) -> GatesFound {
    GatesFound::NotRun {
        problem: error.map_or_else(
            || format!("run {run} ended without a result"),
            |error| error.message.clone(),
        ),
    }
}
