//! All rules, over all texts.

use symphony_core::front_matter::FrontMatter;
use symphony_core::workflow_file::is_theirs;

use super::budget::budget_findings;
use super::contradiction::contradictions;
use super::dead_text::dead_text;
use super::finding::{Finding, Severity};
use super::input::LintInput;
use super::library::Parsed;
use super::near_heading::near_headings;
use super::placeholder::placeholders;
use super::text::{PromptText, TextKind};
use super::tool_names::{tool_lists, tool_names};

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
    if input.own.iter().any(reaches_no_prompt) {
        let own = input.own.iter().filter(|text| !reaches_no_prompt(text));
        let own: Vec<PromptText<'_>> = own.cloned().collect();
        return lint(&LintInput {
            own: &own,
            ..input.clone()
        });
    }
    let mut parsed = Parsed::of(&[input.shipped, input.own]);
    let mut found = std::mem::take(&mut parsed.findings);
    for text in input.own {
        found.extend(dead_text(text, &parsed, input));
        let Some((body, first_line)) = prose_of(text) else {
            continue;
        };
        found.extend(tool_lists(text, &parsed));
        found.extend(near_headings(text, &parsed));
        found.extend(tool_names(text, body.as_str(), first_line, &parsed));
        found.extend(placeholders(text, &body, first_line));
        found.extend(contradictions(text, &body, first_line));
    }
    found.extend(budget_findings(input, &parsed));
    // stable: what is on one line stays in the order in which it was found
    found.sort_by(|one, other| place(one).cmp(&place(other)));
    found.dedup();
    found
}

/// A WORKFLOW.md of openai/symphony is left out of prompts, so no agent reads it, and it replaces no profile.
fn reaches_no_prompt(text: &PromptText<'_>) -> bool {
    text.kind == TextKind::WorkflowMd && is_theirs(text.text)
}

fn place(finding: &Finding) -> (&str, usize, Option<usize>, Severity) {
    (
        &finding.file,
        finding.line,
        finding.column,
        finding.severity,
    )
}

/// Returns what agents read of a text, with the number of its first line; nothing of a file that no one reads.
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
