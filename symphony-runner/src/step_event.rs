//! What a tick, or a round of a plan, did: facts, which each user interface puts into words.

use std::fmt;

use symphony_core::agent::AgentType;
use symphony_core::done::StaleLook;
use symphony_core::id::{IssueId, PhaseName, PlanId, PlanPhaseId, PrId, ProjectId, RunId};
use symphony_core::placement::{Host, Pool};
use symphony_core::plan::state::PlanStatus;
use symphony_core::pull_request::PullRequestOf;
use symphony_core::run::RunTarget;
use symphony_core::tick::{LeftoverOwner, StartRun, Unwanted};
use symphony_core::watchdog::{Step, Stuck};
use symphony_store::ClaimRefusal;

/// Something that was done, or that turned out to need nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepEvent {
    /// A stuck tick was ended, so that this one could begin.
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
        /// The number of runs.
        runs: u64,
        /// Their minimum age, in days.
        days: u64,
    },
}

/// Whether a run was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartEnd {
    /// It was.
    Started(RunId),
    /// It was claimed, and waits for a worker of this pool.
    Queued(RunId, Pool),
    /// It was not, because something changed after the decision.
    Refused(ClaimRefusal),
}

/// Something about a run and its supervisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunStepEvent {
    /// Its interrupted exit handling continues.
    ExitHandlingResumed,
    /// Its supervisor died, and its exit handling has begun.
    ExitHandlingBegun {
        /// How many leftover processes were ended.
        processes: u64,
    },
    /// Its supervisor is past the time limit of its step.
    SupervisorLate {
        /// The step.
        step: Step,
        /// The limit.
        limit_ms: u64,
    },
    /// Its supervisor was stuck, has made progress, and is left alone.
    SupervisorWentOn,
    /// Its supervisor was stuck and was ended, and its exit handling has begun.
    SupervisorEnded {
        /// Where it was stuck.
        stuck: Stuck,
        /// How many leftover processes were ended.
        processes: u64,
    },
    /// Its host did not come back, and it was ended without it.
    HostLost(Host),
    /// It was taken out of its pool before a worker began it.
    Withdrawn(Pool, Option<Unwanted>),
    /// The files that a dead supervisor left were tidied.
    Tidied(LeftoverOwner),
}

/// Something about an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IssueStepEvent {
    /// A phase of it is accepted.
    PhaseAccepted {
        /// The phase.
        phase: PhaseName,
        /// The next one; `None` after the last.
        next: Option<PhaseName>,
    },
    /// Something else already moved it to the next phase.
    PhaseAcceptedBefore,
    /// Its sub-tasks have ended, so it continues.
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
        /// The reason.
        why: String,
    },
    /// The gates or a judge look at a proposal again.
    ProposalRefreshed {
        /// The proposal.
        pr: PrId,
        /// Who looks.
        look: StaleLook,
    },
    /// Its branch was moved to what a run on another host made.
    ResultBroughtIn {
        /// The run.
        run: RunId,
        /// Refs with work of an earlier run that was left on this host.
        rescues: Vec<String>,
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
    /// A phase ended without anyone being asked.
    PhaseEnded {
        /// The phase.
        phase: PlanPhaseId,
        /// The end.
        end: PhaseEnd,
    },
    /// A run of a phase is asked to end.
    RunEnding {
        /// The phase.
        phase: PlanPhaseId,
        /// The run.
        run: RunId,
    },
    /// An event that ticks have, too.
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
    /// It completed, and the user's branch already had everything.
    Unchanged {
        /// The branch.
        branch: String,
    },
}

/// How a phase ended without anyone being asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PhaseEnd {
    /// It was left out.
    Skipped,
    /// It failed, and is not tried again.
    GivenUp,
    /// It was ended with its plan.
    Aborted,
    /// A phase that it depends on has failed.
    Blocked {
        /// That phase.
        by: PlanPhaseId,
    },
}

/// Something about the merge of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeStepEvent {
    /// It was interrupted, had reached the base branch, and is recorded now.
    Recorded,
    /// It was interrupted before it reached the base branch: the pull request is open as before.
    TakenBack,
    /// It was made outside Symphony, and is recorded now.
    Outside {
        /// Who made it, if git knows.
        by: Option<String>,
        /// What happened to the worktree; `None` if its removal was not tried.
        worktree: Option<String>,
    },
}

/// What a run works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartSubject {
    /// The project.
    pub project: ProjectId,
    /// Its target.
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
