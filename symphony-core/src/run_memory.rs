//! What a run's memory limit did, as recorded with the run.

use serde::{Deserialize, Serialize};

/// The key of a run's metadata under which this is kept, if the run was to have a limit.
pub const RUN_MEMORY: &str = "memory";

/// The limit of memory of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunMemory {
    /// The most bytes, as configured.
    pub limit_bytes: u64,
    /// Whether the kernel enforced it.
    pub enforced: bool,
    /// Processes that the kernel ended because of it.
    pub killed: u64,
}

impl RunMemory {
    /// Reads it from a run's metadata; `None` if the run was to have no limit.
    pub fn of(metadata: &serde_json::Value) -> Option<Self> {
        Self::deserialize(metadata.get(RUN_MEMORY)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_recorded_is_read() {
        let memory = RunMemory {
            limit_bytes: 1 << 30,
            enforced: true,
            killed: 2,
        };
        assert_eq!(RunMemory::of(&json!({ RUN_MEMORY: memory })), Some(memory));
        assert_eq!(RunMemory::of(&json!({})), None);
    }
}
