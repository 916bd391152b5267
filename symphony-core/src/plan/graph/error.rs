//! Why phases do not form a graph, or a graph does not take a report.

use super::cycle::render_cycle;
use crate::id::{IdError, PlanPhaseId};

/// Why phases do not form a graph, or a graph does not take a report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A phase's id is malformed.
    #[error("phase {index} of the plan has a malformed id")]
    MalformedId {
        /// Position of the phase, from 0.
        index: usize,
        /// What is wrong with it.
        source: IdError,
    },
    /// Two phases have one id.
    #[error("phase id `{id}` is used twice, at {first} and {second}")]
    DuplicateId {
        /// The id.
        id: PlanPhaseId,
        /// Position of the first.
        first: usize,
        /// Position of the second.
        second: usize,
    },
    /// A phase waits for one that is not in the plan.
    #[error("phase `{phase}` waits for `{reference}`, which is not in the plan")]
    UnknownReference {
        /// The phase.
        phase: PlanPhaseId,
        /// The reference.
        reference: String,
    },
    /// Phases wait for each other, or one for itself.
    #[error("phases wait for each other: {}", render_path(path))]
    Cycle {
        /// Each waits for the next, the last for the first.
        path: Vec<PlanPhaseId>,
    },
    /// The plan has no such phase.
    #[error("the plan has no phase `{phase}`")]
    UnknownPhase {
        /// The requested phase.
        phase: PlanPhaseId,
    },
    /// The phase cannot end now.
    #[error("phase `{phase}` cannot end: it is {standing}")]
    NotReady {
        /// The phase.
        phase: PlanPhaseId,
        /// Its state: `complete`, `failed`, `blocked`, or `waiting for` others.
        standing: &'static str,
    },
}

fn render_path(path: &[PlanPhaseId]) -> String {
    let names: Vec<&str> = path.iter().map(PlanPhaseId::as_str).collect();
    render_cycle(&names)
}
