//! Reads what a model's answer says it used, while the answer passes. Pure: chunks of bytes go in, counts come out.
//!
//! No answer is kept: [`Scanner`] walks through JSON of any length with a few words of memory, so neither a long answer
//! nor a hostile one costs more. How the bytes are cut into chunks makes no difference.
//!
//! Sources: Anthropic's Messages API, `OpenAI`'s Responses and Chat Completions APIs, Gemini's `generateContent`, and what
//! servers that speak one of them add (`LiteLLM`, `DeepSeek`).

use std::collections::BTreeMap;

use super::json_walk::Scanner;

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
    is_final: bool,
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
    fn tokens(&self) -> TokenUse {
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

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerForm {
    /// One JSON document.
    Json,
    /// Server-sent events, each with a JSON document.
    Events,
}

impl AnswerForm {
    /// Returns the form by the header `Content-Type`; `None` for a form that says nothing of its usage.
    pub fn of(content_type: &str) -> Option<Self> {
        let kind = content_type.split(';').next().unwrap_or_default().trim();
        let kind = kind.to_ascii_lowercase();
        match kind.as_str() {
            "text/event-stream" => Some(Self::Events),
            kind if kind.ends_with("json") => Some(Self::Json),
            _ => None,
        }
    }
}

/// Reads one answer.
#[derive(Debug, Clone)]
pub struct UsageReader {
    lines: Option<Lines>,
    scanner: Scanner,
    counts: Counts,
}

impl UsageReader {
    /// Begins an answer.
    pub fn new(form: AnswerForm) -> Self {
        Self {
            lines: (form == AnswerForm::Events).then(Lines::default),
            scanner: Scanner::default(),
            counts: Counts::default(),
        }
    }

    /// Takes in the next bytes of the answer.
    pub fn read(&mut self, bytes: &[u8]) {
        let Self {
            lines,
            scanner,
            counts,
        } = self;
        match lines {
            Some(lines) => lines.read(bytes, scanner, counts),
            None => scanner.read(bytes, counts),
        }
    }

    /// Returns what the answer used so far.
    pub fn tokens(&self) -> TokenUse {
        self.counts.tokens()
    }

    /// Returns whether the answer has reported its final counts, which only its end may still raise.
    pub fn is_final(&self) -> bool {
        self.counts.is_final
    }
}

/// Where in a stream of events the reader is.
#[derive(Debug, Clone, Copy, Default)]
struct Lines {
    state: Line,
    /// Whether the last byte was a CR, so that an LF belongs to it.
    after_return: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// The line is `data` so far, as many bytes of it.
    Name(u8),
    /// After `data:`, where one space may follow.
    Colon,
    /// In data.
    Data,
    /// In another field.
    Other,
}

impl Default for Line {
    fn default() -> Self {
        Self::Name(0)
    }
}

/// The field of an event that has its document.
const DATA: &[u8] = b"data";

impl Lines {
    fn read(&mut self, bytes: &[u8], scanner: &mut Scanner, counts: &mut Counts) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            if matches!(byte, b'\r' | b'\n') {
                let belongs = byte == b'\n' && self.after_return;
                self.after_return = byte == b'\r';
                if !belongs {
                    self.end_line(scanner, counts);
                }
                rest = after;
                continue;
            }
            self.after_return = false;
            match self.state {
                Line::Data => {
                    let end = memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
                    let (data, after) = rest.split_at(end);
                    scanner.read(data, counts);
                    rest = after;
                    continue;
                }
                Line::Other => {
                    let end = memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
                    rest = rest.split_at(end).1;
                    continue;
                }
                // a space that is not one belongs to the document, which does not mind it
                Line::Colon => self.state = Line::Data,
                Line::Name(known) => self.state = name(known, byte),
            }
            if self.state == Line::Data {
                continue;
            }
            rest = after;
        }
    }

    fn end_line(&mut self, scanner: &mut Scanner, counts: &mut Counts) {
        match self.state {
            // an empty line ends the event
            Line::Name(0) => *scanner = Scanner::default(),
            Line::Data => scanner.read(b"\n", counts),
            _ => {}
        }
        self.state = Line::default();
    }
}

fn name(known: u8, byte: u8) -> Line {
    match DATA.get(usize::from(known)) {
        Some(expected) if *expected == byte => Line::Name(known + 1),
        None if byte == b':' => Line::Colon,
        _ => Line::Other,
    }
}

#[cfg(test)]
mod tests;
