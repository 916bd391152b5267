//! Which runs were given which learnings, and how these runs ended.

use std::collections::BTreeMap;

use symphony_core::Timestamp;
use symphony_core::id::{LearningId, ProjectId, RunId};
use symphony_core::run::RunStatus;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::{parsed, time};
use crate::error::StoreError;
use crate::learning::record::LearningFilter;
use crate::learning::row::LearningRecord;

/// A learning with the results of the runs that were given it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearningUse {
    /// The learning.
    pub record: LearningRecord,
    /// How many runs have each status. A status without runs is missing.
    pub runs: BTreeMap<RunStatus, u64>,
    /// When the last of these runs started.
    pub last_given_at: Option<Timestamp>,
}

impl LearningUse {
    /// Returns how many runs it was given to.
    pub fn given(&self) -> u64 {
        self.runs.values().sum()
    }
}

/// The results of the runs that were given a learning.
#[derive(Debug, Default)]
struct Tally {
    runs: BTreeMap<RunStatus, u64>,
    last_given_at: Option<Timestamp>,
}

impl Store {
    /// Records which learnings were in the prompts of a run. A repetition adds only new ones.
    ///
    /// # Errors
    /// When the run has ended (for a run's own context), or a run or a learning does not exist.
    pub fn record_given(
        &mut self,
        context: &Context,
        run: &RunId,
        learnings: &[LearningId],
    ) -> Result<(), StoreError> {
        if learnings.is_empty() {
            return Ok(());
        }
        self.write(context, |tx| {
            let mut statement = tx.prepare_cached(
                "INSERT INTO learning_given (learning, run) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            )?;
            for learning in learnings {
                statement.execute([learning.as_str(), run.as_str()])?;
            }
            Ok(())
        })
    }

    /// Returns how often learnings were given and how those runs ended, ordered by how often they were given, then
    /// newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn learning_uses(&self, filter: &LearningFilter) -> Result<Vec<LearningUse>, StoreError> {
        let mut tallies = self.tallies(filter.project.as_ref())?;
        // The limit applies to the order of this list.
        let all = LearningFilter {
            limit: None,
            ..filter.clone()
        };
        let mut uses: Vec<LearningUse> = self
            .learnings(&all)?
            .into_iter()
            .map(|record| {
                let tally = tallies.remove(&record.learning.id).unwrap_or_default();
                LearningUse {
                    record,
                    runs: tally.runs,
                    last_given_at: tally.last_given_at,
                }
            })
            .collect();
        uses.sort_by_key(|learning| std::cmp::Reverse(learning.given()));
        if let Some(limit) = filter.limit {
            uses.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        Ok(uses)
    }

    fn tallies(
        &self,
        project: Option<&ProjectId>,
    ) -> Result<BTreeMap<LearningId, Tally>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT given.learning, run.status, count(*), max(run.started_at)
             FROM learning_given AS given JOIN run ON run.id = given.run
             WHERE CAST(?1 AS TEXT) IS NULL OR run.project = ?1 GROUP BY given.learning, run.status",
        )?;
        let mut rows = statement.query([project.map(ProjectId::as_str)])?;
        let mut tallies: BTreeMap<LearningId, Tally> = BTreeMap::new();
        while let Some(row) = &rows.next()? {
            let tally = tallies
                .entry(parsed("learning id", row.get(0)?)?)
                .or_default();
            let count: i64 = row.get(2)?;
            let status = parsed("run status", row.get(1)?)?;
            tally
                .runs
                .insert(status, u64::try_from(count).unwrap_or_default());
            tally.last_given_at = tally.last_given_at.max(Some(time(row.get(3)?)?));
        }
        Ok(tallies)
    }
}
