//! The document.

use std::collections::BTreeMap;

use crate::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::StateFileError;
use crate::id::PlanPhaseId;
use crate::plan::artifact::Artifact;
use crate::plan::document::Plan;
use crate::plan::failure::{FailureClass, RetryPolicy};
use crate::plan::state::{PhaseStatus, PlanStatus};

/// The file's name, in the project's folder.
pub const STATE_FILE: &str = ".symphony-state.json";
/// The value of `managedBy` in a file that Symphony writes.
pub const MANAGED_BY: &str = "symphony";

/// A plan's progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StateFile {
    /// Who writes the file; `None` if a skill does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub managed_by: Option<String>,
    /// The plan file.
    pub plan_path: String,
    /// When the plan began.
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// Its state.
    pub status: PlanStatus,
    /// Complete phases, skipped ones included.
    pub completed_count: usize,
    /// Phases that failed for good.
    pub failed_count: usize,
    /// The plan.
    pub plan: Plan,
    /// How failed phases are tried again.
    #[serde(default)]
    pub retry_policy: RetryPolicy,
    /// Phases that wait for a person.
    #[serde(default)]
    pub pending_decisions: Vec<PendingDecision>,
    /// Every phase's progress.
    pub phases: BTreeMap<PlanPhaseId, PhaseRecord>,
}

/// A phase that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingDecision {
    /// The phase.
    pub phase_id: PlanPhaseId,
    /// What went wrong.
    pub error: String,
    /// Its class.
    pub error_category: FailureClass,
    /// Retries so far.
    pub retry_count: u32,
    /// The names of the choices.
    pub options: Vec<String>,
    /// Since when it waits.
    pub asked_at: Timestamp,
}

/// One phase's progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PhaseRecord {
    /// Its state.
    pub status: PhaseStatus,
    /// What it produced.
    #[serde(default)]
    pub artifacts: Vec<Artifact>,
    /// When its first attempt began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// What went wrong last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Retries so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_count: Option<u32>,
    /// Failed attempts, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retry_history: Vec<RetryRecord>,
    /// The class of the last error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error_category: Option<FailureClass>,
    /// When it is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_retry_at: Option<Timestamp>,
    /// Present and true if a person skipped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<bool>,
    /// Present and true if it counts as complete although neither its agent reported it nor a check showed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unconfirmed: Option<bool>,
    /// How long it belongs to the session that took it; `None` for a session that took it without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Timestamp>,
    /// The default length of a renewal, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
}

/// A failed attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryRecord {
    /// Which attempt, from 1.
    pub attempt: u32,
    /// What went wrong.
    pub error: String,
    /// Its class.
    pub error_category: FailureClass,
    /// The time.
    pub at: Timestamp,
}

impl StateFile {
    /// Parses a file's text.
    ///
    /// # Errors
    /// When it is not JSON or not of this form; the error names the field.
    pub fn parse(text: &str) -> Result<Self, StateFileError> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let state = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            StateFileError::Malformed {
                field: error.path().to_string(),
                source: error.into_inner().into(),
            }
        })?;
        deserializer.end()?;
        Ok(state)
    }

    /// Renders the file's text: indented JSON and a final newline.
    ///
    /// # Errors
    /// Never for a value of this type; the signature is `serde_json`'s.
    pub fn render(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}
