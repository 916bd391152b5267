//! A text that comes in pieces.

use crate::stream::text::beginning;

/// A text under construction, cut at a limit.
#[derive(Debug, Clone)]
pub(super) struct Joined {
    text: String,
    bytes_max: usize,
}

impl Joined {
    pub(super) const fn new(bytes_max: usize) -> Self {
        Self {
            text: String::new(),
            bytes_max,
        }
    }

    pub(super) fn push(&mut self, piece: &str) {
        let free = self.bytes_max.saturating_sub(self.text.len());
        self.text.push_str(&beginning(piece.as_bytes(), free));
    }

    /// Returns the text, if there is any but white space.
    pub(super) fn take(&mut self) -> Option<String> {
        let text = std::mem::take(&mut self.text);
        (!text.trim().is_empty()).then_some(text)
    }
}
