//! The prose of a markdown text, as sentences of words with their lines. Code blocks, comments and quotes are none of it.

use std::ops::Range;

/// Words that split a sentence into clauses: what follows is a separate order.
const JOINTS: [&str; 3] = ["and", "then", "but"];

/// Ends with a dot, but does not end a sentence.
const ABBREVIATIONS: [&str; 4] = ["e.g.", "i.e.", "etc.", "vs."];

/// A word, or a span of code as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) line: usize,
    pub(super) is_code: bool,
}

impl Word<'_> {
    /// Says whether it is this word, whatever its case and the form of its apostrophe.
    pub(super) fn is(&self, word: &str) -> bool {
        same(self.text, word)
    }
}

/// Compares words without regard to case and to the form of the apostrophe.
pub(super) fn same(found: &str, word: &str) -> bool {
    found.eq_ignore_ascii_case(word) || found.replace('\u{2019}', "'").eq_ignore_ascii_case(word)
}

/// A sentence in its clauses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sentence<'a> {
    pub(super) clauses: Vec<Vec<Word<'a>>>,
    /// The heading it is below.
    pub(super) section: &'a str,
    /// Whether it is the first of a list item, or of the first cell of a table's row.
    pub(super) opens_item: bool,
}

/// Splits the prose of a text into sentences; `first_line` is the number of its first line.
pub(super) fn sentences(text: &str, first_line: usize) -> Vec<Sentence<'_>> {
    let mut writer = Writer::default();
    for (line, number) in prose_lines(text).into_iter().zip(first_line..) {
        match line {
            Line::Nothing => writer.end_block(),
            Line::Heading(heading) => {
                writer.end_block();
                writer.section = heading;
            }
            Line::Item(rest) => {
                writer.end_block();
                writer.opens_item = true;
                writer.push_words(rest, number);
            }
            Line::Row(row) => {
                for (index, cell) in row.trim_matches('|').split('|').enumerate() {
                    writer.end_block();
                    writer.opens_item = index == 0;
                    writer.push_words(cell, number);
                }
                writer.end_block();
            }
            Line::Words(words) => writer.push_words(words, number),
        }
    }
    writer.end_block();
    writer.done
}

/// Returns the parts of a line that are prose: what is between its spans of code.
pub(super) fn outside_code(line: &str) -> impl Iterator<Item = &str> {
    let spans = code_spans(line);
    let starts = std::iter::once(0).chain(spans.clone().into_iter().map(|span| span.end));
    let ends = spans.into_iter().map(|span| span.start).chain([line.len()]);
    starts
        .zip(ends)
        .filter_map(|(start, end)| line.get(start..end))
}

/// What a line of a markdown text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Blank, or no prose: of a code block, a comment, a quote.
    Nothing,
    Heading(&'a str),
    /// The first line of a list item, without its mark.
    Item(&'a str),
    /// A row of a table.
    Row(&'a str),
    Words(&'a str),
}

/// Classifies each line of a text.
pub(super) fn prose_lines(text: &str) -> Vec<Line<'_>> {
    let (mut fence, mut is_comment, mut is_after_blank) = (None, false, true);
    let mut lines = Vec::new();
    for line in text.lines() {
        let words = line.trim();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| words.starts_with(mark));
        let kind = if fence.is_some() || mark.is_some() {
            match (fence, mark) {
                (None, _) => fence = mark,
                (Some(open), Some(mark)) if open == mark => fence = None,
                _ => {}
            }
            Line::Nothing
        } else if is_comment || words.starts_with("<!--") {
            is_comment = !words.contains("-->");
            Line::Nothing
        } else {
            kind_of(line, is_after_blank)
        };
        is_after_blank = kind == Line::Nothing;
        lines.push(kind);
    }
    lines
}

fn kind_of(line: &str, is_after_blank: bool) -> Line<'_> {
    let words = line.trim();
    if words.is_empty() || words.starts_with('>') {
        return Line::Nothing;
    }
    if words.starts_with('#') {
        return Line::Heading(words.trim_matches('#').trim());
    }
    if words.starts_with('|') {
        return Line::Row(words);
    }
    if let Some(rest) = without_mark(words) {
        return Line::Item(rest);
    }
    // indented code; the continuation of a list item in a paragraph of its own is passed over with it
    if is_after_blank && (line.starts_with("    ") || line.starts_with('\t')) {
        return Line::Nothing;
    }
    Line::Words(words)
}

/// Takes the mark of a list item off a line; none when it is not a list item.
fn without_mark(line: &str) -> Option<&str> {
    if let Some(rest) = ["- ", "* ", "+ "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
    {
        return Some(rest);
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() {
        return None;
    }
    rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
}

/// Returns where a line's spans of code are, backticks included. A run of backticks opens a span only if a later run of the
/// same length closes it.
fn code_spans(line: &str) -> Vec<Range<usize>> {
    let runs = runs_of_ticks(line);
    let mut spans = Vec::new();
    let mut rest = runs.as_slice();
    while let Some((open, behind)) = rest.split_first() {
        let close = behind.iter().position(|run| run.len() == open.len());
        rest = match close.and_then(|at| Some((behind.get(at)?, behind.get(at + 1..)?))) {
            Some((close, after)) => {
                spans.push(open.start..close.end);
                after
            }
            None => behind,
        };
    }
    spans
}

fn runs_of_ticks(line: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in line.match_indices('`') {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// Collects the words of a block into sentences.
#[derive(Debug, Default)]
struct Writer<'a> {
    done: Vec<Sentence<'a>>,
    clauses: Vec<Vec<Word<'a>>>,
    clause: Vec<Word<'a>>,
    section: &'a str,
    opens_item: bool,
}

impl<'a> Writer<'a> {
    fn push_words(&mut self, line: &'a str, number: usize) {
        let mut from = 0;
        for span in code_spans(line) {
            self.push_plain(line.get(from..span.start).unwrap_or_default(), number);
            let text = line.get(span.clone()).unwrap_or_default();
            self.clause.push(Word {
                text: text.trim_matches('`').trim(),
                line: number,
                is_code: true,
            });
            from = span.end;
        }
        self.push_plain(line.get(from..).unwrap_or_default(), number);
    }

    fn push_plain(&mut self, text: &'a str, line: usize) {
        for word in text.split_whitespace() {
            if word.starts_with(['(', '[']) {
                self.end_clause();
            }
            let bare = word.trim_matches(|c: char| {
                !c.is_alphanumeric() && !matches!(c, '-' | '$' | '<' | '/')
            });
            if bare == "-" || JOINTS.iter().any(|joint| same(bare, joint)) {
                self.end_clause();
            } else if !bare.is_empty() {
                self.clause.push(Word {
                    text: bare,
                    line,
                    is_code: false,
                });
            }
            let end = word.trim_end_matches(['*', '_', '"', '\'', '\u{201d}']);
            if ABBREVIATIONS.iter().any(|known| same(end, known)) {
                continue;
            }
            if end.ends_with(['.', '!', '?']) {
                self.end_sentence();
            } else if end.ends_with([',', ';', ':', ')', ']', '\u{2013}', '\u{2014}']) {
                self.end_clause();
            }
        }
    }

    fn end_clause(&mut self) {
        if !self.clause.is_empty() {
            self.clauses.push(std::mem::take(&mut self.clause));
        }
    }

    fn end_sentence(&mut self) {
        self.end_clause();
        if !self.clauses.is_empty() {
            self.done.push(Sentence {
                clauses: std::mem::take(&mut self.clauses),
                section: self.section,
                opens_item: std::mem::take(&mut self.opens_item),
            });
        }
    }

    fn end_block(&mut self) {
        self.end_sentence();
        self.opens_item = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let sentence = |sentence: &Sentence<'_>| {
            let clauses = sentence.clauses.iter().map(|clause| {
                let words = clause.iter().map(|word| word.text.to_owned());
                words.collect::<Vec<_>>().join(" ")
            });
            let clauses = clauses.collect::<Vec<_>>().join(" / ");
            let line = sentence.clauses[0][0].line;
            let mark = if sentence.opens_item { "* " } else { "" };
            format!("{line} [{}] {mark}{clauses}", sentence.section)
        };
        sentences(text, 1).iter().map(sentence).collect()
    }

    #[test]
    fn prose_is_split_into_sentences_and_clauses_with_their_lines() {
        let text = "# Rules\n\nFirst one (`git push`), e.g. here, and\nthen **second**. Third: it's done!\n\n- item one\n  goes on\n2. `call` it\n\n| a | b `c` |\n\n> quoted\n\n```\ncode.\n```\n    indented\n<!-- gone\nstill -->\nLast";
        assert_eq!(
            shown(text),
            [
                "3 [Rules] First one / git push / e.g here / second",
                "4 [Rules] Third / it's done",
                "6 [Rules] * item one goes on",
                "8 [Rules] * call it",
                "10 [Rules] * a",
                "10 [Rules] b c",
                "20 [Rules] Last",
            ]
        );
    }

    #[test]
    fn a_tick_that_nothing_closes_is_no_code() {
        let words: Vec<bool> = sentences("a `b c ``d` e`` f", 1)[0].clauses[0]
            .iter()
            .map(|word| word.is_code)
            .collect();
        assert_eq!(words.iter().filter(|is_code| **is_code).count(), 1);
        assert_eq!(outside_code("a `b` c").collect::<Vec<_>>(), ["a ", " c"]);
    }
}
