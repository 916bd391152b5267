//! Characters and comments that a person does not see but a model reads: stripped, or shown escaped.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

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
        let shown = |(at, c): &(usize, char)| !is_hidden(*c) || joins_emoji(text, *at, *c);
        Cow::Owned(text.char_indices().filter(shown).map(|(_, c)| c).collect())
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
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        let rest = rest.as_str();
        if c == '\r' && rest.starts_with('\n') {
            continue;
        }
        let hidden = is_hidden(c) && !joins_emoji(text, at, c);
        if hidden || (c == '<' && rest.starts_with("!--")) {
            write!(out, "\\u{{{:x}}}", u32::from(c)).expect("writing to a String cannot fail");
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Makes one visible line of a text: for titles, names, labels and paths outside a fence.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    if is_plain_line(text) {
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

/// Says whether a text consists of words of printable ASCII with one space between them, and cannot contain a comment.
fn is_plain_line(text: &str) -> bool {
    let mut before = b' ';
    let plain = text.bytes().all(|byte| {
        let fits = match byte {
            b' ' => before != b' ',
            b'<' => false,
            _ => byte.is_ascii_graphic(),
        };
        before = byte;
        fits
    });
    plain && before != b' '
}

/// Says whether a character shows nothing, reorders what is shown, or steers a terminal.
///
/// A zero-width joiner is among them; [`strip_hidden`] and [`escape_hidden`] leave it where it joins two emoji into one.
pub const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns whether the character `c` at byte `at` is a zero-width joiner between two emoji, as in 👩‍💻.
///
/// Skin tones and the sign for "as a picture" may come before it (Unicode Technical Standard 51, "emoji ZWJ sequence").
fn joins_emoji(text: &str, at: usize, c: char) -> bool {
    if c != '\u{200d}' {
        return false;
    }
    let before = text
        .get(..at)
        .and_then(|before| before.chars().rev().find(|c| !shapes_emoji(*c)));
    let after = text
        .get(at + c.len_utf8()..)
        .and_then(|after| after.chars().next());
    before.is_some_and(is_emoji) && after.is_some_and(is_emoji)
}

const fn shapes_emoji(c: char) -> bool {
    matches!(c, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')
}

/// Covers the blocks that have Unicode's property `Extended_Pictographic`; it does no harm if they contain other symbols, too.
const fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// Bytes per step of the search: wide enough that what follows the vector loop costs little.
const BLOCK_BYTES: usize = 128;
/// A block and the byte after it, because two bytes tell visible characters from hidden ones.
const WINDOW_BYTES: usize = BLOCK_BYTES + 1;

/// Says whether a text holds a hidden character.
///
/// A block is looked at character by character only when its bytes could begin one. The last block is padded.
pub(crate) fn has_hidden(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut start = 0;
    while let Some((window, _)) = bytes.get(start..).and_then(<[u8]>::split_first_chunk) {
        if may_hide(window) && hides(text, start, BLOCK_BYTES) {
            return true;
        }
        start += BLOCK_BYTES;
    }
    let rest = bytes.get(start..).unwrap_or_default();
    let mut padded = [b' '; WINDOW_BYTES];
    for (place, byte) in padded.iter_mut().zip(rest) {
        *place = *byte;
    }
    may_hide(&padded) && hides(text, start, rest.len())
}

/// Says whether a hidden character starts among the bytes from `start` on.
fn hides(text: &str, start: usize, length: usize) -> bool {
    let part = text.as_bytes().iter().skip(start).take(length);
    part.enumerate().any(|(offset, byte)| {
        let special = match *byte {
            b'\n' | b'\t' => false,
            byte => byte < 0x20 || byte == 0x7f || byte >= 0xc2,
        };
        special
            && text
                .get(start + offset..)
                .and_then(|rest| rest.chars().next())
                .is_some_and(is_hidden)
    })
}

/// Says whether a byte of a block can begin a hidden character; never wrongly says no.
///
/// Least and greatest values instead of branches become vector instructions.
fn may_hide(window: &[u8; WINDOW_BYTES]) -> bool {
    let [block @ .., _] = window;
    let [_, next @ ..] = window;
    let (mut least, mut least_from_0b, mut greatest) = (u8::MAX, u8::MAX, 0);
    for byte in block {
        least = least.min(*byte);
        // What is below 0x0b comes out above 0xf4.
        least_from_0b = least_from_0b.min(byte.wrapping_sub(0x0b));
        greatest = greatest.max(*byte);
    }
    let control = least < b'\t' || least_from_0b < 0x20 - 0x0b;
    control || (greatest >= 0x7f && is_uncommon(block, next) && may_hide_beyond_ascii(block, next))
}

/// Says whether a block holds DEL, or a character that is neither ASCII nor of the kinds usual in prose and diagrams.
///
/// `next` are the bytes of `block`, each shifted by one.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "branches would keep the loop from becoming vector instructions"
)]
fn is_uncommon(block: &[u8; BLOCK_BYTES], next: &[u8; BLOCK_BYTES]) -> bool {
    let found = block.iter().zip(next).fold(0, |found, (byte, next)| {
        // 0xc3 begins Latin letters; 0xe2 begins arrows, signs and boxes unless 0x80 or 0x81 follows.
        let usual = (*byte == 0xc3) | ((*byte == 0xe2) & (*next >= 0x82));
        let begins = (*byte >= 0xc2) | (*byte == 0x7f);
        found | u8::from(begins & !usual)
    });
    found != 0
}

/// Says whether DEL or two bytes that can begin any other hidden character stand in a block.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "branches would keep the loop from becoming vector instructions"
)]
fn may_hide_beyond_ascii(block: &[u8; BLOCK_BYTES], next: &[u8; BLOCK_BYTES]) -> bool {
    let found = block.iter().zip(next).fold(0, |found, (byte, next)| {
        let (byte, next) = (*byte, *next);
        found
            | u8::from(
                (byte == 0x7f)
                    | ((byte == 0xc2) & ((next <= 0x9f) | (next == 0xad)))
                    | ((byte == 0xcd) & (next == 0x8f))
                    | ((byte == 0xd8) & (next == 0x9c))
                    | ((byte == 0xe1) & ((next == 0x85) | (next == 0x9e) | (next == 0xa0)))
                    | ((byte == 0xe2) & (next <= 0x81))
                    | ((byte == 0xe3) & (next == 0x85))
                    | ((byte == 0xef) & (next >= 0xb8))
                    | ((byte == 0xf0) & (next == 0x9d))
                    | (byte == 0xf3),
            )
    });
    found != 0
}

/// Searches for the opening of a comment; made once, because short texts would spend more time on that than on the search.
static COMMENT_FINDER: LazyLock<memmem::Finder<'static>> =
    LazyLock::new(|| memmem::Finder::new(COMMENT_OPEN));

/// Says whether a text holds the opening of an HTML comment.
pub(crate) fn has_comment(text: &str) -> bool {
    COMMENT_FINDER.find(text.as_bytes()).is_some()
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
            (
                "👩🏽\u{200d}💻 👨\u{200d}👩\u{200d}👧",
                "👩🏽\u{200d}💻 👨\u{200d}👩\u{200d}👧",
            ),
            ("❤\u{fe0f}\u{200d}🔥", "❤\u{fe0f}\u{200d}🔥"),
            ("👩\u{200d} a\u{200d}b 👩\u{200d}\u{200d}💻", "👩 ab 👩💻"),
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
            ("👩\u{200d}💻\u{200d}", "👩\u{200d}💻\\u{200d}"),
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
