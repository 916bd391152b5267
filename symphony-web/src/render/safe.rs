//! What every renderer needs: text without hidden characters, and texts that are cut with a visible remark.

use std::borrow::Cow;

use maud::{Markup, html};
use symphony_runner::output::neutralised;

/// Returns a text in which characters that hide or reorder text are visible; maud escapes the rest.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    neutralised(text)
}

/// Returns the beginning of a text, at most this many bytes, and how many bytes were left out.
pub(super) fn beginning(text: &str, bytes_max: usize) -> (&str, usize) {
    let (kept, rest) = text.split_at(text.floor_char_boundary(bytes_max));
    (kept, rest.len())
}

/// Returns the beginning of a text, at most this many characters, and how many were left out.
pub(super) fn first_chars(text: &str, chars_max: usize) -> (&str, usize) {
    match text.char_indices().nth(chars_max) {
        None => (text, 0),
        Some((at, _)) => {
            let (kept, rest) = text.split_at(at);
            (kept, rest.chars().count())
        }
    }
}

/// Says that something was left out, in the place where it would be.
pub(super) fn cut_remark(count: usize, unit: &str) -> Markup {
    let plural = if count == 1 { "" } else { "s" };
    html! { span.cut { "… " (count) " more " (unit) (plural) " not shown" } }
}

/// Unescapes what a log line writes as `\n`, `\t` and `\r`.
pub(super) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let meant = match (character, characters.peek()) {
            ('\\', Some('n')) => '\n',
            ('\\', Some('t')) => '\t',
            ('\\', Some('r')) => '\r',
            _ => {
                out.push(character);
                continue;
            }
        };
        out.push(meant);
        let _ = characters.next();
    }
    out
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Elements that the renderers may write.
    const ELEMENTS: &[&str] = &[
        "a",
        "b",
        "blockquote",
        "br",
        "caption",
        "code",
        "col",
        "colgroup",
        "del",
        "dd",
        "details",
        "dl",
        "dt",
        "div",
        "em",
        "g",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "ins",
        "li",
        "ol",
        "p",
        "path",
        "pre",
        "rect",
        "section",
        "span",
        "strong",
        "summary",
        "svg",
        "table",
        "tbody",
        "td",
        "text",
        "th",
        "thead",
        "time",
        "title",
        "tr",
        "ul",
    ];

    /// Checks that markup is balanced and has only elements, attributes and addresses that cannot do harm.
    pub(in crate::render) fn assert_harmless(markup: &str) {
        let mut open: Vec<String> = Vec::new();
        let mut rest = markup;
        while let Some((text, after)) = rest.split_once('<') {
            assert!(!text.contains('>'), "bare > in {text:?}");
            let end = tag_end(after);
            let (tag, next) = after.split_at(end);
            rest = next.strip_prefix('>').expect("a tag ends with it");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop().as_deref(), Some(name), "{markup}");
                continue;
            }
            let tag_body = tag.trim_end_matches('/').trim_end();
            let (name, attributes) = tag_body.split_once(' ').unwrap_or((tag_body, ""));
            assert!(ELEMENTS.contains(&name), "element {name:?} in {markup}");
            check_attributes(attributes);
            if !matches!(name, "br" | "hr" | "col") && !tag.ends_with('/') {
                open.push(name.to_owned());
            }
        }
        assert!(!rest.contains('>'), "bare > in {rest:?}");
        assert!(open.is_empty(), "{open:?} in {markup}");
    }

    /// Finds the `>` that ends a tag, outside of quoted values.
    fn tag_end(tag: &str) -> usize {
        let mut quoted = false;
        for (at, character) in tag.char_indices() {
            match character {
                '"' => quoted = !quoted,
                '>' if !quoted => return at,
                _ => {}
            }
        }
        panic!("a tag does not end: {tag:?}");
    }

    fn check_attributes(mut rest: &str) {
        const NAMES: &[&str] = &[
            "aria-label",
            "class",
            "colspan",
            "d",
            "data-at",
            "data-kind",
            "datetime",
            "height",
            "href",
            "id",
            "open",
            "preserveAspectRatio",
            "rel",
            "role",
            "scope",
            "start",
            "tabindex",
            "text-anchor",
            "title",
            "viewBox",
            "width",
            "x",
            "y",
        ];
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                return;
            }
            let end = rest.find(['=', ' ']).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            assert!(NAMES.contains(&name), "attribute {name:?}");
            rest = after;
            if let Some(value) = after.strip_prefix("=\"") {
                let (value, next) = value.split_once('"').expect("the value ends");
                if name == "href" {
                    let safe = ["http://", "https://", "mailto:", "#", "/"];
                    let lower = value.to_ascii_lowercase();
                    assert!(
                        safe.iter().any(|start| lower.starts_with(start)),
                        "{value:?}"
                    );
                }
                rest = next;
            }
        }
    }

    #[test]
    fn the_check_finds_harm() {
        for bad in [
            "<script>x</script>",
            "<a href=\"javascript:x\">x</a>",
            "<p onclick=\"x\">x</p>",
            "<p style=\"x\">x</p>",
            "<p>",
            "a > b",
        ] {
            let found = std::panic::catch_unwind(|| assert_harmless(bad));
            assert!(found.is_err(), "{bad}");
        }
        assert_harmless("<p class=\"a > b\">x<br></p>");
    }

    #[test]
    fn escapes_of_a_log_line_are_undone() {
        for (text, expected) in [
            (r"a\nb\tc\rd", "a\nb\tc\rd"),
            (r"C:\x \\n", "C:\\x \\\n"),
            ("\\", "\\"),
        ] {
            assert_eq!(unescaped(text), expected);
        }
    }

    #[test]
    fn beginnings_say_how_much_is_left() {
        assert_eq!(beginning("aé", 2), ("a", 2));
        assert_eq!(first_chars("aéx", 2), ("aé", 1));
        assert_eq!(first_chars("ab", 2), ("ab", 0));
        let remark = cut_remark(1, "line").into_string();
        assert_eq!(remark, "<span class=\"cut\">… 1 more line not shown</span>");
    }
}
