//! A real tokenizer (feature `tokenizer`): byte-pair encoding with the `o200k` vocabulary, which is embedded.
//!
//! There is no public tokenizer for every model; the figures stay estimates, only closer ones.

use symphony_core::unit::Tokens;
use tiktoken_rs::{CoreBPE, o200k_base_singleton};

use crate::tokens::TokenCounter;

/// Counts with a byte-pair encoder. The first one takes a sixth of a second, to read the vocabulary.
#[derive(Clone, Copy)]
pub struct BpeCounter {
    encoder: &'static CoreBPE,
}

impl BpeCounter {
    /// Makes a counter with the `o200k` vocabulary.
    pub fn o200k() -> Self {
        Self {
            encoder: o200k_base_singleton(),
        }
    }
}

impl std::fmt::Debug for BpeCounter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BpeCounter").finish_non_exhaustive()
    }
}

impl TokenCounter for BpeCounter {
    fn count(&self, text: &str) -> Tokens {
        Tokens::new(self.encoder.encode_ordinary(text).len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TRUNCATION_MARKER, truncate_head, truncate_tail};

    #[test]
    fn cuts_fit_by_the_real_count_too() {
        let counter = BpeCounter::o200k();
        assert_eq!(counter.count("hello world").get(), 2);
        let text = "Prompts are assembled from layers — naïvely, 👩‍🚀 and all. ".repeat(20);
        for cap in [0, 3, 10, 57, 100] {
            for cut in [
                truncate_tail(&text, Tokens::new(cap), &counter),
                truncate_head(&text, Tokens::new(cap), &counter),
            ] {
                assert!(counter.count(&cut).get() <= cap, "{cap}");
                assert!(cut.is_empty() || cut.contains(TRUNCATION_MARKER));
            }
        }
    }
}
