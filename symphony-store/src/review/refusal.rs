//! Why a review, a proposal or a delivery is refused. Agents read these texts, so they say what to do.

use symphony_core::agent::AgentType;
use symphony_core::contract::DeliveryState;
use symphony_core::id::{DeliveryId, IssueId, PhaseName, PlanId, PrId};
use symphony_core::issue::IssueStatus;
use symphony_core::plan::state::PlanStatus;
use symphony_core::pull_request::{PrState, PullRequest, PullRequestOf};
use symphony_core::review_point::ReviewOf;
use symphony_core::wording::with_article;

/// What is refused about something that is, was or cannot be under review.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each text shows what its fields are")]
#[non_exhaustive]
pub enum ReviewRefusal {
    /// The pull request or proposal has ended.
    #[error("{noun} {pr} is {state}{}", step.refused_in(*state))]
    Ended {
        noun: &'static str,
        pr: PrId,
        of: PullRequestOf,
        state: PrState,
        /// What was to be done with it.
        step: PrStep,
    },
    /// It proposes that nothing is left to do: it changes nothing that could be merged or published.
    #[error(
        "proposal {pr} says that nothing is left to do, so there is nothing to merge or publish"
    )]
    Proposal { pr: PrId, of: PullRequestOf },
    /// It is a change, where a proposal is expected.
    #[error("pull request {0} is a change, not a proposal that nothing is left to do")]
    Change(PrId),
    /// A pull request is open, so that something is left to do.
    #[error("pull request {0} is open: its change has not been reviewed yet. End your turn")]
    ChangeIsOpen(PrId),
    /// The issue is not in review. The text goes into a sentence about an approval too.
    #[error("{issue} is `{status}`, not in review: `symphony issue move {issue} review` first")]
    IssueNotInReview { issue: IssueId, status: IssueStatus },
    /// The plan is not in review.
    #[error("plan {plan} is `{status}`, not in review")]
    PlanNotInReview { plan: PlanId, status: PlanStatus },
    /// The verdict is about a commit that is not the head.
    #[error("the verdict is about commit {commit}, but the head of {of} is {head}")]
    OtherCommit {
        of: ReviewOf,
        commit: String,
        head: String,
    },
    /// The run that judges is none of a judge of this.
    #[error("only a judge's run on {of} may judge it; this is a run of {}", with_article(agent.name()))]
    NotItsJudge { of: ReviewOf, agent: AgentType },
    /// A proposal has something in its way.
    #[error("proposal {pr} cannot be confirmed: {obstacles}")]
    NotConfirmed {
        pr: PrId,
        /// What is in its way, in words.
        obstacles: String,
    },
    /// The phase of the issue does not end with a pull request.
    #[error("the pull request is superseded: {issue} {} now. What is committed stays on the branch; end your turn", phase_words(phase.as_ref()))]
    PrSuperseded {
        issue: IssueId,
        phase: Option<PhaseName>,
    },
    /// The phase of a delivery is not the issue's any more.
    #[error("the delivery of `{delivered}` is superseded: {issue} {} now", phase_words(phase.as_ref()))]
    DeliverySuperseded {
        delivered: PhaseName,
        issue: IssueId,
        phase: Option<PhaseName>,
    },
    /// The run has delivered already.
    #[error(
        "this run has already claimed `{phase}` (delivery {delivery}, {state}): nothing is left to do, end your turn"
    )]
    Delivered {
        phase: PhaseName,
        delivery: DeliveryId,
        state: DeliveryState,
    },
    /// Deliveries come from issues that are worked on.
    #[error("{issue} is `{status}`: a phase can be claimed only while the issue is in progress")]
    NotInProgress { issue: IssueId, status: IssueStatus },
    /// No judge is asked about the delivery.
    #[error("delivery {delivery} is {state}: there is nothing to judge")]
    NothingToJudge {
        delivery: DeliveryId,
        state: DeliveryState,
    },
    /// The delivery is settled.
    #[error("delivery {delivery} is already {state}")]
    Settled {
        delivery: DeliveryId,
        state: DeliveryState,
    },
    /// It is not any more what the merge began with.
    #[error(
        "pull request {pr} changed while it was being merged: {change}. The base was not moved"
    )]
    ChangedInMerge { pr: PrId, change: String },
    /// The end of a run takes the step to the next phase.
    #[error("a run is live on {0}: when it ends, the issue moves to its next phase")]
    RunIsLive(IssueId),
}

/// What is to be done with a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrStep {
    /// A verdict of a judge or a person.
    Judge,
    /// A person's approval.
    Approve,
    /// A person's rejection.
    Reject,
    /// The end without a merge.
    Close,
    /// The confirmation of a proposal.
    Confirm,
    /// A merge.
    Merge,
    /// Gates.
    Gates,
    /// A publication.
    Publish,
}

impl PrStep {
    /// Says what the state of an ended pull request means for it.
    fn refused_in(self, state: PrState) -> String {
        let word = match self {
            Self::Judge => return ": there is nothing to judge".to_owned(),
            Self::Gates => return ": its gates no longer run".to_owned(),
            Self::Publish => return ": only an open one is published".to_owned(),
            Self::Approve => "approved",
            Self::Reject => "rejected",
            Self::Close => "closed",
            Self::Confirm => "confirmed",
            Self::Merge => "merged",
        };
        if word == state.name() {
            " already".to_owned()
        } else {
            format!(": it cannot be {word}")
        }
    }
}

/// Refuses a pull request that has ended.
///
/// # Errors
/// When it has.
pub fn refuse_ended(pr: &PullRequest, step: PrStep) -> Result<(), ReviewRefusal> {
    if pr.state.is_open() {
        return Ok(());
    }
    Err(ReviewRefusal::Ended {
        noun: pr.noun(),
        pr: pr.id,
        of: pr.of.clone(),
        state: pr.state,
        step,
    })
}

/// Refuses to merge or publish a proposal that nothing is left to do.
///
/// # Errors
/// When it is one.
pub fn refuse_proposal(pr: &PullRequest) -> Result<(), ReviewRefusal> {
    if pr.proposal.is_none() {
        return Ok(());
    }
    Err(ReviewRefusal::Proposal {
        pr: pr.id,
        of: pr.of.clone(),
    })
}

/// Returns words for the phase of an issue, as the end of a sentence about it.
pub(crate) fn phase_words(phase: Option<&PhaseName>) -> String {
    phase.map_or_else(
        || "has no phase label".to_owned(),
        |phase| format!("is in the phase `{phase}`"),
    )
}
