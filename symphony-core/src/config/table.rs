//! The one table of keys. Checking, suggestions, defaults, the JSON Schema, the reference page and
//! the file that `init` writes all come from it: a new key is a row here and a field in
//! [`settings`](super::settings).

use super::defaults as d;
use super::key::{DefaultValue, Each, Key, Kind, Leaf, NameRule, PathBase, Scope, TextRule};
use super::path::Segment;
use super::placement::PlacementKind;
use super::row::{COUNT, LIMIT, LINE, PROMPT_TOKENS, RISK, SHARE, WAIT, WATCH, leaf, section};
use super::sandbox::{SandboxCache, SandboxNetwork, SandboxSetting};
use super::table_remote::{FORGE, TRACKER};
use super::table_workers::{LEASE, TEMPORAL, WORKER};
use super::value::{BreakerTarget, CommandOutput, GateReads, ResumeMode};
use crate::user::UserRole;
use DefaultValue::{Bool, Integer, Text, Texts, Unset};
use Scope::{OneProject, Project, TopLevel};

const fn share(name: &'static str, percent: u8, doc: &'static str) -> Key {
    leaf(name, SHARE, Integer(percent as u64), Project, doc)
}

/// The keys that apply to the installation, not to a project: a problem of any other key of a project's file stops that
/// project only.
pub const INSTALLATION_KEYS: &[&str] = &[
    "database",
    "state_dir",
    "max_concurrent_agents",
    "max_concurrent_gates",
    "log_retention_days",
    "watchdog",
    "profiles",
    "web",
    "placement",
    "temporal",
    "lease",
    "worker",
];

/// Every key of a configuration file.
#[rustfmt::skip] // a table: one row a key
pub const KEYS: &[Key] = &[
    leaf("$schema", LINE, Unset("\"https://example.com/symphony.schema.json\""), TopLevel,
        "Where editors find the JSON Schema (`symphony config schema` prints it); Symphony ignores it."),
    leaf("database", Leaf::Database, Text(d::DATABASE), TopLevel,
        "SQLite file, or `postgres://USER@HOST/DATABASE`. Several projects share an installation when the global file names one database for them."),
    leaf("state_dir", Leaf::Path(PathBase::File), Unset("\"/var/lib/symphony\""), TopLevel,
        "Folder for locks and records of this machine when the database is on a server; by default one for each database below `~/.local/state/symphony`. A database file has them beside it."),
    leaf("max_concurrent_agents", Leaf::Integer { min: 0, max: d::COUNT_MAX }, Integer(d::MAX_CONCURRENT_AGENTS), TopLevel,
        "Agents that run at once, over all projects; 0 = number of CPUs."),
    leaf("max_concurrent_gates", Leaf::Integer { min: 0, max: d::COUNT_MAX }, Integer(d::MAX_CONCURRENT_GATES), TopLevel,
        "Pull requests whose gates run at once, over all projects; 0 = half the number of CPUs, but at least one."),
    leaf("log_retention_days", Leaf::Integer { min: 0, max: d::LOG_RETENTION_DAYS_MAX }, Integer(d::LOG_RETENTION_DAYS), TopLevel,
        "Days that the logs of runs are kept, with the prompts that were sent."),
    section("watchdog", WATCHDOG, TopLevel,
        "When Symphony ends a supervisor or a tick that makes no progress. Time during which the machine is suspended does not count."),
    Key { name: "profiles", kind: Kind::Map(NameRule::AgentType, Each::Section(PROFILE)), default: Unset(r#"{"judge": {"max_concurrency": 2}}"#), scope: TopLevel,
        doc: "Limits of an agent type, by its name." },
    section("web", WEB, TopLevel, "The page in the browser that `symphony serve` serves."),
    leaf("placement", Leaf::Choice(PlacementKind::NAMES), Text(d::PLACEMENT), TopLevel,
        "How runs reach the workers of a pool: `queue` through the database itself, `temporal` through a Temporal service. All hosts of a database need the same value."),
    section("temporal", TEMPORAL, TopLevel, "The Temporal service for `placement: temporal`. Symphony has to be built with the feature `temporal`."),
    section("lease", LEASE, TopLevel, "How long a run on another host may go without a sign of life. All hosts of a database need the same values."),
    section("worker", WORKER, TopLevel, "Where `symphony worker` keeps its files on its host."),
    leaf("max_retries", COUNT, Integer(d::MAX_RETRIES), Project,
        "Failures in a row, or runs since the phase last advanced, after which the circuit breaker opens."),
    leaf("max_retry_backoff_ms", WAIT, Integer(d::MAX_RETRY_BACKOFF_MS), Project, "Longest wait before a retry."),
    leaf("turn_timeout_ms", LIMIT, Integer(d::TURN_TIMEOUT_MS), Project, "Time limit of a run."),
    leaf("stall_timeout_ms", LIMIT, Integer(d::STALL_TIMEOUT_MS), Project,
        "Silence of an agent after which its run is ended. The Claude CLI itself waits up to 360 s for a silent API."),
    leaf("loop_repeats", Leaf::Integer { min: 2, max: d::COUNT_MAX }, Integer(d::LOOP_REPEATS), Project,
        "Equal tool calls in a row, with no change in the worktree, that end a run as looping."),
    leaf("model_requests_per_minute", Leaf::Integer { min: 10, max: d::COUNT_MAX }, Integer(d::MODEL_REQUESTS_PER_MINUTE), Project,
        "Requests that a run may send to its model within a minute; one more ends the run. Symphony counts them only in a sandbox that keeps the provider's key outside."),
    leaf("circuit_breaker_status", Leaf::Choice(BreakerTarget::NAMES), Text(d::CIRCUIT_BREAKER_STATUS), Project,
        "Where an issue goes when its circuit breaker opens; in `todo` it waits for `issue retry`."),
    leaf("provider", Leaf::Text(TextRule::Provider), Text(d::PROVIDER), Project,
        "The program that runs agents; `acp.NAME` is one of several in `providers.acp`, and `auto` is the first of these whose program is found: `claude-cli`, `codex-cli` (the same program as `codex-app-server`), `opencode`, `qwen`, `gemini`, `copilot`."),
    leaf("model", LINE, Unset("\"opus\""), Project,
        "The model that agents ask their provider for; without it, the provider's own default."),
    leaf("resume", Leaf::Choice(ResumeMode::NAMES), Text(d::RESUME), Project,
        "Whether the next run of a role on an issue resumes the session of the last one, and is sent only what is new."),
    section("providers", PROVIDERS, TopLevel, "Settings of each provider."),
    leaf("prompts_dir", Leaf::Path(PathBase::File), Text(d::PROMPTS_DIR), TopLevel,
        "Folder of overrides of the shipped prompts."),
    section("prompts", PROMPTS, TopLevel, "Trials of prompts."),
    section("vault", VAULT, TopLevel, "A folder of markdown notes; those that match an issue go into its prompt."),
    section("budget", BUDGET, Project, "Budgets of prompts."),
    leaf("keep_run_files", Leaf::Bool, Bool(d::KEEP_RUN_FILES), TopLevel,
        "Keeps the prompt and MCP files of a run as its agent got them, secret values included."),
    section("spending", SPENDING, TopLevel, "Caps of spending, enforced as the agent's stream comes in; none by default."),
    section("git", GIT, TopLevel, "How Symphony's own git commands behave."),
    leaf("prefix", Leaf::Text(TextRule::Prefix), Unset("\"API\""), OneProject,
        "Prefix of the project's issue identifiers; by default the first letters of its folder's name."),
    leaf("pool", Leaf::Text(TextRule::Pool), Unset("\"linux\""), Project,
        "The pool of workers that run the project's agents and gates on other hosts (`symphony worker`); without it, they run where the tick does. It needs a database on a server."),
    leaf("hub", Leaf::Text(TextRule::Hub), Unset("\"ssh://git@hub.example/srv/api.git\""), OneProject,
        "The git repository through which workers get the project and hand in results: a URL or an absolute path that both reach. By default the project's own repository, over SSH to the host where the tick runs."),
    leaf("base_branch", Leaf::Text(TextRule::Branch), Unset("\"main\""), Project,
        "Branch that work starts from and is merged into; by default the repository's default branch."),
    Key { name: "gates", kind: Kind::List(GATE), default: Texts(&[]), scope: Project,
        doc: "Commands that must succeed on a commit before it is reviewed." },
    leaf("try_changed_gates", Leaf::Bool, Bool(true), Project,
        "Tries gates on the base before the next worker starts, when they were added or changed after they last passed there."),
    leaf("publish", Leaf::Command, Unset(r#"["./scripts/publish-pr"]"#), Project,
        "Command that publishes a pull request elsewhere; it gets JSON on its standard input."),
    section(FORGE_KEY, FORGE, OneProject,
        "The forge that pull requests are mirrored with. `\"forge\": \"github\"` is short for the kind alone; `symphony forge check` tries it."),
    Key { name: "trackers", kind: Kind::Map(NameRule::Tracker, Each::Section(TRACKER)), default: Unset(r#"{"github": {"kind": "github", "repository": "acme/web"}}"#), scope: OneProject,
        doc: "Trackers that the project's issues are mirrored with, by a name that you choose; `symphony tracker check` tries them." },
    leaf("notify", Leaf::Command, Unset(r#"["notify-send", "Symphony"]"#), Project,
        "Command that notifies you of what needs your attention; it gets JSON on its standard input."),
    section("plan", PLAN, Project, "Plan files."),
    leaf("sensitive_paths", Leaf::Texts(TextRule::Glob), Texts(&[]), Project,
        "Patterns of paths, such as `src/{auth,crypto}` or `**/*.pem`, that make a pull request a high risk when it changes them; a folder covers everything below it."),
    section("risk", RISKS, Project, "Above these thresholds a pull request is a medium or a high risk."),
    leaf("max_concurrency", COUNT, Unset("2"), Project,
        "Agents that run at once in the project; without this key, only the limit for all projects applies."),
    leaf("max_open_reviews", COUNT, Unset("5"), Project,
        "No new worker starts while more reviews than this wait for a person."),
    Key { name: "phase_models", kind: Kind::Map(NameRule::Phase, Each::Leaf(LINE)), default: Unset(r#"{"research": "haiku"}"#), scope: Project,
        doc: "The model of a phase, by its name." },
    leaf("planner_enabled", Leaf::Bool, Bool(false), Project,
        "Splits large issues, and those with the label `needs-planning`, into sub-tasks first."),
    leaf("scanner_enabled", Leaf::Bool, Bool(false), Project, "Looks for work when the backlog has none."),
    leaf("scanner_interval_ms", WAIT, Integer(d::SCANNER_INTERVAL_MS), Project,
        "Shortest time between two runs of the scanner."),
    leaf("background_research", Leaf::Bool, Bool(false), Project,
        "Runs the researcher without an issue when there is nothing else to do."),
    leaf("researcher_enabled", Leaf::Bool, Bool(true), Project, "Runs the phases research and architecture."),
    leaf("judge_enabled", Leaf::Bool, Bool(true), Project,
        "Has a judge review pull requests and phases; otherwise reviews wait for a person."),
    leaf("judge_cooldown_ms", WAIT, Integer(d::JUDGE_COOLDOWN_MS), Project,
        "Shortest time between two judge runs on the same pull request or delivery."),
    leaf("auto_done", Leaf::Bool, Bool(false), Project,
        "Confirms without a person that nothing is left to do, once a judge has approved the proposal, a required gate passes on the base at that time, and nothing prevents it."),
    leaf("intake_enabled", Leaf::Bool, Bool(false), Project, "Triages issues of the backlog, each once."),
    leaf("wizard_enabled", Leaf::Bool, Bool(false), Project,
        "Runs the setup wizard once, before any other work on the project."),
    leaf("phase_conventions", Leaf::Bool, Bool(true), Project,
        "Shows learned conventions to phase agents as well."),
    leaf("migration_mode", Leaf::Bool, Bool(true), Project, "Issues without a phase label go to a worker."),
    section("external_research", EXTERNAL_RESEARCH, Project, "Searching the web in the phases research and architecture."),
    section("worktree", WORKTREE, Project, "How an issue's worktree is made."),
    Key { name: "env", kind: Kind::Map(NameRule::Environment, Each::Leaf(Leaf::Text(TextRule::Any))), default: Unset(r#"{"RUST_BACKTRACE": "1"}"#), scope: Project,
        doc: "Environment variables of the project's agents, gates and set-up." },
    section(SANDBOX_KEY, SANDBOX, Project,
        "How agents are confined, and what they can still reach. `\"sandbox\": \"off\"` is short for the level alone."),
    leaf("workspaces_dir", Leaf::Path(PathBase::Project), Text(d::WORKSPACES_DIR), Project,
        "Folder of the worktrees, relative to the project's root."),
    Key { name: "projects", kind: Kind::Projects, default: Unset(r#"{"api": {"max_concurrency": 2}}"#), scope: TopLevel,
        doc: "Settings of a project by its id, unless the file in its root sets them." },
];

#[rustfmt::skip]
const WATCHDOG: &[Key] = &[
    leaf("step_timeout_ms", WATCH, Integer(d::WATCHDOG_STEP_TIMEOUT_MS), TopLevel,
        "Limit of a step of a supervisor that has no time limit of its own: preparation, checkout, exit handling."),
    leaf("tick_timeout_ms", WATCH, Integer(d::WATCHDOG_TICK_TIMEOUT_MS), TopLevel,
        "Limit of a step of a tick: observing, carrying out its plan, moving plans on, upkeep."),
    leaf("grace_ms", WATCH, Integer(d::WATCHDOG_GRACE_MS), TopLevel,
        "Shortest time between two ticks that must both find a step past its limit before Symphony ends its process."),
    leaf("deadline_max_ms", WATCH, Integer(d::WATCHDOG_DEADLINE_MAX_MS), TopLevel,
        "Longest limit that Symphony accepts from a supervisor's own record; a longer time limit in the project's configuration counts in full."),
];

#[rustfmt::skip]
const PROFILE: &[Key] = &[leaf("max_concurrency", COUNT, Unset("2"), TopLevel,
    "Agents of this type that run at once, over all projects.")];

#[rustfmt::skip]
const BINARY: Key = leaf("binary", Leaf::Program, Unset("\"/usr/local/bin/claude\""), TopLevel,
    "The program: a name to look up in `PATH`, or a path.");
#[rustfmt::skip]
const ARGS: Key = leaf("args", Leaf::Texts(TextRule::Any), Texts(&[]), TopLevel,
    "Arguments that are added to Symphony's own.");
#[rustfmt::skip]
const PROVIDER_ENV: Key = Key {
    name: "env",
    kind: Kind::Map(NameRule::Environment, Each::Leaf(Leaf::Text(TextRule::Any))),
    default: Unset(r#"{"HTTPS_PROXY": "http://localhost:3128"}"#),
    scope: TopLevel,
    doc: "Environment variables of this provider's agents.",
};
#[rustfmt::skip]
const HOLD: Key = leaf("hold_ms", WAIT, Integer(d::HOLD_MS), TopLevel,
    "Length of the first hold of this provider, when it does not say when its limit ends.");

/// The section of an agent's CLI.
const fn agent_cli(name: &'static str, doc: &'static str) -> Key {
    section(name, &[BINARY, ARGS, PROVIDER_ENV, HOLD], TopLevel, doc)
}

#[rustfmt::skip]
const PROVIDERS: &[Key] = &[
    agent_cli("claude-cli", "Anthropic's CLI."),
    agent_cli("codex-cli", "OpenAI's CLI, one prompt a process."),
    agent_cli("codex-app-server", "OpenAI's CLI by its app-server protocol."),
    agent_cli("opencode", "opencode, by the Agent Client Protocol."),
    agent_cli("qwen", "Qwen Code, by the Agent Client Protocol."),
    agent_cli("gemini", "Google's CLI, by the Agent Client Protocol."),
    agent_cli("copilot", "GitHub's CLI, by the Agent Client Protocol."),
    Key { name: "acp", kind: Kind::Map(NameRule::AcpProgram, Each::Section(ACP)), default: Unset(r#"{"goose": {"command": ["goose", "acp"]}}"#), scope: TopLevel,
        doc: "Programs that speak the Agent Client Protocol, by names of your choice: `acp.goose` is the one called `goose`. `{\"command\": …}` is short for one called `default`; `acp` alone means that one, or the only one." },
    section("command", &[
        leaf("command", Leaf::Command, Unset(r#"["my-agent", "--headless"]"#), TopLevel,
            "The command that starts the agent; its environment names the prompt files and the MCP configuration."),
        leaf("output", Leaf::Choice(CommandOutput::NAMES), Text(d::COMMAND_OUTPUT), TopLevel,
            "What the command writes: the stream of Anthropic's CLI, or plain text."),
        BINARY, ARGS, PROVIDER_ENV, HOLD,
    ], TopLevel, "Any program."),
    section("scripted", &[
        leaf("scenario", Leaf::Path(PathBase::File), Unset("\"scenario.json\""), TopLevel,
            "The scenario file that the agent plays."),
        BINARY, ARGS, PROVIDER_ENV, HOLD,
    ], TopLevel, "The built-in offline agent."),
];

#[rustfmt::skip]
const ACP: &[Key] = &[
    leaf("command", Leaf::Command, Unset(r#"["my-agent", "--acp"]"#), TopLevel,
        "The command that starts the agent; it speaks the Agent Client Protocol on its standard input and output."),
    leaf("model", LINE, Unset("\"large\""), TopLevel,
        "The model that its agents use if nothing else names one; the program finds it in `SYMPHONY_MODEL`."),
    ARGS, PROVIDER_ENV, HOLD,
];

#[rustfmt::skip]
const VAULT: &[Key] = &[
    leaf("path", Leaf::Path(PathBase::File), Unset("\"~/notes\""), TopLevel, "The folder."),
    leaf("max_tokens", PROMPT_TOKENS, Unset("2000"), TopLevel,
        "Largest number of tokens for notes in a prompt; the budget may leave fewer."),
];

#[rustfmt::skip]
const PROMPTS: &[Key] = &[section("trial", &[
    leaf("name", Leaf::Text(TextRule::TrialName), Unset("\"shorter\""), TopLevel,
        "Name of the trial; it decides which issue gets which set, and a new name begins a new trial."),
    leaf("a", Leaf::Path(PathBase::File), Unset("\".symphony/prompts\""), TopLevel,
        "Folder of set A, which takes the place of `prompts_dir`; without this key, A is `prompts_dir`."),
    leaf("b", Leaf::Path(PathBase::File), Unset("\"prompts-new\""), TopLevel,
        "Folder of set B; an empty folder means the shipped prompts."),
    leaf("share", Leaf::Share, Unset("0.2"), TopLevel,
        "Share of the issues that get B, from 0 to 1; 0.5 without this key. An issue keeps the set that it was given."),
], TopLevel, "A trial in real work: agents work on some of the issues with set B, and on the others with set A. `symphony prompt trial --live` shows the report.")];

#[rustfmt::skip]
const WEB: &[Key] = &[
    Key { name: "users", kind: Kind::Map(NameRule::User, Each::Section(USER)), default: Unset(r#"{"ada": {"role": "reviewer", "token": "sha256:6d53c24b27848fd9aa3d2c8d5ec8a1f2ba4b0d8c0e3b5b6fb6a2e4bd8e4f7c11"}}"#), scope: TopLevel,
        doc: "The users of the page by name, in addition to the person who runs `symphony serve`; `symphony serve user add` adds one." },
];

#[rustfmt::skip]
const USER: &[Key] = &[
    leaf("role", Leaf::Choice(UserRole::NAMES), Unset("\"reviewer\""), TopLevel,
        "What the user may do: a `viewer` reads; a `reviewer` also adds, comments, answers, decides and retries; an `admin` also merges, cancels and pauses."),
    leaf("token", Leaf::Text(TextRule::TokenHash), Unset("\"sha256:6d53c24b27848fd9aa3d2c8d5ec8a1f2ba4b0d8c0e3b5b6fb6a2e4bd8e4f7c11\""), TopLevel,
        "The hash of the token that the user signs in with."),
];

#[rustfmt::skip]
const BUDGET: &[Key] = &[
    leaf("user_tokens", PROMPT_TOKENS, Integer(d::USER_TOKENS), Project,
        "Tokens of the budgeted sections of a user prompt."),
    leaf("system_tokens", PROMPT_TOKENS, Integer(d::SYSTEM_TOKENS), Project, "Tokens of a system prompt."),
    leaf("artifact_tokens", PROMPT_TOKENS, Integer(d::ARTIFACT_TOKENS), Project,
        "Tokens for the documents of a ticket, in addition to `user_tokens`: those of the issue's phases and of the issues above it."),
    section("shares", &[
        share("description", d::SHARES.description, "The issue's description."),
        share("diff", d::SHARES.diff, "The diff."),
        share("findings", d::SHARES.findings, "Findings."),
        share("learnings", d::SHARES.learnings, "Learnings."),
        share("comments", d::SHARES.comments, "Comments."),
        share("previous_output", d::SHARES.previous_output, "Output of earlier runs."),
    ], Project, "Percentages of `user_tokens` when there is no diff; they add up to 100."),
    section("judge_shares", &[
        share("description", d::JUDGE_SHARES.description, "The issue's description."),
        share("diff", d::JUDGE_SHARES.diff, "The diff."),
        share("findings", d::JUDGE_SHARES.findings, "Findings."),
        share("learnings", d::JUDGE_SHARES.learnings, "Learnings."),
        share("comments", d::JUDGE_SHARES.comments, "Comments."),
        share("previous_output", d::JUDGE_SHARES.previous_output, "Output of earlier runs."),
    ], Project, "Percentages of `user_tokens` when a judge sees a diff; they add up to 100."),
];

#[rustfmt::skip]
const CAP: &[Key] = &[
    leaf("usd", Leaf::Usd, Unset("2.5"), TopLevel, "In US dollars."),
    leaf("tokens", Leaf::Integer { min: 1, max: d::SPENDING_TOKENS_MAX }, Unset("2000000"), TopLevel, "In tokens."),
];

#[rustfmt::skip]
const SPENDING: &[Key] = &[
    section("run", CAP, TopLevel, "Of one run: the run ends."),
    section("issue", CAP, TopLevel, "Of one issue: it becomes blocked."),
    section("project", CAP, TopLevel, "Of one project: it is put on hold."),
    section("day", CAP, TopLevel, "Of one project in a day: it is put on hold until the next day (UTC)."),
];

#[rustfmt::skip]
const GIT: &[Key] = &[leaf("trusted_filters", Leaf::Texts(TextRule::Line), Texts(d::TRUSTED_FILTERS), TopLevel,
    "Filters that Symphony's own git commands may run, if the user's global git configuration has them. Files of any other filter (git-crypt, say) put the project on hold, because they would be committed unfiltered; files of Git LFS stay pointers.")];

#[rustfmt::skip]
const GATE: &[Key] = &[
    leaf("name", LINE, Unset("\"test\""), Project, "Its name, unique in the project."),
    leaf("command", Leaf::Command, Unset("\"cargo test\""), Project,
        "What is run: a text runs with `sh -c`, a list is an argv."),
    leaf("required", Leaf::Bool, Bool(d::GATE_REQUIRED), Project, "Whether its failure sends the issue back to an agent."),
    leaf("timeout_ms", LIMIT, Integer(d::GATE_TIMEOUT_MS), Project, "Its time limit."),
    leaf("parallel", Leaf::Bool, Bool(false), Project,
        "Whether it may run at the same time, and in the same checkout, as neighbouring gates that have this set, too."),
    leaf("retries", Leaf::Integer { min: 0, max: d::GATE_RETRIES_MAX }, Integer(d::GATE_RETRIES), Project,
        "How many more times a required gate runs on the same commit after it has failed, so that a flaky gate does not cost an agent's run."),
    leaf("reads", Leaf::Choice(GateReads::NAMES), Text(d::GATE_READS), Project,
        "What its result depends on: `tree` promises that the gate never looks at messages, authors, commits or tags, so it need not run again on other commits with the same files."),
];

#[rustfmt::skip]
const PLAN: &[Key] = &[
    leaf("by_tick", Leaf::Bool, Bool(d::PLAN_BY_TICK), Project, "Lets `tick` take over plans that are under way."),
    leaf("global_constraints", Leaf::Texts(TextRule::Any), Unset(r#"["Change nothing outside src/."]"#), Project,
        "Constraints of every phase. Without this key, five of Symphony's own; an empty list means none."),
    leaf("instructions", Leaf::Text(TextRule::Any), Unset("\"Commit after each task.\""), Project,
        "Instructions that are added to every phase."),
    Key { name: "failure_patterns", kind: Kind::Map(NameRule::FailureClass, Each::Leaf(Leaf::Texts(TextRule::FailurePattern))),
        default: Unset(r#"{"transient": ["license server is busy"]}"#), scope: Project,
        doc: "Regular expressions for the texts of failures, by class; they are tried before Symphony's own. Case is ignored, and `^` and `$` match at the ends of a line." },
];

#[rustfmt::skip]
const RISKS: &[Key] = &[
    section("medium", &[
        leaf("files", RISK, Integer(d::RISK_MEDIUM_FILES), Project, "Changed files."),
        leaf("lines", RISK, Integer(d::RISK_MEDIUM_LINES), Project, "Changed lines."),
    ], Project, "A pull request above either of these is a medium risk."),
    section("high", &[
        leaf("files", RISK, Integer(d::RISK_HIGH_FILES), Project, "Changed files."),
        leaf("lines", RISK, Integer(d::RISK_HIGH_LINES), Project, "Changed lines."),
    ], Project, "A pull request above either of these is a high risk."),
];

#[rustfmt::skip]
const EXTERNAL_RESEARCH: &[Key] = &[
    leaf("enabled", Leaf::Bool, Bool(d::EXTERNAL_RESEARCH), Project, "Allows searching the web."),
    leaf("max_searches", Leaf::Integer { min: 0, max: d::COUNT_MAX }, Integer(d::MAX_SEARCHES), Project,
        "Searches of one run; one more ends the run. 0 allows none."),
];

#[rustfmt::skip]
const WORKTREE: &[Key] = &[
    leaf("copy", Leaf::Texts(TextRule::Glob), Texts(&[]), Project,
        "Patterns of files to copy into a new worktree, in addition to `.env` and `.env.local`."),
    leaf("setup", Leaf::Command, Unset("\"npm ci\""), Project, "Command that runs once in every new worktree and every checkout for gates, before anything else."),
    leaf("setup_timeout_ms", LIMIT, Integer(d::SETUP_TIMEOUT_MS), Project, "Its time limit."),
    leaf("run_hooks", Leaf::Bool, Bool(d::RUN_HOOKS), Project,
        "Runs the repository's hooks in Symphony's own commits."),
    leaf("warm", Leaf::Bool, Bool(d::WARM), Project,
        "Lets gates start with build output of gates that passed on the base; only where `sandbox.level` is `namespace`."),
];

/// The section that can also be written as its kind alone.
const FORGE_KEY: &str = "forge";
/// The section that can also be written as its level alone.
const SANDBOX_KEY: &str = "sandbox";
const BYTES: Leaf = Leaf::Integer {
    min: d::SANDBOX_BYTES_MIN,
    max: d::SANDBOX_BYTES_MAX,
};
const ABSOLUTE_PATHS: Leaf = Leaf::Texts(TextRule::AbsolutePath);

#[rustfmt::skip]
const SANDBOX: &[Key] = &[
    leaf("level", Leaf::Choice(SandboxSetting::NAMES), Text(d::SANDBOX_LEVEL), Project,
        "How strongly agents are confined: `namespace` needs bubblewrap and Landlock, `landlock` works without bubblewrap and leaves the network open, `auto` takes the strongest level that is good enough and starts no run where none is, `off` lets agents reach what you reach. `symphony doctor` shows what this machine has."),
    leaf("bwrap", Leaf::Program, Text(d::SANDBOX_BWRAP), Project,
        "bubblewrap: a name to look up in `PATH`, or a path."),
    leaf("read", ABSOLUTE_PATHS, Texts(&[]), Project,
        "Files and folders that agents can read, in addition to those that every run needs."),
    leaf("write", ABSOLUTE_PATHS, Texts(&[]), Project,
        "Files and folders that agents can write, in addition to those that every run needs. None of `read` may be below one of them."),
    leaf("network", Leaf::Choice(SandboxNetwork::NAMES), Text(d::SANDBOX_NETWORK), Project,
        "What agents reach at the level `namespace`: `allowlist` the allowed hosts through Symphony's proxy, `host` everything that this machine reaches, `none` the provider's API alone."),
    leaf("hosts", Leaf::Texts(TextRule::AllowedHost), Texts(&[]), Project,
        "Allowed hosts, such as `example.com`, `*.example.com`, `example.com:8443` or `10.0.0.5:443`, in addition to the provider's API and the package registries that the project's tools use. A private address needs its port."),
    leaf("cache", Leaf::Choice(SandboxCache::NAMES), Text(d::SANDBOX_CACHE), Project,
        "How agents see your download caches (cargo, npm, Go): `read` lets them read the caches, `none` hides them. Other tools download again."),
    leaf("memory", BYTES, Unset("8589934592"), Project,
        "Memory limit of an agent, a gate or a set-up command with all its processes, in bytes, without swap. It needs a cgroup that is delegated to you: `symphony doctor` says whether there is one, and `runs show` whether a run had it."),
    leaf("processes", Leaf::Integer { min: d::SANDBOX_PROCESSES_MIN, max: d::SANDBOX_PROCESSES_MAX }, Integer(d::SANDBOX_PROCESSES), Project,
        "Largest number of processes and threads of a run."),
    leaf("tmp_size", BYTES, Integer(d::SANDBOX_TMP_BYTES), Project,
        "Size limit of the sandbox's own `/tmp`, in bytes; it is kept in memory."),
];

/// Keys that look like configuration but are state, kept in the database.
pub(super) const STATE_KEYS: &[&str] = &[
    "wizard_completed",
    "wizardCompleted",
    "wizard_failed",
    "wizardFailed",
];

impl Key {
    /// Returns the key that the value of a section means when it is not an object: `"sandbox": "off"` sets `sandbox.level`,
    /// `"forge": "github"` sets `forge.kind`.
    pub fn short(&self) -> Option<&'static Self> {
        match self.kind {
            Kind::Section(keys) if [SANDBOX_KEY, FORGE_KEY].contains(&self.name) => keys.first(),
            _ => None,
        }
    }
}

/// Returns the keys that the object at a path has; `None` if names are free, or there is no object or no such path.
/// Names are accepted in either spelling.
pub fn keys_at(path: &[Segment]) -> Option<&'static [Key]> {
    let mut kind = Kind::Section(KEYS);
    for segment in path {
        kind = match (kind, segment) {
            (Kind::Section(keys), Segment::Key(name)) => Key::find(keys, name)?.kind,
            (Kind::Map(_, Each::Section(keys)), Segment::Key(_))
            | (Kind::List(keys), Segment::Index(_)) => Kind::Section(keys),
            (Kind::Projects, Segment::Key(_)) => Kind::Section(KEYS),
            _ => return None,
        };
    }
    match kind {
        Kind::Section(keys) => Some(keys),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::path::KeyPath;
    use super::*;

    #[test]
    fn keys_at_follows_sections_lists_maps_and_projects() {
        for (path, first) in [
            ("budget.shares", Some("description")),
            ("gates[3]", Some("name")),
            ("profiles.judge", Some("max_concurrency")),
            ("projects.api", Some("$schema")),
            ("projects.api.externalResearch", Some("enabled")),
            ("env", None),
            ("gates", None),
            ("projects", None),
            ("model", None),
            ("nothing", None),
        ] {
            let path = KeyPath::parse(path).unwrap();
            let keys = keys_at(path.segments());
            assert_eq!(keys.map(|keys| keys[0].name), first, "{path}");
        }
    }
}
