//! Ranking: score, deduplicate, sort, split, cap.
//!
//! Two ways through the same steps. [`Ranker::full`] decides for every learning whether another covers it.
//! [`Ranker::best`] goes down the scores and asks only about the learnings it is about to take; whether one is covered
//! does not depend on scores, so both take the same ones.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use symphony_core::Timestamp;
use symphony_core::learning::{Learning, LearningType};

use crate::error::OptionsError;
use crate::options::Options;
use crate::prepared::{PreparedRef, label_hashes, token_hashes};
use crate::score::{Key, Parts, recency};
use crate::subject::{Subject, ratio};
use crate::text::{lowercase_into, normalise_lower};
use crate::texts::{Texts, small, wide};

pub(crate) mod selection;

/// Bytes of an id for which room is reserved: those of a UUID.
const ID_BYTES: usize = 36;

/// A learning in the order of scores.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scored {
    pub(crate) score: f64,
    pub(crate) index: u32,
}

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

    /// Makes room for `learnings` more learnings, whose patterns have `pattern_bytes` bytes together.
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
