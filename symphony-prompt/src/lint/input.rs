//! What the rules look at.

use std::collections::BTreeSet;

use super::text::PromptText;
use crate::budget::Budgets;

/// What a project can switch off, so that the texts of it reach no one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Switch {
    /// Reviews by a judge.
    Judge,
    /// Splitting large issues.
    Planner,
    /// Sorting the backlog.
    Intake,
    /// Looking for work.
    Scanner,
    /// Research without an issue.
    BackgroundResearch,
    /// The phases research and architecture.
    Researcher,
}

impl Switch {
    /// Returns the key of the configuration that switches it on.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Judge => "judge_enabled",
            Self::Planner => "planner_enabled",
            Self::Intake => "intake_enabled",
            Self::Scanner => "scanner_enabled",
            Self::BackgroundResearch => "background_research",
            Self::Researcher => "researcher_enabled",
        }
    }
}

/// What is looked at.
#[derive(Debug, Clone, Default)]
pub struct LintInput<'a> {
    /// Profiles and contracts that apply where the project has none. Their texts are not checked.
    pub shipped: &'a [PromptText<'a>],
    /// The project's own texts.
    pub own: &'a [PromptText<'a>],
    /// What the project has switched off.
    pub off: BTreeSet<Switch>,
    /// The budgets of its prompts.
    pub budgets: Budgets,
    /// Whether the agents' CLI reads CLAUDE.md by itself, so that it takes no room in the prompts.
    pub provider_reads_claude_md: bool,
}

impl<'a> LintInput<'a> {
    /// Checks texts of a project that has switched nothing off and has the default budgets.
    pub fn new(shipped: &'a [PromptText<'a>], own: &'a [PromptText<'a>]) -> Self {
        Self {
            shipped,
            own,
            ..Self::default()
        }
    }
}
