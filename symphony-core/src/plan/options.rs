//! How a plan is carried out: the options of `plan run`, kept with the plan so that whoever takes it over does the
//! same.

use serde::{Deserialize, Serialize};

use super::failure::RetryPolicy;
use super::state::{FailurePolicy, MAX_PARALLEL_DEFAULT, OnFailure, RetryMode};
use crate::closed_set::closed_set;

closed_set!(
    /// Where the phases of a plan work.
    Isolation, "isolation", {
        /// Each in a worktree of its own, merged when it completes.
        Worktree = "worktree",
        /// All in the project's folder.
        None = "none",
    }
);

/// How a plan is carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanOptions {
    /// Most phases at once.
    pub max_parallel: usize,
    /// Where they work.
    pub isolation: Isolation,
    /// What happens to a phase that awaits a decision.
    pub on_failure: OnFailure,
    /// Whether failed phases are tried again.
    pub retry: RetryMode,
    /// How often and how soon.
    pub retry_policy: RetryPolicy,
    /// Instructions for every phase; the configuration's when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

impl Default for PlanOptions {
    /// Worktrees, [`MAX_PARALLEL_DEFAULT`] phases at once, retries by the policy; the plan waits for decisions.
    fn default() -> Self {
        Self {
            max_parallel: MAX_PARALLEL_DEFAULT,
            isolation: Isolation::Worktree,
            on_failure: OnFailure::Wait,
            retry: RetryMode::Again,
            retry_policy: RetryPolicy::default(),
            instructions: None,
        }
    }
}

impl PlanOptions {
    /// Returns what happens after failures.
    pub const fn failure_policy(&self) -> FailurePolicy {
        FailurePolicy {
            retry: self.retry_policy,
            mode: self.retry,
        }
    }
}
