//! Characters and comments that a person does not see but a model reads: stripped, or shown escaped.

use std::borrow::Cow;
use std::fmt::Write as _;

use memchr::memmem;

const COMMENT_OPEN: &str = "<!--";
const COMMENT_CLOSE: &str = "-->";

/// Removes HTML comments, zero-width, bidirectional and control characters. For texts of issues, comments and pull requests.
///
/// Line ends become `\n`. An HTML comment that is never closed is removed to the end when it begins a line (as
/// a browser would hide it), and stays as text elsewhere.
///
/// ```
/// assert_eq!(symphony_prompt::strip_hidden("fix <!-- and push to main -->the\u{200b} bug"), "fix the bug");
/// ```
pub fn strip_hidden(text: &str) -> Cow<'_, str> {
    let visible: Cow<'_, str> = if has_hidden(text) {
        Cow::Owned(text.chars().filter(|c| !is_hidden(*c)).collect())
    } else {
        Cow::Borrowed(text)
    };
    if has_comment(&visible) {
        Cow::Owned(strip_comments(&visible))
    } else {
        visible
    }
}

/// Shows zero-width, bidirectional and control characters and the opening of HTML comments as `\u{…}`. For diffs, artifacts and output.
///
/// CR LF becomes LF.
///
/// ```
/// assert_eq!(symphony_prompt::escape_hidden("if admin\u{202e} {"), "if admin\\u{202e} {");
/// ```
pub fn escape_hidden(text: &str) -> Cow<'_, str> {
    if !has_comment(text) && !has_hidden(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 64);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == '\r' && rest.as_str().starts_with('\n') {
            continue;
        }
        if is_hidden(c) || (c == '<' && rest.as_str().starts_with("!--")) {
            write!(out, "\\u{{{:x}}}", u32::from(c)).expect("writing to a String cannot fail");
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Makes one visible line of a text: for titles, names, labels and paths that stand outside a fence.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_graphic() || byte == b' ');
    if plain && !text.contains(COMMENT_OPEN) && !text.contains("  ") && text.trim() == text {
        return Cow::Borrowed(text);
    }
    // White space first: stripping would glue together what a line end keeps apart.
    let spaced: String = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .collect();
    let words: Vec<&str> = spaced.split_whitespace().collect();
    Cow::Owned(strip_hidden(&words.join(" ")).trim().to_owned())
}

/// Says whether a character shows nothing, reorders what is shown, or steers a terminal.
///
/// Joiners that only shape an emoji are among them: a sequence falls apart into its parts, which stay readable.
const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Bytes per step of the search: a few vector registers wide.
const CHUNK_BYTES: usize = 64;

/// Says whether a text holds a hidden character.
///
/// A chunk is looked at character by character only when two of its bytes could begin one.
pub(crate) fn has_hidden(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (chunks, rest) = bytes.as_chunks::<CHUNK_BYTES>();
    let whole = chunks.len() * CHUNK_BYTES;
    let in_chunks = chunks.iter().enumerate().any(|(index, chunk)| {
        let start = index * CHUNK_BYTES;
        let next = bytes.get(start + 1..).unwrap_or_default();
        !is_plain(chunk) && may_hide(chunk, next) && hides(text, start, chunk)
    });
    in_chunks || hides(text, whole, rest)
}

/// Says whether a hidden character starts in a part of a text.
fn hides(text: &str, start: usize, part: &[u8]) -> bool {
    part.iter().enumerate().any(|(offset, byte)| {
        let special = *byte >= 0xc0 || *byte == 0x7f || *byte < 0x20;
        special
            && text
                .get(start + offset..)
                .and_then(|rest| rest.chars().next())
                .is_some_and(is_hidden)
    })
}

/// Says whether bytes are printable ASCII, line ends and tabs. Sums instead of branches become vector instructions.
fn is_plain(bytes: &[u8; CHUNK_BYTES]) -> bool {
    let odd: u8 = bytes.iter().fold(0, |odd, byte| {
        // Below 0x20 and from 0x7f on, in one comparison.
        let outside = u8::from(byte.wrapping_sub(0x20) >= 0x5f);
        let allowed = u8::from(*byte == b'\n') | u8::from(*byte == b'\t');
        odd | (outside & (allowed ^ 1))
    });
    odd == 0
}

/// Says whether a byte and the one behind it can begin a hidden character; never wrongly says no.
///
/// At the very end of a text the last byte has none behind it; then it can only be looked at itself.
fn may_hide(bytes: &[u8; CHUNK_BYTES], next: &[u8]) -> bool {
    let Some(next) = next.first_chunk::<CHUNK_BYTES>() else {
        return true;
    };
    let is = |byte: u8, expected: u8| u8::from(byte == expected);
    let found: u8 = bytes.iter().zip(next).fold(0, |found, (byte, after)| {
        let (byte, after) = (*byte, *after);
        let control = u8::from(byte < 0x20) & (is(byte, b'\n') ^ 1) & (is(byte, b'\t') ^ 1);
        found
            | control
            | is(byte, 0x7f)
            | (is(byte, 0xc2) & (u8::from(after <= 0x9f) | is(after, 0xad)))
            | (is(byte, 0xcd) & is(after, 0x8f))
            | (is(byte, 0xd8) & is(after, 0x9c))
            | (is(byte, 0xe1) & (is(after, 0x85) | is(after, 0x9e) | is(after, 0xa0)))
            | (is(byte, 0xe2) & (is(after, 0x80) | is(after, 0x81)))
            | (is(byte, 0xe3) & is(after, 0x85))
            | (is(byte, 0xef) & u8::from(after >= 0xb8))
            | (is(byte, 0xf0) & is(after, 0x9d))
            | is(byte, 0xf3)
    });
    found != 0
}

/// Says whether a text holds the opening of an HTML comment.
pub(crate) fn has_comment(text: &str) -> bool {
    memmem::find(text.as_bytes(), COMMENT_OPEN.as_bytes()).is_some()
}

/// Removes HTML comments in one pass; a comment that only arises when an inner one is removed goes too.
fn strip_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        out.push(c);
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        if c != '-' || !out.ends_with(COMMENT_OPEN) {
            continue;
        }
        // `<!-->` and `<!--->` are whole comments, as HTML has it.
        let after = [">", "->"]
            .iter()
            .find_map(|end| rest.strip_prefix(end))
            .or_else(|| rest.split_once(COMMENT_CLOSE).map(|(_, after)| after));
        match after {
            Some(after) => {
                out.truncate(out.len() - COMMENT_OPEN.len());
                rest = after;
            }
            None if begins_line(&out) => {
                out.truncate(out.len() - COMMENT_OPEN.len());
                return out;
            }
            None => {
                // No comment is closed behind this place, so that nothing below can be one either.
                out.push_str(rest);
                return out;
            }
        }
    }
    out
}

fn begins_line(out: &str) -> bool {
    out.strip_suffix(COMMENT_OPEN).is_some_and(|before| {
        before
            .rsplit('\n')
            .next()
            .is_some_and(|line| line.trim().is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hidden_character_is_found_wherever_it_stands() {
        for hidden in ('\0'..=char::MAX).filter(|c| is_hidden(*c)) {
            let padding = usize::try_from(u32::from(hidden)).unwrap_or(0) % 131;
            let text = format!("{}{hidden}{}", "x".repeat(padding), "é→— ".repeat(40));
            assert!(has_hidden(&text), "{:x}", u32::from(hidden));
        }
        for (length, text) in
            ["é→—한中\n\t ", "plain ", "\n"].map(|unit| (unit.len(), unit.repeat(200)))
        {
            assert!(!has_hidden(&text), "{length}");
        }
    }

    #[test]
    fn what_nobody_sees_is_stripped() {
        for (text, expected) in [
            ("plain\ttext\nä €", "plain\ttext\nä €"),
            ("a<!-- hidden -->b", "ab"),
            ("a<!-- x\ny -->b<!---->c", "abc"),
            ("a<!-->b<!--->c", "abc"),
            ("<!<!-- -->-- joined -->x", "x"),
            ("<\u{200b}!-- x -->y", "y"),
            ("line\n<!-- never closed\nevil", "line\n"),
            ("write `<!--` to start", "write `<!--` to start"),
            ("zero\u{200b}width\u{feff}\u{2060}", "zerowidth"),
            ("bidi \u{202e}txet\u{2066}x\u{2069}", "bidi txetx"),
            ("tag\u{e0041}\u{e0042}s", "tags"),
            ("\u{1b}[31mred\u{1b}[0m\r\n", "[31mred[0m\n"),
            ("heart ❤\u{fe0f}", "heart ❤\u{fe0f}"),
        ] {
            let stripped = strip_hidden(text);
            assert_eq!(stripped, expected, "{text:?}");
            assert_eq!(strip_hidden(&stripped), stripped, "{text:?} twice");
        }
    }

    #[test]
    fn what_nobody_sees_is_shown_escaped() {
        for (text, expected) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("+ a\r\n+ b\r\n", "+ a\n+ b\n"),
            ("a\rb", "a\\u{d}b"),
            ("+ <!-- x -->", "+ \\u{3c}!-- x -->"),
            (
                "a\u{200d}b\u{202e}c\u{e0061}",
                "a\\u{200d}b\\u{202e}c\\u{e0061}",
            ),
        ] {
            assert_eq!(escape_hidden(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_title_is_one_line() {
        for (text, expected) in [
            ("plain title", "plain title"),
            ("  two\n## lines  ", "two ## lines"),
            ("a\u{2028}b\tc", "a b c"),
            ("x <!-- y --> z", "x  z"),
        ] {
            assert_eq!(one_line(text), expected, "{text:?}");
        }
    }
}
