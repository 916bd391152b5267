//! Ends a run that has no supervisor: this machine has nothing of it, so there is no worktree to save and no process to end.

use serde_json::{Map, Value, json};
use symphony_core::agent::AgentType;
use symphony_core::config::{BreakerTarget, ProjectConfig};
use symphony_core::failure::ErrorClass;
use symphony_core::left_behind::{LEFT_BEHIND, LeftBehind, LeftKind};
use symphony_core::outcome::FailureLimits;
use symphony_core::placement::Host;
use symphony_core::retry::BACKOFF_MAX_MS;
use symphony_core::run::{Run, RunError, RunStatus};
use symphony_core::tick::{ProjectView, Unwanted};
use symphony_store::{Context, FinishedRun, GatesAtEnd, GatesFound, RunFinish, Store, StoreError};

/// Why a run ends without a supervisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnattendedEnd {
    /// Its host did not come back.
    HostLost(Host, Saved),
    /// It was taken out of its pool before a worker began it, for a reason that a tick that died may have known alone.
    Withdrawn(Option<Unwanted>),
    /// The host that began it cannot start its supervisor.
    NotStarted(Host, String),
}

/// What a host that was lost had saved at the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Saved {
    /// Nothing.
    Nothing,
    /// What this ref has.
    At(String),
    /// The hub could not be asked.
    Unknown,
}

impl Saved {
    fn words(&self) -> String {
        match self {
            Self::Nothing => "what it had not handed in is lost with it".to_owned(),
            Self::At(reference) => {
                format!("what its agent had done when it was last saved is {reference}")
            }
            Self::Unknown => {
                "whether anything of it was saved is not known, since the hub did not answer"
                    .to_owned()
            }
        }
    }
}

impl UnattendedEnd {
    /// Returns what the record of the run names as left.
    fn left(&self) -> Map<String, Value> {
        let mut metadata = Map::new();
        if let Self::HostLost(_, Saved::At(reference)) = self {
            let left = LeftBehind {
                kind: LeftKind::Saved,
                path: reference.clone(),
            };
            metadata.insert(LEFT_BEHIND.to_owned(), json!([left]));
        }
        metadata
    }

    fn status(&self) -> RunStatus {
        match self {
            Self::HostLost(..) => RunStatus::Crashed,
            Self::Withdrawn(_) => RunStatus::Cancelled,
            Self::NotStarted(..) => RunStatus::Failed,
        }
    }

    fn error(&self) -> RunError {
        match self {
            Self::HostLost(host, saved) => RunError {
                class: ErrorClass::HostLost,
                message: format!("host {host} did not come back: {}", saved.words()),
            },
            Self::Withdrawn(why) => RunError {
                class: ErrorClass::Cancelled,
                message: format!(
                    "it was taken out of its pool before a worker began it{}",
                    Unwanted::clause(*why)
                ),
            },
            Self::NotStarted(host, problem) => RunError {
                class: ErrorClass::NotPrepared,
                message: format!("host {host} could not start it: {problem}"),
            },
        }
    }

    /// Returns what it says about gates. What a run opened a pull request for has gates that are due as always: the next tick has them run.
    fn gates(&self, run: &Run) -> GatesAtEnd {
        match self {
            Self::NotStarted(..) if run.agent == AgentType::Gates => {
                GatesAtEnd::Found(GatesFound::NotRun {
                    problem: self.error().message,
                })
            }
            _ => GatesAtEnd::Due,
        }
    }
}

/// Ends a run that no supervisor has, under its present fencing number.
///
/// # Errors
/// When the run was taken away again, or the database cannot be written.
pub(crate) fn end_unattended(
    store: &mut Store,
    context: &Context,
    run: &Run,
    end: &UnattendedEnd,
    limits: FailureLimits,
) -> Result<FinishedRun, StoreError> {
    let finish = RunFinish {
        run: run.id.clone(),
        fence: run.fence,
        status: end.status(),
        error: Some(end.error()),
        exit_code: None,
        usage: None,
        output_tail: String::new(),
        metadata: end.left(),
        phase: None,
        gates: end.gates(run),
        hold: None,
        ahead: None,
        cap: None,
        limits,
    };
    store.finish_run(context, &finish)
}

/// Returns the limits of a project as a tick has it.
pub(crate) const fn limits_of_view(view: &ProjectView) -> FailureLimits {
    FailureLimits {
        max_retries: view.max_retries,
        max_backoff_ms: view.max_backoff_ms,
        breaker_target: view.breaker_target,
    }
}

/// Returns the limits of a project, those of a broken one if its configuration cannot be read: it is not dispatched anyway.
pub(crate) fn limits_of(config: Option<&ProjectConfig>) -> FailureLimits {
    config.map_or(
        FailureLimits {
            max_retries: u32::MAX,
            max_backoff_ms: BACKOFF_MAX_MS,
            breaker_target: BreakerTarget::Backlog,
        },
        |config| FailureLimits {
            max_retries: config.max_retries,
            max_backoff_ms: config.max_retry_backoff_ms.get(),
            breaker_target: config.circuit_breaker_status,
        },
    )
}
