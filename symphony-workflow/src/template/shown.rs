//! How a message repeats a part of a template.

/// Longest part of a tag in a message, in characters.
const SHOWN_CHARS_MAX: usize = 60;

/// Cuts a part of a template that a message repeats, on one line and without control characters.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    shown.retain(|c| !c.is_control());
    if shown.chars().nth(SHOWN_CHARS_MAX).is_some() {
        shown = shown.chars().take(SHOWN_CHARS_MAX).collect();
        shown.push('…');
    }
    shown
}
