//! Cutting a text to a cap: the end is kept or the beginning, never half a grapheme cluster, the marker counted in.

use std::borrow::Cow;

use symphony_core::unit::Tokens;
use unicode_segmentation::GraphemeCursor;

use crate::tokens::{HeuristicCounter, TokenCounter};

/// Stands where something was cut off.
pub const TRUNCATION_MARKER: &str = "...(truncated)";

/// Keeps the end of a text, with [`TRUNCATION_MARKER`] in front when something was cut.
///
/// The result has at most `cap` tokens, marker included; a cap below the marker's length gives an empty text.
///
/// ```
/// use symphony_prompt::{HeuristicCounter, Tokens, truncate_tail};
/// let cut = truncate_tail("first the old, then the new", Tokens::new(5), &HeuristicCounter::default());
/// assert_eq!(cut, "...(truncated)he new");
/// ```
pub fn truncate_tail<'a>(text: &'a str, cap: Tokens, counter: &dyn TokenCounter) -> Cow<'a, str> {
    if counter.fits(text, cap) {
        return Cow::Borrowed(text);
    }
    if !counter.fits(TRUNCATION_MARKER, cap) {
        return Cow::Borrowed("");
    }
    let mut start = grapheme_ceil(text, counter.suffix_start(text, cap, TRUNCATION_MARKER));
    loop {
        let cut = [TRUNCATION_MARKER, text.get(start..).unwrap_or_default()].concat();
        if start >= text.len() || counter.fits(&cut, cap) {
            return Cow::Owned(cut);
        }
        start = grapheme_ceil(text, start + 1);
    }
}

/// Keeps the beginning of a text, with [`TRUNCATION_MARKER`] behind it when something was cut.
///
/// The result has at most `cap` tokens, marker included; a cap below the marker's length gives an empty text.
pub fn truncate_head<'a>(text: &'a str, cap: Tokens, counter: &dyn TokenCounter) -> Cow<'a, str> {
    truncate_head_with(text, cap, counter, TRUNCATION_MARKER)
}

/// Keeps the beginning of a text, followed by a marker of the caller's choice.
pub(crate) fn truncate_head_with<'a>(
    text: &'a str,
    cap: Tokens,
    counter: &dyn TokenCounter,
    marker: &str,
) -> Cow<'a, str> {
    if counter.fits(text, cap) {
        return Cow::Borrowed(text);
    }
    if !counter.fits(marker, cap) {
        return Cow::Borrowed("");
    }
    let mut end = grapheme_floor(text, counter.prefix_len(text, cap, marker));
    loop {
        let cut = [text.get(..end).unwrap_or_default(), marker].concat();
        if end == 0 || counter.fits(&cut, cap) {
            return Cow::Owned(cut);
        }
        end = grapheme_floor(text, end - 1);
    }
}

/// Keeps whole lines from the beginning of a text; the marker gets a line of its own.
pub(crate) fn truncate_head_lines<'a>(
    text: &'a str,
    cap: Tokens,
    counter: &dyn TokenCounter,
) -> Cow<'a, str> {
    if counter.fits(text, cap) {
        return Cow::Borrowed(text);
    }
    let room = counter.prefix_len(text, cap, TRUNCATION_MARKER);
    let lines = text
        .get(..room)
        .and_then(|kept| kept.rfind('\n').and_then(|at| kept.get(..=at)));
    match lines {
        Some(lines) => {
            let cut = [lines, TRUNCATION_MARKER].concat();
            if counter.fits(&cut, cap) {
                return Cow::Owned(cut);
            }
            truncate_head(text, cap, counter)
        }
        None => truncate_head(text, cap, counter),
    }
}

/// Keeps the last `chars_max` characters, marker included.
pub(crate) fn limit_tail(text: &str, chars_max: u64) -> Cow<'_, str> {
    truncate_tail(text, Tokens::new(chars_max), &HeuristicCounter::CHARS)
}

/// Keeps the first `chars_max` characters, marker included.
pub(crate) fn limit_head(text: &str, chars_max: u64) -> Cow<'_, str> {
    truncate_head(text, Tokens::new(chars_max), &HeuristicCounter::CHARS)
}

/// Returns the nearest grapheme boundary at or before `at`.
pub(crate) fn grapheme_floor(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    if at == 0 || at == text.len() || plain_break(text, at) {
        return at;
    }
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    if cursor.is_boundary(text, 0) == Ok(true) {
        return at;
    }
    cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0)
}

/// Returns the nearest grapheme boundary at or after `at`.
pub(crate) fn grapheme_ceil(text: &str, at: usize) -> usize {
    let at = text.ceil_char_boundary(at.min(text.len()));
    if at == 0 || at == text.len() || plain_break(text, at) {
        return at;
    }
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    if cursor.is_boundary(text, 0) == Ok(true) {
        return at;
    }
    cursor
        .next_boundary(text, 0)
        .ok()
        .flatten()
        .unwrap_or(text.len())
}

/// Says whether two ASCII characters meet here that are not CR LF: always a boundary, and the common case.
fn plain_break(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    match (bytes.get(at.wrapping_sub(1)), bytes.get(at)) {
        (Some(before), Some(after)) => {
            before.is_ascii() && after.is_ascii() && (*before, *after) != (b'\r', b'\n')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: HeuristicCounter = HeuristicCounter::CHARS;

    #[test]
    fn the_end_or_the_beginning_is_kept_and_the_marker_counts() {
        let cap = Tokens::new(18);
        let text = "0123456789abcdefghijklmnop";
        assert_eq!(truncate_tail(text, cap, &C), "...(truncated)mnop");
        assert_eq!(truncate_head(text, cap, &C), "0123...(truncated)");
        assert_eq!(truncate_tail("short", cap, &C), "short");
        assert_eq!(
            truncate_head_lines("ab\ncdefghijklmnopqrstuvw", cap, &C),
            "ab\n...(truncated)"
        );
        assert_eq!(
            truncate_head_lines("abcdefghijklmnopqrstuvw", cap, &C),
            "abcd...(truncated)"
        );
    }

    #[test]
    fn a_cap_below_the_marker_gives_nothing() {
        let text = "x".repeat(40);
        for cap in 0..14 {
            assert_eq!(truncate_tail(&text, Tokens::new(cap), &C), "", "{cap}");
            assert_eq!(truncate_head(&text, Tokens::new(cap), &C), "", "{cap}");
        }
        assert_eq!(truncate_tail(&text, Tokens::new(14), &C), TRUNCATION_MARKER);
        assert_eq!(truncate_head(&text, Tokens::new(14), &C), TRUNCATION_MARKER);
    }

    #[test]
    fn grapheme_clusters_stay_whole() {
        let family = "👨‍👩‍👧‍👦";
        let text = format!("{family}{family}{family}");
        for cap in 14..=21 {
            let kept = if cap < 21 {
                String::new()
            } else {
                text.clone()
            };
            let tail = truncate_tail(&text, Tokens::new(cap), &C);
            if cap == 21 {
                assert_eq!(tail, kept);
            } else {
                assert_eq!(tail, TRUNCATION_MARKER, "{cap}");
            }
        }
        let flags = "🇩🇪🇫🇷".repeat(10);
        let tail = truncate_tail(&flags, Tokens::new(17), &C);
        assert_eq!(tail, "...(truncated)🇫🇷");
        assert_eq!(
            truncate_head("a\r\nb\r\nc and more words", Tokens::new(16), &C),
            "a...(truncated)"
        );
    }
}
