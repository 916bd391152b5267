//! Phase claims: submitted by a phase's agent, settled once what they are about is committed.
//!
//! Intent, effect, outcome: a claim whose checks passed is recorded as `submitted`, then its caller commits the worktree,
//! then the claim is settled with that commit. One that is still `submitted` when its run ends is rejected.

use rusqlite::{Transaction, params};
use symphony_core::contract::{ClaimState, PhaseClaim};
use symphony_core::id::{ClaimId, IssueId, PhaseName, RunId};
use symphony_core::issue::{Issue, IssueEvent, IssueStatus, check_required_text, check_text};
use symphony_core::log::LogEvent;
use symphony_core::review_point::refuse_unanswered;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::to_json;
use crate::error::StoreError;
use crate::issue::cascade::move_in;
use crate::issue::note::check_run_limit;
use crate::issue::query::load_issue;
use crate::review::phase_claim_query::{load_claim, load_open_claim};
use crate::review::point::load_points;
use crate::review::state::reject_claim;
use crate::run::hand_in::forget_refused_call;

/// Claims that one run may make, refused ones included: more is a loop.
const RUN_CLAIMS_MAX: i64 = 50;

/// A claim to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPhaseClaim {
    /// The issue.
    pub issue: IssueId,
    /// The phase.
    pub phase: PhaseName,
    /// The artifact, relative to the worktree.
    pub artifact_path: Option<String>,
    /// What the agent says of it.
    pub summary: String,
    /// The later phase that it asks to go on with.
    pub skip_to: Option<PhaseName>,
    /// The phase that the issue goes to when it is accepted.
    pub next_phase: Option<PhaseName>,
}

/// Who decides on a claim whose checks passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// Nobody: it is accepted.
    Accepted,
    /// A judge: the issue goes to `review`.
    AwaitingJudge,
}

impl Store {
    /// Records a claim that its checks refused; the issue stays where it is.
    ///
    /// # Errors
    /// When the issue does not exist, its phase is another one now, a field breaks a limit, or the run has made too many.
    pub fn refuse_claim(
        &mut self,
        context: &Context,
        new: &NewPhaseClaim,
        reasons: &[String],
    ) -> Result<PhaseClaim, StoreError> {
        check_fields(new)?;
        self.write(context, |tx| {
            let issue = claimable(tx, context, new)?;
            let id = insert(tx, context, &issue, new, ClaimState::Rejected, reasons)?;
            load_claim(tx, id)
        })
    }

    /// Records a claim whose checks passed, before what it is about is committed. An open claim of an earlier run makes
    /// room for it.
    ///
    /// # Errors
    /// When the issue is not in progress, it has a `must` point of a review without an answer, its phase is another one now, this run has a claim on it already, a field breaks
    /// a limit, or the run has made too many.
    pub fn submit_claim(
        &mut self,
        context: &Context,
        new: &NewPhaseClaim,
    ) -> Result<PhaseClaim, StoreError> {
        check_fields(new)?;
        self.write(context, |tx| {
            let issue = claimable(tx, context, new)?;
            if issue.state.status() != IssueStatus::InProgress {
                return Err(StoreError::refused(format!(
                    "{} is `{}`: a phase is claimed while the issue is in progress",
                    issue.id,
                    issue.state.status()
                )));
            }
            refuse_unanswered(&load_points(tx, &issue.id.clone().into())?)?;
            if let Some(open) = load_open_claim(tx, &issue.id)? {
                make_room(tx, context, &open)?;
            }
            let id = insert(tx, context, &issue, new, ClaimState::Submitted, &[])?;
            forget_refused_call(tx, context)?;
            load_claim(tx, id)
        })
    }

    /// Settles a submitted claim on the commit that it is about; one that awaits a judge takes the issue to `review`.
    ///
    /// # Errors
    /// When the claim is not submitted any more, or the issue may not go to `review` from where it is.
    pub fn settle_claim(
        &mut self,
        context: &Context,
        id: ClaimId,
        settlement: Settlement,
        commit: &str,
        warnings: &[String],
    ) -> Result<PhaseClaim, StoreError> {
        self.write(context, |tx| {
            let claim = load_claim(tx, id)?;
            if claim.state != ClaimState::Submitted {
                return Err(StoreError::refused(format!(
                    "claim {id} is already {}",
                    claim.state
                )));
            }
            let state = match settlement {
                Settlement::Accepted => ClaimState::Accepted,
                Settlement::AwaitingJudge => {
                    move_in(tx, context, &claim.issue, &IssueEvent::ClaimSubmitted)?;
                    ClaimState::AwaitingJudge
                }
            };
            tx.execute(
                "UPDATE phase_claim SET state = ?2, head_commit = ?3, reasons = ?4 WHERE id = ?1",
                params![id.get(), state.name(), commit, to_json(warnings)],
            )?;
            let settled = LogEvent::ClaimSettled {
                claim: id,
                state,
                commit: commit.to_owned(),
            };
            append(tx, context, About::issue(&claim.issue), &settled)?;
            load_claim(tx, id)
        })
    }

    /// Takes a submitted claim back: what it is about could not be committed.
    ///
    /// # Errors
    /// When the claim does not exist.
    pub fn withdraw_claim(
        &mut self,
        context: &Context,
        id: ClaimId,
        reason: &str,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            let claim = load_claim(tx, id)?;
            if claim.state == ClaimState::Submitted {
                reject_claim(tx, context, &claim.issue, claim.id, reason)?;
            }
            Ok(())
        })
    }

    /// Records that the branch of a claim that awaits a judge has another head now: the judge looks at that one.
    ///
    /// # Errors
    /// When the claim does not await a judge.
    pub fn move_claim_head(
        &mut self,
        context: &Context,
        id: ClaimId,
        commit: &str,
    ) -> Result<PhaseClaim, StoreError> {
        self.write(context, |tx| {
            let claim = load_claim(tx, id)?;
            if !claim.awaits_judge() {
                return Err(StoreError::refused(format!(
                    "claim {id} is {}, so no judge reviews it",
                    claim.state
                )));
            }
            tx.execute(
                "UPDATE phase_claim SET head_commit = ?2 WHERE id = ?1",
                params![id.get(), commit],
            )?;
            let moved = LogEvent::ClaimHeadMoved {
                claim: id,
                commit: commit.to_owned(),
            };
            append(tx, context, About::issue(&claim.issue), &moved)?;
            load_claim(tx, id)
        })
    }
}

fn check_fields(new: &NewPhaseClaim) -> Result<(), StoreError> {
    check_required_text("summary", &new.summary)?;
    if let Some(path) = &new.artifact_path {
        check_text("artifact_path", path)?;
    }
    Ok(())
}

/// Returns the issue, when its phase is the claim's and the run may still claim.
fn claimable(
    tx: &Transaction<'_>,
    context: &Context,
    new: &NewPhaseClaim,
) -> Result<Issue, StoreError> {
    check_run_limit(tx, context, "phase_claim", RUN_CLAIMS_MAX)?;
    let issue = load_issue(tx, &new.issue)?;
    match issue.phase() {
        Some(phase) if phase == new.phase => Ok(issue),
        Some(phase) => Err(StoreError::refused(format!(
            "the claim of `{}` is superseded: {} is in the phase `{phase}` now",
            new.phase, new.issue
        ))),
        None => Err(StoreError::refused(format!(
            "the claim of `{}` is superseded: {} has no phase label now",
            new.phase, new.issue
        ))),
    }
}

/// A claim of an earlier run makes room; this run's own stands, unless it never came to be settled.
fn make_room(tx: &Transaction<'_>, context: &Context, open: &PhaseClaim) -> Result<(), StoreError> {
    let own = open.run.as_ref() == context.actor.run();
    if own && open.state != ClaimState::Submitted {
        return Err(StoreError::refused(format!(
            "this run has already claimed `{}` (claim {}, {}): nothing is left to do, end your turn",
            open.phase, open.id, open.state
        )));
    }
    reject_claim(
        tx,
        context,
        &open.issue,
        open.id,
        "a later claim took its place",
    )
}

fn insert(
    tx: &Transaction<'_>,
    context: &Context,
    issue: &Issue,
    new: &NewPhaseClaim,
    state: ClaimState,
    reasons: &[String],
) -> Result<ClaimId, StoreError> {
    tx.execute(
        "INSERT INTO phase_claim (project, issue, phase, artifact_path, summary, skip_to, next_phase, run, author, state, reasons, open, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        params![
            issue.project.as_str(),
            issue.id.as_str(),
            new.phase.as_str(),
            new.artifact_path,
            new.summary,
            new.skip_to.as_ref().map(PhaseName::as_str),
            new.next_phase.as_ref().map(PhaseName::as_str),
            context.actor.run().map(RunId::as_str),
            context.actor.author().name(),
            state.name(),
            to_json(reasons),
            state == ClaimState::Submitted,
            context.now.as_millisecond(),
        ],
    )?;
    let id = ClaimId::new(tx.last_insert_rowid());
    let claimed = LogEvent::PhaseClaimed {
        claim: id,
        phase: new.phase.clone(),
        state,
        reasons: reasons.to_vec(),
    };
    append(tx, context, About::issue(&issue.id), &claimed)?;
    Ok(id)
}
