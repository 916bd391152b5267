//! The marker that ties what was created at a tracker to the change that created it.
//!
//! A marker is a comment of HTML, which no tracker shows, on a line of its own at the end of a text. Everyone who can read the
//! text can copy it. [`find`] therefore only reads a claim: the text is ours if the caller knows this change, and if nothing
//! else was created by it. A marker in a quote, in the middle of a text, or in a block of code
//! claims nothing.

use crate::change::ChangeId;

const BEGIN: &str = "<!-- symphony:change=";
const END: &str = " -->";
/// Longest id that is read, in characters: a UUID has 36.
const ID_CHARS_MAX: usize = 64;

/// Appends the marker of a change to a text. A block of code that is still open is closed before, since it would show the marker.
pub fn with(body: &str, id: &ChangeId) -> String {
    let body = body.trim_end();
    let fence = open_fence(body);
    let closed = fence.map_or_else(String::new, |fence| format!("\n{fence}"));
    let space = if body.is_empty() { "" } else { "\n\n" };
    format!("{body}{closed}{space}{BEGIN}{id}{END}")
}

/// Returns the change that the last line of a text claims to be of.
pub fn find(body: &str) -> Option<ChangeId> {
    let (before, last) = split_last_line(body);
    let id = claimed(last)?;
    open_fence(before).is_none().then_some(id)
}

/// Returns a text without the marker at its end.
pub fn without(body: &str) -> &str {
    match find(body) {
        Some(_) => split_last_line(body).0.trim_end(),
        None => body,
    }
}

/// Returns whether a text has a marker anywhere, even where it claims nothing.
pub fn is_in(body: &str) -> bool {
    body.contains("symphony:change=")
}

fn claimed(line: &str) -> Option<ChangeId> {
    let id = line.strip_prefix(BEGIN)?.strip_suffix(END)?;
    let is_id = !id.is_empty()
        && id.len() <= ID_CHARS_MAX
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    is_id.then(|| ChangeId::new(id))
}

/// Splits a text before the last line that is not blank. Spaces before that line belong to it: they can make it code.
fn split_last_line(body: &str) -> (&str, &str) {
    let body = body.trim_end();
    body.rsplit_once('\n').unwrap_or(("", body))
}

/// Returns the fence that closes the block of code in which a text ends.
fn open_fence(body: &str) -> Option<String> {
    let mut open: Option<(char, usize)> = None;
    for line in body.lines() {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let line = line.trim_start_matches(' ');
        let Some(mark) = line.chars().next().filter(|c| matches!(c, '`' | '~')) else {
            continue;
        };
        let length = line.chars().take_while(|c| *c == mark).count();
        let rest = line.trim_start_matches(mark);
        match open {
            None if length >= 3 && indent < 4 && (mark == '~' || !rest.contains('`')) => {
                open = Some((mark, length));
            }
            Some((opened, least))
                if mark == opened && length >= least && indent < 4 && rest.trim().is_empty() =>
            {
                open = None;
            }
            _ => {}
        }
    }
    open.map(|(mark, length)| mark.to_string().repeat(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0b7c2a52-7f0e-4a5e-9d61-3c2f1f2a9a11";

    fn id() -> ChangeId {
        ChangeId::new(ID)
    }

    #[test]
    fn a_marker_is_on_a_line_of_its_own_at_the_end() {
        assert_eq!(
            with("Started.\n", &id()),
            format!("Started.\n\n<!-- symphony:change={ID} -->")
        );
        assert_eq!(with("", &id()), format!("<!-- symphony:change={ID} -->"));
        assert_eq!(
            with("```sh\nls", &id()),
            format!("```sh\nls\n```\n\n<!-- symphony:change={ID} -->")
        );
    }

    #[test]
    fn only_the_last_line_claims_a_change() {
        let line = format!("<!-- symphony:change={ID} -->");
        for (body, expected) in [
            (line.clone(), true),
            (format!("Text.\n\n{line}"), true),
            (format!("Text.\n{line}\n \n"), true),
            (format!("~~~\ncode\n~~~\n{line}"), true),
            (format!("```a`b```\n{line}"), true),
            (format!("{line}\n\nMore text."), false),
            (format!("> {line}"), false),
            (format!("    {line}"), false),
            (format!("Text {line}"), false),
            (format!("{line} text"), false),
            (format!("```\n{line}"), false),
            (format!("````\n```\n{line}"), false),
            (format!("`{line}`"), false),
            ("<!-- symphony:change= -->".into(), false),
            ("<!-- symphony:change=a b -->".into(), false),
            (
                format!("<!-- symphony:change={} -->", "a".repeat(65)),
                false,
            ),
        ] {
            assert_eq!(find(&body), expected.then(id), "{body}");
            assert!(is_in(&body), "{body}");
            let rest = without(&body);
            assert_eq!(rest == body, !expected, "{body}");
            assert!(!rest.ends_with('\n') || !expected, "{body}");
        }
        assert!(!is_in("no marker"));
        assert_eq!(without("a\n"), "a\n");
    }
}
