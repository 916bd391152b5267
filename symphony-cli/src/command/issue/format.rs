//! The formats of an export.

use std::ffi::OsStr;
use std::path::Path;

use symphony_core::closed_set::UnknownName;

/// How issues are written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// A JSON object a line.
    JsonLines,
    /// A heading each.
    Markdown,
}

impl Format {
    /// The names of both.
    pub(super) const NAMES: &'static [&'static str] = &["jsonl", "markdown"];

    /// Finds one by its name.
    ///
    /// # Errors
    /// When it is neither.
    pub(super) fn parse(name: &str) -> Result<Self, UnknownName> {
        match name {
            "jsonl" => Ok(Self::JsonLines),
            "markdown" => Ok(Self::Markdown),
            _ => Err(UnknownName {
                what: "format",
                found: name.to_owned(),
                expected: Self::NAMES,
            }),
        }
    }

    /// Returns the one that a file's name asks for.
    pub(super) fn of(file: &Path) -> Self {
        match file.extension().and_then(OsStr::to_str) {
            Some("md" | "markdown") => Self::Markdown,
            _ => Self::JsonLines,
        }
    }
}
