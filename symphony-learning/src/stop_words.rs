//! English words that say nothing about a topic.

use std::sync::LazyLock;

use crate::hash::hash_bytes;

/// Words that are left out of token sets, sorted: articles, pronouns, prepositions, conjunctions, auxiliaries.
///
/// Words of one character are not here: they are no tokens anyway. What is left of `don't` and the like once the
/// apostrophe splits it (`don`, `isn`, `ll`, `re`, `ve`) is.
pub const STOP_WORDS: &[&str] = &[
    "about",
    "above",
    "after",
    "again",
    "against",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "aren",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "could",
    "couldn",
    "did",
    "didn",
    "do",
    "does",
    "doesn",
    "doing",
    "don",
    "down",
    "during",
    "each",
    "few",
    "for",
    "from",
    "further",
    "had",
    "hadn",
    "has",
    "hasn",
    "have",
    "haven",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "if",
    "in",
    "into",
    "is",
    "isn",
    "it",
    "its",
    "itself",
    "just",
    "ll",
    "may",
    "me",
    "might",
    "more",
    "most",
    "must",
    "my",
    "myself",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "our",
    "ours",
    "ourselves",
    "out",
    "over",
    "own",
    "re",
    "same",
    "shall",
    "she",
    "should",
    "shouldn",
    "so",
    "some",
    "such",
    "than",
    "that",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "ve",
    "very",
    "was",
    "wasn",
    "we",
    "were",
    "weren",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "why",
    "will",
    "with",
    "won",
    "would",
    "wouldn",
    "you",
    "your",
    "yours",
    "yourself",
    "yourselves",
];

/// Places of the table: a power of two, some six for each word.
const PLACES: usize = 1 << 10;

/// The hashes of the stop words, so that one look rules out most other words. Zero is an empty place.
static HASHES: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut table = vec![0; PLACES];
    for word in STOP_WORDS {
        let hash = hash_bytes(word.as_bytes());
        let free = places(hash).find(|&place| table.get(place) == Some(&0));
        if let Some(slot) = free.and_then(|place| table.get_mut(place)) {
            *slot = hash;
        }
    }
    table
});

/// Lists the places to look at for a hash, in order.
fn places(hash: u64) -> impl Iterator<Item = usize> {
    let first = usize::try_from(hash >> 54).unwrap_or(0);
    (first..PLACES).chain(0..first)
}

/// Says whether a lowercase word, whose hash is given, is in [`STOP_WORDS`].
pub(crate) fn is_stop_word(word: &str, hash: u64) -> bool {
    let table: &[u64] = &HASHES;
    for place in places(hash) {
        match table.get(place) {
            None | Some(0) => return false,
            Some(&found) if found == hash => return STOP_WORDS.binary_search(&word).is_ok(),
            Some(_) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_lowercase_and_found() {
        assert!(STOP_WORDS.is_sorted_by(|a, b| a < b));
        for word in STOP_WORDS {
            assert!(
                word.len() >= 2 && word.bytes().all(|b| b.is_ascii_lowercase()),
                "{word}"
            );
            assert!(is_stop_word(word, hash_bytes(word.as_bytes())), "{word}");
        }
        for word in ["database", "th", "thes", "yourselve", "_the"] {
            assert!(!is_stop_word(word, hash_bytes(word.as_bytes())), "{word}");
        }
    }
}
