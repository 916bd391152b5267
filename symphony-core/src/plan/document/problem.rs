//! What is wrong, or merely odd, in a plan file.

use std::fmt::{self, Write as _};

use serde::{Serialize, Serializer};

use crate::closed_set::closed_set;
use crate::wording::counted;

closed_set!(
    /// Which rule a problem breaks; problems are reported in this order.
    ProblemKind, "problem kind", {
        /// A field is missing or malformed.
        Schema = "schema",
        /// An id is used twice, or names no phase.
        Reference = "reference",
        /// Phases wait for each other.
        Cycle = "cycle",
    }
);

/// A broken rule. In JSON: `{"index", "phase_id", "field", "message", "line", "kind"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanProblem {
    /// Position of the phase in the file, from 0; `None` for a problem of the plan as a whole.
    pub index: Option<usize>,
    /// The phase's id, when it has one.
    pub phase_id: Option<String>,
    /// The field, such as `tasks[1]`, `required_context.files[0]` or `metadata.notes`; empty for the phase as a whole.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// Line in the markdown file, from 1.
    pub line: usize,
    /// Which rule.
    pub kind: ProblemKind,
}

impl fmt::Display for PlanProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(index) = self.index {
            let dot = if self.field.is_empty() { "" } else { "." };
            write!(f, "phases[{index}]{dot}")?;
        }
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// Renders problems as people read them: `Validation errors:`, then `  - phases[i].field: message` a line each.
pub fn render_problems(problems: &[PlanProblem]) -> String {
    let mut text = "Validation errors:".to_owned();
    for problem in problems {
        // writing to a String cannot fail
        let _ = write!(text, "\n  - {problem}");
    }
    text
}

/// Something odd that does not stop a plan. In JSON: `{"line", "message"}`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanWarning {
    /// A second block, which does not count.
    SecondBlock {
        /// Line of its opening fence.
        line: usize,
    },
    /// An unknown field of the plan's metadata that resembles none of the known ones.
    UnknownField {
        /// Where, such as `metadata.author`.
        path: String,
        /// Line in the markdown file.
        line: usize,
    },
    /// A field that is given twice in one object; the last one counts.
    RepeatedField {
        /// The path.
        path: String,
        /// Line of the last one.
        line: usize,
    },
    /// `metadata.total_phases` disagrees with the phases.
    TotalPhases {
        /// The stated number.
        stated: u64,
        /// How many there are.
        found: usize,
        /// Line in the markdown file.
        line: usize,
    },
    /// An advisory field (`parallel_groups`, `metadata`) that has the wrong form and is left out.
    Advisory {
        /// The path.
        path: String,
        /// What was expected.
        expected: &'static str,
        /// Line in the markdown file.
        line: usize,
    },
}

impl PlanWarning {
    /// Returns the line in the markdown file, from 1.
    pub const fn line(&self) -> usize {
        match self {
            Self::SecondBlock { line }
            | Self::UnknownField { line, .. }
            | Self::RepeatedField { line, .. }
            | Self::TotalPhases { line, .. }
            | Self::Advisory { line, .. } => *line,
        }
    }
}

impl fmt::Display for PlanWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SecondBlock { .. } => {
                f.write_str("a second ```symphony-phases block is ignored: the first one counts")
            }
            Self::UnknownField { path, .. } => {
                write!(f, "{path}: unknown field; it is left out")
            }
            Self::RepeatedField { path, .. } => {
                write!(f, "{path}: given twice, the last one counts")
            }
            Self::TotalPhases { stated, found, .. } => write!(
                f,
                "metadata.total_phases: says {stated}, but the plan has {}",
                counted(*found as u64, "phase")
            ),
            Self::Advisory { path, expected, .. } => {
                write!(f, "{path}: expected {expected}; it is left out")
            }
        }
    }
}

impl Serialize for PlanWarning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct View {
            line: usize,
            message: String,
        }
        View {
            line: self.line(),
            message: self.to_string(),
        }
        .serialize(serializer)
    }
}
