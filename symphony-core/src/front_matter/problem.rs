//! What can be wrong with a file, where, and what was expected instead.

use std::fmt;

use super::locate::Position;

/// One problem of one file.
///
/// Its `Display` is one line: `profiles/worker.md:4:8: tools: found the number 7, expected a list of texts`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Problem {
    /// The file, as the caller named it.
    pub file: String,
    /// Where in the file.
    pub position: Position,
    /// The field, dotted and indexed (`validation.structural_checks[1]`), when it is about one.
    pub field: Option<String>,
    /// What is wrong.
    pub kind: ProblemKind,
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The file is longer than the limit, in bytes.
    FileTooLarge {
        /// Its length.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// The front matter is longer than the limit, in bytes.
    MatterTooLarge {
        /// Its length.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// The file does not begin with `---`.
    NoFrontMatter {
        /// Its first line, cut.
        found: String,
    },
    /// No line closes the front matter.
    Unclosed {
        /// A line that looks as if it was meant to, with its number.
        lookalike: Option<(usize, String)>,
    },
    /// There is nothing between the fences.
    Empty,
    /// The YAML cannot be read.
    Syntax {
        /// What the YAML parser says, without its own line numbers.
        message: String,
    },
    /// The values are nested too deeply.
    TooDeep {
        /// The limit, in levels.
        depth_max: usize,
    },
    /// There are too many values, aliases counted each time they are used.
    TooManyValues {
        /// The limit.
        values_max: usize,
    },
    /// The YAML is not a mapping of names to values.
    NotAMapping {
        /// What was found.
        found: String,
    },
    /// No such field exists.
    UnknownField {
        /// The nearest known name.
        nearest: Option<&'static str>,
        /// All known names.
        known: &'static [&'static str],
    },
    /// The field is given twice.
    DuplicateField {
        /// Line of the first one.
        first_line: usize,
    },
    /// A required field is not there.
    MissingField {
        /// What it has to hold.
        expected: String,
    },
    /// A value is not what the field takes.
    Unexpected {
        /// What was found.
        found: String,
        /// What is expected.
        expected: String,
        /// The nearest known value, when there is a list of them.
        nearest: Option<String>,
    },
    /// The body is blank, but is needed.
    EmptyBody,
}

impl Problem {
    /// Returns the problem without its place: `tools: found the number 7, expected a list of texts`.
    pub fn message(&self) -> String {
        match &self.field {
            Some(field) => format!("{field}: {}", self.kind),
            None => self.kind.to_string(),
        }
    }

    /// Returns what was found, when the problem is about a value.
    pub fn found(&self) -> Option<&str> {
        match &self.kind {
            ProblemKind::Unexpected { found, .. }
            | ProblemKind::NotAMapping { found }
            | ProblemKind::NoFrontMatter { found } => Some(found),
            _ => None,
        }
    }

    /// Returns what was expected, when that can be said.
    pub fn expected(&self) -> Option<&str> {
        match &self.kind {
            ProblemKind::Unexpected { expected, .. } | ProblemKind::MissingField { expected } => {
                Some(expected)
            }
            _ => None,
        }
    }

    /// Returns the known name that was most likely meant.
    pub fn nearest(&self) -> Option<&str> {
        match &self.kind {
            ProblemKind::Unexpected { nearest, .. } => nearest.as_deref(),
            ProblemKind::UnknownField { nearest, .. } => *nearest,
            _ => None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.position, self.message())
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FileTooLarge { bytes, bytes_max } => {
                write!(
                    f,
                    "the file has {bytes} bytes, at most {bytes_max} are read"
                )
            }
            Self::MatterTooLarge { bytes, bytes_max } => write!(
                f,
                "the front matter has {bytes} bytes, at most {bytes_max} are read"
            ),
            Self::NoFrontMatter { found } => write!(
                f,
                "found {found}, expected a first line `---` that opens the front matter"
            ),
            Self::Unclosed { lookalike: None } => {
                f.write_str("no line `---` closes the front matter")
            }
            Self::Unclosed {
                lookalike: Some((line, text)),
            } => write!(
                f,
                "no line `---` closes the front matter; line {line} is `{text}`"
            ),
            Self::Empty => f.write_str("the front matter is empty"),
            Self::Syntax { message } => write!(f, "invalid YAML: {message}"),
            Self::TooDeep { depth_max } => {
                write!(f, "values are nested more than {depth_max} levels deep")
            }
            Self::TooManyValues { values_max } => write!(
                f,
                "the front matter has more than {values_max} values (an alias counts each time it is used)"
            ),
            Self::NotAMapping { found } => {
                write!(f, "found {found}, expected a mapping of fields to values")
            }
            Self::UnknownField {
                nearest: Some(nearest),
                ..
            } => write!(f, "unknown field; did you mean `{nearest}`?"),
            Self::UnknownField {
                nearest: None,
                known,
            } => write!(f, "unknown field, expected one of {}", known.join(", ")),
            Self::DuplicateField { first_line } => {
                write!(f, "the field is given twice, first on line {first_line}")
            }
            Self::MissingField { expected } => write!(f, "missing, expected {expected}"),
            Self::Unexpected {
                found,
                expected,
                nearest,
            } => {
                write!(f, "found {found}, expected {expected}")?;
                match nearest {
                    Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
                    None => Ok(()),
                }
            }
            Self::EmptyBody => f.write_str("there is no text below the front matter"),
        }
    }
}
