//! Why a text is not a plan.

use super::problem::{PlanProblem, PlanWarning, render_problems};

/// Why a text is not a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// There is no block.
    #[error("no ```symphony-phases block found{}", nested_note(*nested))]
    NoBlock {
        /// Where what looks like one stands inside another block: its line, and that of the fence around it.
        nested: Option<(usize, usize)>,
    },
    /// The block has no closing fence.
    #[error("line {line}: the ```symphony-phases block is not closed")]
    UnclosedBlock {
        /// Line of the opening fence.
        line: usize,
    },
    /// The block does not hold JSON.
    #[error("line {line}, column {column}: broken JSON: {message}")]
    BrokenJson {
        /// Line in the markdown file, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What the JSON parser expected.
        message: String,
    },
    /// The JSON is neither of the two forms of a plan.
    #[error("line {line}: expected an array of phases or an object with `phases`, found {found}")]
    NotAPlan {
        /// Line in the markdown file.
        line: usize,
        /// What stands there.
        found: String,
    },
    /// The plan has no phase.
    #[error("line {line}: the plan has no phases")]
    NoPhases {
        /// Line of the empty array in the markdown file.
        line: usize,
    },
    /// Phases break rules.
    #[error("{}", render_problems(problems))]
    Invalid {
        /// All of the problems: schema, references, cycles.
        problems: Vec<PlanProblem>,
        /// What is odd beside: often the cause, such as a misspelt field.
        warnings: Vec<PlanWarning>,
    },
}

fn nested_note(nested: Option<(usize, usize)>) -> String {
    nested.map_or_else(String::new, |(line, outer)| {
        format!(
            " (the one on line {line} stands inside the block that line {outer} opens; close that block first)"
        )
    })
}
