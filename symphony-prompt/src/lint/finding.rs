//! One thing that is wrong with a text.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::text::PromptText;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// No agent of the project can be dispatched, or one could never hand in its work.
    Error,
    /// Agents are dispatched, and read something that has no effect or misleads them.
    Warning,
}

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LintRule {
    /// The front matter of a profile or a contract: unknown fields and tools, wrong values, no text below it.
    FrontMatter,
    /// A file whose name does not say what it is.
    FileName,
    /// Profiles and contracts that do not fit together: `next_phase`, `dispatch_profile`.
    Chain,
    /// `tools` and `disallowedTools` that have no effect, or leave a run without what it reports with.
    ToolLists,
    /// A text that tells its reader to use a tool which the reader lacks.
    ToolNames,
    /// A text that no dispatch uses.
    DeadText,
    /// A heading that is nearly one that Symphony looks for in documents.
    NearHeading,
    /// A placeholder that nothing fills in.
    Placeholder,
    /// The configured folder of the project's prompts, which is missing.
    Folder,
    /// A set of a trial that cannot be used, or that agents would be dispatched differently with.
    Trial,
    /// A text for which the budget has no room.
    Budget,
    /// An order that contradicts how Symphony's agents work.
    Contradiction,
}

impl LintRule {
    /// Warns of a line of a text; `found` and `advice` are what was found there, and what to do.
    pub(super) fn warning(
        self,
        text: &PromptText<'_>,
        line: usize,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Finding {
        Finding {
            file: text.file.to_owned(),
            line,
            column: None,
            severity: Severity::Warning,
            rule: self,
            found: found.into(),
            advice: advice.into(),
        }
    }
}

/// One thing that is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The file, as the caller named it.
    pub file: String,
    /// The line, counted from 1; 1 if the finding is about the whole file.
    pub line: usize,
    /// The column, counted from 1 in characters, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// Whether it is an error or a warning.
    pub severity: Severity,
    /// What it is about.
    pub rule: LintRule,
    /// What was found.
    pub found: String,
    /// What to do.
    pub advice: String,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

impl fmt::Display for Finding {
    /// `profiles/worker.md:4:8: tools: found the number 7, expected a list of texts`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        write!(f, ": {}", self.found)
    }
}
