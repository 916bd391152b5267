//! A learning in the form that ranking reads: computed once, when it is recorded, and kept by a store.
//!
//! Layout, numbers little-endian: version (u64), then five u32 (characters of the pattern, bytes of its normal form,
//! number of tokens, of labels, bytes of paths), normal form (UTF-8), token hashes (u64, sorted, distinct), label
//! hashes (likewise), paths (each lowercased, with its length as u32 before it).

use symphony_core::learning::Learning;

use crate::error::PreparedError;
use crate::hash::hash_bytes;
use crate::text::{for_each_token, lowercase_into, normalise_lower};

/// Version of everything in a [`Prepared`]: the revision of this code (upper half) and the version of Unicode that
/// says what is alphanumeric. What another version made has to be prepared again.
pub const ALGORITHM_VERSION: u64 = {
    let (major, minor, micro) = char::UNICODE_VERSION;
    (REVISION << 32) | ((major as u64) << 16) | ((minor as u64) << 8) | micro as u64
};

/// Raised when normal form, tokens, hashes or layout change.
const REVISION: u64 = 1;

/// Bytes before the normal form.
const HEADER: usize = 28;

/// A learning's normal form, hashes of its tokens and labels, and its paths, as one stretch of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared(Vec<u8>);

impl Prepared {
    /// Prepares a learning.
    pub fn new(learning: &Learning) -> Self {
        let mut bytes = ALGORITHM_VERSION.to_le_bytes().to_vec();
        bytes.resize(HEADER, 0);
        let mut lower = String::new();
        lowercase_into(&learning.pattern, &mut lower);
        normalise_lower(&lower, &mut bytes);
        let text_bytes = bytes.len() - HEADER;

        let mut tokens = Vec::new();
        token_hashes(&lower, &mut tokens);
        tokens.sort_unstable();
        tokens.dedup();
        put_hashes(&tokens, &mut bytes);
        let mut labels = Vec::new();
        label_hashes(&learning.labels, &mut labels);
        put_hashes(&labels, &mut bytes);

        let paths_start = bytes.len();
        for path in learning.applies_to.iter().filter(|path| !path.is_empty()) {
            lowercase_into(path, &mut lower);
            bytes.extend_from_slice(&count(lower.len()));
            bytes.extend_from_slice(lower.as_bytes());
        }
        let path_bytes = bytes.len() - paths_start;
        let pattern_chars = learning.pattern.chars().count();
        let numbers = [
            pattern_chars,
            text_bytes,
            tokens.len(),
            labels.len(),
            path_bytes,
        ];
        let header = bytes.get_mut(8..HEADER).unwrap_or_default();
        for (slot, number) in header.as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
            *slot = count(number);
        }
        Self(bytes)
    }

    /// Returns the bytes to keep.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the bytes to keep.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Returns the parts.
    pub fn view(&self) -> PreparedRef<'_> {
        PreparedRef::decode(&self.0).expect("made by the same version")
    }
}

/// The parts of a [`Prepared`], borrowed from wherever its bytes lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreparedRef<'a> {
    pattern_chars: u32,
    normalised: &'a str,
    tokens: &'a [[u8; 8]],
    labels: &'a [[u8; 8]],
    paths: &'a [u8],
}

impl<'a> PreparedRef<'a> {
    /// Reads the bytes of a [`Prepared`] without copying.
    ///
    /// # Errors
    /// When they are of another [`ALGORITHM_VERSION`], or damaged. Either way: prepare the learning again.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, PreparedError> {
        let mut reader = ByteReader {
            all: bytes,
            rest: bytes,
        };
        let found = u64::from_le_bytes(*reader.array::<8>("the version")?);
        if found != ALGORITHM_VERSION {
            let expected = ALGORITHM_VERSION;
            return Err(PreparedError::Version { found, expected });
        }
        let pattern_chars = reader.number("the header")?;
        let text_bytes = reader.number("the header")?;
        let tokens = reader.number("the header")?;
        let labels = reader.number("the header")?;
        let path_bytes = reader.number("the header")?;
        let text = reader.take(u64::from(text_bytes), "the normalised text")?;
        let normalised = std::str::from_utf8(text)
            .map_err(|_utf8_error| reader.malformed("the normalised text"))?;
        let view = Self {
            pattern_chars,
            normalised,
            tokens: reader.words(tokens, "the tokens")?,
            labels: reader.words(labels, "the labels")?,
            paths: reader.take(u64::from(path_bytes), "the paths")?,
        };
        if !reader.rest.is_empty() {
            return Err(reader.malformed("the end"));
        }
        let read: usize = view.paths().map(|path| path.len() + 4).sum();
        if read != view.paths.len() {
            return Err(reader.malformed("the paths"));
        }
        Ok(view)
    }

    /// Returns the normal form of the pattern (see [`crate::normalise`]).
    pub fn normalised(&self) -> &'a str {
        self.normalised
    }

    /// Returns the number of characters (Unicode scalar values) of the pattern itself.
    pub fn pattern_chars(&self) -> usize {
        crate::texts::wide(self.pattern_chars)
    }

    /// Returns the hashes of the pattern's tokens, sorted and distinct.
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        self.tokens.iter().map(|word| u64::from_le_bytes(*word))
    }

    /// Returns the hashes of the labels, sorted and distinct.
    pub fn labels(&self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        self.labels.iter().map(|word| u64::from_le_bytes(*word))
    }

    /// Returns the paths, lowercased. Empty ones were left out.
    pub fn paths(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut rest = self.paths;
        std::iter::from_fn(move || {
            let (length, behind) = rest.split_first_chunk::<4>()?;
            let length = crate::texts::wide(u32::from_le_bytes(*length));
            let (path, behind) = behind.split_at_checked(length)?;
            rest = behind;
            Some(path)
        })
    }
}

struct ByteReader<'a> {
    all: &'a [u8],
    rest: &'a [u8],
}

impl<'a> ByteReader<'a> {
    fn malformed(&self, part: &'static str) -> PreparedError {
        PreparedError::Malformed {
            length: self.all.len(),
            part,
        }
    }

    fn array<const N: usize>(&mut self, part: &'static str) -> Result<&'a [u8; N], PreparedError> {
        let (array, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or_else(|| self.malformed(part))?;
        self.rest = rest;
        Ok(array)
    }

    fn number(&mut self, part: &'static str) -> Result<u32, PreparedError> {
        self.array::<4>(part)
            .map(|bytes| u32::from_le_bytes(*bytes))
    }

    fn take(&mut self, length: u64, part: &'static str) -> Result<&'a [u8], PreparedError> {
        let (taken, rest) = usize::try_from(length)
            .ok()
            .and_then(|length| self.rest.split_at_checked(length))
            .ok_or_else(|| self.malformed(part))?;
        self.rest = rest;
        Ok(taken)
    }

    fn words(&mut self, count: u32, part: &'static str) -> Result<&'a [[u8; 8]], PreparedError> {
        Ok(self.take(u64::from(count) * 8, part)?.as_chunks::<8>().0)
    }
}

fn put_hashes(hashes: &[u64], bytes: &mut Vec<u8>) {
    for hash in hashes {
        bytes.extend_from_slice(&hash.to_le_bytes());
    }
}

/// Replaces `hashes` by those of a lowercased text's tokens, in the order of the text.
pub(crate) fn token_hashes(lower: &str, hashes: &mut Vec<u64>) {
    hashes.clear();
    for_each_token(lower, |hash| hashes.push(hash));
}

/// Replaces `hashes` by those of labels, sorted and distinct.
pub(crate) fn label_hashes(labels: &[String], hashes: &mut Vec<u64>) {
    hashes.clear();
    hashes.extend(labels.iter().map(|label| hash_bytes(label.as_bytes())));
    hashes.sort_unstable();
    hashes.dedup();
}

fn count(number: usize) -> [u8; 4] {
    u32::try_from(number)
        .expect("a text of 4 GiB passes every limit on input long before")
        .to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use symphony_core::Timestamp;
    use symphony_core::id::LearningId;

    fn learning() -> Learning {
        Learning {
            id: LearningId::parse("l1").unwrap(),
            pattern: "Use `Foo-Bar`, use foo; é!".to_owned(),
            learning_type: None,
            applies_to: vec!["Src/Ä.rs".to_owned(), String::new(), "x".to_owned()],
            labels: vec!["b".to_owned(), "a".to_owned(), "b".to_owned()],
            created_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn the_parts_come_back() {
        let prepared = Prepared::new(&learning());
        let view = prepared.view();
        assert_eq!(view.normalised(), "use foobar use foo é");
        assert_eq!(view.pattern_chars(), 26);
        let sorted = |words: &[&str]| {
            let mut hashes: Vec<u64> = words.iter().map(|w| hash_bytes(w.as_bytes())).collect();
            hashes.sort_unstable();
            hashes
        };
        assert_eq!(
            view.tokens().collect::<Vec<_>>(),
            sorted(&["use", "foo", "bar"])
        );
        assert_eq!(view.labels().collect::<Vec<_>>(), sorted(&["a", "b"]));
        let paths: Vec<&[u8]> = view.paths().collect();
        assert_eq!(paths, ["src/ä.rs".as_bytes(), b"x"]);
        assert_eq!(PreparedRef::decode(prepared.as_bytes()), Ok(view));
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let good = Prepared::new(&learning()).into_bytes();
        for length in 0..good.len() {
            let error = PreparedRef::decode(&good[..length]).unwrap_err();
            assert!(
                matches!(error, PreparedError::Malformed { .. }),
                "{length}: {error}"
            );
        }
        let mut longer = good.clone();
        longer.push(0);
        assert!(PreparedRef::decode(&longer).is_err());
        let mut other = good.clone();
        other[4] ^= 1;
        let error = PreparedRef::decode(&other).unwrap_err();
        assert!(matches!(error, PreparedError::Version { .. }), "{error}");
        for at in 8..HEADER {
            let mut other = good.clone();
            other[at] = 0xff;
            let changed_chars_only = at < 12;
            assert_eq!(
                PreparedRef::decode(&other).is_ok(),
                changed_chars_only,
                "{at}"
            );
        }
    }
}
