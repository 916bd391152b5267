//! The title of a plan's work in the history of the user's branch.

use super::Plan;
use crate::contract::headings;
use crate::listing::list_few;

/// Phases that a title names.
const PHASES_MAX: usize = 2;
/// Most characters of a title: it becomes the subject of the merge commit.
const CHARS_MAX: usize = 120;

/// Returns the first heading of the plan's file, or else the titles of its phases; `text` is the file, if it can be
/// read.
pub fn plan_title(text: Option<&str>, plan: &Plan) -> String {
    let heading = text.and_then(|text| headings(text).first().copied());
    let title = match heading.map(without_kind) {
        Some(heading) if heading.chars().any(char::is_alphanumeric) => heading.to_owned(),
        _ => list_few(
            plan.phases.iter().map(|phase| phase.title.trim()),
            PHASES_MAX,
        ),
    };
    let title = title.replace(['\n', '\r'], " ");
    if title.chars().count() <= CHARS_MAX {
        return title;
    }
    let cut: String = title.chars().take(CHARS_MAX - 1).collect();
    format!("{cut}…")
}

/// Returns a heading such as `Plan: Docs` without its first word, which the subject has already.
fn without_kind(heading: &str) -> &str {
    const KIND: &str = "plan";
    match (heading.get(..KIND.len()), heading.get(KIND.len()..)) {
        (Some(word), Some("")) if word.eq_ignore_ascii_case(KIND) => "",
        (Some(word), Some(rest)) if word.eq_ignore_ascii_case(KIND) => {
            rest.strip_prefix(':').map_or(heading, str::trim)
        }
        _ => heading,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::parse_plan;

    #[test]
    fn the_first_heading_counts_if_it_says_anything() {
        let phase = |id: &str| {
            format!(
                r#"{{ "id": "{id}", "title": "Title of {id}", "objective": "o", "tasks": ["t"], "success_criteria": "s" }}"#
            )
        };
        let phases = ["a", "b", "c"].map(phase).join(", ");
        let text = |heading: &str| format!("{heading}\n\n```symphony-phases\n[{phases}]\n```\n");
        let (plan, _) = parse_plan(&text("# Docs")).unwrap();
        let of_phases = "Title of a, Title of b and 1 more";
        for (heading, expected) in [
            ("# Docs", "Docs"),
            ("# Plan: Docs\n\n## Why", "Docs"),
            ("# Planning the docs", "Planning the docs"),
            ("# Plan", of_phases),
            ("No heading", of_phases),
        ] {
            assert_eq!(
                plan_title(Some(&text(heading)), &plan),
                expected,
                "{heading}"
            );
        }
        assert_eq!(plan_title(None, &plan), of_phases);
        let long = format!("# {}", "x".repeat(200));
        assert_eq!(plan_title(Some(&long), &plan).chars().count(), CHARS_MAX);
    }
}
