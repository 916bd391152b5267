//! Agent runs: their status, usage and protection level.

use std::fmt;

use crate::Timestamp;
use serde::{Deserialize, Serialize};

use crate::agent::AgentType;
use crate::closed_set::closed_set;
use crate::config::{SandboxLevel, SandboxNetwork};
use crate::failure::ErrorClass;
use crate::id::{DeliveryId, IssueId, PhaseName, PlanId, PlanPhaseId, PrId, ProjectId, RunId};
use crate::placement::{Host, Pool};
use crate::prompt_trial::Assignment;
use crate::pull_request_of::PullRequestOf;
use crate::unit::{Tokens, UsdMicros};

closed_set!(
    /// The state of a run.
    RunStatus, "run status", {
        /// Claimed; its supervisor prepares it.
        Starting = "starting",
        /// Its agent runs.
        Running = "running",
        /// Ended successfully by its provider's own test.
        Succeeded = "succeeded",
        /// Ended otherwise.
        Failed = "failed",
        /// Ended by the time limit.
        TimedOut = "timed_out",
        /// Ended for silence.
        Stalled = "stalled",
        /// Its supervisor died.
        Crashed = "crashed",
        /// Ended for repeating itself.
        Looping = "looping",
        /// Ended with changed program-running configuration.
        Tampered = "tampered",
        /// Ended by a human.
        Cancelled = "cancelled",
    }
);

impl RunStatus {
    /// Returns whether the run is not over (`starting`, `running`).
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Starting | Self::Running)
    }
}

closed_set!(
    /// What keeps an agent from accessing anything that is not its own.
    ProtectionLevel, "protection level", {
        /// Nothing but role, scrubbed environment and filters: protects against mistakes only.
        None = "none",
        /// A sandbox round the agent.
        Sandbox = "sandbox",
        /// Another user, container or machine.
        Isolated = "isolated",
    }
);

/// What confined a run's agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxRecord {
    /// The level.
    pub level: SandboxLevel,
    /// What its network reached.
    pub network: SandboxNetwork,
    /// The version of the kernel's Landlock; `None` where the level does not use it.
    pub landlock_abi: Option<u32>,
}

/// Whether a provider can keep tools that run programs from its agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellTools {
    /// A judge has none.
    Withheld,
    /// Every agent has them.
    Given,
}

impl fmt::Display for SandboxRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.level)?;
        match (self.level, self.landlock_abi) {
            (SandboxLevel::Off, _) => Ok(()),
            (_, Some(landlock)) => write!(f, " (network {}, Landlock {landlock})", self.network),
            (_, None) => write!(f, " (network {})", self.network),
        }
    }
}

impl SandboxRecord {
    /// Returns the protection of a run. `shell` says what its agent has.
    ///
    /// `landlock` leaves the network open, and so does the network `host`: an agent could reach services of the machine
    /// with the user's permissions, the page of Symphony among them. A judge with a shell runs the code that it judges,
    /// and that code could speak in its name.
    pub fn protection(&self, agent: &AgentType, shell: ShellTools) -> ProtectionLevel {
        let is_tight =
            self.level == SandboxLevel::Namespace && self.network != SandboxNetwork::Host;
        let is_own_voice = *agent != AgentType::Judge || shell == ShellTools::Withheld;
        if is_tight && is_own_voice {
            ProtectionLevel::Sandbox
        } else {
            ProtectionLevel::None
        }
    }
}

/// What a run used. `metering` says who counted it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to the cache.
    pub input_tokens: Tokens,
    /// Output tokens.
    pub output_tokens: Tokens,
    /// Input tokens read from the cache.
    pub cache_read_tokens: Tokens,
    /// Input tokens written to the cache.
    pub cache_creation_tokens: Tokens,
    /// Cost as computed by the provider's CLI; `None` if it reports none.
    pub cost: Option<UsdMicros>,
    /// Turns of the model.
    pub turns: u64,
}

/// The fencing number of a run: each claim gets a higher one, and a write that carries a retired one is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fence(i64);

impl Fence {
    /// Wraps a number of the store.
    pub const fn new(number: i64) -> Self {
        Self(number)
    }

    /// Returns the number.
    pub const fn get(self) -> i64 {
        self.0
    }
}

/// What a run works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunTarget {
    /// An issue: worker, planner, phase agent, intake.
    Issue(IssueId),
    /// An open pull request: a judge.
    PullRequest(PullRequestOf, PrId),
    /// An open pull request: its gates.
    Gates(PullRequestOf, PrId),
    /// A delivery of an issue: a judge.
    #[serde(rename = "claim")]
    Delivery(IssueId, DeliveryId),
    /// A phase of a plan.
    PlanPhase(PlanId, PlanPhaseId),
    /// The project itself: scanner, wizard, background research, the gates of its base.
    Project,
}

/// What has a number of attempts, which failed runs use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptsOf {
    /// An issue, with those who judge what was done on it.
    Issue(IssueId),
    /// A phase of a plan.
    Phase(PlanId, PlanPhaseId),
}

impl RunTarget {
    /// Returns the issue the run is about.
    pub const fn issue(&self) -> Option<&IssueId> {
        match self {
            Self::Issue(issue) | Self::Delivery(issue, _) => Some(issue),
            Self::PullRequest(of, _) | Self::Gates(of, _) => of.issue(),
            Self::PlanPhase(..) | Self::Project => None,
        }
    }

    /// Returns whose attempt a failed run of an agent on it uses; `None` for gates, intake, what works on a project, and a plan in review.
    pub fn attempts_of(&self, agent: &AgentType) -> Option<AttemptsOf> {
        if matches!(agent, AgentType::Gates | AgentType::Intake) {
            return None;
        }
        match (self, self.issue()) {
            (_, Some(issue)) => Some(AttemptsOf::Issue(issue.clone())),
            (Self::PlanPhase(plan, phase), None) => {
                Some(AttemptsOf::Phase(plan.clone(), phase.clone()))
            }
            _ => None,
        }
    }

    /// Returns the plan the run is about.
    pub const fn plan(&self) -> Option<&PlanId> {
        match self {
            Self::PlanPhase(plan, _) => Some(plan),
            Self::PullRequest(of, _) | Self::Gates(of, _) => of.plan(),
            Self::Issue(_) | Self::Delivery(..) | Self::Project => None,
        }
    }

    /// Returns the pull request that it judges, or whose gates it runs.
    pub const fn pull_request(&self) -> Option<PrId> {
        match self {
            Self::PullRequest(_, pr) | Self::Gates(_, pr) => Some(*pr),
            Self::Issue(_) | Self::Delivery(..) | Self::PlanPhase(..) | Self::Project => None,
        }
    }

    /// Returns whether the run judges.
    pub const fn is_review(&self) -> bool {
        matches!(self, Self::PullRequest(..) | Self::Delivery(..))
    }
}

/// The key in a run's metadata that says that a person works in its session, in a terminal.
pub const INTERACTIVE: &str = "interactive";

/// One run of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// The project.
    pub project: ProjectId,
    /// What it works on.
    pub target: RunTarget,
    /// The type of agent.
    pub agent: AgentType,
    /// The issue's phase at dispatch.
    pub phase: Option<PhaseName>,
    /// Which run on this issue since its phase last advanced, from 1.
    pub attempt: u32,
    /// The provider.
    pub provider: String,
    /// The model; `None` leaves the choice to the provider.
    pub model: Option<String>,
    /// Its state.
    pub status: RunStatus,
    /// When it was claimed.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The agent's exit code.
    pub exit_code: Option<i32>,
    /// Why it did not succeed.
    pub error: Option<RunError>,
    /// The end of its output.
    pub output_tail: String,
    /// Its worktree, relative to the project.
    pub worktree: Option<String>,
    /// Its branch.
    pub branch: Option<String>,
    /// What it used.
    pub usage: Usage,
    /// Anything else worth keeping: prompt sizes and report, model source.
    pub metadata: serde_json::Value,
    /// How it was protected.
    pub protection: ProtectionLevel,
    /// What confined its agent; `None` before it started, for gates, and in runs of older versions.
    pub sandbox: Option<SandboxRecord>,
    /// Its fencing number.
    pub fence: Fence,
    /// The set of a trial of prompts that it was started with; `None` outside of trials.
    pub prompt_set: Option<Assignment>,
    /// Whether one of its tool calls changed the status of its issue.
    pub moved_issue: bool,
    /// When a human asked for its end.
    pub cancel_requested_at: Option<Timestamp>,
    /// The pool that it waits in or was taken from; `None` where the control starts it.
    pub pool: Option<Pool>,
    /// The host that began it; `None` as long as it waits, and without a pool.
    pub host: Option<Host>,
}

impl Run {
    /// Returns whether a person works in its session, in a terminal.
    pub fn is_interactive(&self) -> bool {
        self.metadata.get(INTERACTIVE) == Some(&serde_json::Value::Bool(true))
    }

    /// Returns whether it waits in its pool: no worker has begun it.
    pub const fn waits_in_pool(&self) -> bool {
        self.pool.is_some() && self.host.is_none()
    }
}

/// Why a run did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    /// The class.
    pub class: ErrorClass,
    /// What happened, in words.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_intake_and_work_on_a_project_use_no_attempt() {
        let issue = || IssueId::parse("SYM-1").unwrap();
        let plan = PlanId::parse("p1").unwrap();
        let phase = PlanPhaseId::parse("build").unwrap();
        let (of_issue, of_plan) = (
            PullRequestOf::Issue(issue()),
            PullRequestOf::Plan(plan.clone()),
        );
        let number = PrId::new(1);
        let issue_pays = Some(AttemptsOf::Issue(issue()));
        let phase_pays = Some(AttemptsOf::Phase(plan.clone(), phase.clone()));
        for (target, agent, expected) in [
            (
                RunTarget::Issue(issue()),
                AgentType::Worker,
                issue_pays.clone(),
            ),
            (RunTarget::Issue(issue()), AgentType::Intake, None),
            (
                RunTarget::PullRequest(of_issue.clone(), number),
                AgentType::Judge,
                issue_pays,
            ),
            (RunTarget::Gates(of_issue, number), AgentType::Gates, None),
            (
                RunTarget::PullRequest(of_plan, number),
                AgentType::Judge,
                None,
            ),
            (
                RunTarget::PlanPhase(plan, phase),
                AgentType::Worker,
                phase_pays,
            ),
            (RunTarget::Project, AgentType::Scanner, None),
        ] {
            assert_eq!(target.attempts_of(&agent), expected, "{target:?} {agent}");
        }
    }

    #[test]
    fn only_a_tight_sandbox_without_a_judges_shell_protects() {
        use SandboxLevel::{Landlock, Namespace, Off};
        use SandboxNetwork::{Allowlist, Host, None as Nothing};
        use ShellTools::{Given, Withheld};
        for (level, network, worker, judge) in [
            (Namespace, Allowlist, true, true),
            (Namespace, Nothing, true, true),
            (Namespace, Host, false, false),
            (Landlock, Allowlist, false, false),
            (Off, Allowlist, false, false),
        ] {
            let record = SandboxRecord {
                level,
                network,
                landlock_abi: Some(7),
            };
            for (agent, shell, expected) in [
                (AgentType::Worker, Given, worker),
                (AgentType::Worker, Withheld, worker),
                (AgentType::Judge, Withheld, judge),
                (AgentType::Judge, Given, false),
            ] {
                let found = record.protection(&agent, shell) == ProtectionLevel::Sandbox;
                assert_eq!(found, expected, "{record:?} {agent:?} {shell:?}");
            }
        }
    }
}
