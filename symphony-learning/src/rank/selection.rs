//! Which learnings a ranking takes: the best for a dispatch, those of a search, or all with what covers them.

use crate::dedup::limits::LIMITS;
use crate::dedup::{Work, few, full};
use crate::front::{Cap, Front};
use crate::options::CROSS_PROJECT_MAX;
use crate::rank::{Hit, Ranker, Scored};
use crate::text::normalise_lower;
use crate::texts::{NONE, Texts, wide};

/// Learnings that are asked about at once by [`Ranker::best`], round by round; after the last round all are decided. Where most of the
/// best are covered by others, the first rounds fill nothing.
const BATCHES: [usize; 4] = [128, 1_024, 8_192, 65_536];

/// Learnings that are asked about at once however few there are. More are asked about only where they are at most one in 16 of all: to
/// decide all takes about as long then.
const BATCH_ALWAYS: usize = 1_024;
const BATCH_ONE_IN: usize = 16;

/// A learning that was left out, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped {
    /// Which one: counted from 0 in the order they were pushed.
    pub index: usize,
    /// The learning that stays and whose normal form contains this one's: of several the longest, then the most
    /// recent, then the one with the smallest id. `None` when the normal form is empty.
    pub covered_by: Option<usize>,
}

/// The learnings that a dispatch gets.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Best {
    /// For the system prompt, best first.
    pub conventions: Vec<Hit>,
    /// For the user prompt, best first.
    pub tactical: Vec<Hit>,
}

/// A whole ranking.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ranked {
    /// What stays, split and capped.
    pub best: Best,
    /// What another one covers, and what is empty, by index. Being over a cap is not being dropped.
    pub dropped: Vec<Dropped>,
    /// What finding it took.
    pub work: Work,
}

/// Which learnings a search returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Relevance {
    /// All, the best first: also those that have only their age to their credit.
    #[default]
    Any,
    /// Those that share a word, a path or a label with the query, or contain it as a whole: part of a word, or words of a
    /// script that writes no spaces. The others still cover.
    Matching,
}

impl Ranker<'_> {
    /// Takes the best, without deciding what is covered among the others.
    pub fn best(mut self) -> Best {
        self.find_paths();
        let (conventions, tactical) = self.split(|_| true);
        let mut conventions = Front::new(conventions, Cap::chars(self.options.convention_char_cap));
        let mut tactical = Front::new(tactical, Cap::Count(self.options.max_results));
        self.advance(&mut [&mut conventions, &mut tactical]);
        Best {
            conventions: conventions.taken,
            tactical: tactical.taken,
        }
    }

    /// Takes the best of all kinds in one order, at most `max_results`: the answer to a search.
    pub fn search(self, relevance: Relevance) -> Vec<Hit> {
        let limit = self.options.max_results;
        self.best_of_all(limit, relevance)
    }

    /// Takes the best of all kinds in one order, at most [`CROSS_PROJECT_MAX`] and at most `max_results`: for learnings of
    /// other projects.
    pub fn cross_project(self) -> Vec<Hit> {
        let limit = self.options.max_results.min(CROSS_PROJECT_MAX);
        self.best_of_all(limit, Relevance::Any)
    }

    fn best_of_all(mut self, limit: usize, relevance: Relevance) -> Vec<Hit> {
        self.find_paths();
        let mut whole = Vec::new();
        normalise_lower(self.subject.lower(), &mut whole);
        let (mut all, tactical) = self.split(|index| match relevance {
            Relevance::Any => true,
            Relevance::Matching => {
                let parts = self.parts(index);
                parts.keywords > 0.0
                    || parts.paths > 0.0
                    || parts.labels > 0.0
                    || contains(self.texts.get(wide(index)), &whole)
            }
        });
        all.extend(tactical);
        let mut front = Front::new(all, Cap::Count(limit));
        self.advance(&mut [&mut front]);
        front.taken
    }

    /// Ranks everything, and says what covers what.
    pub fn full(mut self) -> Ranked {
        self.find_paths();
        let cover = self.cover();
        let mut dropped = Vec::new();
        for (index, &by) in cover.by.iter().enumerate() {
            let empty = self.texts.get(index).is_empty();
            if empty || by != NONE {
                let covered_by = (!empty).then(|| wide(by));
                dropped.push(Dropped { index, covered_by });
            }
        }
        let (conventions, tactical) = self.split(|index| cover.by.get(wide(index)) == Some(&NONE));
        let take = |list, cap| {
            let mut front = Front::new(list, cap);
            front.take_all(&self, |_| false);
            front.taken
        };
        let best = Best {
            conventions: take(conventions, Cap::chars(self.options.convention_char_cap)),
            tactical: take(tactical, Cap::Count(self.options.max_results)),
        };
        Ranked {
            best,
            dropped,
            work: cover.work,
        }
    }

    /// Fills fronts batch by batch until each is full.
    fn advance(&self, fronts: &mut [&mut Front]) {
        let prefer = |a: u32, b: u32| self.key(a).prefer(&self.key(b));
        for batch in batches(self.rows.len()) {
            let mut asked = Vec::new();
            for front in fronts.iter_mut() {
                asked.extend(
                    front
                        .sort_next(self, batch)
                        .iter()
                        .map(|scored| scored.index),
                );
            }
            if asked.is_empty() {
                return;
            }
            let covered = few::covered(&self.texts, &asked, LIMITS, prefer);
            for front in fronts.iter_mut() {
                front.take(self, |index| covered.binary_search(&index).is_ok());
            }
        }
        if fronts.iter().all(|front| front.is_done()) {
            return;
        }
        let cover = self.cover();
        for front in fronts.iter_mut() {
            front.take_all(self, |index| cover.by.get(wide(index)) != Some(&NONE));
        }
    }

    /// Says for every learning what covers it.
    fn cover(&self) -> full::Cover {
        let newest_first = |index| -self.row(index).created_at.as_second();
        let prefer = |a, b| self.key(a).prefer(&self.key(b));
        full::cover(&self.texts, LIMITS, newest_first, prefer)
    }

    /// Asks the subject about the paths that it may name.
    fn find_paths(&mut self) {
        let named = self.subject.names(&self.paths);
        for (owner, named) in self.path_owners.iter().zip(named) {
            if let (Some(row), true) = (self.rows.get_mut(wide(*owner)), named) {
                row.paths_named += 1;
            }
        }
        self.paths = Texts::default();
        self.path_owners = Vec::new();
    }

    /// Scores those that are not empty and that `keep` accepts, conventions apart from the others.
    fn split(&self, keep: impl Fn(u32) -> bool) -> (Vec<Scored>, Vec<Scored>) {
        let (mut conventions, mut tactical) = (Vec::new(), Vec::new());
        for (index, row) in (0..).zip(&self.rows) {
            if self.texts.get(wide(index)).is_empty() || !keep(index) {
                continue;
            }
            let score = self.row_parts(row).score(&self.options.weights);
            let list = if row.convention {
                &mut conventions
            } else {
                &mut tactical
            };
            list.push(Scored { score, index });
        }
        (conventions, tactical)
    }
}

/// Says whether a text contains another one; the empty one is in none.
fn contains(text: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && text.windows(part.len()).any(|window| window == part)
}

/// Returns how many of so many learnings are asked about in each round.
fn batches(learnings: usize) -> impl Iterator<Item = usize> {
    let max = BATCH_ALWAYS.max(learnings / BATCH_ONE_IN);
    BATCHES.into_iter().filter(move |batch| *batch <= max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_are_asked_about_where_they_are_few_of_all() {
        for (learnings, expected) in [
            (0, &BATCHES[..2]),
            (100_000, &BATCHES[..2]),
            (131_072, &BATCHES[..3]),
            (1_048_575, &BATCHES[..3]),
            (1_048_576, &BATCHES[..]),
        ] {
            let found: Vec<usize> = batches(learnings).collect();
            assert_eq!(found, expected, "{learnings}");
        }
    }
}
