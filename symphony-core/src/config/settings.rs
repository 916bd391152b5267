//! The typed configuration: what the rest of Symphony reads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::database::Database;
use super::forge::ForgeSettings;
use super::placement::{PlacementKind, WorkerSettings};
use super::provider::ProviderChoice;
use super::providers::Providers;
use super::sandbox::SandboxSettings;
use super::shares::Shares;
use super::temporal::TemporalSettings;
use super::tracker::TrackerSettings;
use super::value::{BreakerTarget, CommandLine, Gate, IssuePrefix, Millis, ResumeMode};
use crate::agent::AgentType;
use crate::config_change::decisive_patterns;
use crate::id::PhaseName;
use crate::placement::{Lease, Pool};
use crate::plan::failure::FailureClass;
use crate::prompt_trial::{LiveTrial, PromptSet};
use crate::unit::{Tokens, UsdMicros};
use crate::user::{TokenHash, UserName, UserRole};
use crate::watchdog::WatchLimits;

/// The settings of the whole installation, that is of one database.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Where the database is.
    pub database: Database,
    /// The folder of this machine's locks and records: that of the database file, or one for the server's database.
    pub state_dir: PathBuf,
    /// Agents at once over all projects; 0 = number of CPUs (see [`Config::slots`]).
    pub max_concurrent_agents: u32,
    /// Pull requests whose gates run at once; 0 = half the number of CPUs (see [`Config::gate_slots`]).
    pub max_concurrent_gates: u32,
    /// Days that logs are kept.
    pub log_retention_days: u32,
    /// When a supervisor or a tick counts as stuck.
    pub watchdog: WatchdogSettings,
    /// Limits by agent type.
    pub profiles: BTreeMap<AgentType, ProfileLimits>,
    /// The users of the page.
    pub users: BTreeMap<UserName, User>,
    /// What gives the runs of pools to workers.
    pub placement: PlacementKind,
    /// The service that `placement` names; `None` where no address is set.
    pub temporal: Option<TemporalSettings>,
    /// How long a run on another host lives without a sign of life.
    pub lease: Lease,
    /// The folders of a worker on this host.
    pub worker: WorkerSettings,
    /// Everything else, unless a project sets it.
    pub defaults: ProjectConfig,
}

impl Config {
    /// Returns a file of the installation's own state, by its extension: beside the database file, or in the folder of the
    /// state.
    pub fn state_file(&self, extension: &str) -> PathBuf {
        self.state_name().with_extension(extension)
    }

    /// Returns the path that the files of the installation's own state are named after.
    pub fn state_name(&self) -> PathBuf {
        self.database.name_in(&self.state_dir)
    }

    /// Returns how many agents may run at once on a machine with this many CPUs; at least one.
    pub fn slots(&self, cpus: usize) -> usize {
        match usize::try_from(self.max_concurrent_agents) {
            Ok(0) => cpus.max(1),
            Ok(limit) => limit,
            Err(_) => usize::MAX,
        }
    }

    /// Returns how many pull requests may have their gates running at once on a machine with this
    /// many CPUs; at least one. Gates compile and test with every core they find, so that by default
    /// half as many run as there are CPUs.
    pub fn gate_slots(&self, cpus: usize) -> usize {
        match usize::try_from(self.max_concurrent_gates) {
            Ok(0) => (cpus / 2).max(1),
            Ok(limit) => limit,
            Err(_) => usize::MAX,
        }
    }
}

/// When a supervisor or a tick counts as stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchdogSettings {
    /// Time limit of a supervisor's step, unless the step has its own.
    pub step_timeout_ms: Millis,
    /// Limit of a tick's step.
    pub tick_timeout_ms: Millis,
    /// Least time between two checks: a step counts as stuck only if both find it past its limit.
    pub grace_ms: Millis,
    /// Longest time limit in a supervisor's record that is believed.
    pub deadline_max_ms: Millis,
}

impl WatchdogSettings {
    /// Returns the limits for the supervisors of a project. No time limit of its configuration is cut short by
    /// `deadline_max_ms`.
    pub fn limits_of_supervisor(&self, project: Option<&ProjectConfig>) -> WatchLimits {
        let configured = project.into_iter().flat_map(|config| {
            let gates = config.gates.iter().map(|gate| gate.timeout_ms);
            gates.chain([config.turn_timeout_ms, config.worktree.setup_timeout_ms])
        });
        let longest = configured.map(Millis::get).max().unwrap_or(0);
        WatchLimits {
            grace_ms: self.grace_ms.get(),
            believed_max_ms: self.deadline_max_ms.get().max(longest),
            unrecorded_ms: self.step_timeout_ms.get(),
        }
    }

    /// Returns the limits for ticks.
    pub fn limits_of_tick(&self) -> WatchLimits {
        WatchLimits {
            grace_ms: self.grace_ms.get(),
            believed_max_ms: self.tick_timeout_ms.get(),
            unrecorded_ms: self.tick_timeout_ms.get(),
        }
    }
}

/// A user of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// What the user may do.
    pub role: UserRole,
    /// The hash of the user's token.
    pub token: TokenHash,
}

/// Limits of an agent type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProfileLimits {
    /// Agents of the type at once, over all projects.
    pub max_concurrency: Option<u32>,
}

/// The settings of one project, with all layers applied.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the file, by its name there; they are independent"
)]
pub struct ProjectConfig {
    /// Prefix of the project's issue identifiers.
    pub prefix: IssuePrefix,
    /// The pool of workers that its runs wait in; `None` if they are started by the control.
    pub pool: Option<Pool>,
    /// The repository that workers clone and push to; `None` for the control's own.
    pub hub: Option<String>,
    /// Branch that work starts from; without it the repository's default branch.
    pub base_branch: Option<String>,
    /// Failures in a row, or runs since the phase last advanced, that open the circuit breaker.
    pub max_retries: u32,
    /// Longest wait before a retry.
    pub max_retry_backoff_ms: Millis,
    /// Time limit of a run.
    pub turn_timeout_ms: Millis,
    /// Silence that ends a run.
    pub stall_timeout_ms: Millis,
    /// Equal tool calls in a row that end a run.
    pub loop_repeats: u32,
    /// Requests to its model within a minute that end a run.
    pub model_requests_per_minute: u64,
    /// Where an issue goes when its circuit breaker opens.
    pub circuit_breaker_status: BreakerTarget,
    /// The program that runs agents.
    pub provider: ProviderChoice,
    /// The model asked for; without it the provider's own default.
    pub model: Option<String>,
    /// The model by phase.
    pub phase_models: BTreeMap<PhaseName, String>,
    /// Whether runs resume sessions.
    pub resume: ResumeMode,
    /// Settings of each provider.
    pub providers: Providers,
    /// Folder of overrides of shipped prompts.
    pub prompts_dir: PathBuf,
    /// The trial of prompts in real work, when there is one.
    pub prompt_trial: Option<LiveTrial>,
    /// Notes for prompts, when there are any.
    pub vault: Option<Vault>,
    /// Budgets of prompts.
    pub budget: Budget,
    /// Whether prompt and MCP files stay after a run.
    pub keep_run_files: bool,
    /// Caps of spending.
    pub spending: Spending,
    /// Git filters that Symphony's own commands may run.
    pub trusted_filters: Vec<String>,
    /// Commands that must succeed on a commit before review.
    pub gates: Vec<Gate>,
    /// Publishes a pull request; JSON on standard input.
    pub publish: Option<CommandLine>,
    /// Where its pull requests are mirrored.
    pub forge: Option<ForgeSettings>,
    /// The trackers that its issues are mirrored with, in the order of their names.
    pub trackers: Vec<TrackerSettings>,
    /// Tells a human what waits; JSON on standard input.
    pub notify: Option<CommandLine>,
    /// Plan files.
    pub plan: PlanSettings,
    /// Patterns of paths whose change is a high risk.
    pub sensitive_paths: Vec<String>,
    /// Thresholds of risk.
    pub risk: RiskThresholds,
    /// Agents at once in the project.
    pub max_concurrency: Option<u32>,
    /// While more reviews wait for a human, no new worker starts.
    pub max_open_reviews: Option<u32>,
    /// Whether gates that were added or changed are tried on the base before the next worker starts.
    pub try_changed_gates: bool,
    /// Splits large issues first.
    pub planner_enabled: bool,
    /// Whether the scanner searches for work when the backlog is empty.
    pub scanner_enabled: bool,
    /// Least time between two scanner runs.
    pub scanner_interval_ms: Millis,
    /// Runs the researcher without an issue.
    pub background_research: bool,
    /// Runs the phases research and architecture.
    pub researcher_enabled: bool,
    /// Has a judge review.
    pub judge_enabled: bool,
    /// Shortest time between two judge runs on the same pull request or delivery.
    pub judge_cooldown_ms: Millis,
    /// Confirms an approved proposal that nothing is left to do without a person.
    pub auto_done: bool,
    /// Triages the backlog.
    pub intake_enabled: bool,
    /// Runs the setup wizard once.
    pub wizard_enabled: bool,
    /// Gives learnt conventions to phase agents.
    pub phase_conventions: bool,
    /// Issues without a phase label go to a worker.
    pub migration_mode: bool,
    /// Searching the web in research and architecture.
    pub external_research: ExternalResearch,
    /// How worktrees are made.
    pub worktree: WorktreeSettings,
    /// Environment of agents, gates and set-up.
    pub env: BTreeMap<String, String>,
    /// How agents are confined.
    pub sandbox: SandboxSettings,
    /// Folder of the worktrees, absolute when the project's root was.
    pub workspaces_dir: PathBuf,
}

impl ProjectConfig {
    /// Returns the tracked paths that decide what Symphony does, for a project with this root.
    pub fn decisive_paths(&self, root: &Path) -> Vec<String> {
        let below = |folder: &Path| {
            let folder = folder.strip_prefix(root).ok()?.to_str()?;
            Some(folder.to_owned())
        };
        let mut paths = decisive_patterns(below(&self.prompts_dir).as_deref());
        let trial = self.prompt_trial.as_ref();
        let folders = PromptSet::ALL.iter();
        let folders = folders.filter_map(|set| trial?.folder(*set));
        paths.extend(
            folders
                .filter_map(below)
                .filter(|folder| !folder.is_empty()),
        );
        paths
    }

    /// Returns the folder of a run's prompts: of its set in a trial, or the usual one.
    pub fn prompts_of(&self, set: Option<PromptSet>) -> &Path {
        let trial = self.prompt_trial.as_ref().zip(set);
        let folder = trial.and_then(|(trial, set)| trial.folder(set));
        folder.unwrap_or(&self.prompts_dir)
    }
}

/// A folder of notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vault {
    /// The folder.
    pub path: PathBuf,
    /// Most tokens of notes in a prompt.
    pub max_tokens: Option<Tokens>,
}

/// Budgets of prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The budget of a user prompt's budgeted sections.
    pub user_tokens: Tokens,
    /// The budget of a system prompt.
    pub system_tokens: Tokens,
    /// The budget of all artifacts of earlier phases together.
    pub artifact_tokens: Tokens,
    /// How `user_tokens` is shared without a diff.
    pub shares: Shares,
    /// How `user_tokens` is shared when a judge sees a diff.
    pub judge_shares: Shares,
}

/// Caps of spending; none by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spending {
    /// Of one run.
    pub run: SpendingCap,
    /// Of one issue.
    pub issue: SpendingCap,
    /// Of one project.
    pub project: SpendingCap,
    /// Of one project in a day.
    pub day: SpendingCap,
}

/// A cap on spending; `None` sets no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpendingCap {
    /// The limit in US dollars.
    pub usd: Option<UsdMicros>,
    /// The limit in tokens.
    pub tokens: Option<Tokens>,
}

/// Plan files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanSettings {
    /// Whether ticks drive active plans.
    pub by_tick: bool,
    /// Constraints of every phase; `None` for Symphony's own, empty for no constraints.
    pub global_constraints: Option<Vec<String>>,
    /// Instructions of every phase.
    pub instructions: Option<String>,
    /// Regular expressions for the texts of failures, by class; see
    /// [`FailurePatterns`](crate::plan::failure::FailurePatterns).
    pub failure_patterns: BTreeMap<FailureClass, Vec<String>>,
}

/// Thresholds of risk: a change is of the level when it is above either number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RiskThresholds {
    /// Of a medium risk.
    pub medium: RiskThreshold,
    /// The thresholds of a high risk; neither is below the medium one.
    pub high: RiskThreshold,
}

/// One threshold of risk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RiskThreshold {
    /// Changed files.
    pub files: u64,
    /// Changed lines.
    pub lines: u64,
}

/// Searching the web.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExternalResearch {
    /// Whether it is allowed.
    pub enabled: bool,
    /// Searches of one run.
    pub max_searches: u32,
}

/// How an issue's worktree is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorktreeSettings {
    /// Patterns of files to copy besides the usual ones.
    pub copy: Vec<String>,
    /// Command run once after creation.
    pub setup: Option<CommandLine>,
    /// Its time limit.
    pub setup_timeout_ms: Millis,
    /// Whether the repository's hooks run in Symphony's own commits.
    pub run_hooks: bool,
    /// Whether gates may start with kept build output.
    pub warm: bool,
}
