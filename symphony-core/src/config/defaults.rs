//! The defaults and limits of the configuration, each by its name (spec: config).

use super::shares::Shares;

/// Database, relative to the project's root.
pub const DATABASE: &str = ".symphony/symphony.db";
/// Folder of the state that belongs to databases on servers, below the home folder.
pub const STATE_DIR: &str = ".local/state/symphony";
/// Folder of a worker's clones, below the home folder.
pub const WORKER_DATA_DIR: &str = ".local/share/symphony/worker";
/// What gives the runs of pools to workers.
pub const PLACEMENT: &str = "queue";
/// Namespace of a Temporal service.
pub const TEMPORAL_NAMESPACE: &str = "default";
/// Agents at once; 0 = number of CPUs.
pub const MAX_CONCURRENT_AGENTS: u64 = 0;
/// Pull requests whose gates run at once; 0 = half the number of CPUs.
pub const MAX_CONCURRENT_GATES: u64 = 0;
/// Failures, or runs since the phase last advanced, until the circuit breaker opens.
pub const MAX_RETRIES: u64 = 15;
/// Longest wait before a retry.
pub const MAX_RETRY_BACKOFF_MS: u64 = 300_000;
/// Time limit of a run.
pub const TURN_TIMEOUT_MS: u64 = 600_000;
/// What `init` writes as the time limit of a run: real work takes longer than the default.
pub const INIT_TURN_TIMEOUT_MS: u64 = 1_800_000;
/// Silence after which a run is ended; the Claude CLI itself waits up to 360 s for a silent API.
pub const STALL_TIMEOUT_MS: u64 = 420_000;
/// Where an issue goes when its circuit breaker opens.
pub const CIRCUIT_BREAKER_STATUS: &str = "backlog";
/// The program that runs agents.
pub const PROVIDER: &str = "auto";
/// First hold of a provider that reported no reset time.
pub const HOLD_MS: u64 = 60_000;
/// What a configured command writes.
pub const COMMAND_OUTPUT: &str = "claude-stream";
/// Folder of overrides of shipped prompts.
pub const PROMPTS_DIR: &str = ".symphony/prompts";
/// Tokens of a user prompt's budgeted sections.
pub const USER_TOKENS: u64 = 8_000;
/// Tokens of a system prompt.
pub const SYSTEM_TOKENS: u64 = 12_000;
/// Tokens that the documents of a ticket share.
pub const ARTIFACT_TOKENS: u64 = 4_000;
/// Days that the logs of runs are kept, with the prompts that were sent.
pub const LOG_RETENTION_DAYS: u64 = 30;
/// Whether prompt files stay after a run.
pub const KEEP_RUN_FILES: bool = false;
/// `resume`
pub const RESUME: &str = "auto";
/// How many equal tool calls in a row end a run as looping.
pub const LOOP_REPEATS: u64 = 12;
/// How many requests to its model within a minute end a run. An agent with ten subagents makes about 200; opencode made 600
/// where each answer was cut.
pub const MODEL_REQUESTS_PER_MINUTE: u64 = 300;
/// Git filters that may run.
pub const TRUSTED_FILTERS: &[&str] = &["lfs"];
/// Whether a gate's failure sends the issue back.
pub const GATE_REQUIRED: bool = true;
/// Time limit of a gate.
pub const GATE_TIMEOUT_MS: u64 = 600_000;
/// `gates[].retries`
pub const GATE_RETRIES: u64 = 1;
/// The most retries of a gate.
pub const GATE_RETRIES_MAX: u64 = 5;
/// `gates[].reads`
pub const GATE_READS: &str = "history";
/// Whether ticks take plans on.
pub const PLAN_BY_TICK: bool = false;
/// Files of a medium risk.
pub const RISK_MEDIUM_FILES: u64 = 10;
/// Lines of a medium risk.
pub const RISK_MEDIUM_LINES: u64 = 300;
/// Files of a high risk.
pub const RISK_HIGH_FILES: u64 = 30;
/// Lines of a high risk.
pub const RISK_HIGH_LINES: u64 = 1_500;
/// Shortest time between two runs of the scanner.
pub const SCANNER_INTERVAL_MS: u64 = 600_000;
/// Shortest time between two judge runs on the same pull request or delivery.
pub const JUDGE_COOLDOWN_MS: u64 = 300_000;
/// Whether agents may search the web.
pub const EXTERNAL_RESEARCH: bool = false;
/// Searches of one run.
pub const MAX_SEARCHES: u64 = 5;
/// How strongly agents are confined.
pub const SANDBOX_LEVEL: &str = "off";
/// The program that makes namespaces.
pub const SANDBOX_BWRAP: &str = "bwrap";
/// What a sandbox reaches of the network.
pub const SANDBOX_NETWORK: &str = "allowlist";
/// What a sandbox sees of caches of downloads.
pub const SANDBOX_CACHE: &str = "read";
/// The most processes and threads in a sandbox.
pub const SANDBOX_PROCESSES: u64 = 4_096;
/// The fewest processes that can be configured: below it, a build with several jobs fails.
pub const SANDBOX_PROCESSES_MIN: u64 = 64;
/// The most processes that can be configured: the most that Linux counts on 64-bit machines.
pub const SANDBOX_PROCESSES_MAX: u64 = 4_194_304;
/// The most bytes in a sandbox's `/tmp`: 2 GiB.
pub const SANDBOX_TMP_BYTES: u64 = 2 << 30;
/// The fewest bytes of a limit of a sandbox: 1 MiB. Anything below is a wrong unit.
pub const SANDBOX_BYTES_MIN: u64 = 1 << 20;
/// The most bytes of a limit of a sandbox: 1 PiB. Anything above is a wrong unit.
pub const SANDBOX_BYTES_MAX: u64 = 1 << 50;
/// Time limit of the set-up command of a worktree.
pub const SETUP_TIMEOUT_MS: u64 = 600_000;
/// Whether the repository's hooks run in Symphony's own commits.
pub const RUN_HOOKS: bool = false;
/// Whether gates may start with kept build output.
pub const WARM: bool = false;
/// Folder of worktrees, relative to the project's root.
pub const WORKSPACES_DIR: &str = ".symphony-workspaces";
/// Time limit of a supervisor's step that has none of its own.
pub const WATCHDOG_STEP_TIMEOUT_MS: u64 = 30 * 60 * 1_000;
/// Time that a step of a tick may take.
pub const WATCHDOG_TICK_TIMEOUT_MS: u64 = 10 * 60 * 1_000;
/// Time between two checks: a step counts as stuck only if both find it past its limit.
pub const WATCHDOG_GRACE_MS: u64 = 60_000;
/// Longest time limit in a supervisor's record that is believed.
pub const WATCHDOG_DEADLINE_MAX_MS: u64 = 24 * 60 * 60 * 1_000;
/// Shortest time that can be configured for the watchdog: below it, a busy machine would look stuck.
pub const WATCHDOG_MS_MIN: u64 = 1_000;
/// Letters of a prefix that is derived from a folder's name.
pub const PREFIX_LETTERS_MAX: usize = 4;

/// Shares of the user prompt's budget without a diff, in percent.
pub const SHARES: Shares = Shares {
    description: 25,
    diff: 0,
    findings: 20,
    learnings: 15,
    comments: 15,
    previous_output: 25,
};
/// Shares of the user prompt's budget of a judge, who sees a diff, in percent.
pub const JUDGE_SHARES: Shares = Shares {
    description: 15,
    diff: 25,
    findings: 15,
    learnings: 10,
    comments: 10,
    previous_output: 25,
};

/// Longest duration that can be configured: 30 days. Anything longer is a wrong unit.
pub const DURATION_MS_MAX: u64 = 30 * 24 * 60 * 60 * 1_000;
/// Most agents, reviews or runs that a limit can name; far above what one machine carries.
pub const COUNT_MAX: u64 = 10_000;
/// Most tokens that a prompt's budget can name: above every model's context.
pub const PROMPT_TOKENS_MAX: u64 = 10_000_000;
/// Most tokens that a spending cap can name.
pub const SPENDING_TOKENS_MAX: u64 = 1_000_000_000_000;
/// Most dollars that a spending cap can name.
pub const SPENDING_USD_MAX: u32 = 1_000_000;
/// Most files or lines that a risk threshold can name.
pub const RISK_MAX: u64 = 10_000_000;
/// Longest retention of logs: ten years.
pub const LOG_RETENTION_DAYS_MAX: u64 = 3_650;
