//! What exit handling hands over when a run has ended, and what the store returns.

use serde_json::Value;
use symphony_core::id::RunId;
use symphony_core::issue::Issue;
use symphony_core::left_behind::{LEFT_BEHIND, LeftBehind};
use symphony_core::outcome::FailureLimits;
use symphony_core::run::{Fence, Run, RunError, RunStatus, Usage};
use symphony_core::spending::CapReached;

use crate::gates::found::GatesFound;
use crate::plan::phase_end::PhaseFinish;
use crate::run::new_hold::NewHold;

/// What exit handling found out about a run.
#[derive(Debug, Clone)]
pub struct RunFinish {
    /// The run.
    pub run: RunId,
    /// The fencing number under which it ends: that of a host from which the run was taken away is refused.
    pub fence: Fence,
    /// How it ended, before the store decides on its outcome.
    pub status: RunStatus,
    /// Why it did not succeed.
    pub error: Option<RunError>,
    /// The agent's exit code.
    pub exit_code: Option<i32>,
    /// What it used; `None` keeps what was recorded while it ran.
    pub usage: Option<Usage>,
    /// The end of its output.
    pub output_tail: String,
    /// Details to be added to the run's metadata.
    pub metadata: serde_json::Map<String, Value>,
    /// How the phase of a plan ended; `None` for other runs, and when exit handling did not get that far.
    pub phase: Option<PhaseFinish>,
    /// What the gates of the pull request found.
    pub gates: GatesAtEnd,
    /// The global condition that the run met.
    pub hold: Option<NewHold>,
    /// A limit of the provider that the run used up: it succeeded, and the next run would meet the limit.
    pub ahead: Option<NewHold>,
    /// The spending cap that ended the run, or the cap of its issue, when that is reached however the run ended.
    pub cap: Option<CapReached>,
    /// The limits that decide whether there is another attempt.
    pub limits: FailureLimits,
}

/// What the end of a run says about gates.
#[derive(Debug, Clone, Default)]
pub enum GatesAtEnd {
    /// Nothing. If the run opened a pull request, its gates are due as a run of their own.
    #[default]
    Due,
    /// The project has no gates, so a pull request that the run opened waits for none.
    NoneConfigured,
    /// This was a run of gates, and this is their result.
    Found(GatesFound),
}

/// The key in a run's metadata that counts the tool calls refused to its agent.
pub const PERMISSION_DENIALS: &str = "permission_denials";

impl RunFinish {
    /// Returns how many tool calls were refused to the agent.
    pub(crate) fn denials(&self) -> u64 {
        let denials = self.metadata.get(PERMISSION_DENIALS);
        denials.and_then(Value::as_u64).unwrap_or(0)
    }

    /// Returns the run's metadata with what its end adds.
    pub(crate) fn metadata_after(&self, run: &Run) -> serde_json::Map<String, Value> {
        let mut metadata = match &run.metadata {
            Value::Object(known) => known.clone(),
            _ => serde_json::Map::new(),
        };
        metadata.extend(self.metadata.clone());
        metadata
    }

    /// Returns what the run left behind.
    pub(crate) fn left_behind(&self) -> Vec<LeftBehind> {
        let left = self.metadata.get(LEFT_BEHIND).cloned();
        left.and_then(|left| serde_json::from_value(left).ok())
            .unwrap_or_default()
    }
}

/// An ended run, and its issue.
#[derive(Debug, Clone)]
pub struct FinishedRun {
    /// The run as it is recorded now.
    pub run: Run,
    /// Its issue as it is recorded now.
    pub issue: Option<Issue>,
}
