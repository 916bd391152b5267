//! Walks through JSON of any length and finds the counts in it, with a bounded memory.
//!
//! This is no validator: what is not JSON has no counts, and does no harm.

use super::counts::{Counts, Member, Node};

/// The longest name of a member that means something, and a little more.
const NAME_BYTES_MAX: usize = 32;
/// Digits of a number that are read; more of them are no count.
const DIGITS_MAX: u8 = 18;

/// The state of a walk.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scanner {
    /// The objects that may have counts, from the outside to the inside. As deep as [`Node`] leads.
    open: Vec<Node>,
    /// Whether the document is a list of answers.
    is_list: bool,
    /// How deep the walk is in something without counts.
    skipped: u64,
    token: Token,
    /// What the next value is.
    value: Option<Member>,
    /// Whether a text would be the name of a member.
    expects_name: bool,
    name: Vec<u8>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Token {
    #[default]
    Between,
    Text {
        is_name: bool,
        is_escaped: bool,
    },
    Number {
        digits: u8,
        number: u64,
    },
    /// The part of a number after its digits.
    Fraction {
        number: u64,
    },
    /// A word, or a number that is no count.
    Word,
}

impl Scanner {
    /// Returns how many elements it holds.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.open.capacity() + self.name.capacity()
    }

    /// Takes in the next bytes of the document.
    pub(crate) fn read(&mut self, bytes: &[u8], counts: &mut Counts) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            if let Token::Text {
                is_name,
                is_escaped: false,
            } = self.token
            {
                let end = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                let (text, from) = rest.split_at(end);
                if is_name {
                    let free = NAME_BYTES_MAX.saturating_sub(self.name.len());
                    self.name.extend(text.iter().take(free));
                }
                let Some((&byte, after)) = from.split_first() else {
                    return;
                };
                self.in_text(byte, is_name);
                rest = after;
                continue;
            }
            self.take(byte, counts);
            rest = after;
        }
    }

    /// Handles a quote or a backslash in a text.
    fn in_text(&mut self, byte: u8, is_name: bool) {
        if byte == b'\\' {
            self.token = Token::Text {
                is_name,
                is_escaped: true,
            };
            // no name that counts has an escape
            self.name.clear();
            self.name.push(byte);
            return;
        }
        self.token = Token::Between;
        if is_name {
            let node = self.open.last();
            self.value = node.and_then(|node| node.member(&self.name));
            self.expects_name = false;
        } else {
            self.value = None;
        }
    }

    fn take(&mut self, byte: u8, counts: &mut Counts) {
        match self.token {
            Token::Text { is_name, .. } => {
                self.token = Token::Text {
                    is_name,
                    is_escaped: false,
                };
                return;
            }
            Token::Number { digits, number } => match byte {
                b'0'..=b'9' if digits < DIGITS_MAX => {
                    self.token = Token::Number {
                        digits: digits + 1,
                        number: number * 10 + u64::from(byte - b'0'),
                    };
                    return;
                }
                b'.' => {
                    self.token = Token::Fraction { number };
                    return;
                }
                _ if is_of_word(byte) => self.token = Token::Word,
                _ => self.found(number, counts),
            },
            Token::Fraction { number } => match byte {
                b'0'..=b'9' => return,
                _ if is_of_word(byte) => self.token = Token::Word,
                _ => self.found(number, counts),
            },
            Token::Between | Token::Word => {}
        }
        if self.token == Token::Word && is_of_word(byte) {
            return;
        }
        self.token = Token::Between;
        self.between(byte);
    }

    fn found(&mut self, number: u64, counts: &mut Counts) {
        if let (Some(Member::Count(field)), Some(node)) = (self.value.take(), self.open.last()) {
            counts.take(*node, field, number);
        }
        self.token = Token::Between;
    }

    fn between(&mut self, byte: u8) {
        match byte {
            b'"' => {
                let is_name = self.skipped == 0 && self.expects_name;
                self.name.clear();
                self.token = Token::Text {
                    is_name,
                    is_escaped: false,
                };
            }
            b'{' | b'[' => self.enter(byte == b'{'),
            b'}' | b']' => self.leave(byte == b'}'),
            b',' if self.skipped == 0 => {
                self.value = None;
                self.expects_name = !self.open.is_empty();
            }
            b'0'..=b'9' if self.skipped == 0 => {
                self.token = Token::Number {
                    digits: 1,
                    number: u64::from(byte - b'0'),
                };
            }
            _ if is_of_word(byte) => self.token = Token::Word,
            _ => {}
        }
    }

    fn enter(&mut self, is_object: bool) {
        if self.skipped > 0 {
            self.skipped = self.skipped.saturating_add(1);
            return;
        }
        let node = match self.value.take() {
            Some(Member::Into(node)) => Some(node),
            _ if self.open.is_empty() => Some(Node::Root),
            _ => None,
        };
        match node {
            Some(node) if is_object => {
                self.open.push(node);
                self.expects_name = true;
            }
            // Gemini's stream is a list of answers
            Some(Node::Root) if !self.is_list => self.is_list = true,
            _ => self.skipped = 1,
        }
    }

    fn leave(&mut self, is_object: bool) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        self.value = None;
        if !is_object {
            self.is_list = false;
        } else if self.open.pop().is_some() {
            self.expects_name = false;
        }
    }
}

/// Returns whether a byte continues a word or a number.
const fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-' | b'_')
}
