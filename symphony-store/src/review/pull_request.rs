//! Pull requests: opened by a worker's run, judged on their head commit, merged by a person.

use symphony_core::agent::AgentType;
use symphony_core::id::{IssueId, PrId};
use symphony_core::issue::{
    BlockedBy, FindingKind, IssueEvent, IssueStatus, check_required_text, check_text, check_title,
};
use symphony_core::log::LogEvent;
use symphony_core::pull_request::{
    PrState, PullRequest, PullRequestOf, Verdict, VerdictKind, VerifiedGates,
};
use symphony_core::review_point::{ReviewOf, refuse_unanswered};
use symphony_core::run::{ProtectionLevel, RunTarget};

use crate::database::context::{Actor, Context};
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::to_json;
use crate::db::{Transaction, params};
use crate::error::StoreError;
use crate::issue::cascade::move_in;
use crate::issue::note::{NewFinding, add_comment_in, add_limited_finding};
use crate::issue::query::load_issue;
use crate::plan::review::open_plan_pr;
use crate::plan::review_end::end_merged_plan;
use crate::review::end::end_review;
use crate::review::point::{load_points, persons_points};
use crate::review::point_judge::{JudgeProtection, NewVerdict, Reviewed, judge_points};
use crate::review::pull_request_query::{load_open_pr, load_pr};
use crate::review::pull_request_write::{NewPullRequest, insert_pr, update_head, write_gates};
use crate::review::refusal::{PrStep, ReviewRefusal, refuse_ended, refuse_proposal};
use crate::review::state::set_pr_state;
use crate::review::superseded::refuse_superseded_pr;
use crate::run::hand_in::{count_rejected_proposal, forget_refused_call};
use crate::run::row::load_run;

/// Writes a verdict.
pub(crate) fn write_verdict(
    tx: &Transaction<'_>,
    pr: PrId,
    verdict: &Verdict,
) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE pull_request SET verdict = ?2 WHERE id = ?1",
        params![pr.get(), to_json(verdict)],
    )?;
    Ok(())
}

/// Records the approval implied by what a person does with a pull request, unless its head is already approved.
pub(crate) fn approve_by_deed(
    tx: &Transaction<'_>,
    context: &Context,
    pr: &PullRequest,
    comment: &str,
) -> Result<(), StoreError> {
    let approved = pr
        .verdict_on_head()
        .is_some_and(|verdict| verdict.kind == VerdictKind::Approved);
    if approved {
        return Ok(());
    }
    let verdict = Verdict {
        kind: VerdictKind::Approved,
        author: context.actor.author(),
        run: None,
        commit: pr.head_commit.clone(),
        protection: ProtectionLevel::Isolated,
        sandbox: None,
        comment: comment.to_owned(),
        at: context.now,
        unverified: context.actor.unverified().map(str::to_owned),
        attribution: context.actor.attribution(),
        force: false,
    };
    write_verdict(tx, pr.id, &verdict)
}

/// Queues an issue whose agent stopped to ask a person, because the person has rejected its work instead.
fn queue_asked(tx: &Transaction<'_>, context: &Context, issue: &IssueId) -> Result<(), StoreError> {
    let state = load_issue(tx, issue)?.state;
    let is_asked = state
        .block()
        .is_some_and(|block| matches!(block.by, BlockedBy::Human | BlockedBy::Agent));
    if is_asked {
        move_in(tx, context, issue, &IssueEvent::Queued)?;
    }
    Ok(())
}

impl Store {
    /// Opens a pull request, or replaces the head of the one that the issue has open; the issue moves to `review`. The
    /// same applies to a plan whose phases are all complete, but its open pull request is returned unchanged.
    ///
    /// A new head voids gates and verdict, since they are bound to their commit.
    ///
    /// # Errors
    /// When a field breaks a limit, the issue is in a phase with another deliverable, a `must` point of a review has no
    /// answer, the issue may not move to `review`, or a phase of the plan is not complete.
    pub fn create_pr(
        &mut self,
        context: &Context,
        new: &NewPullRequest,
    ) -> Result<PullRequest, StoreError> {
        self.create_pr_with_approach(context, new, None)
    }

    /// As [`Store::create_pr`], and records in a finding for the reviewer how the work was done: both or neither.
    ///
    /// # Errors
    /// As [`Store::create_pr`], and when the approach is blank or too long, or the run has added too many findings.
    pub fn create_pr_with_approach(
        &mut self,
        context: &Context,
        new: &NewPullRequest,
        approach: Option<&str>,
    ) -> Result<PullRequest, StoreError> {
        check_title(&new.title)?;
        check_text("body", &new.body)?;
        for gate in &new.reported_gates {
            check_required_text("gate name", &gate.name)?;
            check_text("gate output", &gate.output)?;
        }
        if let Some(text) = approach {
            check_required_text("approach", text)?;
        }
        self.write(context, |tx| {
            let of = match &new.of {
                PullRequestOf::Issue(issue) => issue,
                PullRequestOf::Plan(plan) => return open_plan_pr(tx, context, plan, new),
            };
            let issue = load_issue(tx, of)?;
            refuse_superseded_pr(&issue)?;
            refuse_unanswered(&load_points(tx, &new.of)?)?;
            let open = load_open_pr(tx, of)?;
            if let Some(proposal) = open.as_ref().filter(|open| open.proposal.is_some()) {
                // The worker found something to do after all.
                set_pr_state(tx, context, &proposal.of, proposal.id, PrState::Closed)?;
            }
            let is_withdrawn = open.as_ref().is_some_and(|open| open.proposal.is_some())
                && issue.state.status() == IssueStatus::Review;
            let open = open.filter(|open| open.proposal.is_none());
            if (open.is_none() && !is_withdrawn) || issue.state.status() == IssueStatus::InProgress
            {
                move_in(tx, context, of, &IssueEvent::PrCreated)?;
            }
            let id = match open {
                Some(open) => {
                    update_head(tx, context, open.id, new)?;
                    open.id
                }
                None => insert_pr(tx, context, &issue.project, new)?,
            };
            if let Some(text) = approach {
                let finding = NewFinding {
                    kind: FindingKind::Approach,
                    text: text.to_owned(),
                    files: Vec::new(),
                };
                add_limited_finding(tx, context, of, &finding)?;
            }
            let opened = LogEvent::PullRequestOpened {
                pr: id,
                head: new.head_commit.clone(),
            };
            append(tx, context, About::of(&new.of), &opened)?;
            forget_refused_call(tx, context)?;
            load_pr(tx, id)
        })
    }

    /// Records a verdict on the head commit of an open pull request, with its points. A rejection moves the issue back
    /// to `todo`, or makes the plan wait for a person.
    ///
    /// An agent's verdict counts only from a live judge's run on this pull request, and not from the author's run.
    ///
    /// # Errors
    /// When the pull request is not open, the commit is not its head, a rejection asks for nothing, an approval leaves
    /// `must` points open, or the writer may not judge it or close a point.
    pub fn record_review(
        &mut self,
        context: &Context,
        id: PrId,
        new: &NewVerdict,
    ) -> Result<PullRequest, StoreError> {
        self.write(context, |tx| record_review_in(tx, context, id, new))
    }

    /// Records a merge: the pull request is merged, and its issue is done or its plan completed. Merging an open pull
    /// request implies a person's approval.
    ///
    /// # Errors
    /// When the pull request is not open, or the issue cannot move to done.
    pub fn record_merge(
        &mut self,
        context: &Context,
        id: PrId,
        merged: &str,
    ) -> Result<PullRequest, StoreError> {
        self.write(context, |tx| {
            let pr = load_pr(tx, id)?;
            // Whoever finds the intent of a merge that was cut off records it, so two processes may get here for one
            // merge.
            if pr.state == PrState::Merged {
                return Ok(pr);
            }
            refuse_proposal(&pr)?;
            refuse_ended(&pr, PrStep::Merge)?;
            approve_by_deed(tx, context, &pr, "approved by merging")?;
            tx.execute(
                "UPDATE pull_request SET merged_commit = ?2 WHERE id = ?1",
                params![id.get(), merged],
            )?;
            set_pr_state(tx, context, &pr.of, pr.id, PrState::Merged)?;
            match &pr.of {
                PullRequestOf::Issue(issue) => {
                    move_in(tx, context, issue, &IssueEvent::Merged)?;
                }
                PullRequestOf::Plan(plan) => end_merged_plan(tx, context, plan, merged)?,
            }
            load_pr(tx, id)
        })
    }

    /// Replaces the gates of a pull request, because a merge onto a moved base has run them again.
    ///
    /// # Errors
    /// When the pull request does not exist.
    pub fn record_gates(
        &mut self,
        context: &Context,
        id: PrId,
        gates: &VerifiedGates,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            let pr = load_pr(tx, id)?;
            write_gates(tx, id, gates)?;
            let verified = LogEvent::gates_verified(id, gates);
            append(tx, context, About::of(&pr.of), &verified)
        })
    }

    /// Closes a pull request without merging it. Its issue moves back to `todo`, or its plan waits for a person.
    ///
    /// # Errors
    /// When it is not open.
    pub fn close_pr(&mut self, context: &Context, id: PrId) -> Result<PullRequest, StoreError> {
        self.write(context, |tx| {
            let pr = load_pr(tx, id)?;
            refuse_ended(&pr, PrStep::Close)?;
            end_review(tx, context, &pr, PrState::Closed)?;
            load_pr(tx, id)
        })
    }
}

pub(crate) fn record_review_in(
    tx: &Transaction<'_>,
    context: &Context,
    id: PrId,
    new: &NewVerdict,
) -> Result<PullRequest, StoreError> {
    new.check_comment()?;
    let pr = load_pr(tx, id)?;
    refuse_ended(&pr, PrStep::Judge)?;
    // A verdict names a commit (a later one voids it): a head that moved while the judge read must not be
    // approved unread.
    if pr.head_commit != new.commit {
        return Err(ReviewRefusal::OtherCommit {
            of: ReviewOf::PullRequest(id),
            commit: new.commit.clone(),
            head: pr.head_commit,
        }
        .into());
    }
    let judge = check_judge(tx, context, &pr)?;
    let reviewed = Reviewed {
        of: &pr.of,
        review: Some(ReviewOf::PullRequest(id)),
        commit: Some(&new.commit),
    };
    let said = judge_points(tx, context, &reviewed, new)?;
    forget_refused_call(tx, context)?;
    let verdict = new.verdict(context, judge, &said);
    write_verdict(tx, id, &verdict)?;
    if let Some((issue, comment)) = pr.of.issue().zip(verdict.issue_comment(&pr, &said)) {
        add_comment_in(tx, context, issue, &comment)?;
    }
    match new.kind {
        VerdictKind::Approved => {
            // An agent's approval waits for people whose points are open. The state changes when they have
            // closed them.
            if persons_points(tx, &pr.of)?.is_empty() {
                set_pr_state(tx, context, &pr.of, pr.id, PrState::Approved)?;
            }
        }
        VerdictKind::Rejected => {
            count_rejected_proposal(tx, &pr)?;
            end_review(tx, context, &pr, PrState::Rejected)?;
            if let (Actor::Human(_), Some(issue)) = (&context.actor, pr.of.issue()) {
                queue_asked(tx, context, issue)?;
            }
        }
    }
    load_pr(tx, id)
}

/// Checks that the writer may judge, and returns how it is protected.
fn check_judge(
    tx: &Transaction<'_>,
    context: &Context,
    pr: &PullRequest,
) -> Result<JudgeProtection, StoreError> {
    let Actor::Run(key) = &context.actor else {
        return Ok(JudgeProtection::PERSON);
    };
    let run = load_run(tx, &key.run)?;
    let on_this = matches!(&run.target, RunTarget::PullRequest(_, id) if *id == pr.id);
    if run.agent != AgentType::Judge || !on_this || pr.run.as_ref() == Some(&run.id) {
        return Err(ReviewRefusal::NotItsJudge {
            of: ReviewOf::PullRequest(pr.id),
            agent: run.agent,
        }
        .into());
    }
    Ok(JudgeProtection::of(&run))
}
