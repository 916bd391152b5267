//! What can be wrong with the input of a prompt.

use crate::layer::LayerName;

/// Why a prompt could not be built from its input. Every variant is about the input; nothing here depends on the machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The shares of a budget are not percentages of one whole.
    #[error("budget shares add up to {found}, expected 100 ({shares})")]
    SharesSum {
        /// Their sum.
        found: u32,
        /// The shares, by name.
        shares: String,
    },
    /// A block list names a protected layer.
    #[error("layer `{layer}` is protected and cannot be omitted")]
    ProtectedOmission {
        /// The layer.
        layer: LayerName,
    },
    /// The fence marker has the wrong form.
    #[error("fence marker `{found}` is not usable: expected {expected}")]
    FenceMarker {
        /// What was given.
        found: String,
        /// What a marker looks like.
        expected: &'static str,
    },
    /// The texts contain the fence marker and every marker derived from it.
    #[error(
        "the texts contain the fence marker and all {candidates} markers derived from it; pass another one"
    )]
    FenceMarkerTaken {
        /// How many markers were tried.
        candidates: usize,
    },
    /// An agent whose prompts are built in another way.
    #[error("the agent `{agent}` has no prompts {path}; expected {expected}")]
    WrongAgent {
        /// The agent.
        agent: String,
        /// What the prompts are for, in words that follow "prompts".
        path: &'static str,
        /// Who can.
        expected: &'static str,
    },
}
