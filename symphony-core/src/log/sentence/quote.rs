//! Quoting a text in a sentence.

/// Longest text that a sentence quotes, in characters: a title fits, an error's first line mostly.
pub(super) const QUOTE_CHARS_MAX: usize = 200;

/// Returns the first line of a text, cut to [`QUOTE_CHARS_MAX`].
pub(super) fn quoted(text: &str) -> String {
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let mut cut: String = line.chars().take(QUOTE_CHARS_MAX).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    cut
}
