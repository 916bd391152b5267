//! What learnings are ranked for: an issue, or a query, in the form that scoring reads.

use crate::automaton::{self, PATTERN_BYTES_MAX};
use crate::hash::hash_bytes;
use crate::prepared::token_hashes;
use crate::text::lowercase_into;
use crate::texts::{NONE, Texts, small, wide};

/// So many tokens are compared with each other; more are sorted.
const COMPARED_MAX: usize = 24;

/// An issue or a query.
#[derive(Debug, Clone)]
pub struct Subject {
    lower: String,
    /// Hashes, sorted and distinct.
    tokens: Vec<u64>,
    /// Hashes, sorted and distinct.
    labels: Vec<u64>,
    token_filter: Bits,
    /// The stretches of four bytes of the text.
    grams: Bits,
}

impl Subject {
    /// Takes an issue; its text is the title, a newline, and the description.
    pub fn issue<L: AsRef<str>>(title: &str, description: &str, labels: &[L]) -> Self {
        Self::new(&format!("{title}\n{description}"), labels)
    }

    /// Takes a query: a text without labels.
    pub fn query(text: &str) -> Self {
        Self::new(text, &[] as &[&str])
    }

    fn new<L: AsRef<str>>(text: &str, labels: &[L]) -> Self {
        let mut lower = String::new();
        lowercase_into(text, &mut lower);
        let mut tokens = Vec::new();
        token_hashes(&lower, &mut tokens);
        let mut labels: Vec<u64> = labels
            .iter()
            .map(|l| hash_bytes(l.as_ref().as_bytes()))
            .collect();
        for hashes in [&mut tokens, &mut labels] {
            hashes.sort_unstable();
            hashes.dedup();
        }
        let mut token_filter = Bits::for_entries(tokens.len() * 4);
        for &hash in &tokens {
            token_filter.add(hash);
        }
        let mut grams = Bits::for_entries(lower.len());
        for gram in lower.as_bytes().array_windows::<4>() {
            grams.add(gram_hash(*gram));
        }
        Self {
            lower,
            tokens,
            labels,
            token_filter,
            grams,
        }
    }

    /// Returns the text in lower case.
    pub(crate) fn lower(&self) -> &str {
        &self.lower
    }

    /// Returns the Jaccard similarity of the text's tokens and those of a learning (hashes, distinct).
    pub(crate) fn token_similarity(&self, tokens: impl ExactSizeIterator<Item = u64>) -> f64 {
        let others = tokens.len();
        let shared = tokens.filter(|&hash| self.has_token(hash)).count();
        jaccard(shared, self.tokens.len(), others)
    }

    /// The same of tokens in any order, some of them perhaps more than once.
    pub(crate) fn similarity_of_any(&self, tokens: &mut Vec<u64>) -> f64 {
        if tokens.len() > COMPARED_MAX {
            tokens.sort_unstable();
            tokens.dedup();
            return self.token_similarity(tokens.iter().copied());
        }
        let (mut distinct, mut shared) = (0, 0);
        for (place, &hash) in tokens.iter().enumerate() {
            let before = tokens.get(..place).unwrap_or_default();
            // Counting has no branch to mispredict, unlike looking for the first.
            if before.iter().filter(|&&other| other == hash).count() == 0 {
                distinct += 1;
                shared += usize::from(self.has_token(hash));
            }
        }
        jaccard(shared, self.tokens.len(), distinct)
    }

    fn has_token(&self, hash: u64) -> bool {
        self.token_filter.may_hold(hash) && self.tokens.binary_search(&hash).is_ok()
    }

    /// Returns the Jaccard similarity of the labels and those of a learning (hashes, distinct).
    pub(crate) fn label_similarity(&self, labels: impl ExactSizeIterator<Item = u64>) -> f64 {
        let others = labels.len();
        let shared = labels
            .filter(|hash| self.labels.binary_search(hash).is_ok())
            .count();
        jaccard(shared, self.labels.len(), others)
    }

    /// Returns whether the text may contain a lowercased path: `false` is certain, and the answer for most paths that it lacks.
    pub(crate) fn may_name(&self, path: &[u8]) -> bool {
        path.len() <= self.lower.len()
            && path
                .array_windows::<4>()
                .all(|gram| self.grams.may_hold(gram_hash(*gram)))
    }

    /// Says for each of some lowercased paths whether the text holds it. Linear in paths and text together.
    pub(crate) fn names(&self, paths: &Texts) -> Vec<bool> {
        let text = |number: u32| paths.get(wide(number));
        let mut sorted: Vec<u32> = (0..paths.len()).map(small).collect();
        sorted.sort_unstable_by(|&a, &b| text(a).cmp(text(b)));
        let mut distinct = sorted.clone();
        distinct.dedup_by(|a, b| text(*a) == text(*b));
        let mut found = vec![false; paths.len()];
        automaton::in_batches(&distinct, PATTERN_BYTES_MAX, text, |mut automaton| {
            automaton.scan(self.lower.as_bytes(), |path, _| {
                if let Some(found) = found.get_mut(wide(path)) {
                    *found = true;
                }
            });
        });
        // Equal paths stand side by side; what was found of the first holds for all.
        let mut first = NONE;
        for path in sorted {
            if first == NONE || text(first) != text(path) {
                first = path;
            }
            let held = found.get(wide(first)).copied().unwrap_or(false);
            if let Some(found) = found.get_mut(wide(path)) {
                *found = held;
            }
        }
        found
    }
}

/// |a ∩ b| / |a ∪ b|, and 0 when both are empty.
fn jaccard(shared: usize, a: usize, b: usize) -> f64 {
    ratio(shared, a + b - shared)
}

/// `part / whole`, and 0 when there is no whole.
pub(crate) fn ratio(part: usize, whole: usize) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of words and paths are far below 2^52"
    )]
    match whole {
        0 => 0.0,
        _ => part as f64 / whole as f64,
    }
}

fn gram_hash(gram: [u8; 4]) -> u64 {
    u64::from(u32::from_le_bytes(gram)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// A set of hashes that may also claim ones it does not hold (about one in sixteen).
#[derive(Debug, Clone)]
struct Bits {
    shift: u32,
    words: Vec<u64>,
}

impl Bits {
    fn for_entries(entries: usize) -> Self {
        let bits = entries
            .saturating_mul(16)
            .clamp(1 << 10, 1 << 30)
            .next_power_of_two();
        Self {
            shift: 64 - bits.ilog2(),
            words: vec![0; bits / 64],
        }
    }

    fn place(&self, hash: u64) -> (usize, u64) {
        let place = hash >> self.shift;
        (
            usize::try_from(place >> 6).unwrap_or(usize::MAX),
            1 << (place & 63),
        )
    }

    fn add(&mut self, hash: u64) {
        let (word, bit) = self.place(hash);
        if let Some(word) = self.words.get_mut(word) {
            *word |= bit;
        }
    }

    fn may_hold(&self, hash: u64) -> bool {
        let (word, bit) = self.place(hash);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_whatever_their_length_and_repetition() {
        let subject = Subject::issue("Fix SRC/main.rs", "and é/ü; lib", &["x"]);
        let cases = [
            ("src/main.rs", true),
            ("src/main.rs", true),
            ("main", true),
            ("rs", true),
            ("é/ü", true),
            ("rs\nand", true),
            ("main.rs lib", false),
            ("src/main.rs/", false),
            ("zz", false),
            ("zz", false),
        ];
        let mut paths = Texts::default();
        for (path, _) in cases {
            paths.push(path.as_bytes());
        }
        assert_eq!(subject.names(&paths), cases.map(|(_, found)| found));
        assert!(
            cases
                .iter()
                .all(|(path, found)| !found || subject.may_name(path.as_bytes()))
        );
        assert!(!subject.may_name(b"src/other.rs"));
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "the definition is to be met exactly")]
    fn similarity_of_nothing_is_zero() {
        let subject = Subject::query("");
        assert_eq!(subject.label_similarity([].into_iter()), 0.0);
        assert_eq!(subject.token_similarity([].into_iter()), 0.0);
        assert_eq!(subject.token_similarity([1, 2].into_iter()), 0.0);
        let subject = Subject::query("alpha beta");
        let hashes = ["beta", "gamma", "delta"].map(|w| hash_bytes(w.as_bytes()));
        assert_eq!(subject.token_similarity(hashes.into_iter()), 0.25);
        for repeats in [1, 5, 40] {
            assert_eq!(subject.similarity_of_any(&mut hashes.repeat(repeats)), 0.25);
        }
    }
}
