//! One document in the room that it gets: its outline first, then as much more as fits.

use std::borrow::Cow;

use symphony_core::unit::Tokens;

use crate::summary::outline::{Block, Rank, blocks};
use crate::summary::signature::{beginning_of_code, signatures};
use crate::tokens::TokenCounter;
use crate::truncate::{truncate_head, truncate_head_lines};

/// Marks the place where blocks were left out.
const GAP: &str = "[…]";

/// The least room in which the beginning of a paragraph is shown: fewer words would say nothing.
const BEGINNING_TOKENS_MIN: u64 = 40;

/// Keeps the headings of a markdown text, what comes first under each, and the declarations in its code.
///
/// `[…]` marks each part that is left out; front matter is dropped without a mark.
///
/// ```
/// let text = "# Design\n\nWe cache.\n\nLong reasons.\n\n## Risks\n\nStale entries.";
/// assert_eq!(symphony_prompt::summarize_artifact(text), "# Design\n\nWe cache.\n\n[…]\n\n## Risks\n\nStale entries.");
/// ```
pub fn summarize_artifact(text: &str) -> String {
    let body = without_front_matter(text);
    let mut outline = Outline::of(body);
    outline.take_summary();
    outline.assemble()
}

/// Shortens a markdown text to `cap` tokens, and fills them: the headings, what comes first under each, the declarations in its
/// code, then the rest of every section in turn.
///
/// `[…]` marks each part that is left out. A text that fits is returned as it is; if not even a heading
/// fits, the beginning of the text is kept.
///
/// ```
/// use symphony_prompt::{HeuristicCounter, Tokens, shorten_artifact};
/// let text = "# Design\n\nWe cache.\n\nThe reasons for it are long.\n\n## Risks\n\nStale.\n\nOthers.";
/// let short = shorten_artifact(text, Tokens::new(16), &HeuristicCounter::default());
/// assert_eq!(short, "# Design\n\nWe cache.\n\n[…]\n\n## Risks\n\nStale.\n\nOthers.");
/// ```
pub fn shorten_artifact<'a>(
    text: &'a str,
    cap: Tokens,
    counter: &dyn TokenCounter,
) -> Cow<'a, str> {
    if counter.fits(text, cap) {
        return Cow::Borrowed(text);
    }
    let mut outline = Outline::of(without_front_matter(text));
    match outline.fill(cap, counter) {
        Some(short) => Cow::Owned(short),
        None => truncate_head_lines(text, cap, counter),
    }
}

/// How much of a block is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kept {
    No,
    Signatures,
    Beginning,
    Whole,
}

/// A text's blocks, and which of them are kept.
struct Outline<'a> {
    text: &'a str,
    blocks: Vec<Block<'a>>,
    signatures: Vec<Option<String>>,
    /// The beginning of a block for which there is no room as a whole.
    beginning: String,
    kept: Vec<Kept>,
}

impl<'a> Outline<'a> {
    fn of(text: &'a str) -> Self {
        let blocks = blocks(text);
        let signatures = blocks
            .iter()
            .map(|block| block.is_code.then(|| signatures(block.text)).flatten())
            .collect();
        let kept = vec![Kept::No; blocks.len()];
        Self {
            text,
            blocks,
            signatures,
            beginning: String::new(),
            kept,
        }
    }

    /// Keeps what a summary always has.
    fn take_summary(&mut self) {
        for (at, kept) in self.summary() {
            self.keep(at, kept);
        }
    }

    /// What a summary has, the most wanted first: headings, first paragraphs, declarations.
    fn summary(&self) -> Vec<(usize, Kept)> {
        let mut wanted: Vec<(Rank, usize, Kept)> = Vec::new();
        for (at, block) in self.blocks.iter().enumerate() {
            match block.rank {
                Rank::Heading(_) | Rank::First => wanted.push((block.rank, at, Kept::Whole)),
                Rank::Rest(_) if self.signatures.get(at).is_some_and(Option::is_some) => {
                    wanted.push((Rank::Rest(0), at, Kept::Signatures));
                }
                Rank::Rest(_) => {}
            }
        }
        wanted.sort_by_key(|(rank, at, _)| (*rank, *at));
        wanted.into_iter().map(|(_, at, kept)| (at, kept)).collect()
    }

    /// Everything else, section by section in turn.
    fn rest(&self) -> Vec<(usize, Kept)> {
        let mut rest: Vec<usize> = (0..self.blocks.len())
            .filter(|at| matches!(self.rank(*at), Some(Rank::Rest(_))))
            .collect();
        rest.sort_by_key(|at| (self.rank(*at), *at));
        rest.into_iter().map(|at| (at, Kept::Whole)).collect()
    }

    fn rank(&self, at: usize) -> Option<Rank> {
        self.blocks.get(at).map(|block| block.rank)
    }

    /// Keeps blocks in the order of [`Self::summary`] and [`Self::rest`] for as long as there is room; none where nothing fits.
    fn fill(&mut self, cap: Tokens, counter: &dyn TokenCounter) -> Option<String> {
        let mut order = self.summary();
        order.extend(self.rest());
        let mut filled = None;
        // What a block costs is estimated, on the safe side; each round uses what the one before left over.
        loop {
            let used = filled
                .as_deref()
                .map_or(0, |text| counter.count(text).get());
            let mut taken = self.take(&order, cap.get().saturating_sub(used), counter);
            let mut text = self.assemble();
            while !taken.is_empty() && !counter.fits(&text, cap) {
                if let Some((at, before)) = taken.pop() {
                    self.keep(at, before);
                }
                text = self.assemble();
            }
            if taken.is_empty() {
                break;
            }
            filled = Some(text);
        }
        self.begin_next(&order, cap, counter).or(filled)
    }

    /// Uses what is left for the beginning of the first block that is not kept whole.
    fn begin_next(
        &mut self,
        order: &[(usize, Kept)],
        cap: Tokens,
        counter: &dyn TokenCounter,
    ) -> Option<String> {
        let used = counter.count(&self.assemble()).get() + counter.count(GAP).get() + 1;
        let left = cap.get().checked_sub(used)?;
        if left < BEGINNING_TOKENS_MIN {
            return None;
        }
        let is_open = |at: &usize| self.kept.get(*at).is_some_and(|kept| *kept < Kept::Whole);
        let next = order.iter().map(|(at, _)| *at).find(is_open)?;
        let block = self.blocks.get(next)?;
        let shown = self
            .kept
            .get(next)
            .map_or("", |kept| self.shown(next, *kept));
        let room = Tokens::new(left + counter.count(shown).get());
        let beginning = if block.is_code {
            begin_code(block.text, room, counter)
        } else {
            truncate_head(block.text, room, counter).into_owned()
        };
        if beginning.is_empty() {
            return None;
        }
        self.beginning = beginning;
        self.keep(next, Kept::Beginning);
        Some(self.assemble()).filter(|text| counter.fits(text, cap))
    }

    /// Keeps the blocks that fit into the room, and returns them with the forms they had.
    fn take(
        &mut self,
        order: &[(usize, Kept)],
        room: u64,
        counter: &dyn TokenCounter,
    ) -> Vec<(usize, Kept)> {
        // A gap beside it at the most, and the line ends.
        let gap = counter.count(GAP).get() + 1;
        let mut left = room;
        let mut taken = Vec::new();
        for &(at, kept) in order {
            let cost = counter.count(self.shown(at, kept)).get() + gap;
            let before = self.keep(at, kept);
            let freed = match before {
                Kept::No => 0,
                shown => counter.count(self.shown(at, shown)).get(),
            };
            match (left + freed).checked_sub(cost) {
                Some(rest) if before < kept => {
                    left = rest;
                    taken.push((at, before));
                }
                _ => {
                    self.keep(at, before);
                }
            }
        }
        taken
    }

    /// Keeps a block in this form; returns the form it had.
    fn keep(&mut self, at: usize, kept: Kept) -> Kept {
        self.kept
            .get_mut(at)
            .map_or(Kept::No, |slot| std::mem::replace(slot, kept))
    }

    fn shown(&self, at: usize, kept: Kept) -> &str {
        match kept {
            Kept::No => "",
            Kept::Signatures => self
                .signatures
                .get(at)
                .and_then(Option::as_deref)
                .unwrap_or_default(),
            Kept::Beginning => &self.beginning,
            Kept::Whole => self.blocks.get(at).map_or("", |block| block.text),
        }
    }

    /// Puts together what is kept, with what is between neighbours, and a mark for each gap.
    fn assemble(&self) -> String {
        let mut out = String::new();
        // The end of the block before, where it was kept.
        let mut neighbour: Option<usize> = None;
        let mut gap = false;
        for (at, (block, kept)) in self.blocks.iter().zip(&self.kept).enumerate() {
            if *kept == Kept::No {
                (neighbour, gap) = (None, true);
                continue;
            }
            if gap {
                push_paragraph(&mut out, GAP);
            }
            match neighbour {
                Some(end) => {
                    let between = self.text.get(end..block.range.start);
                    out += between.unwrap_or("\n\n").trim_start_matches(' ');
                }
                None if out.is_empty() => {}
                None => out += "\n\n",
            }
            out += self.shown(at, *kept);
            (neighbour, gap) = (Some(block.range.end), false);
        }
        if gap {
            push_paragraph(&mut out, GAP);
        }
        out
    }
}

/// Returns as many first lines of a code block as fit, with the declarations after them; empty if the declarations alone
/// do not fit.
fn begin_code(block: &str, room: Tokens, counter: &dyn TokenCounter) -> String {
    let (mut fits, mut over) = (0, block.lines().count());
    if !counter.fits(&beginning_of_code(block, fits), room) {
        return String::new();
    }
    while over - fits > 1 {
        let middle = usize::midpoint(fits, over);
        if counter.fits(&beginning_of_code(block, middle), room) {
            fits = middle;
        } else {
            over = middle;
        }
    }
    beginning_of_code(block, fits)
}

fn push_paragraph(out: &mut String, text: &str) {
    if !out.is_empty() {
        out.push_str("\n\n");
    }
    out.push_str(text);
}

fn without_front_matter(text: &str) -> &str {
    text.strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map_or(text, |(_, body)| body)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::HeuristicCounter;

    /// A design as an architect writes it: sections with a first paragraph, reasons, a list and code.
    fn design(sections: usize) -> String {
        let mut text = String::from(
            "---\nphase: architecture\n---\n# Design\n\nThe cache is a table of its own.\n",
        );
        for n in 0..sections {
            text += &format!(
                "\n## Part {n}\n\nPart {n} has one job.\n\nIts reasons are long, and told in whole sentences that a reader may skip.\n\n\
                 - first rule of part {n}\n- second rule of part {n}\n\n```rust\n/// Loads part {n}.\n\
                 pub fn load_{n}(path: &Path) -> Result<Part> {{\n    let text = read(path)?;\n    parse(&text)\n}}\n```\n"
            );
        }
        text
    }

    fn tokens(text: &str) -> u64 {
        HeuristicCounter::default().count(text).get()
    }

    fn shorten(text: &str, cap: u64) -> Cow<'_, str> {
        shorten_artifact(text, Tokens::new(cap), &HeuristicCounter::default())
    }

    #[test]
    fn a_summary_has_headings_first_paragraphs_and_declarations() {
        insta::assert_snapshot!(summarize_artifact(&design(1)), @r"
        # Design

        The cache is a table of its own.

        ## Part 0

        Part 0 has one job.

        […]

        ```rust
        …
        pub fn load_0(path: &Path) -> Result<Part> {
        …
        ```
        ");
        assert_eq!(summarize_artifact(""), "");
        assert_eq!(summarize_artifact("# Only"), "# Only");
    }

    #[test]
    fn the_room_is_filled_and_every_section_keeps_its_outline() {
        let text = design(90);
        assert!(tokens(&text) > 6000, "{}", tokens(&text));
        let short = shorten(&text, 4500);
        assert!(
            (4400..=4500).contains(&tokens(&short)),
            "{}",
            tokens(&short)
        );
        for n in 0..90 {
            for part in [
                format!("## Part {n}\n"),
                format!("Part {n} has one job."),
                format!("pub fn load_{n}(path: &Path)"),
            ] {
                assert!(short.contains(&part), "{part}");
            }
        }
        assert!(!short.contains("phase: architecture"));
    }

    #[test]
    fn a_text_that_fits_is_whole_and_one_without_blocks_that_fit_keeps_its_beginning() {
        let text = design(1);
        assert_eq!(shorten(&text, tokens(&text)), text);
        let one = "word ".repeat(400);
        assert!(shorten(&one, 50).starts_with("word word"));
        assert_eq!(shorten(&one, 0), "");
    }

    #[test]
    fn a_paragraph_that_is_longer_than_the_room_is_begun() {
        let text = format!("# A\n\nFirst.\n\n{}\n\n# B\n\nLast.", "word ".repeat(400));
        let short = shorten(&text, 100);
        assert!(short.starts_with("# A\n\nFirst.\n\nword word"), "{short}");
        assert!(short.ends_with("...(truncated)\n\n# B\n\nLast."), "{short}");
        assert!((95..=100).contains(&tokens(&short)), "{}", tokens(&short));
    }

    #[test]
    fn no_declaration_is_shown_twice() {
        let text = design(3);
        for cap in 10..tokens(&text) {
            let short = shorten(&text, cap);
            for n in 0..3 {
                assert!(
                    short.matches(&format!("load_{n}(")).count() <= 1,
                    "{cap}:\n{short}"
                );
            }
        }
    }

    proptest! {
        /// Whatever the text, the cap holds, and each line that is kept is one of the text's.
        #[test]
        fn the_cap_holds(text in "([#>|` a-c\\-\n*~1.é]|```\n|fn a\n|\n\n){0,120}", cap in 0_u64..60) {
            let short = shorten(&text, cap);
            prop_assert!(tokens(&short) <= cap, "{} of {cap}: {short:?}", tokens(&short));
            if tokens(&text) > cap && !short.contains("...(truncated)") {
                for line in short.lines().filter(|line| !["[…]", "…"].contains(line)) {
                    prop_assert!(text.contains(line.trim_end()), "{line:?}");
                }
            }
        }
    }
}
