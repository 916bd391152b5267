//! Documents of earlier phases in a budget that they share evenly.

use std::borrow::Cow;

use symphony_core::unit::Tokens;

use crate::summary::shorten::{shorten_artifact, summarize_artifact};
use crate::tokens::TokenCounter;

/// How an artifact appears in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Whole,
    Summary,
    Shortened,
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
/// Each is included in full if it fits, else as much of it as fits, its outline first; where summaries are preferred, it is
/// its summary. The smallest are served first, so that what they leave reaches the larger ones; what is then still left makes
/// the smallest of the shortened ones longer.
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
        if preference == Preference::FullText && self.full_tokens <= room {
            return self.take(Cow::Borrowed(self.full), Shown::Whole, counter);
        }
        let room = Tokens::new(room);
        if preference == Preference::Summary {
            let summary = summarize_artifact(self.full);
            if counter.fits(&summary, room) && !summary.is_empty() {
                return self.take(Cow::Owned(summary), Shown::Summary, counter);
            }
        }
        let short = shorten_artifact(self.full, room, counter).into_owned();
        let shown = if short.is_empty() {
            Shown::Nothing
        } else if short == self.full {
            Shown::Whole
        } else {
            Shown::Shortened
        };
        self.take(Cow::Owned(short), shown, counter);
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
            [Shown::Shortened, Shown::Whole, Shown::Whole]
        );
        assert_eq!(shown(&texts, 400, Summary), [Shown::Summary; 3]);
        assert_eq!(shown(&texts, 26, FullText)[1], Shown::Shortened);
        assert_eq!(shown(&texts, 0, FullText), [Shown::Nothing; 3]);
        // The middle one is over an even half of 230, and the large one needs no more than its summary.
        assert_eq!(
            shown(&[&middle, &large], 230, FullText),
            [Shown::Shortened; 2]
        );
        assert_eq!(shown(&[&small, &large], 60, Summary), [Shown::Summary; 2]);
    }
}
