//! The decision: resume a session, or start a new one.

use serde_json::Value;

use super::id::{SessionForm, SessionId};
use crate::Timestamp;
use crate::agent::AgentType;
use crate::closed_set::closed_set;
use crate::config::{ResumeMode, SandboxLevel};
use crate::failure::ErrorClass;
use crate::hand_in::HEAD_AT_START;
use crate::id::{PhaseName, RunId};
use crate::run::{Run, RunStatus, RunTarget, Usage};

/// The key in a run's metadata for the id of its session, as its CLI reported it.
pub const SESSION: &str = "session";

/// What a session belongs to, besides its issue or phase of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionKey {
    /// The type of agent.
    pub agent: AgentType,
    /// What it does: its target without the number of the pull request or delivery.
    task: Task,
    /// The issue's phase.
    pub phase: Option<PhaseName>,
    /// The provider.
    pub provider: String,
    /// The model that is asked for; `None` leaves the choice to the provider.
    pub model: Option<String>,
}

/// What a run does, in the sense of its role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Work,
    ReviewOfPullRequest,
    ReviewOfDelivery,
    /// The project as a whole, or gates: these have no session to resume.
    Other,
}

impl Task {
    const fn of(target: &RunTarget) -> Self {
        match target {
            RunTarget::Issue(_) | RunTarget::PlanPhase(..) => Self::Work,
            RunTarget::PullRequest(..) => Self::ReviewOfPullRequest,
            RunTarget::Delivery(..) => Self::ReviewOfDelivery,
            RunTarget::Gates(..) | RunTarget::Project => Self::Other,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::ReviewOfPullRequest => "pull-request",
            Self::ReviewOfDelivery => "delivery",
            Self::Other => "other",
        }
    }
}

impl SessionKey {
    /// Returns the key of a run. `model` is the one that it asks for.
    pub fn of(run: &Run, model: Option<String>) -> Self {
        let phase = run.phase.clone();
        let (agent, provider) = (run.agent.clone(), run.provider.clone());
        Self::new(&run.target, agent, phase, provider, model)
    }

    /// Puts a key together.
    pub const fn new(
        target: &RunTarget,
        agent: AgentType,
        phase: Option<PhaseName>,
        provider: String,
        model: Option<String>,
    ) -> Self {
        Self {
            agent,
            task: Task::of(target),
            phase,
            provider,
            model,
        }
    }

    /// Returns the parts of the role: what two sessions of one agent, provider and model differ in.
    pub fn parts(&self) -> [&str; 5] {
        [
            self.agent.name(),
            self.task.name(),
            self.phase.as_ref().map_or("", PhaseName::as_str),
            &self.provider,
            self.model.as_deref().unwrap_or_default(),
        ]
    }

    fn is_same_role(&self, other: &Self) -> bool {
        self.agent == other.agent && self.task == other.task && self.phase == other.phase
    }
}

/// A run on the same issue or phase of a plan, as far as it matters for sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastRun {
    /// Its id.
    pub run: RunId,
    /// Its key.
    pub key: SessionKey,
    /// The id of its session as its CLI reported it; `None` if it reported none.
    pub session: Option<String>,
    /// How it ended.
    pub status: RunStatus,
    /// Why it did not succeed.
    pub class: Option<ErrorClass>,
    /// Whether its agent was confined.
    pub confined: bool,
    /// The commit that it began at.
    pub head: Option<String>,
    /// When it was claimed.
    pub started_at: Timestamp,
    /// What it used.
    pub usage: Usage,
}

impl From<&Run> for PastRun {
    fn from(run: &Run) -> Self {
        let text = |key: &str| run.metadata.get(key).and_then(Value::as_str);
        Self {
            run: run.id.clone(),
            key: SessionKey::of(run, run.model.clone()),
            session: text(SESSION).map(str::to_owned),
            status: run.status,
            class: run.error.as_ref().map(|error| error.class),
            confined: run
                .sandbox
                .is_some_and(|sandbox| sandbox.level != SandboxLevel::Off),
            head: text(HEAD_AT_START).map(str::to_owned),
            started_at: run.started_at,
            usage: run.usage,
        }
    }
}

/// What is asked for a run that is about to start.
#[derive(Debug, Clone)]
pub struct SessionQuery {
    /// The project's setting.
    pub mode: ResumeMode,
    /// The form of the ids of its provider's sessions; `None` if the provider resumes none.
    pub form: Option<SessionForm>,
    /// Its key.
    pub key: SessionKey,
    /// Whether its agent is confined.
    pub confined: bool,
    /// The commit that it begins at.
    pub head: Option<String>,
}

/// Whether a run resumes a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResumePlan {
    /// It resumes one.
    Resume {
        /// The session.
        session: SessionId,
        /// The last run in it.
        run: RunId,
        /// When that run was claimed: what is newer, the session does not know.
        since: Timestamp,
        /// What all runs in the session used together. A CLI that counts for the whole session counts it again.
        used: Usage,
    },
    /// It starts a new one.
    New(WhyNew),
}

impl ResumePlan {
    /// Returns the plan of a run for which no prompt of what is new can be made: a new session.
    #[must_use]
    pub fn without_prompt(self) -> Self {
        match self {
            Self::Resume { .. } => Self::New(WhyNew::NoTask),
            Self::New(why) => Self::New(why),
        }
    }
}

closed_set!(
    /// Why a run starts a new session.
    WhyNew, "reason for a new session", {
        /// The project does not want sessions to be resumed.
        Never = "never",
        /// The provider cannot resume one.
        Unable = "unable",
        /// The run is not about an issue or a phase of a plan.
        NoTask = "no_task",
        /// There is no earlier run of this role.
        First = "first",
        /// No earlier run of this role reported its session.
        NotReported = "not_reported",
        /// The earlier run repeated itself.
        Looping = "looping",
        /// The earlier run changed configuration that runs programs.
        Tampered = "tampered",
        /// The session no longer fits the model.
        PromptTooLong = "prompt_too_long",
        /// The earlier run used another provider.
        OtherProvider = "other_provider",
        /// The earlier run used another model.
        OtherModel = "other_model",
        /// One of both runs is in a sandbox, and the other is not.
        OtherProtection = "other_protection",
        /// The earlier run judged the same commit: two verdicts on one commit are independent.
        SameCommit = "same_commit",
        /// What the CLI reported is not the id of a session.
        NotAnId = "not_an_id",
        /// A run of another role reported the same session.
        OfAnother = "of_another",
    }
);

impl WhyNew {
    /// Returns the reason as a person reads it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Never => "the project has `resume: never`",
            Self::Unable => "the provider cannot resume a session",
            Self::NoTask => "the run has no issue and no phase of a plan",
            Self::First => "it is the first run of its kind here",
            Self::NotReported => "no earlier run reported its session",
            Self::Looping => "the earlier run repeated itself",
            Self::Tampered => "the earlier run changed configuration that runs programs",
            Self::PromptTooLong => "the earlier session no longer fits the model",
            Self::OtherProvider => "the earlier run used another provider",
            Self::OtherModel => "the earlier run used another model",
            Self::OtherProtection => "only one of both runs is in a sandbox",
            Self::SameCommit => "the earlier run judged the same commit",
            Self::NotAnId => "the earlier run reported an id that no session has",
            Self::OfAnother => "a run of another role reported the same session",
        }
    }
}

/// Decides whether a run resumes a session. `past` are the ended runs on the same issue or phase of a plan, newest first.
///
/// The last run of the same role decides. Runs whose agent reported no session, because it never started or its
/// supervisor died, are passed over.
pub fn plan_session(query: &SessionQuery, past: &[PastRun]) -> ResumePlan {
    match resumable(query, past) {
        Ok(plan) => plan,
        Err(why) => ResumePlan::New(why),
    }
}

fn resumable(query: &SessionQuery, past: &[PastRun]) -> Result<ResumePlan, WhyNew> {
    if query.key.task == Task::Other {
        return Err(WhyNew::NoTask);
    }
    if !past.iter().any(|run| run.key.is_same_role(&query.key)) {
        return Err(WhyNew::First);
    }
    if query.mode == ResumeMode::Never {
        return Err(WhyNew::Never);
    }
    let form = query.form.ok_or(WhyNew::Unable)?;
    let mut found = Err(WhyNew::NotReported);
    for run in past.iter().filter(|run| run.key.is_same_role(&query.key)) {
        match (barred(run), &run.session) {
            (Some(why), _) => return Err(why),
            (None, Some(session)) => {
                found = Ok((run, session));
                break;
            }
            (None, None) => {}
        }
    }
    let (run, reported) = found?;
    let checks = [
        (
            run.key.provider != query.key.provider,
            WhyNew::OtherProvider,
        ),
        (run.key.model != query.key.model, WhyNew::OtherModel),
        (run.confined != query.confined, WhyNew::OtherProtection),
        (judged_same(run, query), WhyNew::SameCommit),
    ];
    if let Some((_, why)) = checks.into_iter().find(|(applies, _)| *applies) {
        return Err(why);
    }
    let session = SessionId::parse(reported, form).ok_or(WhyNew::NotAnId)?;
    let same: Vec<&PastRun> = past
        .iter()
        .filter(|other| other.session.as_ref() == Some(reported))
        .collect();
    if same.iter().any(|other| other.key != query.key) {
        return Err(WhyNew::OfAnother);
    }
    Ok(ResumePlan::Resume {
        session,
        run: run.run.clone(),
        since: run.started_at,
        used: sum(same.into_iter().map(|run| run.usage)),
    })
}

/// Returns why no run continues what this one began.
const fn barred(run: &PastRun) -> Option<WhyNew> {
    match (run.status, run.class) {
        (RunStatus::Looping, _) | (_, Some(ErrorClass::Looping)) => Some(WhyNew::Looping),
        (RunStatus::Tampered, _) | (_, Some(ErrorClass::Tampered)) => Some(WhyNew::Tampered),
        (_, Some(ErrorClass::PromptTooLong)) => Some(WhyNew::PromptTooLong),
        _ => None,
    }
}

fn judged_same(run: &PastRun, query: &SessionQuery) -> bool {
    query.key.task == Task::ReviewOfPullRequest && run.head == query.head
}

fn sum(usages: impl Iterator<Item = Usage>) -> Usage {
    usages.fold(Usage::default(), |sum, usage| Usage {
        input_tokens: sum.input_tokens + usage.input_tokens,
        output_tokens: sum.output_tokens + usage.output_tokens,
        cache_read_tokens: sum.cache_read_tokens + usage.cache_read_tokens,
        cache_creation_tokens: sum.cache_creation_tokens + usage.cache_creation_tokens,
        cost: match (sum.cost, usage.cost) {
            (Some(sum), Some(cost)) => Some(sum + cost),
            (sum, cost) => sum.or(cost),
        },
        turns: sum.turns.saturating_add(usage.turns),
    })
}

#[cfg(test)]
mod tests;
