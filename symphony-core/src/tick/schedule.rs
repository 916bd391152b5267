//! The schedule of one tick: actions, and a reason for everything that is not started.

use serde::Serialize;

use super::reason::Reason;
use super::snapshot::LeftoverOwner;
use crate::agent::AgentType;
use crate::done::{BaseNow, MovedProposal, StaleProposal};
use crate::hold::{HoldScope, ProbeItem};
use crate::id::{IssueId, PhaseName, PlanId, PrId, ProjectId, RunId};
use crate::outside::{BaseLook, BaseNotice, FoundMerge};
use crate::placement::{Host, Pool};
use crate::pull_request::PullRequestOf;
use crate::run::RunTarget;
use crate::watchdog::{Stuck, Suspicion};

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "action")]
pub enum Action {
    /// Do the exit handling of a run whose supervisor died, or whose exit handling was postponed.
    FinishCrashed {
        /// The run.
        run: RunId,
        /// Its issue.
        issue: Option<IssueId>,
    },
    /// Keep the suspicion that a supervisor makes no progress; the next tick looks again.
    Suspect {
        /// The run.
        run: RunId,
        /// Its issue.
        issue: Option<IssueId>,
        /// What was seen.
        suspicion: Suspicion,
    },
    /// Kill a supervisor that two ticks have found stuck, and do the exit handling of its run.
    EndStuck {
        /// The run.
        run: RunId,
        /// Its issue.
        issue: Option<IssueId>,
        /// What was seen.
        stuck: Stuck,
    },
    /// End a run without its host, which was not heard of for too long.
    EndLost {
        /// The run.
        run: RunId,
        /// Its issue.
        issue: Option<IssueId>,
        /// The host.
        host: Host,
    },
    /// Take a run out of its pool, which no worker has begun, and end it.
    Withdraw {
        /// The run.
        run: RunId,
        /// Its issue.
        issue: Option<IssueId>,
        /// The pool.
        pool: Pool,
        /// Why it waits there in vain.
        why: Unwanted,
    },
    /// Move an issue to its next phase: the one before is accepted.
    AdvancePhase {
        /// The issue.
        issue: IssueId,
    },
    /// Put an issue back to `todo`: its sub-tasks have ended.
    Unblock {
        /// The issue.
        issue: IssueId,
    },
    /// Open the circuit breaker of an issue that used up its attempts.
    OpenBreaker {
        /// The issue.
        issue: IssueId,
    },
    /// Record that the base has the change of a pull request that Symphony did not merge: its issue is done, or its
    /// plan completed.
    RecordMerge(FoundMerge),
    /// Confirm that nothing is left to do on an issue: its gates are green, a judge agrees, and `auto_done` is on.
    ConfirmDone {
        /// The issue.
        issue: IssueId,
        /// Its project.
        project: ProjectId,
        /// The proposal.
        pr: PrId,
        /// What was seen of its base.
        #[serde(skip)]
        base: Box<BaseNow>,
    },
    /// Have the gates or a judge look at a proposal again: what they saw is out of date.
    RefreshProposal(StaleProposal),
    /// Send a proposal that nothing is left to do back to a worker: the base has moved in a way that concerns it.
    ReturnProposal(MovedProposal),
    /// Tell a person about commits of an agent on the base.
    NoteBase(BaseNotice),
    /// Record how far a base branch was looked at.
    RememberBase(BaseLook),
    /// Claim and start a run.
    StartRun(StartRun),
    /// Remove the worktree of an issue that has ended.
    CleanUp {
        /// The issue.
        issue: IssueId,
        /// Its project.
        project: ProjectId,
    },
    /// Tidy the files of a run that no one returns to.
    TidyRun {
        /// The run.
        run: RunId,
        /// The project in whose folder they are.
        project: ProjectId,
        /// Their owner.
        owner: LeftoverOwner,
    },
}

/// Why a run waits in a pool in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unwanted {
    /// Someone asked for its end.
    Cancelled,
    /// Its project has another pool by now, or none.
    Moved,
    /// Symphony is paused.
    Paused,
}

impl Unwanted {
    /// Returns the reason as the end of a sentence; nothing where none is known.
    pub const fn clause(why: Option<Self>) -> &'static str {
        match why {
            Some(Self::Cancelled) => ": it was cancelled",
            Some(Self::Moved) => ": its project has another pool or none",
            Some(Self::Paused) => ": Symphony is paused",
            None => "",
        }
    }
}

/// A run to claim and start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StartRun {
    /// The project.
    pub project: ProjectId,
    /// What it works on.
    pub target: RunTarget,
    /// The type of agent.
    pub agent: AgentType,
    /// The issue's phase.
    pub phase: Option<PhaseName>,
    /// Which run on this issue since its phase last advanced, from 1.
    pub attempt: u32,
    /// The provider.
    pub provider: String,
    /// Holds that are over and for which this run is the probe.
    pub probes: Vec<HoldScope>,
}

impl StartRun {
    /// Returns what would probe a hold with it.
    pub fn item(&self) -> ProbeItem {
        ProbeItem::of(&self.target, &self.project, &self.agent)
    }
}

/// Why an issue is not started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The issue.
    pub issue: IssueId,
    /// All reasons, the decisive ones first.
    pub reasons: Vec<Reason>,
}

/// Why the pull request of a plan is not given to a judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanReviewDecision {
    /// The plan.
    pub plan: PlanId,
    /// Its pull request.
    pub pr: PrId,
    /// All reasons, the decisive ones first.
    pub reasons: Vec<Reason>,
}

/// Why an agent that works on a project itself is not started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProjectDecision {
    /// The project.
    pub project: ProjectId,
    /// The agent.
    pub agent: AgentType,
    /// All reasons, the decisive ones first.
    pub reasons: Vec<Reason>,
}

/// What one tick does, and does not do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Schedule {
    /// What is done, in this order.
    pub actions: Vec<Action>,
    /// Why everything else is not.
    pub decisions: Vec<Decision>,
    /// Why agents that work on a project itself are not started.
    pub project_decisions: Vec<ProjectDecision>,
    /// Why the pull requests of plans are not given to judges.
    pub plan_decisions: Vec<PlanReviewDecision>,
}

impl Schedule {
    /// Records why a run does not start.
    pub(super) fn wait(&mut self, start: &StartRun, reasons: Vec<Reason>) {
        let target = &start.target;
        match (target.issue(), target.plan().zip(target.pull_request())) {
            (Some(issue), _) => self.wait_issue(issue.clone(), reasons),
            (None, Some((plan, pr))) => self.wait_plan(plan.clone(), pr, reasons),
            (None, None) => {
                self.wait_project(start.project.clone(), start.agent.clone(), reasons);
            }
        }
    }

    /// Records why no one starts on an issue.
    pub(super) fn wait_issue(&mut self, issue: IssueId, reasons: Vec<Reason>) {
        self.decisions.push(Decision { issue, reasons });
    }

    /// Records why no one starts on what a pull request finishes.
    pub(super) fn wait_review(&mut self, of: &PullRequestOf, pr: PrId, reasons: Vec<Reason>) {
        match of {
            PullRequestOf::Issue(issue) => self.wait_issue(issue.clone(), reasons),
            PullRequestOf::Plan(plan) => self.wait_plan(plan.clone(), pr, reasons),
        }
    }

    /// Records why the review of a plan's pull request does not start.
    pub(super) fn wait_plan(&mut self, of: PlanId, pr: PrId, reasons: Vec<Reason>) {
        self.plan_decisions.push(PlanReviewDecision {
            plan: of,
            pr,
            reasons,
        });
    }

    /// Records why an agent does not start on a project.
    pub(super) fn wait_project(
        &mut self,
        project: ProjectId,
        agent: AgentType,
        reasons: Vec<Reason>,
    ) {
        self.project_decisions.push(ProjectDecision {
            project,
            agent,
            reasons,
        });
    }
}
