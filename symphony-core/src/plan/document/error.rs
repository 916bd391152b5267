//! Why a text is not a plan.

use super::problem::{PlanProblem, PlanWarning, render_problems};

/// Why a text is not a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// There is no block.
    #[error("no ```symphony-phases block found{}", hidden_note(*hidden))]
    NoBlock {
        /// What looks like one, but does not count at its place.
        hidden: Option<HiddenBlock>,
    },
    /// The block has no closing fence.
    #[error("line {line}: the ```symphony-phases block is not closed{}", outside_note(*outside))]
    UnclosedBlock {
        /// Line of the opening fence.
        line: usize,
        /// The line that ends the quote or list item that the block is in, when that is what cuts it off.
        outside: Option<usize>,
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
        /// What is there.
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
        /// Other oddities: often the cause, such as a misspelt field.
        warnings: Vec<PlanWarning>,
    },
}

/// A plan block that does not count at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HiddenBlock {
    /// Line of its opening fence.
    pub line: usize,
    /// Line on which what hides it begins.
    pub outer_line: usize,
    /// What hides it.
    pub by: Hider,
}

/// What keeps a plan block from counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hider {
    /// Another fenced block.
    Block,
    /// An HTML comment.
    Comment,
}

fn hidden_note(hidden: Option<HiddenBlock>) -> String {
    let Some(HiddenBlock {
        line,
        outer_line,
        by,
    }) = hidden
    else {
        return String::new();
    };
    match by {
        Hider::Block => format!(
            " (the one on line {line} is inside the block that line {outer_line} opens; close that block first)"
        ),
        Hider::Comment => format!(
            " (the one on line {line} is inside the HTML comment that line {outer_line} opens)"
        ),
    }
}

fn outside_note(outside: Option<usize>) -> String {
    outside.map_or_else(String::new, |line| {
        format!(": line {line} is outside the quote or list item that the block is in")
    })
}
