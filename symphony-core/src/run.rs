//! Agent runs: their status, usage and protection level.

use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;
use crate::unit::{Tokens, UsdMicros};

closed_set!(
    /// Where a run stands.
    RunStatus, "run status", {
        /// Claimed; its supervisor prepares it.
        Starting = "starting",
        /// Its agent runs.
        Running = "running",
        /// Ended as its provider's own test of success says.
        Succeeded = "succeeded",
        /// Ended otherwise.
        Failed = "failed",
        /// Ended by the time limit.
        TimedOut = "timed_out",
        /// Ended for silence.
        Stalled = "stalled",
        /// Its supervisor died.
        Crashed = "crashed",
        /// Ended for repeating itself.
        Looping = "looping",
        /// Ended with changed program-running configuration.
        Tampered = "tampered",
        /// Ended by a human.
        Cancelled = "cancelled",
    }
);

impl RunStatus {
    /// Says whether the run is not over (`starting`, `running`).
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Starting | Self::Running)
    }
}

closed_set!(
    /// What keeps an agent away from what is not its own.
    ProtectionLevel, "protection level", {
        /// Nothing but role, scrubbed environment and filters: protects against mistakes only.
        None = "none",
        /// A sandbox round the agent.
        Sandbox = "sandbox",
        /// Another user, container or machine.
        Isolated = "isolated",
    }
);

/// What a run used, as its provider told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to the cache.
    pub input_tokens: Tokens,
    /// Output tokens.
    pub output_tokens: Tokens,
    /// Input tokens read from the cache.
    pub cache_read_tokens: Tokens,
    /// Input tokens written to the cache.
    pub cache_creation_tokens: Tokens,
    /// Cost as the provider's CLI reckoned it; none when it tells none.
    pub cost: Option<UsdMicros>,
    /// Turns of the model.
    pub turns: u64,
}
