//! Where a point is about: a file, and lines of it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longest path of a point, in characters: the limit of Linux.
pub const PATH_CHARS_MAX: usize = 4_096;

/// A text that names no lines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not a range of lines; write `12` or `12-20`")]
pub struct PlaceError {
    /// The given text.
    pub found: String,
}

/// Lines of a file, counted from 1; as text `12`, or `12-20`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Lines {
    first: u32,
    last: u32,
}

impl Lines {
    /// Returns the last of them.
    pub const fn last(self) -> u32 {
        self.last
    }

    /// Parses `12` or `12-20`.
    ///
    /// # Errors
    /// When the text is neither, counts from 0, or ends before it begins.
    pub fn parse(text: &str) -> Result<Self, PlaceError> {
        let error = || PlaceError {
            found: text.to_owned(),
        };
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse::<u32>().ok()).flatten()
        };
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first > 0 && last >= first => Ok(Self { first, last }),
            _ => Err(error()),
        }
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}-{}", self.first, self.last)
        }
    }
}

impl TryFrom<String> for Lines {
    type Error = PlaceError;
    fn try_from(text: String) -> Result<Self, PlaceError> {
        Self::parse(&text)
    }
}

impl From<Lines> for String {
    fn from(lines: Lines) -> Self {
        lines.to_string()
    }
}

/// A file of the project, and lines of it; as text `src/a.rs`, or `src/a.rs:12-20`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file, relative to the project.
    pub file: String,
    /// Its lines; `None` for the whole file.
    pub lines: Option<Lines>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        match self.lines {
            Some(lines) => write!(f, ":{lines}"),
            None => Ok(()),
        }
    }
}
