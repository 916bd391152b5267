//! What the author of a plan says about it.

use serde::{Deserialize, Serialize};

/// What the author says about the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanMetadata {
    /// How many phases there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_phases: Option<u64>,
    /// How many phases can run at once.
    #[serde(default = "one")]
    pub estimated_parallelism: u64,
    /// How many tokens the plan may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_tokens: Option<u64>,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

const fn one() -> u64 {
    1
}

impl Default for PlanMetadata {
    fn default() -> Self {
        Self {
            total_phases: None,
            estimated_parallelism: one(),
            estimated_tokens: None,
            notes: None,
        }
    }
}
