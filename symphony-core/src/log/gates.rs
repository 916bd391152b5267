//! The entry for gates that Symphony ran.

use super::event::LogEvent;
use crate::id::PrId;
use crate::pull_request::VerifiedGates;

impl LogEvent {
    /// Creates the entry for gates of a pull request that Symphony ran.
    pub fn gates_verified(pr: PrId, gates: &VerifiedGates) -> Self {
        let flaky = gates.results.iter().filter(|gate| gate.is_flaky());
        Self::GatesVerified {
            pr,
            commit: gates.commit.clone(),
            green: gates.green(),
            flaky: flaky.map(|gate| gate.name.clone()).collect(),
        }
    }
}
