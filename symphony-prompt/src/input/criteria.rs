//! Acceptance criteria, with what the worker said of each.

use serde::{Deserialize, Serialize};
use symphony_core::criteria::CriterionState;

/// The acceptance criteria of an issue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CriteriaInput {
    /// The criteria, in the order of their numbers.
    pub items: Vec<CriterionInput>,
    /// For a judge: criteria that were answered and no longer count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// How many more there are than are listed.
    pub left_out: usize,
}

/// One criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CriterionInput {
    /// Its number.
    pub item: u32,
    /// The criterion, on one line.
    pub text: String,
    /// The document that it is from; none for the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// For a judge, what the worker says of it: `met`, `not_met` or `not_applicable`; none when it came after the work was handed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub state: Option<CriterionState>,
    /// How it is met, or why not.
    #[serde(default)]
    pub note: String,
}
