//! The end of a run that has no host: nothing of it is on this machine, so there is no worktree to save and no process to end.

use symphony_core::config::{BreakerTarget, ProjectConfig};
use symphony_core::failure::ErrorClass;
use symphony_core::outcome::FailureLimits;
use symphony_core::placement::Host;
use symphony_core::retry::BACKOFF_MAX_MS;
use symphony_core::run::{Run, RunError, RunStatus};
use symphony_store::{Context, FinishedRun, GatesAtEnd, RunFinish, Store, StoreError};

/// Why a run ends without a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnattendedEnd {
    /// Its host did not come back.
    HostLost(Host),
    /// It was taken out of its pool before a worker began it.
    Withdrawn,
}

impl UnattendedEnd {
    fn status(&self) -> RunStatus {
        match self {
            Self::HostLost(_) => RunStatus::Crashed,
            Self::Withdrawn => RunStatus::Cancelled,
        }
    }

    fn error(&self) -> RunError {
        match self {
            Self::HostLost(host) => RunError {
                class: ErrorClass::HostLost,
                message: format!(
                    "host {host} did not come back: what it had not handed in is lost with it"
                ),
            },
            Self::Withdrawn => RunError {
                class: ErrorClass::Cancelled,
                message: "it was taken out of its pool before a worker began it".to_owned(),
            },
        }
    }
}

/// Ends a run that the control has taken, under its present fencing number.
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
        metadata: serde_json::Map::new(),
        phase: None,
        // What it opened a pull request for has gates that are due as always: the next tick has them run.
        gates: GatesAtEnd::Due,
        hold: None,
        ahead: None,
        cap: None,
        limits,
    };
    store.finish_run(context, &finish)
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
