//! Where in an answer counts are, and what they come to.

use std::collections::BTreeMap;

/// Most that is believed of one count of one answer: no model reads or writes a billion tokens at once.
pub const ANSWER_TOKENS_MAX: u64 = 1_000_000_000;

/// Tokens of one answer, or of many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenUse {
    /// Input that was neither read from a cache nor written to one.
    pub input: u64,
    /// Output, with thoughts.
    pub output: u64,
    /// Input that was read from a cache.
    pub cache_read: u64,
    /// Input that was written to a cache.
    pub cache_creation: u64,
}

/// A number that an API reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Field {
    /// Anthropic: without caches. Responses: with what the cache had.
    Input,
    /// Of both.
    Output,
    /// Anthropic.
    CacheRead,
    /// Anthropic.
    CacheCreation,
    /// Responses.
    InputCached,
    /// Chat Completions, with what the cache had.
    Prompt,
    /// Chat Completions, with thoughts.
    Completion,
    /// Chat Completions.
    PromptCached,
    /// Gemini, with what the cache had.
    GeminiPrompt,
    /// Gemini, without thoughts.
    GeminiOutput,
    /// Gemini.
    GeminiThoughts,
    /// Gemini: what its own tools read.
    GeminiTools,
    /// Gemini.
    GeminiCached,
}

/// Where in an answer the scanner is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    /// The document.
    Root,
    /// An answer inside of an event.
    Wrapped,
    /// The message that an Anthropic stream begins with, whose counts are not final.
    Begun,
    /// The counts at its beginning.
    BegunUsage,
    /// The counts.
    Usage,
    /// What the input consisted of.
    InputDetails,
    /// The same by the Chat Completions API.
    PromptDetails,
    /// Gemini's counts.
    Gemini,
}

/// What a member of an object leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Member {
    /// An object with counts in it.
    Into(Node),
    /// A count.
    Count(Field),
}

impl Node {
    /// Returns what a member leads to; `None` if nothing in it counts. What a model wrote is never looked into, so it
    /// cannot pretend to be a count.
    pub(crate) fn member(self, name: &[u8]) -> Option<Member> {
        use Member::{Count, Into};
        Some(match (self, name) {
            (Self::Root, b"message") => Into(Self::Begun),
            (Self::Root, b"response") => Into(Self::Wrapped),
            (Self::Root | Self::Wrapped, b"usage") => Into(Self::Usage),
            (Self::Root | Self::Wrapped, b"usageMetadata") => Into(Self::Gemini),
            (Self::Begun, b"usage") => Into(Self::BegunUsage),
            (Self::BegunUsage | Self::Usage, b"input_tokens") => Count(Field::Input),
            (Self::BegunUsage | Self::Usage, b"output_tokens") => Count(Field::Output),
            (Self::BegunUsage | Self::Usage, b"cache_read_input_tokens") => Count(Field::CacheRead),
            (Self::BegunUsage | Self::Usage, b"cache_creation_input_tokens") => {
                Count(Field::CacheCreation)
            }
            (Self::Usage, b"prompt_tokens") => Count(Field::Prompt),
            (Self::Usage, b"completion_tokens") => Count(Field::Completion),
            (Self::Usage, b"input_tokens_details") => Into(Self::InputDetails),
            (Self::Usage, b"prompt_tokens_details") => Into(Self::PromptDetails),
            (Self::InputDetails, b"cached_tokens") => Count(Field::InputCached),
            (Self::PromptDetails, b"cached_tokens") | (Self::Usage, b"prompt_cache_hit_tokens") => {
                Count(Field::PromptCached)
            }
            (Self::Gemini, b"promptTokenCount") => Count(Field::GeminiPrompt),
            (Self::Gemini, b"candidatesTokenCount") => Count(Field::GeminiOutput),
            (Self::Gemini, b"thoughtsTokenCount") => Count(Field::GeminiThoughts),
            (Self::Gemini, b"toolUsePromptTokenCount") => Count(Field::GeminiTools),
            (Self::Gemini, b"cachedContentTokenCount") => Count(Field::GeminiCached),
            _ => return None,
        })
    }
}

/// The numbers of an answer so far. A stream repeats them as they grow, so the highest counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    fields: BTreeMap<Field, u64>,
    pub(crate) is_final: bool,
}

impl Counts {
    /// Takes in a number.
    pub(crate) fn take(&mut self, place: Node, field: Field, number: u64) {
        let known = self.fields.entry(field).or_default();
        *known = number.min(ANSWER_TOKENS_MAX).max(*known);
        self.is_final |= place != Node::BegunUsage;
    }

    fn get(&self, field: Field) -> u64 {
        self.fields.get(&field).copied().unwrap_or_default()
    }

    /// Returns the numbers in one form, whichever API they are of.
    pub(crate) fn tokens(&self) -> TokenUse {
        let has = |field| self.fields.contains_key(&field);
        let get = |field| self.get(field);
        if has(Field::Prompt) {
            let read = get(Field::PromptCached).max(get(Field::CacheRead));
            let written = get(Field::CacheCreation);
            TokenUse {
                input: get(Field::Prompt).saturating_sub(read.saturating_add(written)),
                output: get(Field::Completion),
                cache_read: read,
                cache_creation: written,
            }
        } else if has(Field::GeminiPrompt) {
            let read = get(Field::GeminiCached);
            TokenUse {
                input: get(Field::GeminiPrompt).saturating_sub(read) + get(Field::GeminiTools),
                output: get(Field::GeminiOutput) + get(Field::GeminiThoughts),
                cache_read: read,
                cache_creation: 0,
            }
        } else if has(Field::InputCached) {
            let read = get(Field::InputCached);
            TokenUse {
                input: get(Field::Input).saturating_sub(read),
                output: get(Field::Output),
                cache_read: read,
                cache_creation: 0,
            }
        } else {
            TokenUse {
                input: get(Field::Input),
                output: get(Field::Output),
                cache_read: get(Field::CacheRead),
                cache_creation: get(Field::CacheCreation),
            }
        }
    }
}
