//! What gates found, and which passes are remembered.

use symphony_core::gates::{BaseComparison, FailurePrint};
use symphony_core::pull_request::VerifiedGates;

/// The result of running the gates of a pull request.
#[derive(Debug, Clone)]
pub enum GatesFound {
    /// They ran.
    Ran {
        /// The results.
        gates: VerifiedGates,
        /// The tree of their commit.
        tree: String,
        /// Identifies the failure; `None` when every required gate passed.
        print: Option<FailurePrint>,
        /// How the failure compares with the base.
        base: BaseComparison,
    },
    /// Their supervisor died while some of them ran.
    Died {
        /// The gates that were running.
        running: Vec<String>,
        /// How the supervisor ended.
        problem: String,
    },
    /// They could not run, through no fault of the change.
    NotRun {
        /// The reason.
        problem: String,
    },
}

/// A gate that passed, identified by the digest of everything that its result depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatePass {
    /// The digest.
    pub key: String,
    /// The gate's name.
    pub gate: String,
    /// The tree that it ran on.
    pub tree: String,
}
