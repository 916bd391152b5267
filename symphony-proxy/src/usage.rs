//! Reads what a model's answer says it used, while the answer passes. Pure: chunks of bytes go in, counts come out.
//!
//! No answer is kept: [`Scanner`] walks through JSON of any length with a few words of memory, so neither a long answer
//! nor a hostile one costs more. How the bytes are cut into chunks makes no difference.
//!
//! Sources: Anthropic's Messages API, `OpenAI`'s Responses and Chat Completions APIs, Gemini's `generateContent`, and what
//! servers that speak one of them add (`LiteLLM`, `DeepSeek`).

use super::counts::{Counts, TokenUse};
use super::json_walk::Scanner;

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
