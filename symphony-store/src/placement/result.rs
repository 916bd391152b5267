//! What a run on another host made: the commits that the control compares before it moves a branch.

use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_core::run::Fence;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::db::{OptionalExtension, params};
use crate::error::StoreError;

/// The commits of a run that a host began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunCommits {
    /// The commit that its branch was at when it began; `None` before, and for a run that found no branch.
    pub start: Option<String>,
    /// The last commit that its host brought to the hub.
    pub result: Option<String>,
}

const RECORD_START: &str = "UPDATE run SET start_commit = coalesce(start_commit, ?3)
     WHERE id = ?1 AND fence = ?2 AND status IN ('starting', 'running')";

const RECORD_RESULT: &str = "UPDATE run SET result_commit = ?3
     WHERE id = ?1 AND fence = ?2 AND status IN ('starting', 'running')";

impl Store {
    /// Records the commit that the branch of a run is at before its agent starts. The first one stays: a supervisor that starts again
    /// finds the work of the one before.
    ///
    /// # Errors
    /// [`StoreError::Superseded`] when the run has ended or was taken away from its host; otherwise when the database cannot be written.
    pub fn record_start_commit(
        &mut self,
        run: &RunId,
        fence: Fence,
        commit: &str,
    ) -> Result<(), StoreError> {
        self.record_commit(RECORD_START, run, fence, commit)
    }

    /// Records the commit that a run's host brought to the hub.
    ///
    /// # Errors
    /// As [`Store::record_start_commit`].
    pub fn record_result_commit(
        &mut self,
        run: &RunId,
        fence: Fence,
        commit: &str,
    ) -> Result<(), StoreError> {
        self.record_commit(RECORD_RESULT, run, fence, commit)
    }

    fn record_commit(
        &mut self,
        sql: &'static str,
        run: &RunId,
        fence: Fence,
        commit: &str,
    ) -> Result<(), StoreError> {
        let context = Context::system(Timestamp::UNIX_EPOCH);
        self.write_of_run(&context, run, |tx| {
            let changed =
                tx.prepare_cached(sql)?
                    .execute(params![run.as_str(), fence.get(), commit])?;
            if changed == 0 {
                return Err(StoreError::Superseded { run: run.clone() });
            }
            Ok(())
        })
    }

    /// Returns the commits of a run.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be read.
    pub fn run_commits(&self, run: &RunId) -> Result<RunCommits, StoreError> {
        self.conn
            .prepare_cached("SELECT start_commit, result_commit FROM run WHERE id = ?1")?
            .query_row([run.as_str()], |row| {
                Ok(RunCommits {
                    start: row.get(0)?,
                    result: row.get(1)?,
                })
            })
            .optional()?
            .ok_or_else(|| StoreError::not_found("run", run))
    }
}
