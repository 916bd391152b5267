//! Many texts in one buffer: an allocation for all, and one stretch of memory to scan.

use std::borrow::Cow;

/// Stands behind every text. No normalised text holds it, so that no match crosses from one text into the next.
pub(crate) const SEPARATOR: u8 = b'\n';

/// Stands for "no text" where the number of one is kept.
pub(crate) const NONE: u32 = u32::MAX;

/// Texts under consecutive numbers.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    /// Where each text ends, which is the place of its separator.
    ends: Vec<usize>,
}

impl Texts {
    /// Makes room for `texts` more texts, which have `bytes` bytes together.
    pub(crate) fn reserve(&mut self, texts: usize, bytes: usize) {
        self.bytes.reserve(bytes.saturating_add(texts));
        self.ends.reserve(texts);
    }

    pub(crate) fn push(&mut self, text: &[u8]) {
        self.push_with(|bytes| bytes.extend_from_slice(text));
    }

    /// Adds the text that `write` appends.
    pub(crate) fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push(self.bytes.len());
        self.bytes.push(SEPARATOR);
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns all texts, each followed by its separator.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns where text `number` starts in [`Texts::bytes`].
    pub(crate) fn start(&self, number: usize) -> usize {
        number
            .checked_sub(1)
            .and_then(|before| self.ends.get(before))
            .map_or(0, |end| end + 1)
    }

    /// Returns a text; an unknown number is an empty one.
    pub(crate) fn get(&self, number: usize) -> &[u8] {
        let end = self.ends.get(number).copied().unwrap_or(0);
        self.bytes.get(self.start(number)..end).unwrap_or_default()
    }

    /// Returns a text and this many bytes behind it: what is there, and separators where nothing does.
    pub(crate) fn with_more(&self, number: usize, more: usize) -> Cow<'_, [u8]> {
        let text = self.get(number);
        let start = self.start(number);
        if let Some(bytes) = self.bytes.get(start..start + text.len() + more) {
            return Cow::Borrowed(bytes);
        }
        let mut bytes = self.bytes.get(start..).unwrap_or_default().to_vec();
        bytes.resize(text.len() + more, SEPARATOR);
        Cow::Owned(bytes)
    }

    /// Returns the number of the first text that is shorter than `length`; the texts must be sorted, longest first.
    pub(crate) fn first_shorter_than(&self, length: usize) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.get(middle).len() >= length {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the number of the text around a place in [`Texts::bytes`], and where that text starts and ends.
    pub(crate) fn around(&self, place: usize) -> (usize, usize, usize) {
        let number = self.ends.partition_point(|&end| end < place);
        let end = self.ends.get(number).copied().unwrap_or(0);
        (number, self.start(number), end)
    }
}

/// Turns a number of texts into the form that tables keep.
pub(crate) fn small(number: usize) -> u32 {
    u32::try_from(number)
        .ok()
        .filter(|&small| small != NONE)
        .expect("fewer than 2^32 texts, each with some 50 bytes of record, fit in memory")
}

/// Turns the kept form back.
pub(crate) fn wide(number: u32) -> usize {
    usize::try_from(number).expect("32 bits fit in usize on every supported machine")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lead_back_to_their_text() {
        let mut texts = Texts::default();
        for text in ["abc", "", "d"] {
            texts.push(text.as_bytes());
        }
        assert_eq!(texts.bytes(), b"abc\n\nd\n");
        assert_eq!(
            [0, 1, 2, 3].map(|n| texts.get(n)),
            [&b"abc"[..], b"", b"d", b""]
        );
        let with_more = |number| String::from_utf8(texts.with_more(number, 2).into()).unwrap();
        assert_eq!(
            [0, 1, 2, 3].map(with_more),
            ["abc\n\n", "\nd", "d\n\n", "\n\n"]
        );
        assert_eq!(texts.around(0), (0, 0, 3));
        assert_eq!(texts.around(2), (0, 0, 3));
        assert_eq!(texts.around(5), (2, 5, 6));
    }
}
