//! Placeholders that nothing fills in: the agent would read them as they are.

use super::finding::{Finding, LintRule};
use super::prose::{Line, outside_code, prose_lines};
use super::text::{PromptText, TextKind};

/// Longest name in a placeholder, in characters.
const NAME_CHARS_MAX: usize = 60;

/// Words that begin what a person was to fill in: `<your project>`, `[insert the command]`.
const BLANKS: [&str; 5] = ["your ", "insert ", "todo", "fill in", "describe "];

/// Names that templates of issues and runs use in plain braces.
const BRACED: [&str; 8] = [
    "id",
    "identifier",
    "issue",
    "title",
    "description",
    "branch",
    "phase",
    "worktree",
];

/// Reports placeholders in the prose of a text. CLAUDE.md is left alone: it may well speak about templates.
pub(super) fn placeholders(text: &PromptText<'_>, body: &str, first_line: usize) -> Vec<Finding> {
    if text.kind == TextKind::ClaudeMd {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (line, number) in prose_lines(body).into_iter().zip(first_line..) {
        let words = match line {
            Line::Nothing => continue,
            Line::Heading(words) | Line::Item(words) | Line::Row(words) | Line::Words(words) => {
                words
            }
        };
        for part in outside_code(words) {
            if let Some(placeholder) = first_placeholder(part) {
                found.push(LintRule::Placeholder.warning(
                    text,
                    number,
                    format!("`{placeholder}` is a placeholder that nothing fills in"),
                    "write what the agent should read; its prompt already has issue, branch and paths",
                ));
            }
        }
    }
    found
}

fn first_placeholder(text: &str) -> Option<&str> {
    let templates = [("{{", "}}"), ("{%", "%}"), ("${", "}")];
    let template = templates.iter().find_map(|(open, close)| {
        between(text, open, close).filter(|inside| is_name(inside.trim()))?;
        whole(text, open, close)
    });
    let braced = || {
        between(text, "{", "}").filter(|inside| BRACED.contains(inside))?;
        whole(text, "{", "}")
    };
    let blank = || {
        [("<", ">"), ("[", "]")].iter().find_map(|(open, close)| {
            between(text, open, close).filter(|inside| is_blank(inside))?;
            let whole = whole(text, open, close)?;
            // `[your name](…)` is a link
            let behind = text.split_once(whole)?.1;
            (!behind.starts_with(['(', '['])).then_some(whole)
        })
    };
    template.or_else(braced).or_else(blank)
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    Some(rest.split_once(close)?.0)
}

/// The placeholder with its marks.
fn whole<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let start = text.find(open)?;
    let inside = between(text, open, close)?.len();
    text.get(start..start + open.len() + inside + close.len())
}

/// Says whether it is a name as templates have them: words, dots, filters.
fn is_name(inside: &str) -> bool {
    let plain =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ' ' | '|' | '\'' | '"');
    !inside.is_empty() && inside.chars().count() <= NAME_CHARS_MAX && inside.chars().all(plain)
}

fn is_blank(inside: &str) -> bool {
    let inside = inside.to_ascii_lowercase();
    inside.chars().count() <= NAME_CHARS_MAX && BLANKS.iter().any(|blank| inside.starts_with(blank))
}
