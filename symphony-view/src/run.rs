//! Runs.

use serde::Serialize;
use serde_json::Value;
use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::by_products::COMMITTED_BY_PRODUCTS;
use symphony_core::closed_set::UnknownName;
use symphony_core::config_change::AtWork;
use symphony_core::failure::ErrorClass;
use symphony_core::id::{IssueId, PhaseName, PlanId, PlanPhaseId, PrId, ProjectId, RunId};
use symphony_core::left_behind::{LEFT_BEHIND, LeftBehind, left_behind_sentences};
use symphony_core::log::short_run;
use symphony_core::metering::{CountedBy, Metering};
use symphony_core::placement::{Host, Pool};
use symphony_core::profile::{MODEL_SOURCE, ModelSource, PROVIDER_SOURCE, ProviderSource};
use symphony_core::prompt_trial::Assignment;
use symphony_core::run::{
    INTERACTIVE, ProtectionLevel, Run, RunStatus, RunTarget, SandboxRecord, Usage,
};
use symphony_core::run_memory::RunMemory;
use symphony_core::run_network::RunNetworkUse;
use symphony_core::session::{SessionRecord, WhyNew};
use symphony_core::web::WEB_SEARCHES;
use symphony_core::wording::counted;
use symphony_store::refused_call;

use crate::run_sandbox::{carried, limited, write_refused};
use crate::text::{Listed, Page, Table, View, ago, compact_duration};

/// A run of an agent.
#[derive(Debug, Clone, Serialize)]
pub struct RunView {
    /// Its id, a UUID.
    pub id: RunId,
    /// The project it is about.
    pub project: ProjectId,
    /// The issue it works on.
    pub issue: Option<IssueId>,
    /// The pull request it is about.
    pub pull_request: Option<PrId>,
    /// The plan it works for.
    pub plan: Option<PlanId>,
    /// The phase of the plan it is about.
    pub plan_phase: Option<PlanPhaseId>,
    /// The kind of agent.
    pub profile: AgentType,
    /// The phase that the agent works in.
    pub phase: Option<PhaseName>,
    /// Which attempt it is, from 1.
    pub attempt: u32,
    /// The provider that starts the agent.
    pub provider: String,
    /// The model, where the agent reported one.
    pub model: Option<String>,
    /// Its status.
    pub status: RunStatus,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// The exit code of the agent.
    pub exit_code: Option<i32>,
    /// How it failed.
    pub error: Option<ErrorView>,
    /// The tokens that it used and what they cost.
    pub usage: UsageView,
    /// The worktree that it works in; none once it is removed.
    pub worktree: Option<String>,
    /// The branch that it commits to.
    pub branch: Option<String>,
    /// How the agent is confined.
    pub protection: ProtectionLevel,
    /// What confined its agent; absent before it started, for gates, and in runs of older versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxRecord>,
    /// The pool whose workers it is for; absent where the host of the tick starts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<Pool>,
    /// The host that started it; absent while it waits in its pool, and for runs without a pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// The set of a trial of prompts that it was built with; absent outside of trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_set: Option<Assignment>,
    /// What else is recorded about the run.
    pub metadata: Value,
    /// The end of the output; shown to a person only, the log has all of it.
    #[serde(skip)]
    output_tail: String,
}

/// Why a run did not succeed.
#[derive(Debug, Clone, Serialize)]
pub struct ErrorView {
    pub class: ErrorClass,
    pub message: String,
}

/// What a run used.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct UsageView {
    /// Tokens that the model read, without those from a cache.
    pub input_tokens: u64,
    /// Tokens that it wrote.
    pub output_tokens: u64,
    /// Tokens that it read from a cache.
    pub cache_read_tokens: u64,
    /// Tokens that it wrote to a cache.
    pub cache_creation_tokens: u64,
    /// What they cost, in US dollars, where the provider reported it.
    pub cost_usd: Option<f64>,
    /// Turns of the model.
    pub turns: u64,
}

impl From<Usage> for UsageView {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens.get(),
            output_tokens: usage.output_tokens.get(),
            cache_read_tokens: usage.cache_read_tokens.get(),
            cache_creation_tokens: usage.cache_creation_tokens.get(),
            cost_usd: usage.cost.map(symphony_core::unit::UsdMicros::usd),
            turns: usage.turns,
        }
    }
}

impl UsageView {
    /// Returns all tokens together.
    pub const fn tokens(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.output_tokens)
            .saturating_add(self.cache_read_tokens)
            .saturating_add(self.cache_creation_tokens)
    }

    /// Returns the cost for a person: `$0.0226`, or nothing when it is not known.
    pub fn cost(&self) -> String {
        self.cost_usd
            .map_or_else(String::new, |usd| format!("${usd:.4}"))
    }
}

impl From<Run> for RunView {
    fn from(run: Run) -> Self {
        let duration_ms = run.ended_at.map(|ended| {
            u64::try_from(ended.as_millisecond() - run.started_at.as_millisecond()).unwrap_or(0)
        });
        let pull_request = run.target.pull_request();
        let plan = run.target.plan().cloned();
        let plan_phase = match &run.target {
            RunTarget::PlanPhase(_, phase) => Some(phase.clone()),
            _ => None,
        };
        Self {
            issue: run.target.issue().cloned(),
            pull_request,
            plan,
            plan_phase,
            duration_ms,
            id: run.id,
            project: run.project,
            profile: run.agent,
            phase: run.phase,
            attempt: run.attempt,
            provider: run.provider,
            model: run.model,
            status: run.status,
            started_at: run.started_at,
            ended_at: run.ended_at,
            exit_code: run.exit_code,
            error: run.error.map(|error| ErrorView {
                class: error.class,
                message: error.message,
            }),
            usage: run.usage.into(),
            worktree: run.worktree,
            branch: run.branch,
            protection: run.protection,
            sandbox: run.sandbox,
            pool: run.pool,
            host: run.host,
            prompt_set: run.prompt_set,
            metadata: run.metadata,
            output_tail: run.output_tail,
        }
    }
}

impl RunView {
    /// Returns how long it took, or has taken until now.
    pub fn elapsed(&self, now: Timestamp) -> String {
        let live =
            || u64::try_from(now.as_millisecond() - self.started_at.as_millisecond()).unwrap_or(0);
        compact_duration(self.duration_ms.unwrap_or_else(live))
    }

    /// Says whether Symphony itself runs gates in it.
    pub fn is_of_gates(&self) -> bool {
        self.profile == AgentType::Gates
    }

    /// Returns how it ended, in a line.
    pub fn outcome(&self) -> String {
        let error = self.error.as_ref().map(|error| match error.class {
            // the message already has the details
            ErrorClass::GatesRed => format!(": {}", error.message),
            class => format!(": {}: {}", class.words(), error.message),
        });
        let cost = if self.usage.cost_usd.is_some() {
            format!(", {}", self.usage.cost())
        } else {
            String::new()
        };
        if self.is_not_started() {
            let error = error.unwrap_or_default();
            return format!(
                "{}: {} was not started{error}",
                self.subject(),
                self.profile
            );
        }
        // gates ask no model, and what a person's session used is unknown
        let usage = if self.is_of_gates() || self.is_interactive() {
            String::new()
        } else {
            format!(" ({}{cost})", counted(self.usage.tokens(), "token"))
        };
        format!(
            "{}: {} {} after {}{usage}{}",
            self.subject(),
            self.profile,
            self.status,
            self.elapsed(self.started_at),
            error.unwrap_or_default()
        )
    }

    /// Says that a person works in its session, or worked there.
    pub fn is_interactive(&self) -> bool {
        self.metadata.get(INTERACTIVE) == Some(&Value::Bool(true))
    }

    /// Returns how many tokens it used, as far as that is known.
    fn tokens_in_words(&self) -> String {
        if self.is_interactive() {
            return "unknown".to_owned();
        }
        self.usage.tokens().to_string()
    }

    /// Says that its agent was never started: nothing was paid.
    fn is_not_started(&self) -> bool {
        let error = self.error.as_ref();
        let before = error.is_some_and(|error| error.class.precedes_the_agent());
        before && !self.is_of_gates() && self.usage.tokens() == 0
    }

    /// Returns how far it came, in a word or two.
    fn status_words(&self) -> String {
        if self.is_not_started() {
            "not started".to_owned()
        } else {
            self.status.to_string()
        }
    }

    /// Returns why it failed, in a word.
    fn error_word(&self) -> String {
        let error = self.error.as_ref().map(|error| error.class.words());
        let refused = || refused_call(&self.metadata).map(|_| "refused".to_owned());
        error.or_else(refused).unwrap_or_default()
    }

    /// Returns whose session it resumed, or why it started a new one; nothing where there was none to resume.
    pub fn session(&self) -> String {
        match SessionRecord::of(&self.metadata) {
            None
            | Some(SessionRecord::New {
                why: WhyNew::First | WhyNew::NoTask,
            }) => String::new(),
            Some(record) => record.to_string(),
        }
    }

    /// Returns who counted its tokens, in brackets; nothing where there are none.
    pub fn counted_by(&self) -> String {
        if self.usage.tokens() == 0 {
            return String::new();
        }
        let metering = Metering::of(&self.metadata);
        let by = metering.map_or(CountedBy::Reported, |metering| metering.counted_by);
        format!(" ({})", by.words())
    }

    /// Returns how many requests its agent made to the model, where its sandbox counted them.
    fn model_requests(&self) -> String {
        let Some(Metering { metered, .. }) = Metering::of(&self.metadata) else {
            return String::new();
        };
        let mut text = match metered.failed {
            0 => metered.requests.to_string(),
            failed => format!("{}, {failed} of them failed", metered.requests),
        };
        if metered.uncounted > 0 {
            let answers = counted(metered.uncounted, "answer");
            text.push_str(&format!(
                "; {answers} had no usable token count: it was missing, compressed or absurd"
            ));
        }
        text
    }

    /// Returns what it left in no commit.
    fn left_behind(&self) -> Vec<LeftBehind> {
        let left = self.metadata.get(LEFT_BEHIND).cloned();
        left.and_then(|left| serde_json::from_value(left).ok())
            .unwrap_or_default()
    }

    /// Returns the files that the set-up had made and its commits have as they were.
    pub fn by_products(&self) -> Vec<String> {
        let paths = self.metadata.get(COMMITTED_BY_PRODUCTS).cloned();
        paths
            .and_then(|paths| serde_json::from_value(paths).ok())
            .unwrap_or_default()
    }

    /// Returns the provider, and where it was chosen.
    pub fn provider_in_words(&self) -> String {
        let source = self.source(PROVIDER_SOURCE, ProviderSource::parse);
        with_place(&self.provider, source.map(ProviderSource::words))
    }

    /// Returns the model and where it was chosen; `None` for the provider's default.
    pub fn model_in_words(&self) -> Option<String> {
        let source = self.source(MODEL_SOURCE, ModelSource::parse);
        let model = self.model.as_ref()?;
        Some(with_place(model, source.map(ModelSource::words)))
    }

    fn source<T>(&self, key: &str, parse: fn(&str) -> Result<T, UnknownName>) -> Option<T> {
        parse(self.metadata.get(key)?.as_str()?).ok()
    }

    /// Returns what it works on.
    pub fn subject(&self) -> String {
        let phase = || self.plan_phase.as_ref().map(ToString::to_string);
        let plan = || self.plan.as_ref().map(|plan| format!("plan {plan}"));
        self.issue
            .as_ref()
            .map(ToString::to_string)
            .or_else(phase)
            .or_else(plan)
            .unwrap_or_else(|| self.project.to_string())
    }
}

/// Names files of the set-up that are committed: only a person can tell whether they belong to the change.
pub(super) fn write_by_products(paths: &[String], page: &mut Page) {
    if paths.is_empty() {
        return;
    }
    page.heading("Created by the set-up and committed unchanged");
    for path in paths {
        page.line(path);
    }
}

impl View for RunView {
    fn write(&self, page: &mut Page) {
        page.heading(&format!("{} on {}", self.profile, self.subject()));
        page.field("run", self.id.as_str());
        page.field("status", &self.status_words());
        if let Some(error) = &self.error {
            page.field(
                "error",
                &format!("{}: {}", error.class.words(), error.message),
            );
        }
        if let Some(refused) = refused_call(&self.metadata) {
            page.field("refused", &refused.to_string());
        }
        page.field("run number", &self.attempt.to_string());
        page.field("phase", self.phase.as_ref().map_or("", PhaseName::as_str));
        page.field("provider", &self.provider_in_words());
        page.field("model", &self.model_in_words().unwrap_or_default());
        page.field("session", &self.session());
        page.field("started", &page.clock().since(self.started_at));
        page.field("took", &self.elapsed(page.now()));
        page.field(
            "exit code",
            &self
                .exit_code
                .map(|code| code.to_string())
                .unwrap_or_default(),
        );
        let usage = &self.usage;
        if self.is_interactive() {
            page.field("tokens", "unknown: a person works in its session");
        } else {
            page.field(
                "tokens",
                &format!(
                    "{} in, {} out, {} read from cache, {} written to cache{}",
                    usage.input_tokens,
                    usage.output_tokens,
                    usage.cache_read_tokens,
                    usage.cache_creation_tokens,
                    self.counted_by()
                ),
            );
            page.field("turns", &usage.turns.to_string());
        }
        page.field("requests", &self.model_requests());
        let searches = self.metadata.get(WEB_SEARCHES).and_then(Value::as_u64);
        page.field(
            "web searches",
            &searches.map(|count| count.to_string()).unwrap_or_default(),
        );
        page.field("cost", &usage.cost());
        page.field("worktree", self.worktree.as_deref().unwrap_or_default());
        page.field("branch", self.branch.as_deref().unwrap_or_default());
        page.field("protection", self.protection.name());
        let sandbox = self.sandbox.map(|sandbox| sandbox.to_string());
        page.field("sandbox", &sandbox.unwrap_or_default());
        let network = RunNetworkUse::of(&self.metadata);
        page.field(
            "network",
            &network.as_ref().map(carried).unwrap_or_default(),
        );
        let memory = RunMemory::of(&self.metadata).map(limited);
        page.field("memory", &memory.unwrap_or_default());
        let set = self.prompt_set.as_ref();
        page.field("prompts", &set.map(ToString::to_string).unwrap_or_default());
        let left = self.left_behind();
        if !left.is_empty() {
            page.heading("Left behind");
            let at_work = AtWork::of(&self.profile);
            for sentence in left_behind_sentences(&left, at_work) {
                page.hanging(2, &format!("- {sentence}."));
            }
        }
        if let Some(network) = &network {
            write_refused(network, page);
        }
        write_by_products(&self.by_products(), page);
        if self.error.is_some() && !self.output_tail.is_empty() {
            page.heading("End of its output");
            page.block(&self.output_tail);
        }
    }
}

/// Returns a name with the place where it was set, if that is known.
pub(crate) fn with_place(name: &str, place: Option<&str>) -> String {
    place.map_or_else(|| name.to_owned(), |place| format!("{name} ({place})"))
}

impl Listed for RunView {
    fn write_all(items: &[Self], page: &mut Page) {
        if items.is_empty() {
            page.line("No runs.");
            return;
        }
        let mut table = Table::new([
            "RUN", "FOR", "PROFILE", "STATUS", "STARTED", "TOOK", "TOKENS", "COST", "ERROR",
        ])
        .right(6)
        .right(7);
        for run in items {
            table.row([
                short_run(&run.id).to_owned(),
                run.subject(),
                run.profile.to_string(),
                run.status_words(),
                ago(run.started_at, page.now()),
                run.elapsed(page.now()),
                run.tokens_in_words(),
                run.usage.cost(),
                run.error_word(),
            ]);
        }
        page.table(&table);
    }
}
