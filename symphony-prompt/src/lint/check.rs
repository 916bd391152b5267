//! All rules, over all texts.

use std::collections::BTreeSet;

use symphony_core::front_matter::FrontMatter;

use super::budget::budget_findings;
use super::contradiction::contradictions;
use super::dead_text::dead_text;
use super::finding::{Finding, Severity};
use super::library::Parsed;
use super::near_heading::near_headings;
use super::placeholder::placeholders;
use super::text::{PromptText, TextKind};
use super::tool_names::{tool_lists, tool_names};
use crate::budget::Budgets;

/// What a project can switch off, so that the texts of it reach nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Switch {
    /// Reviews by a judge.
    Judge,
    /// Splitting large issues.
    Planner,
    /// Sorting the backlog.
    Intake,
    /// Looking for work.
    Scanner,
    /// Research without an issue.
    BackgroundResearch,
    /// The phases research and architecture.
    Researcher,
}

impl Switch {
    /// Returns the key of the configuration that switches it on.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Judge => "judge_enabled",
            Self::Planner => "planner_enabled",
            Self::Intake => "intake_enabled",
            Self::Scanner => "scanner_enabled",
            Self::BackgroundResearch => "background_research",
            Self::Researcher => "researcher_enabled",
        }
    }
}

/// What is looked at.
#[derive(Debug, Clone, Default)]
pub struct LintInput<'a> {
    /// Profiles and contracts that hold where the project has none of its own. Their texts are not looked at themselves.
    pub shipped: &'a [PromptText<'a>],
    /// The project's own texts.
    pub own: &'a [PromptText<'a>],
    /// What the project has switched off.
    pub off: BTreeSet<Switch>,
    /// The budgets of its prompts.
    pub budgets: Budgets,
    /// Whether the agents' CLI reads CLAUDE.md by itself, so that it takes no room in the prompts.
    pub provider_reads_claude_md: bool,
}

impl<'a> LintInput<'a> {
    /// Looks at texts of a project that has switched nothing off and has the default budgets.
    pub fn new(shipped: &'a [PromptText<'a>], own: &'a [PromptText<'a>]) -> Self {
        Self {
            shipped,
            own,
            ..Self::default()
        }
    }
}

/// Finds what is wrong with the texts of a project, by file and line.
///
/// ```
/// use symphony_prompt::lint::{LintInput, PromptText, TextKind, lint};
///
/// let own = [PromptText { file: "CLAUDE.md", kind: TextKind::ClaudeMd, text: "# Rules\n\nAlways push your branch.\n" }];
/// let found = lint(&LintInput::new(&[], &own));
/// assert_eq!(found[0].to_string(), "CLAUDE.md:3: `push your branch`: agents never push");
/// ```
pub fn lint(input: &LintInput<'_>) -> Vec<Finding> {
    let mut parsed = Parsed::of(&[input.shipped, input.own]);
    let mut found = std::mem::take(&mut parsed.findings);
    for text in input.own {
        found.extend(dead_text(text, &parsed, input));
        let Some((body, first_line)) = prose_of(text) else {
            continue;
        };
        found.extend(tool_lists(text, &parsed));
        found.extend(near_headings(text, &parsed));
        found.extend(tool_names(text, (body.as_str(), first_line), &parsed));
        found.extend(placeholders(text, &body, first_line));
        found.extend(contradictions(text, &body, first_line));
    }
    found.extend(budget_findings(input, &parsed));
    // stable: what is on one line stays in the order in which it was found
    found.sort_by(|one, other| place(one).cmp(&place(other)));
    found.dedup();
    found
}

fn place(finding: &Finding) -> (&str, usize, Option<usize>, Severity) {
    (
        &finding.file,
        finding.line,
        finding.column,
        finding.severity,
    )
}

/// Returns what agents read of a text, with the number of its first line; nothing of a file that nobody reads.
fn prose_of(text: &PromptText<'_>) -> Option<(String, usize)> {
    match text.kind {
        TextKind::Unread => None,
        // what keeps its front matter from being read is reported by whoever reads it
        TextKind::Profile | TextKind::Contract => {
            let matter = FrontMatter::parse(text.file, text.text).ok()?;
            Some((matter.body().to_owned(), matter.body_line()))
        }
        _ => Some((text.text.to_owned(), 1)),
    }
}
