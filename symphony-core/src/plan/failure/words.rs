//! Searches a text for phrases at word boundaries, without regular expressions: phrases of prose, ignoring case.

use super::patterns::Pattern;

/// Longest piece of text that is named as what matched, in bytes.
pub(super) const MATCHED_BYTES_MAX: usize = 200;

/// What is between a word and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
    /// White space, or one hyphen: the words can belong to one phrase.
    Soft,
    /// Other characters on the same line.
    Hard,
    /// A line break.
    Line,
}

#[derive(Debug)]
struct Word {
    start: usize,
    end: usize,
    join: Join,
}

/// A text as words: runs of letters, digits and `_`. Words of paths, addresses and file names are left out.
#[derive(Debug)]
pub(super) struct Words<'a> {
    text: &'a str,
    words: Vec<Word>,
}

impl<'a> Words<'a> {
    /// Splits a text; linear.
    pub(super) fn new(text: &'a str) -> Self {
        let mut words = Vec::new();
        let mut previous_end = 0;
        for (start, end) in runs(text, |c| !is_delimiter(c)) {
            let chunk = text.get(start..end).unwrap_or("");
            if is_path(chunk) {
                continue;
            }
            for (from, to) in runs(chunk, is_word) {
                let (from, to) = (start + from, start + to);
                let gap = text.get(previous_end..from).unwrap_or("");
                words.push(Word {
                    start: from,
                    end: to,
                    join: join(gap),
                });
                previous_end = to;
            }
        }
        Self { text, words }
    }

    /// Returns the earliest piece of the text that one of the patterns describes.
    pub(super) fn first_match(&self, patterns: &[Pattern]) -> Option<&'a str> {
        let mut matches = patterns.iter().filter_map(|pattern| self.find(pattern));
        let first = matches.next()?;
        let (start, end) = matches.fold(
            first,
            |best, next| if next.0 < best.0 { next } else { best },
        );
        let end = self
            .text
            .floor_char_boundary(end.min(start + MATCHED_BYTES_MAX));
        self.text.get(start..end)
    }

    fn find(&self, pattern: &Pattern) -> Option<(usize, usize)> {
        match pattern {
            Pattern::Phrase(phrase) => {
                let mut positions = (0..self.words.len()).filter(|at| !self.is_denied(*at));
                positions.find_map(|at| self.phrase_at(at, phrase))
            }
            Pattern::Gap(first, second) => self.gap(first, second),
            Pattern::Status(number) => self.words.iter().enumerate().find_map(|(at, word)| {
                let is_status = self.word_text(word) == *number && self.stands_as_status(at, word);
                is_status.then_some((word.start, word.end))
            }),
        }
    }

    /// Returns whether the word before negates what follows: "0 tests failed", "no lint errors".
    fn is_denied(&self, at: usize) -> bool {
        const DENIALS: [&str; 4] = ["0", "no", "zero", "without"];
        let is_joined = self
            .words
            .get(at)
            .is_some_and(|word| word.join == Join::Soft);
        let previous = at.checked_sub(1).and_then(|at| self.words.get(at));
        is_joined
            && previous.is_some_and(|previous| {
                let text = self.word_text(previous);
                DENIALS
                    .iter()
                    .any(|denial| text.eq_ignore_ascii_case(denial))
            })
    }

    fn gap(&self, first: &str, second: &str) -> Option<(usize, usize)> {
        let mut opened: Option<usize> = None;
        for (at, word) in self.words.iter().enumerate() {
            if word.join == Join::Line {
                opened = None;
            }
            if let (Some(start), Some((_, end))) = (opened, self.phrase_at(at, second)) {
                return Some((start, end));
            }
            if opened.is_none() && self.phrase_at(at, first).is_some() {
                opened = Some(word.start);
            }
        }
        None
    }

    fn phrase_at(&self, at: usize, phrase: &str) -> Option<(usize, usize)> {
        let start = self.words.get(at)?.start;
        let mut end = start;
        for (offset, alternatives) in phrase.split(' ').enumerate() {
            let word = self.words.get(at + offset)?;
            let fits = (offset == 0 || word.join == Join::Soft)
                && alternatives
                    .split('|')
                    .any(|wanted| self.word_text(word).eq_ignore_ascii_case(wanted));
            if !fits {
                return None;
            }
            end = word.end;
        }
        Some((start, end))
    }

    /// Returns whether a number can be an HTTP status: alone, in brackets or quotes, or after `status:` and the like;
    /// not a part of a larger number, of a name, or of a place in a file.
    fn stands_as_status(&self, at: usize, word: &Word) -> bool {
        const NAMES: [&str; 6] = [
            "status",
            "code",
            "error",
            "http",
            "status_code",
            "statuscode",
        ];
        const PLACES: [&str; 4] = ["line", "column", "port", "pid"];
        let before = self.text.get(..word.start).unwrap_or("");
        let after = self.text.get(word.end..).unwrap_or("");
        let previous = at.checked_sub(1).and_then(|at| self.words.get(at));
        let is_one_of = |names: &[&str]| {
            previous.is_some_and(|previous| {
                let text = self.word_text(previous);
                names.iter().any(|name| text.eq_ignore_ascii_case(name))
            })
        };
        let begins_well = match before.chars().next_back() {
            None => true,
            Some(':' | '=') => is_one_of(&NAMES),
            Some(c) => c.is_whitespace() || matches!(c, '(' | '[' | '{' | '<' | '"' | '\'' | '`'),
        };
        let mut rest = after.chars();
        let ends_well = match rest.next() {
            None => true,
            Some('.' | ',' | ':' | ';') => !rest.next().is_some_and(|c| c.is_ascii_alphanumeric()),
            Some(c) => {
                let closes = matches!(c, ')' | ']' | '}' | '>' | '"' | '\'' | '`' | '!' | '?');
                c.is_whitespace() || closes
            }
        };
        begins_well && ends_well && !is_one_of(&PLACES)
    }

    fn word_text(&self, word: &Word) -> &'a str {
        self.text.get(word.start..word.end).unwrap_or("")
    }
}

/// Returns the longest stretches of characters that fit, as byte ranges.
fn runs(text: &str, fits: impl Fn(char) -> bool) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        if fits(c) {
            start.get_or_insert(at);
        } else if let Some(start) = start.take() {
            found.push((start, at));
        }
    }
    found.extend(start.map(|start| (start, text.len())));
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Characters that end a path or an address in running text.
fn is_delimiter(c: char) -> bool {
    c.is_whitespace() || "\"'`,;()[]{}<>=|".contains(c)
}

/// Returns whether a chunk is a path, an address or a file name, whose words mean nothing here.
fn is_path(chunk: &str) -> bool {
    let chunk = chunk.trim_end_matches(['.', ':', '!', '?']);
    let slashes = chunk.matches(['/', '\\']).count();
    let last = chunk.rsplit(['/', '\\']).next().unwrap_or("");
    let has_extension = last.split_once('.').is_some_and(|(name, extension)| {
        !name.is_empty() && extension.starts_with(|c: char| c.is_ascii_alphabetic())
    });
    slashes >= 2 || chunk.starts_with(['/', '~', '.']) || has_extension
}

fn join(gap: &str) -> Join {
    if gap.contains('\n') {
        Join::Line
    } else if gap == "-" || gap.chars().all(char::is_whitespace) {
        Join::Soft
    } else {
        Join::Hard
    }
}
