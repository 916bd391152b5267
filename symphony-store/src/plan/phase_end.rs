//! What exit handling found out about the run of a plan's phase.

use std::collections::BTreeMap;

use symphony_core::plan::Artifact;
use symphony_core::plan::failure::FailureClass;
use symphony_core::plan::state::{PhaseOutcome, PhaseWork};

/// What exit handling found out about the run of a plan's phase.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseFinish {
    /// What happened to the work, when the phase is complete.
    pub work: PhaseWork,
    /// What it produced.
    pub artifacts: Vec<Artifact>,
    /// The project's own patterns of failures.
    pub failure_patterns: BTreeMap<FailureClass, Vec<String>>,
}

/// The recorded outcome of a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedOutcome {
    /// The outcome.
    pub outcome: PhaseOutcome,
    /// What the agent reported to have produced.
    pub artifacts: Vec<Artifact>,
}
