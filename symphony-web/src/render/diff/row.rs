//! The text of a line in a table, and small diffs without line numbers.

use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};

use super::super::safe::{cut_remark, first_chars, visible};
use super::file::{Line, Side, Token};
use super::marks::Part;

/// Most characters of a line that are shown: real code is shorter, minified code is not read.
const LINE_CHARS_MAX: usize = 2_000;

/// Most lines of a small diff that are shown.
const EDIT_LINES_MAX: usize = 200;

/// Longest text that a small diff compares, in bytes; a log line holds less.
const EDIT_BYTES_MAX: usize = 64 * 1024;

/// Renders the text of a line: its tokens have colours, its changed parts a mark.
pub(super) fn code(line: &Line, parts: Option<&[Part<'_>]>) -> Markup {
    let (shown, left_out) = first_chars(&line.text, LINE_CHARS_MAX);
    // a carriage return matters where it changed
    let shown = if line.side == Side::Both {
        shown.trim_end_matches('\r')
    } else {
        shown
    };
    html! {
        @if left_out > 0 {
            (visible(shown))
        } @else {
            @let whole = [Part { text: shown, is_changed: false }];
            @let mut tokens = Tokens::of(&line.tokens);
            @for part in parts.unwrap_or(&whole) {
                @if part.is_changed { span.w { (tokens.draw(part.text)) } } @else { (tokens.draw(part.text)) }
            }
        }
        @if left_out > 0 { (cut_remark(left_out, "character")) }
        @if line.no_newline { span.cut { " no newline at end of file" } }
    }
}

/// The tokens of a line that are not drawn yet.
struct Tokens<'a> {
    rest: &'a [Token],
    /// How much of the first one is drawn, in bytes.
    drawn: usize,
}

impl<'a> Tokens<'a> {
    const fn of(rest: &'a [Token]) -> Self {
        Self { rest, drawn: 0 }
    }

    /// Draws the next part of the line's text.
    fn draw(&mut self, text: &str) -> Markup {
        let mut text = text;
        let mut pieces = Vec::new();
        while !text.is_empty() {
            let (length, class) = match self.rest.split_first() {
                None => (text.len(), None),
                Some((token, rest)) => {
                    let left = token.length.saturating_sub(self.drawn);
                    if left > text.len() {
                        self.drawn += text.len();
                    } else {
                        self.rest = rest;
                        self.drawn = 0;
                    }
                    (left.min(text.len()), token.class)
                }
            };
            // a boundary within a character would be a token of another text: its rest is plain
            let Some((piece, after)) = text.split_at_checked(length) else {
                self.rest = &[];
                continue;
            };
            pieces.push((piece, class));
            text = after;
        }
        html! {
            @for (piece, class) in pieces {
                @match class {
                    Some(class) => span class=(class) { (visible(piece)) },
                    None => (visible(piece)),
                }
            }
        }
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

    /// Undoes the escapes of a drawn line and leaves its tags out.
    fn text_of(markup: &str) -> String {
        let mut text = String::new();
        for (at, part) in markup.split('<').enumerate() {
            let part = if at == 0 {
                Some(part)
            } else {
                part.split_once('>').map(|(_, text)| text)
            };
            text.push_str(part.unwrap_or_default());
        }
        text.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&amp;", "&")
    }

    #[test]
    fn tokens_and_changed_words_may_overlap() {
        let token = |length, class| Token { length, class };
        let line = Line {
            text: "let a<b = 1;".to_owned(),
            tokens: vec![token(3, Some("hk")), token(1, None), token(4, Some("ht"))],
            ..Line::default()
        };
        let part = |text, is_changed| Part { text, is_changed };
        let parts = [part("let a", false), part("<b", true), part(" = 1;", false)];
        let found = code(&line, Some(&parts)).into_string();
        let expected = "<span class=\"hk\">let</span> <span class=\"ht\">a</span><span class=\"w\"><span class=\"ht\">&lt;b</span></span>\
                        <span class=\"ht\"> </span>= 1;";
        assert_eq!(found, expected);
        assert_harmless(&found);
    }

    proptest::proptest! {
        #[test]
        fn colours_change_no_text(
            text in "[ -~]{0,20}|\\PC{0,20}",
            tokens in proptest::collection::vec((0_usize..9, proptest::option::of(proptest::sample::select(vec!["hk", "hs"]))), 0..8),
        ) {
            let tokens = tokens.into_iter().map(|(length, class)| Token { length, class }).collect();
            let line = Line { text: text.clone(), tokens, ..Line::default() };
            let found = code(&line, None).into_string();
            assert_harmless(&found);
            let plain = code(&Line { text, ..Line::default() }, None).into_string();
            proptest::prop_assert_eq!(text_of(&found), text_of(&plain));
        }
    }

    #[test]
    fn long_lines_and_edits_are_cut() {
        let found = edit_table("", &"a\n".repeat(EDIT_LINES_MAX + 2)).into_string();
        assert!(found.contains("… 2 more lines not shown"));
        let found = edit_table("", &"a".repeat(LINE_CHARS_MAX + 2)).into_string();
        assert!(found.contains("… 2 more characters not shown"));
    }
}
