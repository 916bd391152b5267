//! The answers of the operations, as JSON on stdout.

use crate::Timestamp;
use serde::Serialize;

use crate::id::PlanPhaseId;
use crate::plan::artifact::Artifact;
use crate::plan::failure::Classification;
use crate::plan::phase::Phase;
use crate::plan::state::{PhaseStatus, PlanStatus};

/// A phase that can be worked on, and what it gets from others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReadyPhase {
    /// The phase.
    pub phase: Phase,
    /// The artifacts it uses, each with `metadata.sourcePhase`.
    pub artifacts: Vec<Artifact>,
    /// Until when the phase stays with the session that took it.
    #[serde(rename = "leaseUntil", skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Timestamp>,
}

/// The answer of an operation that changed a phase. Fields that do not apply are omitted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillAnswer {
    /// True: a refusal is an error, not an answer.
    pub success: bool,
    /// The phase.
    pub phase_id: PlanPhaseId,
    /// Its state now.
    pub status: PhaseStatus,
    /// The state of the plan now.
    pub orchestration_status: PlanStatus,
    /// Phases that became ready, in level order.
    pub newly_ready: Vec<PlanPhaseId>,
    /// Phases that became blocked, in level order.
    pub blocked: Vec<PlanPhaseId>,
    /// Retries so far.
    pub retry_count: u32,
    /// When it is tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_retry_at: Option<Timestamp>,
    /// Until when it stays with the session that took it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Timestamp>,
    /// What kind of failure it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Classification>,
    /// The choices, when someone has to decide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<&'static str>,
    /// What one should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
