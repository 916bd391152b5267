//! Proposals that nothing is left to do: made by a worker's run, judged like a pull request, and confirmed by a person
//! or by `auto_done`. They are pull request records with evidence instead of a change.

use symphony_core::done::{
    BaseNow, ConfirmedBy, DoneEvidence, DoneProposal, MovedProposal, PROPOSAL_TITLE, StaleLook,
    StaleProposal, list_obstacles, stands,
};
use symphony_core::id::{IssueId, PrId, ProjectId};
use symphony_core::issue::{IssueEvent, IssueStatus, check_required_text};
use symphony_core::log::LogEvent;
use symphony_core::pull_request::{PrState, PullRequest};
use symphony_core::review_point::refuse_unanswered;
use symphony_core::run::{Run, RunTarget};

use crate::database::context::{Actor, Context};
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::to_json;
use crate::db::{Transaction, params};
use crate::error::StoreError;
use crate::gates::delay::forget_delay;
use crate::issue::cascade::{is_live, move_in};
use crate::issue::note::add_comment_in;
use crate::issue::query::load_issue;
use crate::review::done_record::load_done_record;
use crate::review::end::end_review;
use crate::review::point::load_points;
use crate::review::pull_request::approve_by_deed;
use crate::review::pull_request_query::{load_open_pr, load_pr};
use crate::review::pull_request_write::{NewPullRequest, insert_pr, update_head};
use crate::review::refusal::ReviewRefusal;
use crate::review::state::set_pr_state;
use crate::review::superseded::refuse_superseded_pr;
use crate::run::hand_in::{forget_refused_call, idle_before};

/// A proposal to be made.
#[derive(Debug, Clone)]
pub struct NewProposal {
    /// The issue on which nothing is left to do.
    pub issue: IssueId,
    /// The branch of its worktree, which has no commits of its own.
    pub branch: String,
    /// The base branch.
    pub base: String,
    /// The commit of the base that the worktree is on.
    pub base_commit: String,
    /// Why nothing is left to do.
    pub reason: String,
    /// The evidence, already checked.
    pub evidence: Vec<DoneEvidence>,
}

impl NewProposal {
    fn record(&self) -> NewPullRequest {
        NewPullRequest {
            of: self.issue.clone().into(),
            title: PROPOSAL_TITLE.to_owned(),
            body: self.reason.clone(),
            branch: self.branch.clone(),
            base: self.base.clone(),
            base_commit: self.base_commit.clone(),
            head_commit: self.base_commit.clone(),
            diff: String::new(),
            files: Vec::new(),
            reported_gates: Vec::new(),
            checklist: Vec::new(),
        }
    }
}

impl Store {
    /// Proposes that nothing is left to do on an issue, which moves to `review`. Another proposal in the same review
    /// replaces the previous one, and voids its gates and verdict.
    ///
    /// # Errors
    /// When the reason breaks a limit, the issue is in a phase with another deliverable, a `must` point of a review has
    /// no answer, its pull request is open, or it may not move to `review`.
    pub fn propose_done(
        &mut self,
        context: &Context,
        new: &NewProposal,
    ) -> Result<PullRequest, StoreError> {
        check_required_text("reason", &new.reason)?;
        self.write(context, |tx| {
            let issue = load_issue(tx, &new.issue)?;
            refuse_superseded_pr(&issue)?;
            let record = new.record();
            refuse_unanswered(&load_points(tx, &record.of)?)?;
            let open = load_open_pr(tx, &new.issue)?;
            if let Some(open) = open.as_ref().filter(|open| open.proposal.is_none()) {
                return Err(ReviewRefusal::ChangeIsOpen(open.id).into());
            }
            if open.is_none() || issue.state.status() == IssueStatus::InProgress {
                move_in(tx, context, &new.issue, &IssueEvent::DoneProposed)?;
            }
            let id = match open {
                Some(open) => {
                    update_head(tx, context, open.id, &record)?;
                    open.id
                }
                None => insert_pr(tx, context, &issue.project, &record)?,
            };
            let proposal = DoneProposal {
                evidence: new.evidence.clone(),
            };
            tx.execute(
                "UPDATE pull_request SET proposal = ?2 WHERE id = ?1",
                params![id.get(), to_json(&proposal)],
            )?;
            let proposed = LogEvent::DoneProposed {
                pr: id,
                base: new.base_commit.clone(),
            };
            append(tx, context, About::of(&record.of), &proposed)?;
            forget_refused_call(tx, context)?;
            load_pr(tx, id)
        })
    }

    /// Confirms a proposal, so that its issue is done. A confirmed proposal is returned unchanged.
    ///
    /// A person needs no judge's verdict. Symphony itself confirms only what a judge approved and gates verified.
    /// `base` is what the caller just saw of the base; what the database has is read again in the same transaction.
    ///
    /// # Errors
    /// When an agent calls it, the pull request is not a proposal, something prevents it, or the issue is not in
    /// review.
    pub fn confirm_done(
        &mut self,
        context: &Context,
        id: PrId,
        base: &BaseNow,
    ) -> Result<PullRequest, StoreError> {
        if matches!(context.actor, Actor::Run(_)) {
            return Err(StoreError::OnlyPeople("confirm proposals"));
        }
        self.write(context, |tx| {
            let proposal = load_pr(tx, id)?;
            let issue = issue_of(&proposal)?;
            if proposal.state == PrState::Confirmed {
                return Ok(proposal);
            }
            let by = match context.actor {
                Actor::System | Actor::Supervisor(_) => ConfirmedBy::AutoDone,
                _ => ConfirmedBy::Person,
            };
            // Read again here: since the caller looked, a person may have added a comment, or a run a sub-task, that
            // the verdict did not see.
            let record = load_done_record(tx, proposal.clone())?;
            stands(&record, Some(base), by).map_err(|obstacles| {
                let obstacles = list_obstacles(&obstacles);
                ReviewRefusal::NotConfirmed { pr: id, obstacles }
            })?;
            approve_by_deed(tx, context, &proposal, "confirmed")?;
            // The move confirms the open proposal, as it does whenever the issue ends as done.
            move_in(tx, context, issue, &IssueEvent::DoneConfirmed)?;
            load_pr(tx, id)
        })
    }

    /// Closes a proposal because its base has moved in a way that affects it, so that a worker looks again. Returns
    /// whether it was closed: one that has ended, or has a live run, is left alone.
    ///
    /// # Errors
    /// When it is not a proposal, or the database cannot be written.
    pub fn return_proposal(
        &mut self,
        context: &Context,
        moved: &MovedProposal,
    ) -> Result<bool, StoreError> {
        self.write(context, |tx| {
            let proposal = load_pr(tx, moved.pr)?;
            let issue = issue_of(&proposal)?;
            // A live judge would lose its proposal in the middle of the verdict. The next tick tries again.
            if !proposal.state.is_open() || is_live(tx, issue)? {
                return Ok(false);
            }
            end_review(tx, context, &proposal, PrState::Closed)?;
            let comment = format!(
                "Proposal {}, that nothing is left to do, has to be checked again: {}. Look at what changed, then propose it \
                 again, or do what is missing.",
                moved.pr, moved.why
            );
            add_comment_in(tx, context, issue, &comment)?;
            Ok(true)
        })
    }

    /// Requests that the gates run again, or a judge looks again. Returns whether it was requested: a proposal that has
    /// ended, or has a live run, is left alone.
    ///
    /// # Errors
    /// When it is not a proposal, or the database cannot be written.
    pub fn refresh_proposal(
        &mut self,
        context: &Context,
        stale: &StaleProposal,
    ) -> Result<bool, StoreError> {
        self.write(context, |tx| {
            let proposal = load_pr(tx, stale.pr)?;
            let issue = issue_of(&proposal)?;
            if !proposal.state.is_open() || is_live(tx, issue)? {
                return Ok(false);
            }
            match stale.what {
                StaleLook::Gates => {
                    tx.execute(
                        "UPDATE pull_request SET verified_gates = NULL WHERE id = ?1",
                        [proposal.id.get()],
                    )?;
                    forget_delay(tx, proposal.id)?;
                    let requested = LogEvent::GatesRequested { pr: proposal.id };
                    append(tx, context, About::of(&proposal.of), &requested)?;
                }
                StaleLook::Verdict => {
                    tx.execute(
                        "UPDATE pull_request SET verdict = NULL WHERE id = ?1",
                        [proposal.id.get()],
                    )?;
                    set_pr_state(tx, context, &proposal.of, proposal.id, PrState::Open)?;
                }
            }
            Ok(true)
        })
    }

    /// Lists the open proposals of a project, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn open_proposals(&self, project: &ProjectId) -> Result<Vec<PullRequest>, StoreError> {
        let ids: Vec<i64> = self
            .conn
            .prepare_cached(
                "SELECT id FROM pull_request WHERE project = ?1 AND state IN ('open', 'approved') AND proposal IS NOT NULL ORDER BY id",
            )?
            .query_map([project.as_str()], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        ids.into_iter()
            .map(|id| load_pr(&self.conn, PrId::new(id)))
            .collect()
    }
}

fn issue_of(proposal: &PullRequest) -> Result<&IssueId, StoreError> {
    proposal
        .of
        .issue()
        .filter(|_| proposal.proposal.is_some())
        .ok_or_else(|| ReviewRefusal::Change(proposal.id).into())
}

/// Counts the runs without a result before this one, if this run is of a judge who rejected a proposal that nothing is
/// left to do. The last of them is the proposal's author.
pub(crate) fn rejected_before(
    tx: &Transaction<'_>,
    run: &Run,
    issue: &IssueId,
) -> Result<Option<u32>, StoreError> {
    let RunTarget::PullRequest(_, id) = &run.target else {
        return Ok(None);
    };
    let pr = load_pr(tx, *id)?;
    let verdict = pr.verdict.as_ref();
    let is_own = verdict.is_some_and(|verdict| verdict.run.as_ref() == Some(&run.id));
    if pr.proposal.is_none() || pr.state != PrState::Rejected || !is_own {
        return Ok(None);
    }
    Ok(Some(idle_before(tx, issue, run)?.saturating_sub(1)))
}
