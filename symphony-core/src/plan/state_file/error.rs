//! Why an operation on a state file is refused.

use std::sync::Arc;

use crate::id::PlanPhaseId;
use crate::plan::artifacts::RefusedArtifact;
use crate::plan::graph::GraphError;
use crate::plan::state::PlanTransitionError;

/// Why an operation on a state file is refused. The file is as before.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StateFileError {
    /// The text is not a state file.
    #[error("the state file is malformed at `{field}`")]
    Malformed {
        /// Where; `.` for the document as a whole.
        field: String,
        /// What is wrong there.
        source: Arc<serde_json::Error>,
    },
    /// Symphony writes the file: it is a copy of the database's state, and a change to it would be lost.
    #[error("the state file is managed by {by}: change the plan with `symphony plan` instead")]
    Managed {
        /// What `managedBy` says.
        by: String,
    },
    /// The phases in the file do not form a graph.
    #[error("the plan in the state file is not valid")]
    Graph(#[from] GraphError),
    /// The file has no such phase.
    #[error("the state file has no phase `{phase}`")]
    UnknownPhase {
        /// The named phase.
        phase: PlanPhaseId,
    },
    /// The phase or the plan is in another state.
    #[error(transparent)]
    Transition(#[from] PlanTransitionError),
    /// The retry is not due.
    #[error("phase `{phase}` cannot be tried again yet")]
    NotDue {
        /// The phase.
        phase: PlanPhaseId,
        /// When it is due.
        due_at: crate::Timestamp,
    },
    /// The phase waits for an answer, is running, or has ended, and is not retried without force.
    #[error("phase `{phase}` is {status}: only a forced retry or a decision starts it again")]
    NeedsForce {
        /// The phase.
        phase: PlanPhaseId,
        /// Its state.
        status: crate::plan::state::PhaseStatus,
    },
    /// A lease of a phase that no session works on.
    #[error("phase `{phase}` is {status}: only a running phase has a lease")]
    NotRunning {
        /// The phase.
        phase: PlanPhaseId,
        /// Where it is.
        status: crate::plan::state::PhaseStatus,
    },
    /// An artifact is refused.
    #[error("refused {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Artifacts(Vec<RefusedArtifact>),
}

impl From<serde_json::Error> for StateFileError {
    fn from(source: serde_json::Error) -> Self {
        Self::Malformed {
            field: ".".to_owned(),
            source: Arc::new(source),
        }
    }
}
