//! Criteria, and what is answered to them.

use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;

/// Most criteria of one issue: an issue with more should be split.
pub const CRITERIA_MAX: usize = 50;
/// Most characters of one criterion; a longer one is cut, with a mark.
pub const CRITERION_CHARS_MAX: usize = 500;
/// Most characters of the note of an answer.
pub const NOTE_CHARS_MAX: usize = 1_000;

/// What must be true when an issue is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    /// Its number, from 1.
    pub item: u32,
    /// The criterion itself, on one line.
    pub text: String,
    /// The document that contains it; `None` for the issue's own text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// The criteria of an issue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criteria {
    /// At most [`CRITERIA_MAX`], numbered in their order: the text first, then its documents.
    pub items: Vec<Criterion>,
    /// How many more there are.
    pub left_out: usize,
}

/// What may be meant as acceptance criteria and is not read as such. Its `Display` says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MissedCriteria {
    /// A heading that is almost the expected one.
    #[error("“{0}” is not recognised as the heading of acceptance criteria")]
    Heading(String),
    /// A heading of acceptance criteria without a list.
    #[error("there is no list below “{0}”")]
    NoItems(String),
}

closed_set!(
    /// What the worker says of a criterion.
    CriterionState, "state of an acceptance criterion", {
        /// It is true now.
        Met = "met",
        /// It is not; the note says why.
        NotMet = "not_met",
        /// It does not apply to this change; the note says why.
        NotApplicable = "not_applicable",
    }
);

/// A criterion as it was when the work was handed in, with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChecklistEntry {
    /// The criterion.
    #[serde(flatten)]
    pub criterion: Criterion,
    /// What the worker says of it.
    pub state: CriterionState,
    /// How it is met, or why not.
    #[serde(default)]
    pub note: String,
}
