//! The outcome of an agent.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use symphony_core::Timestamp;
use symphony_core::failure::ErrorClass;
use symphony_core::metering::{METERING, Metering, usage_of};
use symphony_core::run::{Run, RunError, RunStatus, Usage};
use symphony_store::StoreError;

use crate::error::RunnerError;
use crate::network::{RunNetwork, metered};

/// What is known when an agent has ended. It is recorded, so that any process can do the exit handling.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AgentOutcome {
    pub(crate) status: RunStatus,
    pub(crate) error: Option<RunError>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) usage: Option<Usage>,
    pub(crate) output_tail: String,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) hold_until: Option<Timestamp>,
}

impl AgentOutcome {
    /// Returns the outcome of a run without output of an agent.
    pub(crate) fn failed(status: RunStatus, error: RunError) -> Self {
        Self {
            status,
            error: Some(error),
            exit_code: None,
            usage: None,
            output_tail: String::new(),
            metadata: Map::new(),
            hold_until: None,
        }
    }
}

impl AgentOutcome {
    /// Records a later failure, unless the agent itself failed, which explains more.
    pub(crate) fn fail_unless_worse(&mut self, class: ErrorClass, message: String) {
        if self.error.is_none() {
            self.status = match class {
                ErrorClass::Cancelled => RunStatus::Cancelled,
                _ => RunStatus::Failed,
            };
            self.error = Some(RunError { class, message });
        }
    }
}

impl AgentOutcome {
    /// Takes in what the endpoints of the run counted, beside what the agent's CLI reported.
    pub(super) fn take_in_metered(&mut self, network: &RunNetwork) {
        let Some(traffic) = network.model_traffic() else {
            return;
        };
        let counted = metered(&traffic);
        let reported = self.usage.unwrap_or_default();
        self.usage = Some(usage_of(&reported, Some(&counted)));
        let metering = Metering::new(&reported, counted);
        self.metadata.insert(METERING.to_owned(), json!(metering));
    }

    /// Returns the outcome of a run that a person ended and whose supervisor is dead.
    pub(super) fn cancelled_without_answer() -> Self {
        let message = "ended by a person; the supervisor had not answered".to_owned();
        Self::failed(
            RunStatus::Cancelled,
            RunError {
                class: ErrorClass::Cancelled,
                message,
            },
        )
    }

    /// Returns the outcome of a run whose supervisor died, or was ended because it made no progress.
    pub(super) fn crashed(run: &Run, why: Option<String>) -> Self {
        let message = why.unwrap_or_else(|| {
            format!(
                "the supervisor of run {} died; its processes were ended",
                run.id
            )
        });
        Self::failed(
            RunStatus::Crashed,
            RunError {
                class: ErrorClass::Crashed,
                message,
            },
        )
    }

    /// Returns the outcome of a run whose base branch, or what git needs to check it out, disappeared after it was
    /// planned, which is no failure of the run.
    pub(super) fn without_base(error: &RunnerError) -> Self {
        let error = RunError {
            class: ErrorClass::Cancelled,
            message: error.with_causes(),
        };
        Self::failed(RunStatus::Cancelled, error)
    }

    /// Returns the outcome of a run that failed before its agent started.
    pub(crate) fn not_started(error: &RunnerError) -> Self {
        if error.is_base_missing() {
            return Self::without_base(error);
        }
        let class = match error {
            _ if error.is_disk_full() => ErrorClass::DiskFull,
            RunnerError::Provider(_) => ErrorClass::ProviderMissing,
            RunnerError::Sandbox(_) => ErrorClass::SandboxUnavailable,
            RunnerError::Workspace(_) => ErrorClass::WorktreeFailed,
            RunnerError::Setup { .. } => ErrorClass::SetupFailed,
            RunnerError::SetupOnBase { .. } => ErrorClass::BaseGatesFailed,
            RunnerError::OverBudget { .. } => ErrorClass::BudgetExhausted,
            RunnerError::Store(StoreError::Superseded { .. }) => ErrorClass::Cancelled,
            _ => ErrorClass::SpawnFailed,
        };
        Self::failed(
            RunStatus::Failed,
            RunError {
                class,
                message: match error {
                    RunnerError::SetupOnBase { text } => text.clone(),
                    _ => error.with_causes(),
                },
            },
        )
    }
}
