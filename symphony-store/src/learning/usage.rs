//! Which learnings were given to which runs, and how these ended.

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

/// A learning with what became of the runs that were given it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearningUse {
    /// The learning.
    pub record: LearningRecord,
    /// How many runs stand in each status; one that stands in none is missing.
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

/// What the runs that were given a learning came to.
#[derive(Debug, Default)]
struct Tally {
    runs: BTreeMap<RunStatus, u64>,
    last_given_at: Option<Timestamp>,
}

impl Store {
    /// Records which learnings stood in the prompts of a run. Doing it again adds what is new.
    ///
    /// # Errors
    /// When the run is over (for a run's own context), or a run or a learning does not exist.
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

    /// Returns how often learnings were given and how those runs ended: the most often given first, then the newest.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn learning_uses(&self, filter: &LearningFilter) -> Result<Vec<LearningUse>, StoreError> {
        let mut tallies = self.tallies(filter.project.as_ref())?;
        // the limit counts in the order of this list
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
             WHERE ?1 IS NULL OR run.project = ?1 GROUP BY given.learning, run.status",
        )?;
        let mut rows = statement.query([project.map(ProjectId::as_str)])?;
        let mut tallies: BTreeMap<LearningId, Tally> = BTreeMap::new();
        while let Some(row) = rows.next()? {
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
