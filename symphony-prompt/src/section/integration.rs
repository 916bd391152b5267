//! What the prompt of a parent says about its sub-tasks: it names each, and their details share a part of the budget.

use std::borrow::Cow;

use symphony_core::criteria::collect_criteria;
use symphony_core::unit::Tokens;
use symphony_core::wording::counted;

use crate::budget::{CHILDREN_MAX, CHILDREN_NAMED_MAX};
use crate::fence::Fenced;
use crate::hidden::strip_hidden;
use crate::input::{ChildInput, MergedChild};
use crate::report::ItemsKept;
use crate::section::fit::Fitter;
use crate::section::{Fit, Piece, SectionDraft, SectionName, name_line, title_line};
use crate::share::even_shares;
use crate::truncate::truncate_head;

/// Files of a sub-task that are listed; the rest is counted.
const FILES_MAX: usize = 20;
/// Stands where nothing of the details has room.
const LEFT_OUT: &str = "(details left out: `get_issue` shows them)";

const TASK: &str = "## Integration\n\n\
    This issue was split. Its sub-tasks have ended, and what they merged is in your branch. Check the whole against the issue: does \
    everything fit together, is every requirement met, what did no sub-task own? When something is missing, do only that and call \
    `create_pr`. When nothing is, call `propose_done`, with the pull requests of the sub-tasks as evidence.\n";

/// The sub-tasks of the issue, each with how it ended, what was merged, and its acceptance criteria. The details share `cap`; every
/// sub-task is named.
pub(crate) fn integration<'a>(
    children: &'a [ChildInput],
    cap: Tokens,
    fitter: Fitter<'_>,
) -> SectionDraft<'a> {
    if children.is_empty() {
        return SectionDraft::new(SectionName::Integration, Vec::new());
    }
    let mut pieces = vec![Piece::text(TASK)];
    let shown = children.get(..CHILDREN_MAX).unwrap_or(children);
    let details: Vec<String> = shown.iter().map(details).collect();
    let sizes: Vec<u64> = details
        .iter()
        .map(|text| fitter.counter.count(text).get())
        .collect();
    let (mut used, mut from, mut whole) = (Tokens::ZERO, Tokens::ZERO, 0);
    let shares = even_shares(&sizes, cap.get());
    for ((child, details), (size, share)) in
        shown.iter().zip(&details).zip(sizes.iter().zip(shares))
    {
        let kept = truncate_head(details, Tokens::new(share), fitter.counter);
        whole += usize::from(kept.len() == details.len());
        used = used + fitter.counter.count(&kept);
        from = from + Tokens::new(*size);
        let rest = if kept.is_empty() && !details.is_empty() {
            LEFT_OUT
        } else {
            &kept
        };
        let text = format!("{}\n{rest}", title_line(&child.title));
        pieces.push(Piece::Fenced(Fenced {
            origin: format!("sub-task {} ({})", child.identifier, child.status).into(),
            author: "the issue tracker".into(),
            text: Cow::Owned(text.trim_end().to_owned()),
        }));
    }
    pieces.extend(others(children).map(Piece::text));
    let fit = Fit {
        cap: Some(cap),
        cut: (used < from || shown.len() < children.len()).then_some((from, used)),
        items: Some(ItemsKept::counted(children.len(), whole)),
        used,
    };
    SectionDraft::fitted(SectionName::Integration, pieces, fit)
}

/// Names the sub-tasks that are not shown, and counts those behind the most that are named.
fn others(children: &[ChildInput]) -> Option<String> {
    let rest = children
        .get(CHILDREN_MAX..)
        .filter(|rest| !rest.is_empty())?;
    let named = rest.iter().take(CHILDREN_NAMED_MAX - CHILDREN_MAX);
    let names: Vec<String> = named
        .map(|child| format!("{} ({})", child.identifier, child.status))
        .collect();
    let more = match rest.len() - names.len() {
        0 => String::new(),
        more => format!(", and {} more", counted(more as u64, "sub-task")),
    };
    Some(format!(
        "\nAlso sub-tasks, without details for lack of room (`get_issue` shows them): {}{more}.",
        names.join(", ")
    ))
}

fn details(child: &ChildInput) -> String {
    let merged = match &child.merged {
        Some(merged) => merged_text(merged),
        None => "Nothing was merged for it.".to_owned(),
    };
    let description = strip_hidden(&child.description);
    let criteria = collect_criteria(&description, &[]);
    if !criteria.items.is_empty() {
        let items = criteria.items.iter();
        let mut lines: Vec<String> = items.map(|item| format!("- {}", item.text)).collect();
        if criteria.left_out > 0 {
            lines.push(format!("- and {} more", criteria.left_out));
        }
        format!("{merged}\nAcceptance criteria:\n{}", lines.join("\n"))
    } else if description.trim().is_empty() {
        merged
    } else {
        format!("{merged}\nDescription:\n{}", description.trim())
    }
}

fn merged_text(merged: &MergedChild) -> String {
    let count = merged.files.len();
    let mut text = format!(
        "Pull request {} was merged as commit {} ({}):",
        merged.number,
        name_line(&merged.commit),
        counted(count as u64, "file")
    );
    for file in merged.files.iter().take(FILES_MAX) {
        text += &format!(
            "\n- {}: +{} -{}",
            title_line(&file.path),
            file.insertions,
            file.deletions
        );
    }
    if count > FILES_MAX {
        text += &format!(
            "\n- and {} more",
            counted((count - FILES_MAX) as u64, "file")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use symphony_core::id::IssueId;
    use symphony_core::issue::IssueStatus;

    use super::*;

    fn shown(description: &str) -> String {
        details(&ChildInput {
            identifier: IssueId::parse("A-2").unwrap(),
            title: "Part".to_owned(),
            status: IssueStatus::Cancelled,
            description: description.to_owned(),
            merged: None,
        })
    }

    #[test]
    fn criteria_are_those_that_are_read_everywhere_and_without_any_the_description_is_shown() {
        let criteria =
            |items: &str| format!("Nothing was merged for it.\nAcceptance criteria:{items}");
        for (text, expected) in [
            ("", "Nothing was merged for it.".to_owned()),
            (
                "Do it.",
                "Nothing was merged for it.\nDescription:\nDo it.".to_owned(),
            ),
            (
                "Do it.\n# Acceptance criteria\n- [x] a\n- b\n# Notes\n- x",
                criteria("\n- a\n- b"),
            ),
            (
                "## ✅ Acceptance Criteria (must have)\n1. a\n   - b",
                criteria("\n- a; b"),
            ),
            (
                "```\n# Acceptance criteria\n- no\n```\n**Acceptance criteria**\n- a",
                criteria("\n- a"),
            ),
            (
                "# Acceptance criteria\nIt greets.",
                "Nothing was merged for it.\nDescription:\n# Acceptance criteria\nIt greets."
                    .to_owned(),
            ),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
        let many: Vec<String> = (0..60).map(|n| format!("- {n}")).collect();
        let text = shown(&format!("# Acceptance criteria\n{}", many.join("\n")));
        assert!(text.ends_with("\n- 49\n- and 10 more"), "{text}");
    }
}
