//! The text of a line in a table, and small diffs without line numbers.

use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};

use super::super::safe::{cut_remark, first_chars, visible};
use super::file::{Line, Side};
use super::marks::Part;

/// Most characters of a line that are shown: real code is shorter, minified code is not read.
const LINE_CHARS_MAX: usize = 2_000;

/// Most lines of a small diff that are shown.
const EDIT_LINES_MAX: usize = 200;

/// Longest text that a small diff compares, in bytes; a log line holds less.
const EDIT_BYTES_MAX: usize = 64 * 1024;

/// Renders the text of a line. Highlighted syntax would be written here: the parts say which words changed.
pub(super) fn code(line: &Line, parts: Option<&[Part<'_>]>) -> Markup {
    let (shown, left_out) = first_chars(&line.text, LINE_CHARS_MAX);
    // a carriage return matters where it changed
    let shown = if line.side == Side::Both {
        shown.trim_end_matches('\r')
    } else {
        shown
    };
    html! {
        @match parts.filter(|_| left_out == 0) {
            None => (visible(shown)),
            Some(parts) => @for part in parts {
                @if part.is_changed { span.w { (visible(part.text)) } } @else { (visible(part.text)) }
            }
        }
        @if left_out > 0 { (cut_remark(left_out, "character")) }
        @if line.no_newline { span.cut { " no newline at end of file" } }
    }
}

/// Returns the class of a row and the sign that says the same to those who see no colours.
pub(super) const fn class_and_sign(side: Side) -> (Option<&'static str>, &'static str) {
    match side {
        Side::Both => (None, " "),
        Side::Added => (Some("a"), "+"),
        Side::Removed => (Some("d"), "−"),
    }
}

/// Renders what an edit replaces as a small diff.
pub(in crate::render) fn edit_table(old: &str, new: &str) -> Markup {
    let cut = |text: &str| {
        text.get(..text.floor_char_boundary(EDIT_BYTES_MAX))
            .map(str::to_owned)
    };
    let (old, new) = (cut(old).unwrap_or_default(), cut(new).unwrap_or_default());
    let changes = TextDiff::from_lines(old.as_str(), new.as_str());
    let lines: Vec<Line> = changes
        .iter_all_changes()
        .map(|change| Line {
            side: match change.tag() {
                ChangeTag::Equal => Side::Both,
                ChangeTag::Delete => Side::Removed,
                ChangeTag::Insert => Side::Added,
            },
            text: change.value().trim_end_matches('\n').to_owned(),
            ..Line::default()
        })
        .collect();
    let left_out = lines.len().saturating_sub(EDIT_LINES_MAX);
    html! {
        div.diff {
            table {
                tbody {
                    @for line in lines.iter().take(EDIT_LINES_MAX) {
                        @let (class, sign) = class_and_sign(line.side);
                        tr class=[class] { td.l { (sign) } td { (code(line, None)) } }
                    }
                }
            }
            @if left_out > 0 { (cut_remark(left_out, "line")) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::safe::tests::assert_harmless;
    use super::*;

    #[test]
    fn an_edit_is_a_small_diff() {
        let found = edit_table("a\nb\n", "a\n<c>\n").into_string();
        assert!(found.contains("<tr><td class=\"l\"> </td><td>a</td></tr>"));
        assert!(found.contains("<tr class=\"d\"><td class=\"l\">−</td><td>b</td></tr>"));
        assert!(found.contains("<tr class=\"a\"><td class=\"l\">+</td><td>&lt;c&gt;</td></tr>"));
        assert_harmless(&found);
    }

    #[test]
    fn long_lines_and_edits_are_cut() {
        let found = edit_table("", &"a\n".repeat(EDIT_LINES_MAX + 2)).into_string();
        assert!(found.contains("… 2 more lines not shown"));
        let found = edit_table("", &"a".repeat(LINE_CHARS_MAX + 2)).into_string();
        assert!(found.contains("… 2 more characters not shown"));
    }
}
