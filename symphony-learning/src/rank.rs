//! Ranking: score, deduplicate, sort, split, cap.
//!
//! Two ways through the same steps. [`Ranker::full`] decides for every learning whether another covers it.
//! [`Ranker::best`] goes down the scores and asks only about the learnings it is about to take; whether one is covered
//! does not depend on scores, so both take the same ones.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use symphony_core::Timestamp;
use symphony_core::learning::{Learning, LearningType};

use crate::dedup::{LIMITS, Work, few, full};
use crate::error::OptionsError;
use crate::front::{Cap, Front, Scored};
use crate::options::{CROSS_PROJECT_MAX, Options};
use crate::prepared::{PreparedRef, label_hashes, token_hashes};
use crate::score::{Key, Parts, recency};
use crate::subject::{Subject, ratio};
use crate::text::{lowercase_into, normalise_lower};
use crate::texts::{NONE, Texts, small, wide};

/// Learnings that are asked about at once by [`Ranker::best`], round by round; after the last round all are decided.
const BATCHES: [usize; 2] = [128, 1_024];

/// Bytes of an id that room is made for: a UUID.
const ID_BYTES: usize = 36;

/// A learning that was taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Which one: counted from 0 in the order they were pushed.
    pub index: usize,
    /// The weighted sum of the parts.
    pub score: f64,
    /// Why.
    pub parts: Parts,
}

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

/// What ranking reads of a learning besides its [`crate::Prepared`].
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    /// Its id; ids are compared as bytes and should be unique.
    pub id: &'a str,
    /// What kind; unset is tactical.
    pub learning_type: Option<LearningType>,
    /// When it was recorded.
    pub created_at: Timestamp,
}

/// Collects learnings, scores each as it comes, and ranks them. Keeps some 80 bytes a learning, its id and its normal form.
#[derive(Debug)]
pub struct Ranker<'a> {
    subject: &'a Subject,
    now: Timestamp,
    options: Options,
    /// What is known of the use of some learnings, by id.
    usefulness: BTreeMap<String, f64>,
    /// Normal forms, empty ones included, so that numbers of texts are indexes of learnings.
    texts: Texts,
    ids: Texts,
    rows: Vec<Row>,
    /// Paths that the subject may name, and whose they are.
    paths: Texts,
    path_owners: Vec<u32>,
    scratch: Scratch,
}

/// Memory that is used again for each learning.
#[derive(Debug, Default)]
struct Scratch {
    lower: String,
    hashes: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    created_at: Timestamp,
    labels: f64,
    keywords: f64,
    usefulness: f64,
    paths: u32,
    paths_named: u32,
    pub(crate) pattern_chars: u32,
    convention: bool,
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

impl<'a> Ranker<'a> {
    /// Starts a ranking for an issue or a query.
    ///
    /// # Errors
    /// When a weight is out of range (see [`Options::validate`]).
    pub fn new(
        subject: &'a Subject,
        now: Timestamp,
        options: Options,
    ) -> Result<Self, OptionsError> {
        options.validate()?;
        Ok(Self {
            subject,
            now,
            options,
            usefulness: BTreeMap::new(),
            texts: Texts::default(),
            ids: Texts::default(),
            rows: Vec::new(),
            paths: Texts::default(),
            path_owners: Vec::new(),
            scratch: Scratch::default(),
        })
    }

    /// Tells the ranking what is known of the use of learnings, by id ([`crate::Comparison`], field `score`). To be called
    /// before learnings are pushed; nothing is known of those that are not named.
    #[must_use]
    pub fn with_usefulness(mut self, usefulness: BTreeMap<String, f64>) -> Self {
        self.usefulness = usefulness;
        self
    }

    /// Makes room for so many more learnings, their patterns so many bytes together.
    pub fn reserve(&mut self, learnings: usize, pattern_bytes: usize) {
        self.texts.reserve(learnings, pattern_bytes);
        self.ids
            .reserve(learnings, learnings.saturating_mul(ID_BYTES));
        self.rows.reserve(learnings);
    }

    /// Adds a learning that was prepared before.
    pub fn push(&mut self, head: Head<'_>, prepared: PreparedRef<'_>) {
        let mut paths = 0;
        for path in prepared.paths() {
            paths += 1;
            self.note_path(path);
        }
        self.texts.push(prepared.normalised().as_bytes());
        let labels = self.subject.label_similarity(prepared.labels());
        let keywords = self.subject.token_similarity(prepared.tokens());
        self.push_row(head, labels, keywords, paths, prepared.pattern_chars());
    }

    /// Adds a learning that was not prepared.
    pub fn push_learning(&mut self, learning: &Learning) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let Scratch { lower, hashes } = &mut scratch;
        lowercase_into(&learning.pattern, lower);
        self.texts.push_with(|bytes| normalise_lower(lower, bytes));
        token_hashes(lower, hashes);
        let keywords = self.subject.similarity_of_any(hashes);
        label_hashes(&learning.labels, hashes);
        let labels = self.subject.label_similarity(hashes.iter().copied());
        let mut paths = 0;
        for path in learning.applies_to.iter().filter(|path| !path.is_empty()) {
            paths += 1;
            lowercase_into(path, lower);
            self.note_path(lower.as_bytes());
        }
        self.scratch = scratch;
        let head = Head {
            id: learning.id.as_str(),
            learning_type: learning.learning_type,
            created_at: learning.created_at,
        };
        self.push_row(
            head,
            labels,
            keywords,
            paths,
            learning.pattern.chars().count(),
        );
    }

    /// Keeps a path of the next learning if the subject may name it.
    fn note_path(&mut self, path: &[u8]) {
        if self.subject.may_name(path) {
            self.paths.push(path);
            self.path_owners.push(small(self.rows.len()));
        }
    }

    fn push_row(&mut self, head: Head<'_>, labels: f64, keywords: f64, paths: u32, chars: usize) {
        self.ids.push(head.id.as_bytes());
        let usefulness = self.usefulness.get(head.id).copied().unwrap_or_default();
        self.rows.push(Row {
            created_at: head.created_at,
            labels,
            keywords,
            usefulness,
            paths,
            paths_named: 0,
            pattern_chars: small(chars),
            convention: head.learning_type == Some(LearningType::Convention),
        });
    }

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
        for batch in BATCHES {
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

    fn row_parts(&self, row: &Row) -> Parts {
        Parts {
            labels: row.labels,
            paths: ratio(wide(row.paths_named), wide(row.paths)),
            keywords: row.keywords,
            recency: recency(row.created_at, self.now),
            usefulness: row.usefulness,
        }
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "indexes come from this ranking's own rows"
    )]
    pub(crate) fn row(&self, index: u32) -> &Row {
        &self.rows[wide(index)]
    }

    pub(crate) fn parts(&self, index: u32) -> Parts {
        self.row_parts(self.row(index))
    }

    fn key(&self, index: u32) -> Key<'_> {
        Key {
            created_at: self.row(index).created_at,
            id: self.ids.get(wide(index)),
            index,
        }
    }

    /// Best first; newer first; smaller id first.
    pub(crate) fn order(&self, a: &Scored, b: &Scored) -> Ordering {
        b.score
            .total_cmp(&a.score)
            .then_with(|| self.key(a.index).prefer(&self.key(b.index)))
    }
}

/// Says whether a text contains another one; the empty one is in none.
fn contains(text: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && text.windows(part.len()).any(|window| window == part)
}
