//! What gates found, and what they passed on.

use symphony_core::gates::{BaseComparison, FailurePrint};
use symphony_core::pull_request::VerifiedGates;

/// What running the gates of a pull request came to.
#[derive(Debug, Clone)]
pub enum GatesFound {
    /// They ran.
    Ran {
        /// The results.
        gates: VerifiedGates,
        /// The tree of their commit.
        tree: String,
        /// Which failure it is; none when every required gate passed.
        print: Option<FailurePrint>,
        /// How it compares with the base.
        base: BaseComparison,
    },
    /// Who ran them died while some were running.
    Died {
        /// The gates that were running.
        running: Vec<String>,
        /// How it ended.
        problem: String,
    },
    /// They could not be run, for no fault of the change.
    NotRun {
        /// Why.
        problem: String,
    },
}

/// A gate that passed, by the digest of everything that it depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatePass {
    /// The digest.
    pub key: String,
    /// The gate's name.
    pub gate: String,
    /// The tree that it ran on.
    pub tree: String,
}
