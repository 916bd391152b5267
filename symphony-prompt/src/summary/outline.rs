//! The blocks of a markdown text, and in which order a summary wants them.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

/// What a summary takes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// A heading: all of them come first, the higher levels before the lower ones.
    Heading(usize),
    /// The first paragraph, list item or table row under a heading.
    First,
    /// Everything else; the number is its place under its heading, so that every section is served once before one is
    /// served twice.
    Rest(usize),
}

/// A heading, a paragraph, a list item, a table row, or a code block.
#[derive(Debug)]
pub(super) struct Block<'a> {
    /// Where it is in the text, from the beginning of its first line.
    pub(super) range: Range<usize>,
    pub(super) text: &'a str,
    pub(super) rank: Rank,
    pub(super) is_code: bool,
}

/// Splits a text into its blocks. Rules and link definitions are not blocks.
pub(super) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut place = 0;
    // What lies inside of a block that was given out is none of its own.
    let mut done = 0;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let Event::Start(tag) = event else { continue };
        // Lists and tables are taken apart: one that is long would be left out as a whole.
        if range.start < done || matches!(tag, Tag::List(_) | Tag::Table(_)) {
            continue;
        }
        done = range.end;
        let range = whole_lines(text, range);
        let is_code = matches!(tag, Tag::CodeBlock(_));
        let rank = match tag {
            Tag::Heading { level, .. } => Rank::Heading(level as usize),
            _ if place == 0 && !is_code => Rank::First,
            _ => Rank::Rest(place),
        };
        place = match rank {
            // Code in front of the first paragraph does not take its place.
            Rank::Heading(_) | Rank::Rest(0) => 0,
            Rank::First | Rank::Rest(_) => place + 1,
        };
        blocks.push(Block {
            text: text.get(range.clone()).unwrap_or_default(),
            range,
            rank,
            is_code,
        });
    }
    blocks
}

/// Reaches back to the beginning of the first line, whose indentation belongs to the block, and leaves out line ends.
fn whole_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let before = text.get(..range.start).unwrap_or_default();
    let indentation = before.len() - before.trim_end_matches([' ', '\t']).len();
    let kept = text.get(range.clone()).unwrap_or_default().trim_end().len();
    range.start - indentation..range.start + kept
}

#[cfg(test)]
mod tests {
    use super::Rank::{First, Heading, Rest};
    use super::*;

    #[test]
    fn lists_and_tables_are_taken_apart_and_code_is_whole() {
        let text = "Intro\nof two lines\n\n# A\n\n```rust\n# not a heading\nfn a() {}\n```\n\n- one\n  more\n- two\n\n## B ##\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nTitle\n=====\n\n    indented code\n";
        let found: Vec<_> = blocks(text)
            .into_iter()
            .map(|block| (block.text, block.rank, block.is_code))
            .collect();
        assert_eq!(
            found,
            [
                ("Intro\nof two lines", First, false),
                ("# A", Heading(1), false),
                ("```rust\n# not a heading\nfn a() {}\n```", Rest(0), true),
                ("- one\n  more", First, false),
                ("- two", Rest(1), false),
                ("## B ##", Heading(2), false),
                ("> quoted", First, false),
                ("| a | b |", Rest(1), false),
                ("| 1 | 2 |", Rest(2), false),
                ("Title\n=====", Heading(1), false),
                ("    indented code", Rest(0), true),
            ]
        );
    }
}
