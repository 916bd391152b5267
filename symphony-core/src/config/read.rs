//! Reads the typed configuration from effective values, and checks what can only be checked after all layers are
//! merged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::database::Database;
use super::defaults;
use super::layer::{Effective, Place, Source, without_dots};
use super::leaf::describe;
use super::path::KeyPath;
use super::placement::PlacementKind;
use super::problem::{ConfigProblem, ProblemKind};
use super::provider::ProviderChoice;
use super::sandbox::SandboxSettings;
use super::server_address::ServerAddress;
use super::settings::{
    Budget, Config, ExternalResearch, PlanSettings, ProfileLimits, ProjectConfig, RiskThreshold,
    RiskThresholds, Spending, SpendingCap, User, Vault, WatchdogSettings, WorktreeSettings,
};
use super::shares::Shares;
use super::value::{BreakerTarget, IssuePrefix, Millis, ResumeMode};
use crate::agent::AgentType;
use crate::prompt_trial::{LiveTrial, PromptSet, Share, TrialName};
use crate::unit::UsdMicros;
use crate::user::UserName;

impl Effective {
    /// Reads what holds for the whole installation.
    pub fn config(&self) -> (Config, Vec<ConfigProblem>) {
        let mut reader = ConfigReader {
            effective: self,
            problems: Vec::new(),
        };
        let database = reader.database();
        let config = Config {
            state_dir: reader.state_dir(&database),
            database,
            max_concurrent_agents: reader.get_or("max_concurrent_agents", 0),
            max_concurrent_gates: reader.get_or("max_concurrent_gates", 0),
            log_retention_days: reader.get_or("log_retention_days", 30),
            watchdog: reader.watchdog(),
            profiles: reader.profiles(),
            users: reader.users(),
            temporal: reader.temporal(),
            placement: reader.get_or("placement", PlacementKind::Queue),
            lease: reader.lease(),
            worker: reader.worker(),
            defaults: reader.project(),
        };
        (config, reader.problems)
    }

    /// Reads the settings of the project that these layers belong to.
    ///
    /// The problems are values at odds with each other: shares that do not add up to 100, a high
    /// risk below the medium one, the provider `command` without a command. The configuration is
    /// then usable, but not what was asked for: nothing must be dispatched with it.
    pub fn project_config(&self) -> (ProjectConfig, Vec<ConfigProblem>) {
        let mut reader = ConfigReader {
            effective: self,
            problems: Vec::new(),
        };
        let config = reader.project();
        reader.check_provider(&config);
        (config, reader.problems)
    }
}

impl ProjectConfig {
    /// Returns the default configuration of a project in this folder.
    pub fn defaults(root: impl Into<PathBuf>) -> Self {
        let place = Place {
            root: root.into(),
            home: None,
        };
        Effective::resolve(&[], place).project_config().0
    }
}

/// Reads typed values, and collects what is wrong with them.
pub(super) struct ConfigReader<'a> {
    pub(super) effective: &'a Effective,
    problems: Vec<ConfigProblem>,
}

impl ConfigReader<'_> {
    /// Reads a value, nothing when it is not set.
    pub(super) fn get<T: DeserializeOwned>(&mut self, path: &str) -> Option<T> {
        self.get_at(&KeyPath::of(path))
    }

    fn get_at<T: DeserializeOwned>(&mut self, path: &KeyPath) -> Option<T> {
        let value = &self.effective.get(path)?.value;
        if value.is_null() {
            return None;
        }
        match serde_json::from_value(value.clone()) {
            Ok(value) => Some(value),
            Err(error) => {
                self.problem(path, describe(value), error.to_string());
                None
            }
        }
    }

    /// Reads a value that has a default in the table; `otherwise` is used if it cannot be read.
    pub(super) fn get_or<T: DeserializeOwned>(&mut self, path: &str, otherwise: T) -> T {
        self.get(path).unwrap_or(otherwise)
    }

    fn flag(&mut self, path: &str) -> bool {
        self.get_or(path, false)
    }

    fn millis(&mut self, path: &str) -> Millis {
        self.get_or(path, Millis::default())
    }

    /// Reads a path and makes it absolute, relative to the folder of the file that sets it.
    pub(super) fn path(&mut self, path: &str) -> Option<PathBuf> {
        let text: String = self.get(path)?;
        let source = &self.effective.get(&KeyPath::of(path))?.source;
        let base = match source {
            Source::File { path, .. } => path.parent().unwrap_or(&self.effective.place.root),
            Source::Default | Source::Database => &self.effective.place.root,
        };
        Some(self.effective.absolute(&text, base))
    }

    pub(super) fn problem(&mut self, path: &KeyPath, found: String, expected: String) {
        let entry = self.effective.get(path);
        let file = entry.and_then(|entry| match &entry.source {
            Source::File { path, .. } => Some(path.display().to_string()),
            Source::Database => Some("database".to_owned()),
            Source::Default => None,
        });
        self.problems.push(ConfigProblem {
            path: entry.map_or_else(|| path.clone(), |entry| entry.written.clone()),
            kind: ProblemKind::WrongValue { found, expected },
            file,
            position: entry.and_then(|entry| entry.position),
        });
    }

    fn project(&mut self) -> ProjectConfig {
        ProjectConfig {
            prefix: self
                .get("prefix")
                .unwrap_or_else(|| IssuePrefix::from_folder("")),
            pool: self.get("pool"),
            hub: self.get("hub"),
            base_branch: self.get("base_branch"),
            max_retries: self.get_or("max_retries", 1),
            max_retry_backoff_ms: self.millis("max_retry_backoff_ms"),
            turn_timeout_ms: self.millis("turn_timeout_ms"),
            stall_timeout_ms: self.millis("stall_timeout_ms"),
            loop_repeats: self.get_or("loop_repeats", u32::MAX),
            model_requests_per_minute: self.get_or("model_requests_per_minute", u64::MAX),
            circuit_breaker_status: self.get_or("circuit_breaker_status", BreakerTarget::Backlog),
            provider: self.get_or("provider", ProviderChoice::Auto),
            model: self.get("model"),
            phase_models: self.map("phase_models"),
            resume: self.get_or("resume", ResumeMode::Auto),
            providers: self.providers(),
            prompts_dir: self.path("prompts_dir").unwrap_or_default(),
            prompt_trial: self.prompt_trial(),
            vault: self.vault(),
            budget: self.budget(),
            keep_run_files: self.flag("keep_run_files"),
            spending: self.spending(),
            trusted_filters: self.get_or("git.trusted_filters", Vec::new()),
            gates: self.get_or("gates", Vec::new()),
            publish: self.get("publish"),
            forge: self.forge(),
            trackers: self.trackers(),
            notify: self.get("notify"),
            plan: PlanSettings {
                by_tick: self.flag("plan.by_tick"),
                global_constraints: self.get("plan.global_constraints"),
                instructions: self.get("plan.instructions"),
                failure_patterns: self.map("plan.failure_patterns"),
            },
            sensitive_paths: self.get_or("sensitive_paths", Vec::new()),
            risk: self.risk(),
            max_concurrency: self.get("max_concurrency"),
            max_open_reviews: self.get("max_open_reviews"),
            planner_enabled: self.flag("planner_enabled"),
            scanner_enabled: self.flag("scanner_enabled"),
            scanner_interval_ms: self.millis("scanner_interval_ms"),
            background_research: self.flag("background_research"),
            researcher_enabled: self.flag("researcher_enabled"),
            judge_enabled: self.flag("judge_enabled"),
            judge_cooldown_ms: self.millis("judge_cooldown_ms"),
            auto_done: self.flag("auto_done"),
            intake_enabled: self.flag("intake_enabled"),
            wizard_enabled: self.flag("wizard_enabled"),
            phase_conventions: self.flag("phase_conventions"),
            try_changed_gates: self.flag("try_changed_gates"),
            migration_mode: self.flag("migration_mode"),
            external_research: ExternalResearch {
                enabled: self.flag("external_research.enabled"),
                max_searches: self.get_or("external_research.max_searches", 0),
            },
            worktree: WorktreeSettings {
                copy: self.get_or("worktree.copy", Vec::new()),
                setup: self.get("worktree.setup"),
                setup_timeout_ms: self.millis("worktree.setup_timeout_ms"),
                run_hooks: self.flag("worktree.run_hooks"),
                warm: self.flag("worktree.warm"),
            },
            env: self.map("env"),
            sandbox: self.sandbox(),
            workspaces_dir: self.workspaces_dir(),
        }
    }

    /// Reads where the database is. A wrong address is a problem that was found before.
    fn database(&mut self) -> Database {
        let text: Option<String> = self.get("database");
        let address = text.and_then(|text| ServerAddress::parse(&text).ok());
        match address {
            Some(address) => address.into(),
            None => self
                .path("database")
                .unwrap_or_else(|| self.effective.place.root.join(defaults::DATABASE))
                .into(),
        }
    }

    /// Reads the folder of the state. All repositories of a server's database share it on a machine: its locks keep two helpers
    /// from doing the same at once.
    fn state_dir(&mut self, database: &Database) -> PathBuf {
        let address = match database {
            Database::File(path) => return path.parent().map(Path::to_owned).unwrap_or_default(),
            Database::Server(address) => address,
        };
        if let Some(named) = self.path("state_dir") {
            return named;
        }
        let Some(home) = &self.effective.place.home else {
            let expected = "a folder: the environment names no home".to_owned();
            self.problem(&KeyPath::of("state_dir"), "none".to_owned(), expected);
            return PathBuf::new();
        };
        home.join(defaults::STATE_DIR).join(address.folder_name())
    }

    fn workspaces_dir(&mut self) -> PathBuf {
        let text: String = self.get_or("workspaces_dir", defaults::WORKSPACES_DIR.to_owned());
        without_dots(&self.effective.absolute(&text, &self.effective.place.root))
    }

    pub(super) fn map<K: Ord + DeserializeOwned, V: DeserializeOwned>(
        &mut self,
        path: &str,
    ) -> BTreeMap<K, V> {
        let above = KeyPath::of(path);
        let mut map = BTreeMap::new();
        for name in self.effective.names_below(&above) {
            let at = above.key(name);
            let Some(value) = self.get_at(&at) else {
                continue;
            };
            match serde_json::from_value(Value::from(name)) {
                Ok(name) => {
                    map.insert(name, value);
                }
                Err(error) => self.problem(&at, format!("the name `{name}`"), error.to_string()),
            }
        }
        map
    }

    fn profiles(&mut self) -> BTreeMap<AgentType, ProfileLimits> {
        let above = KeyPath::of("profiles");
        let mut profiles = BTreeMap::new();
        for name in self.effective.names_below(&above) {
            let at = above.key(name).key("max_concurrency");
            match AgentType::parse(name) {
                Ok(agent) => {
                    let limits = ProfileLimits {
                        max_concurrency: self.get_at(&at),
                    };
                    profiles.insert(agent, limits);
                }
                Err(error) => self.problem(&at, error.found, error.expected.to_owned()),
            }
        }
        profiles
    }

    /// Reads the users of the page; a file that names one without a role or a token has a problem, which was found before.
    fn users(&mut self) -> BTreeMap<UserName, User> {
        let above = KeyPath::of("web.users");
        let mut users = BTreeMap::new();
        for name in self.effective.names_below(&above) {
            let at = above.key(name);
            let role = self.get_at(&at.key("role"));
            let token = self.get_at(&at.key("token"));
            if let (Ok(name), Some(role), Some(token)) = (UserName::parse(name), role, token) {
                users.insert(name, User { role, token });
            }
        }
        users
    }

    /// Reads a program: a bare name stays one, to be looked up in `PATH`.
    pub(super) fn program(&mut self, path: &str) -> Option<PathBuf> {
        let text: String = self.get(path)?;
        if text.contains('/') {
            self.path(path)
        } else {
            Some(PathBuf::from(text))
        }
    }

    /// Reads a list of paths that are absolute, or below the home folder.
    fn paths(&mut self, path: &str) -> Vec<PathBuf> {
        let texts: Vec<String> = self.get_or(path, Vec::new());
        let root = &self.effective.place.root;
        let paths = texts.iter().map(|text| self.effective.absolute(text, root));
        paths.map(|path| without_dots(&path)).collect()
    }

    fn sandbox(&mut self) -> SandboxSettings {
        let otherwise = SandboxSettings::default();
        let (read, write) = (self.paths("sandbox.read"), self.paths("sandbox.write"));
        let below = |path: &&PathBuf| write.iter().any(|writable| path.starts_with(writable));
        if let Some(path) = read.iter().find(below) {
            let expected = "no path that is in `sandbox.write`, or below one that is".to_owned();
            let found = format!("the path {}", path.display());
            self.problem(&KeyPath::of("sandbox.read"), found, expected);
        }
        SandboxSettings {
            level: self.get_or("sandbox.level", otherwise.level),
            bwrap: self.program("sandbox.bwrap").unwrap_or(otherwise.bwrap),
            read,
            write,
            network: self.get_or("sandbox.network", otherwise.network),
            hosts: self.get_or("sandbox.hosts", otherwise.hosts),
            cache: self.get_or("sandbox.cache", otherwise.cache),
            memory_bytes: self.get("sandbox.memory"),
            processes: self.get_or("sandbox.processes", otherwise.processes),
            tmp_bytes: self.get_or("sandbox.tmp_size", otherwise.tmp_bytes),
        }
    }

    /// Reads the trial of prompts. One without a name, or without the set B, is a problem: nothing could be tried.
    fn prompt_trial(&mut self) -> Option<LiveTrial> {
        const SECTION: &str = "prompts.trial";
        let at = self.first_set(SECTION)?;
        let name: Option<TrialName> = self.get("prompts.trial.name");
        let share: Option<Share> = self.get("prompts.trial.share");
        let a = self.path(LiveTrial::key(PromptSet::A));
        let b = self.path(LiveTrial::key(PromptSet::B));
        let missing = [("name", name.is_none()), ("b", b.is_none())];
        let missing = missing.iter().filter(|(_, missing)| *missing);
        let missing: Vec<String> = missing
            .map(|(key, _)| format!("no `{SECTION}.{key}`"))
            .collect();
        let is_unset = name.is_none() && share.is_none() && a.is_none() && b.is_none();
        if let (Some(name), Some(b)) = (name, b) {
            let share = share.unwrap_or(Share::HALF);
            return Some(LiveTrial { name, a, b, share });
        }
        // a layer above may have taken all of it back
        if !is_unset {
            let expected = "a trial with a `name` and the folder `b` of its second set".to_owned();
            self.problem(&at, missing.join(" and "), expected);
        }
        None
    }

    fn vault(&mut self) -> Option<Vault> {
        let path = self.path("vault.path")?;
        Some(Vault {
            path,
            max_tokens: self.get("vault.max_tokens"),
        })
    }

    fn budget(&mut self) -> Budget {
        Budget {
            user_tokens: self.get("budget.user_tokens").unwrap_or_default(),
            system_tokens: self.get("budget.system_tokens").unwrap_or_default(),
            artifact_tokens: self.get("budget.artifact_tokens").unwrap_or_default(),
            shares: self.shares("budget.shares", defaults::SHARES),
            judge_shares: self.shares("budget.judge_shares", defaults::JUDGE_SHARES),
        }
    }

    /// Reads shares; if they do not add up, the default replaces them.
    fn shares(&mut self, path: &str, otherwise: Shares) -> Shares {
        let shares = Shares {
            description: self.get_or(&format!("{path}.description"), 0),
            diff: self.get_or(&format!("{path}.diff"), 0),
            findings: self.get_or(&format!("{path}.findings"), 0),
            learnings: self.get_or(&format!("{path}.learnings"), 0),
            comments: self.get_or(&format!("{path}.comments"), 0),
            previous_output: self.get_or(&format!("{path}.previous_output"), 0),
        };
        if shares.sum() == 100 {
            return shares;
        }
        let at = self.first_set(path).unwrap_or_else(|| KeyPath::of(path));
        let expected = format!(
            "shares that add up to 100 (with the defaults of those of {path} that are not set)"
        );
        self.problem(&at, format!("a sum of {}", shares.sum()), expected);
        otherwise
    }

    /// Returns the first path of a section that some layer sets.
    pub(super) fn first_set(&self, section: &str) -> Option<KeyPath> {
        let above = KeyPath::of(section);
        let mut entries = self.effective.iter();
        entries
            .find(|(at, entry)| at.below(&above).is_some() && entry.source != Source::Default)
            .map(|(at, _)| at.clone())
    }

    fn watchdog(&mut self) -> WatchdogSettings {
        WatchdogSettings {
            step_timeout_ms: self.millis("watchdog.step_timeout_ms"),
            tick_timeout_ms: self.millis("watchdog.tick_timeout_ms"),
            grace_ms: self.millis("watchdog.grace_ms"),
            deadline_max_ms: self.millis("watchdog.deadline_max_ms"),
        }
    }

    fn spending(&mut self) -> Spending {
        Spending {
            run: self.cap("run"),
            issue: self.cap("issue"),
            project: self.cap("project"),
            day: self.cap("day"),
        }
    }

    fn cap(&mut self, of: &str) -> SpendingCap {
        SpendingCap {
            usd: self
                .get(&format!("spending.{of}.usd"))
                .map(UsdMicros::from_usd),
            tokens: self.get(&format!("spending.{of}.tokens")),
        }
    }

    fn risk(&mut self) -> RiskThresholds {
        let medium = self.threshold("medium");
        let high = self.threshold("high");
        for (of, medium, high) in [
            ("files", medium.files, high.files),
            ("lines", medium.lines, high.lines),
        ] {
            if high < medium {
                let at = self
                    .first_set("risk")
                    .unwrap_or_else(|| KeyPath::of("risk"));
                let found = format!("{medium} {of} for medium and {high} for high");
                self.problem(
                    &at,
                    found,
                    "a high risk not below the medium one".to_owned(),
                );
            }
        }
        RiskThresholds { medium, high }
    }

    fn threshold(&mut self, level: &str) -> RiskThreshold {
        RiskThreshold {
            files: self.get_or(&format!("risk.{level}.files"), 0),
            lines: self.get_or(&format!("risk.{level}.lines"), 0),
        }
    }
}
