//! The report: what happened to each layer and section, and why.

use std::fmt;

use serde::{Deserialize, Serialize};
use symphony_core::unit::Tokens;

/// Which of the five ways a prompt was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DispatchPath {
    /// Worker, judge or planner on an issue.
    ProfileDispatch,
    /// A phase agent.
    PhaseDispatch,
    /// Scanner, or researcher without an issue.
    BackgroundDispatch,
    /// The setup wizard.
    SetupWizard,
    /// A phase of a plan file.
    PlanPhase,
}

/// What the crate did to build the two prompts. Stands in the run's metadata.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// How the prompts were built.
    pub path: DispatchPath,
    /// For whom.
    pub agent: String,
    /// Estimated tokens of the system prompt.
    pub system_tokens: Tokens,
    /// The system prompt's budget.
    pub system_budget: Tokens,
    /// Estimated tokens of the user prompt.
    pub user_tokens: Tokens,
    /// The user prompt's budget, of its budgeted sections.
    pub user_budget: Tokens,
    /// What the budgeted sections and the documents left of their budgets, together; none where sections have no shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_left: Option<Tokens>,
    /// The marker that was used, when anything is fenced; it differs from the one given when a text contained that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence_marker: Option<String>,
    /// The system prompt's layers, in order, those that are not in it among them.
    pub system: Vec<PartReport>,
    /// The user prompt's sections, in order, those that are not in it among them.
    pub user: Vec<PartReport>,
    /// What a person should look at.
    pub warnings: Vec<Warning>,
}

/// What happened to one layer or section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartReport {
    /// Its name.
    pub part: String,
    /// Estimated tokens as it is in the prompt, headings and fences included; 0 when it does not.
    pub tokens: Tokens,
    /// What happened to it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The cap of its budgeted content, when it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Tokens>,
    /// How many of its items were kept, for lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<ItemsKept>,
    /// Fingerprint of the text, without the fence marker, to compare two reports by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// A remark, such as `replaced by WORKFLOW.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What happened to a layer or section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It is in the prompt as given.
    Included,
    /// It was cut; content before and after, headings and fences apart.
    Truncated {
        /// Tokens before.
        from: Tokens,
        /// Tokens after.
        to: Tokens,
    },
    /// The budget had no room for it.
    DroppedByBudget {
        /// Tokens it would have taken.
        from: Tokens,
    },
    /// The session that the prompt goes to was sent the same text before.
    Known,
    /// The agent's profile does not get it.
    OmittedByProfile {
        /// Why.
        why: String,
    },
}

/// Which items of a list are in the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemsKept {
    /// Items given.
    pub given: usize,
    /// Items kept.
    pub kept: usize,
    /// Each item that was passed over, of a list that passes over what does not fit. Other lists keep one end, and name
    /// none here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutItem>,
}

impl ItemsKept {
    /// Describes a list that keeps one end.
    pub(crate) const fn counted(given: usize, kept: usize) -> Self {
        Self {
            given,
            kept,
            left_out: Vec::new(),
        }
    }

    /// Returns whether an item of a list that is given best first is in the prompt, by its place from 0.
    pub fn holds(&self, index: usize) -> bool {
        let tried = self.kept + self.left_out.len();
        index < tried && self.left_out.iter().all(|item| item.index != index)
    }
}

/// An item that had no room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutItem {
    /// Its place in the list that was given, from 0.
    pub index: usize,
    /// Tokens it would have taken.
    pub tokens: Tokens,
    /// How it begins, in one line.
    pub beginning: String,
}

/// What a person should look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "warning", rename_all = "snake_case")]
pub enum Warning {
    /// What may not be cut is over the system budget.
    SystemOverBudget {
        /// Tokens of the system prompt.
        tokens: Tokens,
        /// The budget.
        budget: Tokens,
    },
    /// A part without a bound of its own is long.
    LongUnboundedPart {
        /// Its name.
        part: String,
        /// Its tokens.
        tokens: Tokens,
        /// From how many on it is called long.
        limit: Tokens,
    },
    /// A text contained the fence marker, and another was used.
    FenceMarkerReplaced,
    /// Whoever gathered the input could not read something that belongs into the prompts.
    NotRead {
        /// What, and why.
        problem: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SystemOverBudget { tokens, budget } => write!(
                f,
                "the system prompt has ~{tokens} tokens, over its budget of {budget}: protected layers are never cut"
            ),
            Self::LongUnboundedPart {
                part,
                tokens,
                limit,
            } => write!(
                f,
                "`{part}` has ~{tokens} tokens and is never cut; above {limit} it crowds out the task"
            ),
            Self::FenceMarkerReplaced => {
                f.write_str("a text contained the fence marker, and another one was used")
            }
            Self::NotRead { problem } => f.write_str(problem),
        }
    }
}

/// The two prompts of a dispatch, and what was done to build them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuiltPrompt {
    /// The system prompt.
    pub system: String,
    /// The user prompt. It never begins with `/`, which an agent's CLI could take for a command.
    pub user: String,
    /// What was done.
    pub report: Report,
}
