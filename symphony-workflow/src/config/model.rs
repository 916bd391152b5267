//! What the settings hold, each with its default (sections 5.3 and 6.4).

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::secret::Secret;

/// The address of Linear's API.
pub const DEFAULT_ENDPOINT: &str = "https://api.linear.app/graphql";
/// Longest time that a setting may name, in milliseconds: a year. More is taken for a mistake in the unit.
pub const MILLISECONDS_MAX: u64 = 366 * 24 * 60 * 60 * 1000;

pub(super) const ACTIVE_STATES: [&str; 2] = ["Todo", "In Progress"];
pub(super) const TERMINAL_STATES: [&str; 5] =
    ["Closed", "Cancelled", "Canceled", "Duplicate", "Done"];
pub(super) const INTERVAL: Duration = Duration::from_secs(30);
pub(super) const HOOK_TIMEOUT: Duration = Duration::from_mins(1);
pub(super) const AGENTS: u32 = 10;
pub(super) const TURNS: u32 = 20;
pub(super) const RETRY_BACKOFF: Duration = Duration::from_mins(5);
pub(super) const COMMAND: &str = "codex app-server";
pub(super) const TURN_TIMEOUT: Duration = Duration::from_hours(1);
pub(super) const READ_TIMEOUT: Duration = Duration::from_secs(5);
pub(super) const STALL_TIMEOUT: Duration = Duration::from_mins(5);

/// All settings of a `WORKFLOW.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Where tickets are.
    pub tracker: Tracker,
    /// How often the tracker is asked.
    pub polling: Polling,
    /// Where agents work.
    pub workspace: Workspace,
    /// Scripts around a workspace and a run.
    pub hooks: Hooks,
    /// How many agents, how long, how often again.
    pub agent: Agent,
    /// How Codex is called.
    pub codex: Codex,
    /// The page and the API, an extension of the specification.
    pub server: Server,
}

/// The name of a tracker's state, as it is compared: trimmed and in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateName(String);

impl StateName {
    /// Brings a name into the form that is compared.
    pub fn new(name: &str) -> Self {
        Self(name.trim().to_lowercase())
    }

    /// Returns the name in that form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Says whether the name is blank.
    pub fn is_blank(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The section `tracker`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracker {
    /// The kind of tracker, such as `linear`. Work starts only with a known one.
    pub kind: Option<String>,
    /// The address of its API.
    pub endpoint: String,
    /// The token. Work starts only with one.
    pub api_key: Option<Secret>,
    /// The project whose tickets are worked on.
    pub project_slug: Option<String>,
    /// States in which a ticket is worked on, as they are written: the tracker is asked for them.
    pub active_states: Vec<String>,
    /// States in which a ticket has ended, as they are written.
    pub terminal_states: Vec<String>,
}

/// The section `polling`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Polling {
    /// Time between two looks at the tracker.
    pub interval: Duration,
}

/// The section `workspace`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The folder of all workspaces; relative only where the settings name it without a separator.
    pub root: PathBuf,
}

/// The section `hooks`: shell scripts that run in the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hooks {
    /// Runs once a workspace was created. If it fails, there is no workspace.
    pub after_create: Option<String>,
    /// Runs before each attempt. If it fails, so does the attempt.
    pub before_run: Option<String>,
    /// Runs after each attempt, however it ended. Its failure is ignored.
    pub after_run: Option<String>,
    /// Runs before a workspace is removed. Its failure is ignored.
    pub before_remove: Option<String>,
    /// Longest run of any of them.
    pub timeout: Duration,
}

/// The section `agent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Agents that may work at once.
    pub concurrent_max: u32,
    /// Turns of one run.
    pub turns_max: u32,
    /// Longest wait before a failed run is tried again.
    pub retry_backoff_max: Duration,
    /// Agents that may work at once on tickets in one state; other states have the limit of all.
    pub concurrent_max_by_state: BTreeMap<StateName, u32>,
}

/// The section `codex`. Values that belong to Codex are passed on as they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Codex {
    /// The shell command that starts the app-server. Work starts only if it is not blank.
    pub command: String,
    /// The model; `None` for Codex's own choice. This and the next two are fields of the implementation in Elixir, not of the
    /// specification.
    pub model: Option<String>,
    /// How long the model reasons, in Codex's words.
    pub reasoning_effort: Option<String>,
    /// The tier of the service, in Codex's words.
    pub service_tier: Option<String>,
    /// Codex's `AskForApproval`: a text or a map.
    pub approval_policy: Option<Value>,
    /// Codex's `SandboxMode`.
    pub thread_sandbox: Option<String>,
    /// Codex's `SandboxPolicy`, a map.
    pub turn_sandbox_policy: Option<Value>,
    /// Longest turn.
    pub turn_timeout: Duration,
    /// Longest wait for an answer to a request.
    pub read_timeout: Duration,
    /// Longest silence of an agent; `None` when it may be silent for ever.
    pub stall_timeout: Option<Duration>,
}

/// The section `server`, an extension of the specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The port of the page; 0 for any free one, `None` for no page.
    pub port: Option<u16>,
}
