//! What a tick, or a round of a plan, did: facts, which a face puts into words.

use std::fmt;

use symphony_core::agent::AgentType;
use symphony_core::done::StaleLook;
use symphony_core::id::{IssueId, PhaseName, PlanId, PlanPhaseId, PrId, ProjectId, RunId};
use symphony_core::plan::state::PlanStatus;
use symphony_core::pull_request::PullRequestOf;
use symphony_core::run::RunTarget;
use symphony_core::tick::{LeftoverOwner, StartRun};
use symphony_core::watchdog::{Step, Stuck};
use symphony_store::ClaimRefusal;

/// Something that was done, or that was found to need nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepEvent {
    /// A tick that was stuck was ended, so that this one could begin.
    TickEnded(Stuck),
    /// A run was to be started.
    Start(StartSubject, StartEnd),
    /// About a run and its supervisor.
    Run(RunId, RunStepEvent),
    /// About an issue.
    Issue(IssueId, IssueStepEvent),
    /// About a plan.
    Plan(PlanId, PlanStepEvent),
    /// About the merge of a pull request.
    Merge {
        /// What it finishes.
        of: PullRequestOf,
        /// The pull request.
        pr: PrId,
        /// The base branch.
        base: String,
        /// What was done.
        event: MergeStepEvent,
    },
    /// Something about a base branch is in the inbox.
    BaseNoticed {
        /// What it is about.
        subject: String,
        /// What was found.
        text: String,
    },
    /// Old logs were removed.
    LogsRemoved {
        /// The project.
        project: ProjectId,
        /// Of how many runs.
        runs: u64,
        /// How old they were at least, in days.
        days: u64,
    },
}

/// Whether a run was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartEnd {
    /// It was.
    Started(RunId),
    /// It was not, since something changed after the decision.
    Refused(ClaimRefusal),
}

/// Something about a run and its supervisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunStepEvent {
    /// Its exit handling, which was cut off, goes on.
    ExitHandlingResumed,
    /// Its supervisor died, and its exit handling has begun.
    ExitHandlingBegun {
        /// How many processes were left, and were ended.
        processes: u64,
    },
    /// Its supervisor is past the time limit of its step.
    SupervisorLate {
        /// The step.
        step: Step,
        /// The limit.
        limit_ms: u64,
    },
    /// Its supervisor was stuck, has gone on, and is left alone.
    SupervisorWentOn,
    /// Its supervisor was stuck and was ended, and its exit handling has begun.
    SupervisorEnded {
        /// What it did not get past.
        stuck: Stuck,
        /// How many processes were left, and were ended.
        processes: u64,
    },
    /// What a dead supervisor left of it was looked after.
    Tidied(LeftoverOwner),
}

/// Something about an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IssueStepEvent {
    /// A phase of it is accepted.
    PhaseAccepted {
        /// The phase.
        phase: PhaseName,
        /// The next one; none after the last.
        next: Option<PhaseName>,
    },
    /// Something else took its step to the next phase.
    PhaseAcceptedBefore,
    /// Its sub-tasks have ended, so that it goes on.
    SubtasksEnded,
    /// Its circuit breaker opened.
    BreakerOpened,
    /// The proposal that nothing is left to do is confirmed.
    DoneConfirmed {
        /// The proposal.
        pr: PrId,
    },
    /// A worker checks again whether anything is left to do.
    ProposalReturned {
        /// Why.
        why: String,
    },
    /// The gates or a judge look at a proposal again.
    ProposalRefreshed {
        /// The proposal.
        pr: PrId,
        /// Who looks.
        look: StaleLook,
    },
    /// It has ended, and its worktree was removed.
    WorktreeRemoved {
        /// What was removed and what was kept, the issue's name first.
        done: String,
    },
}

/// Something about a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanStepEvent {
    /// A phase ended without being asked about.
    PhaseEnded {
        /// The phase.
        phase: PlanPhaseId,
        /// How.
        end: PhaseEnd,
    },
    /// A run of a phase is asked to end.
    RunEnding {
        /// The phase.
        phase: PlanPhaseId,
        /// The run.
        run: RunId,
    },
    /// As of a tick.
    Step(Box<StepEvent>),
    /// The plan has ended.
    Ended(PlanStatus),
    /// Its branch has moved: its pull request has a new head.
    ReviewRenewed {
        /// The pull request.
        pr: PrId,
    },
    /// Its pull request is open.
    ReviewOpened {
        /// The pull request.
        pr: PrId,
        /// Into which branch.
        branch: String,
    },
    /// Its work is on the user's branch.
    Merged {
        /// The branch.
        branch: String,
        /// The commit.
        commit: String,
    },
    /// It completed, and the user's branch had everything.
    Unchanged {
        /// The branch.
        branch: String,
    },
}

/// How a phase ended without being asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PhaseEnd {
    /// It was left out.
    Skipped,
    /// It failed, and is not tried again.
    GivenUp,
    /// It was ended with its plan.
    Aborted,
    /// A phase that it needs has failed.
    Blocked {
        /// That phase.
        by: PlanPhaseId,
    },
}

/// Something about the merge of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeStepEvent {
    /// It was cut off, had reached the base branch, and is recorded now.
    Recorded,
    /// It was cut off before it reached the base branch: the pull request is open as before.
    TakenBack,
    /// It was made outside Symphony, and is recorded now.
    Outside {
        /// Who made it, where git knows.
        by: Option<String>,
        /// What happened to the worktree; none where it was not tried.
        worktree: Option<String>,
    },
}

/// What a run works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartSubject {
    /// The project.
    pub project: ProjectId,
    /// What of it.
    pub target: RunTarget,
    /// The agent.
    pub agent: AgentType,
}

impl StartSubject {
    /// Returns the subject of a start.
    pub(crate) fn of(start: &StartRun) -> Self {
        Self {
            project: start.project.clone(),
            target: start.target.clone(),
            agent: start.agent.clone(),
        }
    }
}

impl fmt::Display for StartSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agent = &self.agent;
        match (self.target.issue(), &self.target) {
            (Some(issue), _) => write!(f, "{issue}: {agent}"),
            (None, RunTarget::PlanPhase(_, phase)) => write!(f, "{phase}"),
            (None, RunTarget::PullRequest(of, _) | RunTarget::Gates(of, _)) => {
                write!(f, "{of}: {agent}")
            }
            (None, _) => write!(f, "{}: {agent}", self.project),
        }
    }
}
