//! What an agent or a person learned that helps with other issues.

use crate::Timestamp;
use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;
use crate::id::LearningId;

closed_set!(
    /// What kind of learning; unset is treated as tactical.
    LearningType, "learning type", {
        /// How things are done here: goes into the system prompt.
        Convention = "convention",
        /// A way that works.
        Pattern = "pattern",
        /// A trap.
        Gotcha = "gotcha",
    }
);

/// The part of a learning that ranking reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learning {
    /// Its id; ties are broken by it.
    pub id: LearningId,
    /// The text.
    pub pattern: String,
    /// What kind; unset is tactical.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning_type: Option<LearningType>,
    /// Paths it applies to.
    #[serde(default)]
    pub applies_to: Vec<String>,
    /// Labels of the issue it came from.
    #[serde(default)]
    pub labels: Vec<String>,
    /// When it was recorded.
    pub created_at: Timestamp,
}
