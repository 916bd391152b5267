//! Ranking the learnings of the database (spec: learnings).
//!
//! For each learning, a dispatch reads id, kind, age and what was prepared when it was recorded, in one range scan, and
//! then the texts of the few that are chosen. Learnings that another version of the algorithm prepared are prepared
//! again on the way, and kept for the next reader.

use std::collections::BTreeSet;

use symphony_core::Timestamp;
use symphony_core::id::{LearningId, ProjectId};
use symphony_core::learning::LearningSource;
use symphony_learning::{Hit, Options, OptionsError, Ranker, Relevance, Subject};

use crate::database::context::Context;
use crate::database::open::Store;
use crate::db::Transaction;
use crate::error::StoreError;
use crate::learning::pack::{pack_rows, unpack};
use crate::learning::read::{Ids, LearningReader, LearningScope, Renewed};
use crate::learning::row::{LearningRecord, keep_prepared, load_learning};
use crate::learning::usefulness::scores;

/// How many learnings are prepared again in one transaction, which takes some tenths of a second, far less than other
/// writers wait.
const KEPT_AT_ONCE: usize = 10_000;

/// How many bytes of the database are read as mapped memory, so that the forms of a million learnings are not copied.
const MAPPED_BYTES_MAX: i64 = 1 << 30;

/// A learning that a ranking chose.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedLearning {
    /// The learning.
    pub record: LearningRecord,
    /// Its score and the reasons for it. The index has no meaning here.
    pub hit: Hit,
}

/// The learnings that a dispatch gives to an agent, best first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BestLearnings {
    /// For the system prompt.
    pub conventions: Vec<RankedLearning>,
    /// For the user prompt.
    pub tactical: Vec<RankedLearning>,
}

impl BestLearnings {
    /// Returns all ids, as [`Store::record_given`] takes them.
    pub fn ids(&self) -> Vec<LearningId> {
        let all = self.conventions.iter().chain(&self.tactical);
        all.map(|ranked| ranked.record.learning.id.clone())
            .collect()
    }
}

/// A learning of another project.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossProjectLearning {
    /// The name of its project.
    pub project_name: String,
    /// The learning.
    pub ranked: RankedLearning,
}

fn options_error(error: &OptionsError) -> StoreError {
    StoreError::refused(error.to_string())
}

/// What is ranked, and for which query.
#[derive(Debug, Clone, Copy)]
struct Ranking<'a> {
    scope: LearningScope<'a>,
    subject: &'a Subject,
    now: Timestamp,
    options: Options,
}

impl Store {
    /// Returns what an agent gets for an issue or a plan: the best of the accepted learnings of its project and of
    /// those that its own earlier runs proposed.
    ///
    /// # Errors
    /// When the options are out of range, or the database cannot be read.
    pub fn best_learnings(
        &mut self,
        project: &ProjectId,
        own: Option<&LearningSource>,
        subject: &Subject,
        now: Timestamp,
        options: Options,
    ) -> Result<BestLearnings, StoreError> {
        let ranking = Ranking {
            scope: LearningScope::Project(project, own),
            subject,
            now,
            options,
        };
        self.ranked(ranking, |ranker, load| {
            let best = ranker.best();
            Ok(BestLearnings {
                conventions: load(&best.conventions)?,
                tactical: load(&best.tactical)?,
            })
        })
    }

    /// Searches learnings, best first.
    ///
    /// # Errors
    /// When the options are out of range, or the database cannot be read.
    pub fn search_learnings(
        &mut self,
        scope: LearningScope<'_>,
        query: &str,
        relevance: Relevance,
        now: Timestamp,
        options: Options,
    ) -> Result<Vec<RankedLearning>, StoreError> {
        let subject = Subject::query(query);
        let ranking = Ranking {
            scope,
            subject: &subject,
            now,
            options,
        };
        self.ranked(ranking, |ranker, load| load(&ranker.search(relevance)))
    }

    /// Returns the best learnings of all other projects of the installation, at most
    /// [`symphony_learning::CROSS_PROJECT_MAX`], for the agent of a phase.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn cross_project_learnings(
        &mut self,
        project: &ProjectId,
        subject: &Subject,
        now: Timestamp,
    ) -> Result<Vec<CrossProjectLearning>, StoreError> {
        let ranking = Ranking {
            scope: LearningScope::Others(project),
            subject,
            now,
            options: Options::default(),
        };
        let best = self.ranked(ranking, |ranker, load| load(&ranker.cross_project()))?;
        best.into_iter()
            .map(|ranked| {
                let project_name = self.project(&ranked.record.project)?.name;
                Ok(CrossProjectLearning {
                    project_name,
                    ranked,
                })
            })
            .collect()
    }

    /// Reads a scope into a ranking, on one state of the database, and lets `take` choose and load.
    fn ranked<T>(
        &mut self,
        ranking: Ranking<'_>,
        take: impl Fn(
            Ranker<'_>,
            &dyn Fn(&[Hit]) -> Result<Vec<RankedLearning>, StoreError>,
        ) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if let Some(sqlite) = self.conn.sqlite() {
            sqlite.pragma_update(None, "mmap_size", MAPPED_BYTES_MAX)?;
        }
        let (taken, renewed) = self.read(|tx| {
            let ranker = Ranker::new(ranking.subject, ranking.now, ranking.options)
                .map_err(|error| options_error(&error))?;
            // Usefulness is measured within a project, so it has no weight elsewhere.
            let mut ranker = match ranking.scope {
                LearningScope::Project(project, _) => ranker.with_usefulness(scores(tx, project)?),
                LearningScope::Others(_) | LearningScope::Installation => ranker,
            };
            let mut reader = LearningReader::new(&mut ranker);
            reader.read(tx, ranking.scope)?;
            let renewed = reader.renew(tx)?;
            let ids = reader.into_ids();
            let load = |hits: &[Hit]| load_hits(tx, &ids, hits);
            Ok((take(ranker, &load)?, renewed))
        })?;
        if let Err(error) = self.keep(&renewed, ranking.now) {
            // The answer is correct without them, and the next reader prepares them again.
            tracing::debug!(%error, count = renewed.len(), "prepared learnings were not kept");
        }
        Ok(taken)
    }

    fn keep(&mut self, renewed: &[Renewed], now: Timestamp) -> Result<(), StoreError> {
        let context = Context::system(now);
        for part in renewed.chunks(KEPT_AT_ONCE) {
            self.write(&context, |tx| {
                let packs: BTreeSet<i64> = part.iter().filter_map(|row| row.pack).collect();
                packs.into_iter().try_for_each(|pack| unpack(tx, pack))?;
                part.iter().try_for_each(|row| {
                    keep_prepared(tx, &row.project, &row.learning, &row.prepared)
                })
            })?;
        }
        // Last, so that nothing is packed that still has to be prepared again.
        let projects: BTreeSet<&str> = renewed.iter().map(|row| row.project.as_str()).collect();
        for project in projects {
            self.write(&context, |tx| pack_rows(tx, project))?;
        }
        Ok(())
    }
}

fn load_hits(
    tx: &Transaction<'_>,
    ids: &Ids,
    hits: &[Hit],
) -> Result<Vec<RankedLearning>, StoreError> {
    hits.iter()
        .filter_map(|hit| ids.get(hit.index).map(|id| (id, *hit)))
        .map(|(id, hit)| {
            let record = load_learning(tx, id)?;
            Ok(RankedLearning { record, hit })
        })
        .collect()
}
