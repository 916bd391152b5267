//! Artifacts of previous phases: summarised, and fitted into a budget that they share evenly.

use std::borrow::Cow;

use symphony_core::unit::Tokens;

use crate::tokens::TokenCounter;
use crate::truncate::truncate_head_lines;

/// Keeps the headings of a markdown text and the first paragraph under each; front matter and code blocks are left out.
///
/// ```
/// let text = "# Design\n\nWe cache.\n\nLong reasons.\n\n## Risks\n\nStale entries.";
/// assert_eq!(symphony_prompt::summarize_artifact(text), "# Design\n\nWe cache.\n\n## Risks\n\nStale entries.");
/// ```
pub fn summarize_artifact(text: &str) -> String {
    let mut blocks: Vec<String> = Vec::new();
    let mut paragraph: Vec<&str> = Vec::new();
    // A paragraph is wanted at the beginning and behind every heading, until one has been found.
    let mut wanted = true;
    let mut code: Option<&str> = None;
    for line in without_front_matter(text).lines() {
        let trimmed = line.trim();
        if let Some(fence) = code {
            if trimmed.starts_with(fence) && trimmed.trim_start_matches(['`', '~']).is_empty() {
                code = None;
            }
            continue;
        }
        let fence = code_fence(trimmed);
        let heading = is_heading(line);
        if (trimmed.is_empty() || fence.is_some() || heading) && !paragraph.is_empty() {
            blocks.push(paragraph.join("\n"));
            paragraph.clear();
            wanted = false;
        }
        if fence.is_some() {
            code = fence;
        } else if heading {
            blocks.push(line.trim_end().to_owned());
            wanted = true;
        } else if wanted && !trimmed.is_empty() {
            paragraph.push(line.trim_end());
        }
    }
    if !paragraph.is_empty() {
        blocks.push(paragraph.join("\n"));
    }
    blocks.join("\n\n")
}

/// Returns the run of backticks or tildes that opens a code block.
fn code_fence(line: &str) -> Option<&str> {
    ['`', '~'].into_iter().find_map(|mark| {
        let run = line.len() - line.trim_start_matches(mark).len();
        (run >= 3).then(|| line.get(..run)).flatten()
    })
}

fn is_heading(line: &str) -> bool {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    (1..=6).contains(&level)
        && line
            .get(level..)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

fn without_front_matter(text: &str) -> &str {
    text.strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map_or(text, |(_, body)| body)
}

/// How an artifact stands in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Whole,
    Summary,
    CutSummary,
    Nothing,
}

/// What an artifact is shown as when a summary is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preference {
    FullText,
    Summary,
}

/// An artifact on its way into the budget.
struct Candidate<'a> {
    index: usize,
    full: &'a str,
    full_tokens: u64,
    text: Cow<'a, str>,
    shown: Shown,
    tokens: u64,
}

/// Fits artifacts into a budget: each gets an even share, and what one leaves over goes to the others.
///
/// Each is whole if it fits, else its summary, else its summary cut. The smallest are served first, so that what
/// they leave reaches the larger ones; what is then still left makes the smallest of the shortened ones longer.
pub(crate) fn fit_artifacts<'a>(
    texts: &[&'a str],
    budget: Tokens,
    preference: Preference,
    counter: &dyn TokenCounter,
) -> Vec<(Cow<'a, str>, Shown)> {
    let mut candidates: Vec<Candidate<'a>> = texts
        .iter()
        .enumerate()
        .map(|(index, full)| Candidate {
            index,
            full,
            full_tokens: counter.count(full).get(),
            text: Cow::Borrowed(""),
            shown: Shown::Nothing,
            tokens: 0,
        })
        .collect();
    candidates.sort_by_key(|candidate| (candidate.full_tokens, candidate.index));
    let mut left = budget.get();
    let mut waiting = candidates.len() as u64;
    for candidate in &mut candidates {
        candidate.fit(left / waiting.max(1), preference, counter);
        left -= candidate.tokens;
        waiting -= 1;
    }
    for candidate in &mut candidates {
        if left > 0 && candidate.shown != Shown::Whole {
            let room = left + candidate.tokens;
            candidate.fit(room, preference, counter);
            left = room - candidate.tokens;
        }
    }
    candidates.sort_unstable_by_key(|candidate| candidate.index);
    candidates
        .into_iter()
        .map(|candidate| (candidate.text, candidate.shown))
        .collect()
}

impl Candidate<'_> {
    /// Takes the best form that fits the room.
    fn fit(&mut self, room: u64, preference: Preference, counter: &dyn TokenCounter) {
        if self.full_tokens <= room && preference == Preference::FullText {
            self.take(Cow::Borrowed(self.full), Shown::Whole, counter);
            return;
        }
        let summary = summarize_artifact(self.full);
        // A text without any paragraph or heading, such as one code block, has no summary: its beginning is better than nothing.
        let (summary, whole) = if summary.is_empty() {
            (self.full.to_owned(), Shown::Whole)
        } else {
            (summary, Shown::Summary)
        };
        if counter.fits(&summary, Tokens::new(room)) {
            self.take(Cow::Owned(summary), whole, counter);
            return;
        }
        let cut = truncate_head_lines(&summary, Tokens::new(room), counter).into_owned();
        let shown = if cut.is_empty() {
            Shown::Nothing
        } else {
            Shown::CutSummary
        };
        self.take(Cow::Owned(cut), shown, counter);
    }
}

impl<'a> Candidate<'a> {
    fn take(&mut self, text: Cow<'a, str>, shown: Shown, counter: &dyn TokenCounter) {
        self.tokens = counter.count(&text).get();
        self.text = text;
        self.shown = shown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HeuristicCounter;

    #[test]
    fn headings_and_first_paragraphs_are_kept() {
        let text = "---\nname: x\n---\nIntro one\nintro two\n\nmore intro\n\n# A\n\n```rust\n# not a heading\n```\n\nFirst.\n\nSecond.\n## B\nRight below\nand on\n\n- list\n### Empty\n#tag is text";
        assert_eq!(
            summarize_artifact(text),
            "Intro one\nintro two\n\n# A\n\nFirst.\n\n## B\n\nRight below\nand on\n\n### Empty\n\n#tag is text"
        );
        assert_eq!(summarize_artifact(""), "");
        assert_eq!(summarize_artifact("# Only"), "# Only");
    }

    fn long(name: &str, paragraphs: usize) -> String {
        let mut text = format!("# {name}\n\nThe first paragraph of {name}.\n");
        for n in 0..paragraphs {
            text += &format!("\nParagraph {n} says something about {name} at some length.\n");
        }
        text
    }

    fn shown(texts: &[&str], budget: u64, preference: Preference) -> Vec<Shown> {
        let counter = HeuristicCounter::default();
        let fitted = fit_artifacts(texts, Tokens::new(budget), preference, &counter);
        let used: u64 = fitted
            .iter()
            .map(|(text, _)| counter.count(text).get())
            .sum();
        assert!(used <= budget, "{used} of {budget}");
        fitted.into_iter().map(|(_, shown)| shown).collect()
    }

    #[test]
    fn what_one_leaves_over_goes_to_the_others() {
        use Preference::{FullText, Summary};
        let (small, middle, large) = (long("small", 1), long("middle", 8), long("large", 100));
        let texts = [large.as_str(), small.as_str(), middle.as_str()];
        assert_eq!(shown(&texts, 4000, FullText), [Shown::Whole; 3]);
        assert_eq!(
            shown(&texts, 400, FullText),
            [Shown::Summary, Shown::Whole, Shown::Whole]
        );
        assert_eq!(shown(&texts, 400, Summary), [Shown::Summary; 3]);
        assert_eq!(shown(&texts, 26, FullText)[1], Shown::CutSummary);
        assert_eq!(shown(&texts, 0, FullText), [Shown::Nothing; 3]);
        // The middle one is over an even half of 230, but the large one needs only its summary.
        assert_eq!(
            shown(&[&middle, &large], 230, FullText),
            [Shown::Whole, Shown::Summary]
        );
    }
}
