//! What can be wrong with a configuration, and where.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::path::KeyPath;
use crate::nearest::nearest;

/// A place in a text file; both numbers count from one, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// The positions of a file's values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Positions(BTreeMap<KeyPath, Span>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    name: Position,
    value: Position,
}

impl Positions {
    /// Records where the name and the value at a path begin; in a list both are the value's.
    pub fn insert(&mut self, path: KeyPath, name: Position, value: Position) {
        self.0.insert(path, Span { name, value });
    }

    /// Returns where the name at a path begins.
    pub fn name(&self, path: &KeyPath) -> Option<Position> {
        self.0.get(path).map(|span| span.name)
    }

    /// Returns where the value at a path begins.
    pub fn value(&self, path: &KeyPath) -> Option<Position> {
        self.0.get(path).map(|span| span.value)
    }
}

/// One problem of a configuration.
///
/// Its `Display` is one line: `FILE:LINE:COLUMN: PATH: what is wrong`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The path as it is spelled in the file.
    pub path: KeyPath,
    /// What is wrong.
    pub kind: ProblemKind,
    /// The file (or the database), as it is shown.
    pub file: Option<String>,
    /// Where in the file.
    pub position: Option<Position>,
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemKind {
    /// The file is not JSON with comments.
    Syntax {
        /// What the parser says.
        message: String,
    },
    /// No such key.
    UnknownKey {
        /// The key that was probably meant.
        nearest: Option<String>,
    },
    /// A value of another type, outside its limits, or at odds with another one.
    WrongValue {
        /// What is there.
        found: String,
        /// What must be there.
        expected: String,
    },
    /// A key that an object needs is not there.
    Missing {
        /// The key, in backticks.
        expected: String,
    },
    /// A value that is to be set has no place, because of what is above it.
    NoPlace {
        /// What must be there.
        expected: String,
    },
    /// The same key twice.
    Duplicate {
        /// The other spelling, when it is not the same.
        also: Option<String>,
    },
    /// A key that is not allowed here.
    Misplaced {
        /// Where it is allowed.
        expected: String,
    },
    /// A key that is not configuration but state.
    State,
}

impl ConfigProblem {
    /// Returns what was found, if the problem is a value.
    pub fn found(&self) -> Option<&str> {
        match &self.kind {
            ProblemKind::WrongValue { found, .. } => Some(found),
            _ => None,
        }
    }

    /// Returns what was expected, if that is known.
    pub fn expected(&self) -> Option<&str> {
        match &self.kind {
            ProblemKind::WrongValue { expected, .. }
            | ProblemKind::Missing { expected }
            | ProblemKind::NoPlace { expected }
            | ProblemKind::Misplaced { expected } => Some(expected),
            _ => None,
        }
    }

    /// The key that was probably meant.
    pub fn nearest(&self) -> Option<&str> {
        match &self.kind {
            ProblemKind::UnknownKey { nearest } => nearest.as_deref(),
            _ => None,
        }
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> String {
        match &self.kind {
            ProblemKind::Syntax { message } => message.clone(),
            ProblemKind::UnknownKey {
                nearest: Some(nearest),
            } => {
                format!("unknown key; did you mean `{nearest}`?")
            }
            ProblemKind::UnknownKey { nearest: None } => "unknown key".to_owned(),
            ProblemKind::WrongValue { found, expected } => match meant(found, expected) {
                Some(name) => {
                    format!("expected {expected}, found {found}; did you mean `{name}`?")
                }
                None => format!("expected {expected}, found {found}"),
            },
            ProblemKind::Missing { expected } => format!("{expected} is missing"),
            ProblemKind::NoPlace { expected } => format!("expected {expected}"),
            ProblemKind::Duplicate { also: None } => "given twice".to_owned(),
            ProblemKind::Duplicate { also: Some(also) } => {
                format!("given twice, also as `{also}`")
            }
            ProblemKind::Misplaced { expected } => {
                format!("does not belong here; it goes {expected}")
            }
            ProblemKind::State => {
                "is state that Symphony keeps in its database, not configuration; remove it"
                    .to_owned()
            }
        }
    }
}

/// Returns the name of a closed set that a wrong text was probably meant to be.
fn meant<'a>(found: &str, expected: &'a str) -> Option<&'a str> {
    let found = found.strip_prefix("the text \"")?.strip_suffix('"')?;
    let names = expected.strip_prefix("one of `")?.strip_suffix('`')?;
    nearest(found, names.split("`, `"))
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            f.write_str(file)?;
            if let Some(Position { line, column }) = self.position {
                write!(f, ":{line}:{column}")?;
            }
            f.write_str(": ")?;
        }
        if !self.path.is_root() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message())
    }
}

impl Serialize for ConfigProblem {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("ConfigProblem", 8)?;
        fields.serialize_field("path", &self.path)?;
        fields.serialize_field("message", &self.message())?;
        fields.serialize_field("file", &self.file)?;
        fields.serialize_field("line", &self.position.map(|at| at.line))?;
        fields.serialize_field("column", &self.position.map(|at| at.column))?;
        fields.serialize_field("found", &self.found())?;
        fields.serialize_field("expected", &self.expected())?;
        fields.serialize_field("nearest", &self.nearest())?;
        fields.end()
    }
}
