//! The typed contract.

use serde::{Deserialize, Serialize};

use super::artifact_path::ArtifactPath;
use crate::agent::AgentType;
use crate::closed_set::closed_set;
use crate::id::PhaseName;
use crate::profile::ModelChoice;

/// Newest `contract_version` that is understood.
pub const CONTRACT_VERSION: u32 = 1;

closed_set!(
    /// What a phase delivers.
    ArtifactType, "artifact type", {
        /// A document in the issue's own folder.
        Document = "document",
        /// Changes of the code.
        Code = "code",
    }
);

closed_set!(
    /// Who decides that a phase is delivered.
    ValidationMode, "validation mode", {
        /// The structural checks alone.
        Structural = "structural",
        /// The structural checks, then a judge.
        Judge = "judge",
        /// No one: a failed check is a warning.
        Trust = "trust",
    }
);

/// A check that needs no judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StructuralCheck {
    /// The artifact is there and not blank.
    ArtifactExists,
    /// The artifact has every required heading.
    RequiredSections,
    /// The artifact has at least this many words.
    MinWords(u32),
    /// Nothing outside the artifact's folder was changed.
    WriteScope,
}

impl StructuralCheck {
    /// The default checks of a contract.
    pub const DEFAULT: [Self; 3] = [
        Self::ArtifactExists,
        Self::RequiredSections,
        Self::WriteScope,
    ];
}

/// How a delivery is validated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validation {
    /// Who decides.
    pub mode: ValidationMode,
    /// What is checked before.
    pub structural_checks: Vec<StructuralCheck>,
}

/// The contract of one phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseContract {
    /// The phase; also the name of the file.
    pub phase: PhaseName,
    /// Version of the contract's form.
    pub contract_version: u32,
    /// Who is dispatched.
    pub dispatch_profile: AgentType,
    /// What is delivered.
    pub artifact_type: ArtifactType,
    /// Where the artifact is expected; `None` when the phase delivers code alone.
    pub artifact_path: Option<ArtifactPath>,
    /// Headings that the artifact must have.
    pub required_sections: Vec<String>,
    /// When the phase is done: sentences shown to the agent.
    pub done_when: Vec<String>,
    /// How a delivery is validated; `None` if there is nothing to deliver (`ready`) or to check.
    pub validation: Option<Validation>,
    /// The phase that follows.
    pub next_phase: Option<PhaseName>,
    /// When the agent should set the issue to `blocked`: sentences shown to the agent.
    pub escalate_if: Vec<String>,
    /// The model for this phase.
    pub model: ModelChoice,
    /// Whether a delivery of an earlier phase may skip this one.
    pub skippable: bool,
    /// The prompt.
    pub body: String,
}

impl PhaseContract {
    /// Returns whether this is the contract of `ready`, where a pull request is opened and nothing is delivered.
    pub fn is_ready(&self) -> bool {
        self.phase.is_ready()
    }

    /// Returns who decides on a delivery: no one if the contract has no validation.
    pub fn mode(&self) -> ValidationMode {
        self.validation
            .as_ref()
            .map_or(ValidationMode::Trust, |validation| validation.mode)
    }

    /// Returns the checks of a delivery; empty if the contract has no validation.
    pub fn structural_checks(&self) -> &[StructuralCheck] {
        self.validation
            .as_ref()
            .map_or(&[], |validation| &validation.structural_checks)
    }
}
