//! Ranking the learnings of the database (spec: learnings).
//!
//! A dispatch reads, of each learning, id, kind, age and what was prepared when it was recorded, in one range scan, and
//! the texts of the few that are taken. What another version of the algorithm prepared is prepared anew on the way,
//! and kept for the next reader.

use rusqlite::{Row, Transaction, params_from_iter};
use symphony_core::Timestamp;
use symphony_core::id::{IssueId, LearningId, ProjectId};
use symphony_core::learning::LearningType;
use symphony_learning::{
    Head, Hit, Options, OptionsError, Prepared, PreparedRef, Ranker, Relevance, Subject, shown,
};

use crate::context::Context;
use crate::error::StoreError;
use crate::learning::{LearningRecord, keep_prepared, load_learning};
use crate::open::Store;
use crate::row::time;

/// Learnings that are prepared anew in one transaction: some tenths of a second, far below the wait of another writer.
const KEPT_AT_ONCE: usize = 10_000;

/// Bytes of the database that are read as mapped memory: the forms of a million learnings, read once, are not copied.
const MAPPED_BYTES_MAX: i64 = 1 << 30;

/// A learning that a ranking took.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedLearning {
    /// The learning.
    pub record: LearningRecord,
    /// Its score and why. The index has no meaning here.
    pub hit: Hit,
}

impl RankedLearning {
    /// Returns what is shown of its text: all of it, unless it alone is over the cap.
    pub fn shown(&self) -> &str {
        shown(&self.hit, &self.record.learning.pattern)
    }
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
    /// Returns the ids of all, as [`Store::record_given`] takes them.
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

/// Whose learnings are ranked.
#[derive(Debug, Clone, Copy)]
enum Scope<'a> {
    /// One project, apart from what came from this issue.
    Project(&'a ProjectId, Option<&'a IssueId>),
    Others(&'a ProjectId),
    Installation,
}

impl Scope<'_> {
    /// The read of each scope; every one is a range of the primary key, or all of it.
    const fn sql(self) -> &'static str {
        match self {
            Self::Project(..) => {
                "SELECT learning, learning_type, created_at, prepared, project FROM learning_prepared
                 WHERE project = ?1 AND (issue IS NULL OR issue IS NOT ?2)"
            }
            Self::Others(_) => {
                "SELECT learning, learning_type, created_at, prepared, project FROM learning_prepared
                 WHERE project < ?1
                 UNION ALL SELECT learning, learning_type, created_at, prepared, project FROM learning_prepared
                 WHERE project > ?1"
            }
            Self::Installation => {
                "SELECT learning, learning_type, created_at, prepared, project FROM learning_prepared"
            }
        }
    }

    fn parameters(&self) -> Vec<Option<&str>> {
        match self {
            Self::Project(project, except) => {
                vec![Some(project.as_str()), except.map(IssueId::as_str)]
            }
            Self::Others(project) => vec![Some(project.as_str())],
            Self::Installation => Vec::new(),
        }
    }
}

/// Ids in the order in which they were pushed, one behind the other: a ranking names learnings by index.
#[derive(Debug, Default)]
struct Ids {
    text: String,
    ends: Vec<usize>,
}

impl Ids {
    fn push(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }

    fn get(&self, index: usize) -> Option<&str> {
        let start = index
            .checked_sub(1)
            .map_or(Some(0), |i| self.ends.get(i).copied())?;
        self.text.get(start..*self.ends.get(index)?)
    }
}

/// What was prepared anew, and for whom.
#[derive(Debug)]
struct Renewed {
    project: String,
    learning: String,
    prepared: Prepared,
}

/// A learning whose prepared form is missing, damaged, or of another version.
#[derive(Debug)]
struct Stale {
    project: String,
    learning: String,
}

/// Pushes what a scope holds into a ranking.
#[derive(Debug)]
struct Reader<'r, 's> {
    ranker: &'r mut Ranker<'s>,
    ids: Ids,
    stale: Vec<Stale>,
}

impl Reader<'_, '_> {
    /// Takes one row. Its columns are borrowed: nothing is copied but what the ranking keeps.
    fn row(&mut self, row: &Row<'_>) -> Result<(), StoreError> {
        let id = row.get_ref(0)?.as_str().map_err(|_type| invalid("id"))?;
        let bytes = row.get_ref(3)?.as_blob().map_err(|_type| invalid("form"))?;
        let Ok(prepared) = PreparedRef::decode(bytes) else {
            self.stale.push(Stale {
                project: row.get(4)?,
                learning: id.to_owned(),
            });
            return Ok(());
        };
        let kind = row
            .get_ref(1)?
            .as_str_or_null()
            .map_err(|_type| invalid("kind"))?;
        let head = Head {
            id,
            learning_type: kind.map(learning_type).transpose()?,
            created_at: time(row.get(2)?)?,
        };
        self.ranker.push(head, prepared);
        self.ids.push(id);
        Ok(())
    }

    /// Prepares what could not be used, and takes it then.
    fn renew(&mut self, tx: &Transaction<'_>) -> Result<Vec<Renewed>, StoreError> {
        let mut renewed = Vec::with_capacity(self.stale.len());
        for Stale { project, learning } in self.stale.drain(..) {
            let record = load_learning(tx, &learning)?.learning;
            let prepared = Prepared::new(&record);
            let head = Head {
                id: &learning,
                learning_type: record.learning_type,
                created_at: record.created_at,
            };
            self.ranker.push(head, prepared.view());
            self.ids.push(&learning);
            renewed.push(Renewed {
                project,
                learning,
                prepared,
            });
        }
        Ok(renewed)
    }
}

fn invalid(part: &'static str) -> StoreError {
    StoreError::InvalidRow {
        what: "prepared learning",
        found: format!("{part} of another type"),
    }
}

fn learning_type(name: &str) -> Result<LearningType, StoreError> {
    LearningType::parse(name).map_err(|error| StoreError::InvalidRow {
        what: "learning type",
        found: error.found,
    })
}

fn options_error(error: &OptionsError) -> StoreError {
    StoreError::refused(error.to_string())
}

/// What is ranked, and for what.
#[derive(Debug, Clone, Copy)]
struct Ranking<'a> {
    scope: Scope<'a>,
    subject: &'a Subject,
    now: Timestamp,
    options: Options,
}

impl Store {
    /// Returns what an agent is given for an issue: the best of the learnings of its project, those of the issue itself
    /// and retired ones left out.
    ///
    /// # Errors
    /// When the options are out of range, or the database can not be read.
    pub fn best_learnings(
        &mut self,
        project: &ProjectId,
        except_issue: Option<&IssueId>,
        subject: &Subject,
        now: Timestamp,
        options: Options,
    ) -> Result<BestLearnings, StoreError> {
        let ranking = Ranking {
            scope: Scope::Project(project, except_issue),
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

    /// Searches the learnings of a project, or of the whole installation, best first; retired ones are left out.
    ///
    /// # Errors
    /// When the options are out of range, or the database can not be read.
    pub fn search_learnings(
        &mut self,
        project: Option<&ProjectId>,
        query: &str,
        relevance: Relevance,
        now: Timestamp,
        options: Options,
    ) -> Result<Vec<RankedLearning>, StoreError> {
        let subject = Subject::query(query);
        let ranking = Ranking {
            scope: project.map_or(Scope::Installation, |project| Scope::Project(project, None)),
            subject: &subject,
            now,
            options,
        };
        self.ranked(ranking, |ranker, load| load(&ranker.search(relevance)))
    }

    /// Returns the best learnings of all other projects of the installation, at most
    /// [`symphony_learning::CROSS_PROJECT_MAX`]: what an agent of a phase is given.
    ///
    /// # Errors
    /// When the database can not be read.
    pub fn cross_project_learnings(
        &mut self,
        project: &ProjectId,
        subject: &Subject,
        now: Timestamp,
    ) -> Result<Vec<CrossProjectLearning>, StoreError> {
        let ranking = Ranking {
            scope: Scope::Others(project),
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
        take: impl FnOnce(
            Ranker<'_>,
            &dyn Fn(&[Hit]) -> Result<Vec<RankedLearning>, StoreError>,
        ) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut ranker = Ranker::new(ranking.subject, ranking.now, ranking.options)
            .map_err(|error| options_error(&error))?;
        self.conn
            .pragma_update(None, "mmap_size", MAPPED_BYTES_MAX)?;
        let (taken, renewed) = self.read(|tx| {
            let mut reader = Reader {
                ranker: &mut ranker,
                ids: Ids::default(),
                stale: Vec::new(),
            };
            let mut statement = tx.prepare_cached(ranking.scope.sql())?;
            let mut rows = statement.query(params_from_iter(ranking.scope.parameters()))?;
            while let Some(row) = rows.next()? {
                reader.row(row)?;
            }
            let renewed = reader.renew(tx)?;
            let ids = reader.ids;
            let load = |hits: &[Hit]| load_hits(tx, &ids, hits);
            Ok((take(ranker, &load)?, renewed))
        })?;
        if let Err(error) = self.keep(&renewed, ranking.now) {
            // the answer is right without: the next reader prepares them again
            tracing::debug!(%error, count = renewed.len(), "prepared learnings were not kept");
        }
        Ok(taken)
    }

    fn keep(&mut self, renewed: &[Renewed], now: Timestamp) -> Result<(), StoreError> {
        for part in renewed.chunks(KEPT_AT_ONCE) {
            self.write(&Context::system(now), |tx| {
                part.iter().try_for_each(|row| {
                    keep_prepared(tx, &row.project, &row.learning, &row.prepared)
                })
            })?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scope_is_one_range_of_the_primary_key() {
        let store = Store::open_in_memory().unwrap();
        let project = ProjectId::parse("demo").unwrap();
        let plan = |scope: Scope<'_>| -> Vec<String> {
            let mut statement = store
                .conn
                .prepare(&format!("EXPLAIN QUERY PLAN {}", scope.sql()))
                .unwrap();
            let rows = statement.query_map(params_from_iter(scope.parameters()), |row| {
                row.get::<_, String>(3)
            });
            rows.unwrap()
                .map(Result::unwrap)
                .filter(|line| line.contains("learning_prepared"))
                .collect()
        };
        let by = |range: &str| format!("SEARCH learning_prepared USING PRIMARY KEY ({range})");
        assert_eq!(plan(Scope::Project(&project, None)), [by("project=?")]);
        assert_eq!(
            plan(Scope::Others(&project)),
            [by("project<?"), by("project>?")]
        );
        assert_eq!(plan(Scope::Installation), ["SCAN learning_prepared"]);
    }

    #[test]
    fn ids_are_found_by_index() {
        let mut ids = Ids::default();
        for id in ["a", "bcd", "ef"] {
            ids.push(id);
        }
        let all: Vec<_> = (0..4).map(|index| ids.get(index)).collect();
        assert_eq!(all, [Some("a"), Some("bcd"), Some("ef"), None]);
    }
}
