//! A pull request that conflicts with its base.

use crate::id::PrId;

/// An open pull request that conflicts with its base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeConflict {
    /// The pull request.
    pub pr: PrId,
    /// Its base branch.
    pub base: String,
    /// The files that conflict.
    pub files: Vec<String>,
}

/// Returns the command that has an agent resolve the conflicts of a pull request with its base.
pub fn reject_for_conflict(reference: &str, base: &str) -> String {
    format!("symphony pr reject {reference} --feedback 'merge {base} and resolve the conflicts'")
}
