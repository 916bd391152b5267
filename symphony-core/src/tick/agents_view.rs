//! What dispatch knows about a project's own agents.

use crate::Timestamp;
use crate::id::{IssueId, ProjectId};
use crate::issue::Priority;
use crate::project::WizardState;

/// From how many issues in `backlog` on the scanner stops (spec: orchestrator, the row of the scanner).
pub const IDLE_BACKLOG_MAX: u32 = 10;

/// What dispatch knows about a project's own agents.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four switches of the configuration, and whether there is work"
)]
pub struct ProjectAgents {
    /// Whether the setup wizard comes before everything else.
    pub wizard_enabled: bool,
    /// Whether issues of the backlog are triaged.
    pub intake_enabled: bool,
    /// Whether the scanner searches for work when there is none.
    pub scanner_enabled: bool,
    /// Whether the researcher works when there is nothing else to do.
    pub background_research: bool,
    /// Least time between two runs of the scanner, and of background research, in milliseconds.
    pub idle_interval_ms: u64,
    /// Since when nothing else was running, for a loop that ends when nothing is left to do: an agent that has run
    /// since then found nothing, and would find nothing again.
    pub idle_since: Option<Timestamp>,
    /// How far the wizard came.
    pub wizard: WizardState,
    /// Whether an issue is in `todo`.
    pub has_todo: bool,
    /// Issues in `backlog`; counted up to [`IDLE_BACKLOG_MAX`].
    pub backlog: u32,
    /// When the scanner's last run ended.
    pub last_scan: Option<Timestamp>,
    /// When the last run of background research ended.
    pub last_research: Option<Timestamp>,
}

impl Default for ProjectAgents {
    fn default() -> Self {
        Self {
            wizard_enabled: false,
            intake_enabled: false,
            scanner_enabled: false,
            background_research: false,
            idle_interval_ms: 0,
            idle_since: None,
            wizard: WizardState::Pending,
            has_todo: false,
            backlog: 0,
            last_scan: None,
            last_research: None,
        }
    }
}

impl ProjectAgents {
    /// Returns whether any of them may be dispatched.
    pub const fn any_enabled(&self) -> bool {
        self.wizard_enabled
            || self.intake_enabled
            || self.scanner_enabled
            || self.background_research
    }
}

/// An issue in `backlog` that no intake has looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntakeCandidate {
    /// The issue.
    pub issue: IssueId,
    /// Its project.
    pub project: ProjectId,
    /// The priority.
    pub priority: Priority,
    /// When it was made.
    pub created_at: Timestamp,
}
