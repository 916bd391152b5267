//! What a tick sees: candidates only, read through indexes, never the whole table.

use std::collections::BTreeMap;

use serde::Serialize;

use super::agents_view::{IntakeCandidate, ProjectAgents};
use super::live_run::{LiveRun, LockState};
use super::models::AskedModels;
use super::named_providers::NamedProviders;
use super::open_plan::OpenPlan;
use crate::Timestamp;
use crate::agent::AgentType;
use crate::closed_set::closed_set;
use crate::config_change::decisive_patterns;
use crate::done::{BaseNow, Obstacle};
use crate::exit_handling::PutOff;
use crate::gates::{BaseGates, ConfiguredGate};
use crate::hold::{Hold, HoldScope};
use crate::id::{DeliveryId, IssueId, PhaseName, PrId, ProjectId, RunId};
use crate::inbox::{LeftWorktree, LostDocument};
use crate::issue::{AttemptCounts, BreakerTarget, Priority, Size};
use crate::judges_ended::JudgesEnded;
use crate::outside::BaseView;
use crate::placement::{Pool, Staff};
use crate::profile::AgentChoice;
use crate::pull_request::PullRequestOf;
use crate::retry::{BACKOFF_MAX_MS, RetryKind};
use crate::review_point::PointNumber;
use crate::run::RunTarget;
use crate::watchdog::{Stuck, Watch};

/// Most candidates that a tick reads per project: many times the slots of a machine, and a long backlog costs no more.
pub const CANDIDATES_MAX: usize = 500;

/// Everything that the plan of one tick depends on, apart from the time.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Whether a human paused all dispatch.
    pub paused: bool,
    /// The installation's limits.
    pub slots: SlotLimits,
    /// The projects, by id.
    pub projects: BTreeMap<ProjectId, ProjectView>,
    /// What is on hold.
    pub holds: Vec<Hold>,
    /// Runs that are not over.
    pub live: Vec<LiveRun>,
    /// Issues in `todo`.
    pub candidates: Vec<Candidate>,
    /// Issues in `review` with something open.
    pub reviews: Vec<ReviewCandidate>,
    /// Issues in `backlog` that no intake has looked at, of projects with intake.
    pub intake: Vec<IntakeCandidate>,
    /// Issues in `review` whose phase is accepted.
    pub accepted: Vec<AcceptedPhase>,
    /// Issues that wait for sub-tasks which have all ended.
    pub split: Vec<SplitIssue>,
    /// Worktrees of issues that have ended.
    pub clean_ups: Vec<CleanUp>,
    /// Runs that are not live, and whose files were never tidied.
    pub leftovers: Vec<Leftover>,
    /// What was found about supervisors that are alive and past the limit of their step.
    pub watched: BTreeMap<RunId, Watch>,
    /// What base branches show that have moved.
    pub base: BaseView,
    /// Temporary worktrees whose run has ended.
    pub left_worktrees: Vec<LeftWorktree>,
    /// Accepted documents that are no longer in their repository.
    pub lost_documents: Vec<LostDocument>,
    /// Plans that have not ended.
    pub plans: Vec<OpenPlan>,
    /// Another tick that holds the turn and makes no progress.
    pub stuck_tick: Option<Stuck>,
    /// The workers of each pool that are there.
    pub staff: BTreeMap<Pool, Staff>,
    /// Issues whose branch lacks the result of an ended run on another host, with that run.
    pub unpromoted: BTreeMap<IssueId, RunId>,
}

impl Snapshot {
    /// Returns whether a single model of a provider is on hold: only then does anyone need to know which models are
    /// used.
    pub fn has_model_hold(&self) -> bool {
        self.holds
            .iter()
            .any(|hold| matches!(hold.scope, HoldScope::Model { .. }))
    }

    /// Returns the run that is live on an issue.
    pub(super) fn run_on(&self, issue: &IssueId) -> Option<&LiveRun> {
        self.live
            .iter()
            .find(|run| run.issue.as_ref() == Some(issue))
    }

    /// Returns the run that is live on what a pull request finishes.
    pub(super) fn run_on_source(&self, of: &PullRequestOf) -> Option<&LiveRun> {
        let plan = match of {
            PullRequestOf::Issue(issue) => return self.run_on(issue),
            PullRequestOf::Plan(plan) => Some(plan),
        };
        self.live.iter().find(|run| run.plan.as_ref() == plan)
    }

    /// Returns whether an issue of a project waits to be dispatched: its phase decides for which agent.
    pub fn needs_phases(&self, project: &ProjectId) -> bool {
        self.candidates.iter().any(|c| c.project == *project)
    }

    /// Returns whether anything of a project may be done that needs its base branch: a dispatch, a run's end, or the
    /// removal of a worktree.
    pub fn needs_base(&self, project: &ProjectId) -> bool {
        let agents = self.projects.get(project).map(|view| &view.agents);
        agents.is_some_and(ProjectAgents::any_enabled)
            || self.needs_phases(project)
            // its gates and its merge need it, and a person has time until then
            || self.live.iter().any(|run| run.project == *project)
            || self.reviews.iter().any(|r| r.project == *project)
            || self.intake.iter().any(|c| c.project == *project)
            || self.clean_ups.iter().any(|c| c.project == *project)
            || self
                .holds
                .iter()
                .any(|hold| hold.scope == HoldScope::Gates(project.clone()))
    }
}

/// How many runs may live at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlotLimits {
    /// In the installation; never 0.
    pub total: u32,
    /// By agent type, if configured.
    pub by_agent: BTreeMap<AgentType, u32>,
    /// Pull requests whose gates may run at once; they take no agent's slot.
    pub gates: u32,
}

/// What dispatch needs to know of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the configuration, by its name there"
)]
pub struct ProjectView {
    /// Its own limit of runs at once.
    pub max_concurrency: Option<u32>,
    /// The pool that its runs wait in; `None` if they are started on the host of the tick.
    pub pool: Option<Pool>,
    /// Where the circuit breaker opens.
    pub max_retries: u32,
    /// Longest wait before a retry, in milliseconds.
    pub max_backoff_ms: u64,
    /// Where an open breaker puts an issue.
    pub breaker_target: BreakerTarget,
    /// The provider that a run would use, or why there is none.
    pub provider: Result<String, String>,
    /// The providers that profiles and issues name.
    pub named_providers: NamedProviders,
    /// Which models its agents use; empty while no hold depends on it.
    pub models: AskedModels,
    /// Whether judges review.
    pub judge_enabled: bool,
    /// Whether a proposal that nothing is left to do is confirmed without a person.
    pub auto_done: bool,
    /// How long after a judge's run the next one may look at the same work.
    pub judge_cooldown_ms: u64,
    /// Whether planners split issues.
    pub planner_enabled: bool,
    /// Whether research and architecture are dispatched.
    pub researcher_enabled: bool,
    /// Whether an issue without a phase label counts as ready.
    pub migration_mode: bool,
    /// Most reviews that may wait for a human before no worker is started.
    pub max_open_reviews: Option<u32>,
    /// Reviews that wait for a human now.
    pub open_reviews: u32,
    /// The profile dispatched for each phase of its pipeline.
    pub phases: BTreeMap<PhaseName, AgentType>,
    /// Tracked paths that decide what Symphony does, once a change of them is merged.
    pub decisive_paths: Vec<String>,
    /// The agents that work on the project itself, and intake.
    pub agents: ProjectAgents,
    /// The names of its gates.
    pub gate_names: Vec<String>,
    /// Its gates, with everything that their results depend on; empty if no pull request is open.
    pub gates: Vec<ConfiguredGate>,
    /// Required gates that have not passed on the base with their current definition; empty if no issue waits.
    pub untried_gates: Vec<String>,
    /// What is known of its gates on its base; `None` if they hold nothing and no issue repairs one.
    pub base_gates: Option<BaseGates>,
    /// What is wrong with its configuration; nothing of it is dispatched then.
    pub broken: Option<String>,
    /// Why there is no base that work could start from; nothing of it is dispatched then.
    pub no_base: Option<NoBase>,
}

/// Why there is no base that work on a project could start from: its base branch is missing, or git cannot check it
/// out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoBase {
    /// What is wrong, and what to do.
    pub problem: String,
    /// The command to begin with.
    pub answer: String,
}

impl ProjectView {
    /// The view of a project whose configuration is broken: nothing of it is dispatched.
    pub fn broken(problem: String) -> Self {
        Self {
            max_concurrency: None,
            pool: None,
            max_retries: u32::MAX,
            max_backoff_ms: BACKOFF_MAX_MS,
            breaker_target: BreakerTarget::Backlog,
            provider: Err(problem.clone()),
            named_providers: NamedProviders::default(),
            models: AskedModels::default(),
            judge_enabled: true,
            auto_done: false,
            judge_cooldown_ms: 0,
            planner_enabled: false,
            researcher_enabled: true,
            migration_mode: true,
            max_open_reviews: None,
            open_reviews: 0,
            phases: BTreeMap::new(),
            decisive_paths: decisive_patterns(None),
            agents: ProjectAgents::default(),
            gate_names: Vec::new(),
            gates: Vec::new(),
            untried_gates: Vec::new(),
            base_gates: None,
            broken: Some(problem),
            no_base: None,
        }
    }
}

/// A retry that is not over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DueRetry {
    /// The reason.
    pub kind: RetryKind,
    /// The earliest time of the next attempt.
    pub due_at: Timestamp,
    /// The attempt that ended.
    pub attempt: u32,
}

/// An issue in `todo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The issue.
    pub issue: IssueId,
    /// Its project.
    pub project: ProjectId,
    /// Its phase label.
    pub phase: Option<PhaseName>,
    /// The priority.
    pub priority: Priority,
    /// The estimated size.
    pub size: Option<Size>,
    /// Whether it has the label `needs-planning`.
    pub needs_planning: bool,
    /// Whether it was split already.
    pub has_subtasks: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// Dependencies that are not done.
    pub waits_for: Vec<IssueId>,
    /// What counts towards the breaker.
    pub counts: AttemptCounts,
    /// Its next try, if it waits for one.
    pub retry: Option<DueRetry>,
    /// The gates that it repairs (`fixes-gate:NAME`): it starts while one of them is red on the base.
    pub repairs: Vec<String>,
    /// What its authors run with, where it says so.
    pub choice: AgentChoice,
}

/// The state of a review's gates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GatesState {
    /// They ran on its head commit; a delivery has none.
    Verified,
    /// Required ones failed on its head commit, and no agent works on it: a person decides.
    Red,
    /// They have not run on its head commit.
    Pending {
        /// The earliest time at which they run.
        due_at: Timestamp,
        /// Why they could not be run the last time.
        problem: Option<String>,
    },
}

impl GatesState {
    /// Gates that are due at once.
    pub const fn due() -> Self {
        Self::Pending {
            due_at: Timestamp::UNIX_EPOCH,
            problem: None,
        }
    }
}

/// An issue or a plan in `review` with an open pull request, or an issue with a delivery that waits for a judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewCandidate {
    /// The issue, or the plan.
    pub of: PullRequestOf,
    /// Its project.
    pub project: ProjectId,
    /// What is reviewed.
    pub subject: ReviewSubject,
    /// The priority.
    pub priority: Priority,
    /// When the issue was made, or the plan began.
    pub created_at: Timestamp,
    /// The state of its gates.
    pub gates: GatesState,
    /// Whether its issue repairs a gate (`fixes-gate:NAME`).
    pub fixes_gate: bool,
    /// Whether there is a verdict on its head commit.
    pub has_verdict: bool,
    /// When the last judge's run on it started.
    pub last_judged_at: Option<Timestamp>,
    /// What counts towards the breaker; zero for a plan, which has no breaker.
    pub counts: AttemptCounts,
    /// How many judges ended without a verdict on it, in a row, since a person last cleared the attempts.
    pub judges: JudgesEnded,
    /// The open `must` points of people: nothing is approved while there are any, and only people close them.
    pub persons_points: Vec<PointNumber>,
}

impl ReviewCandidate {
    /// Returns what its judge would work on, and the phase of a delivery; `None` for a delivery of a plan, which cannot
    /// exist.
    pub fn target(&self) -> Option<(RunTarget, Option<PhaseName>)> {
        match (&self.subject, &self.of) {
            (ReviewSubject::PullRequest(pr) | ReviewSubject::Done { pr, .. }, of) => {
                Some((RunTarget::PullRequest(of.clone(), *pr), None))
            }
            (ReviewSubject::Delivery(claim, phase), PullRequestOf::Issue(issue)) => Some((
                RunTarget::Delivery(issue.clone(), *claim),
                Some(phase.clone()),
            )),
            (ReviewSubject::Delivery(..), PullRequestOf::Plan(_)) => None,
        }
    }
}

/// What a judge reviews.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewSubject {
    /// The open pull request.
    PullRequest(PrId),
    /// The open proposal that nothing is left to do.
    Done {
        /// Its number.
        pr: PrId,
        /// What stops its confirmation by Symphony; empty if it can be confirmed.
        obstacles: Vec<Obstacle>,
        /// What was seen of its base; `None` if it was not looked at.
        base: Option<Box<BaseNow>>,
    },
    /// The delivery of a phase.
    Delivery(DeliveryId, PhaseName),
}

/// An issue in `review` whose phase is accepted: its label goes to the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedPhase {
    /// The issue.
    pub issue: IssueId,
    /// Its project.
    pub project: ProjectId,
}

closed_set!(
    /// How the sub-tasks of an issue ended.
    SubtasksOutcome, "outcome of sub-tasks", {
        /// At least one is done.
        SomeDone = "some done",
        /// All are cancelled.
        AllCancelled = "all cancelled",
    }
);

/// An issue that waits for its sub-tasks, all of which have ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitIssue {
    /// The issue.
    pub issue: IssueId,
    /// Its project.
    pub project: ProjectId,
    /// How they ended.
    pub outcome: SubtasksOutcome,
}

/// A worktree whose issue has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanUp {
    /// The issue.
    pub issue: IssueId,
    /// Its project.
    pub project: ProjectId,
    /// The postponed removal, if an earlier one failed.
    pub put_off: Option<PutOff>,
    /// When the removal first failed.
    pub since: Option<Timestamp>,
}

closed_set!(
    /// Whose files a run that is not live has left.
    LeftoverOwner, "owner of left files", {
        /// A run that has ended: its prompts are to go.
        Ended = "ended",
        /// A run that has ended, of a project that keeps prompts.
        Kept = "kept",
        /// A run that was never claimed.
        Unclaimed = "unclaimed",
    }
);

/// A run that is not live, and whose files were never tidied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The run.
    pub run: RunId,
    /// The project in whose folder they are.
    pub project: ProjectId,
    /// Their owner.
    pub owner: LeftoverOwner,
    /// The state of its lock.
    pub lock: LockState,
    /// Since when its files are there.
    pub since: Timestamp,
}
