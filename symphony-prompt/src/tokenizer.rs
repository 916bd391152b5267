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
