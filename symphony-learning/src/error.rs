//! What can be wrong with the input of a ranking.

use symphony_core::id::LearningId;

/// Options that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// A weight is negative, infinite or no number.
    #[error("weight `{name}` is {found}; expected a finite number that is not negative")]
    Weight {
        /// Field of the weights.
        name: &'static str,
        /// Its value.
        found: f64,
    },
    /// Nothing would count.
    #[error("all weights are zero; expected at least one above zero")]
    AllWeightsZero,
    /// A score could become infinite.
    #[error("the weights add up to more than a number can hold; expected a finite sum")]
    WeightsTooLarge,
}

/// A ranking that cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RankError {
    /// The options are wrong.
    #[error("invalid options: {0}")]
    Options(#[from] OptionsError),
    /// Two learnings of a document have one id, so the answer could not name either.
    #[error(
        "learning id `{id}` occurs more than once, at `learnings[{first}]` and `learnings[{second}]`; expected unique ids"
    )]
    DuplicateId {
        /// The id.
        id: LearningId,
        /// The place of the first learning with it, counted from 0.
        first: usize,
        /// The place of the second one.
        second: usize,
    },
}

/// Bytes that are no [`crate::Prepared`] of this version: prepare the learning again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PreparedError {
    /// Made by another version of the algorithm, or of Unicode.
    #[error("prepared learning has algorithm version {found}; expected {expected}")]
    Version {
        /// The version it names.
        found: u64,
        /// [`crate::ALGORITHM_VERSION`].
        expected: u64,
    },
    /// Cut off, or not a prepared learning at all.
    #[error("prepared learning of {length} bytes is malformed at {part}; prepare it again")]
    Malformed {
        /// Length of what was given.
        length: usize,
        /// Which part does not fit.
        part: &'static str,
    },
}
