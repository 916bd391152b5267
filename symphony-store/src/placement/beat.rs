//! The sign of life of a run, and what its host learns by the way.

use symphony_core::id::RunId;
use symphony_core::placement::Lease;
use symphony_core::run::Fence;
use symphony_core::spending::{Spent, SpentSoFar};
use symphony_core::unit::{Tokens, UsdMicros};

use crate::database::open::Store;
use crate::database::row::{count, int};
use crate::db::{OptionalExtension, Row, params};
use crate::error::StoreError;

/// One statement for all, since each live run sends it every few seconds. The row is the only thing that it locks, and the day is that of the
/// database's clock, which is the same for all hosts.
const BEAT: &str = "UPDATE run SET beat_at = CAST(unixepoch('subsec') * 1000 AS BIGINT)
     WHERE id = ?1 AND fence = ?2 AND begun_at IS NOT NULL AND status IN ('starting', 'running')
     RETURNING cancel_requested_at IS NOT NULL AS cancel, issue IS NOT NULL AS has_issue,
        input_tokens + output_tokens + cache_read_tokens + cache_write_tokens AS run_tokens, coalesce(cost_micros, 0) AS run_usd,
        (SELECT coalesce(sum(o.input_tokens + o.output_tokens + o.cache_read_tokens + o.cache_write_tokens), 0)
         FROM run o WHERE o.issue = run.issue) AS issue_tokens,
        (SELECT coalesce(sum(o.cost_micros), 0) FROM run o WHERE o.issue = run.issue) AS issue_usd,
        (SELECT coalesce(sum(s.tokens), 0) FROM spending s WHERE s.project = run.project)
         + (SELECT coalesce(sum(l.tokens), 0) FROM run_spending l WHERE l.project = run.project) AS project_tokens,
        (SELECT coalesce(sum(s.cost_micros), 0) FROM spending s WHERE s.project = run.project)
         + (SELECT coalesce(sum(l.cost_micros), 0) FROM run_spending l WHERE l.project = run.project) AS project_usd,
        (SELECT coalesce(sum(s.tokens), 0) FROM spending s
         WHERE s.project = run.project AND s.day >= CAST(unixepoch('subsec') AS BIGINT) / 86400)
         + (SELECT coalesce(sum(l.tokens), 0) FROM run_spending l
            WHERE l.project = run.project AND l.day >= CAST(unixepoch('subsec') AS BIGINT) / 86400) AS day_tokens,
        (SELECT coalesce(sum(s.cost_micros), 0) FROM spending s
         WHERE s.project = run.project AND s.day >= CAST(unixepoch('subsec') AS BIGINT) / 86400)
         + (SELECT coalesce(sum(l.cost_micros), 0) FROM run_spending l
            WHERE l.project = run.project AND l.day >= CAST(unixepoch('subsec') AS BIGINT) / 86400) AS day_usd";

/// What a beat found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beat {
    /// The run lives, and is this host's.
    Live {
        /// Whether someone asked for its end.
        cancel: bool,
        /// What is recorded as spent, by which caps are checked.
        spent: SpentSoFar,
    },
    /// The run has ended, or was taken away from its host: the agent must end, and nothing that it does is accepted any more.
    Lost,
}

/// Whether a run that a host began had a supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignsOfLife {
    /// One has given a sign of life.
    Seen,
    /// It is too early to tell: one that has just begun gives its second sign after a while.
    Awaited,
    /// There was none. One that had begun has ended by the lease; one that still waits for the first answer is refused once the run is begun
    /// again ([`Store::begin_again`]).
    Never,
}

impl Store {
    /// Gives a sign of life of a run that this host began. On a server it is one statement that reads what is committed: it waits for no
    /// other run, and may be sent again when its answer is lost.
    ///
    /// # Errors
    /// When the database cannot be written. The lease of the host goes on running out meanwhile.
    pub fn beat(&mut self, run: &RunId, fence: Fence) -> Result<Beat, StoreError> {
        let mut statement = self.conn.prepare_cached(BEAT)?;
        let mut rows = statement.query(params![run.as_str(), fence.get()])?;
        let beat = match rows.next()? {
            None => Beat::Lost,
            Some(row) => live(&row)?,
        };
        // SQLite commits when the statement is at its end, and reports there what went wrong.
        rows.next()?;
        Ok(beat)
    }
}

impl Store {
    /// Returns whether a run has given signs of life since a host began it. Beginning it takes both times, not always in the same
    /// millisecond, and a supervisor's first beat may come in the same second.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be read.
    pub fn signs_of_life(&self, run: &RunId, lease: Lease) -> Result<SignsOfLife, StoreError> {
        let found: Option<(bool, bool)> = self
            .conn
            .prepare_cached(
                "SELECT coalesce(beat_at > begun_at + 999, FALSE) AS seen,
                     coalesce(begun_at <= CAST(unixepoch('subsec') * 1000 AS BIGINT) - ?2, FALSE) AS is_silent
                 FROM run WHERE id = ?1",
            )?
            .query_row(params![run.as_str(), int(lease.dead_ms())], |row| {
                Ok((row.get("seen")?, row.get("is_silent")?))
            })
            .optional()?;
        Ok(
            match found.ok_or_else(|| StoreError::not_found("run", run))? {
                (true, _) => SignsOfLife::Seen,
                (false, false) => SignsOfLife::Awaited,
                (false, true) => SignsOfLife::Never,
            },
        )
    }
}

fn live(row: &Row<'_>) -> Result<Beat, StoreError> {
    let spent = |tokens, usd| -> Result<Spent, StoreError> {
        Ok(Spent {
            tokens: Tokens::new(count(row, tokens)?),
            usd: UsdMicros::new(count(row, usd)?),
        })
    };
    let has_issue: bool = row.get("has_issue")?;
    Ok(Beat::Live {
        cancel: row.get("cancel")?,
        spent: SpentSoFar {
            run: spent("run_tokens", "run_usd")?,
            issue: has_issue
                .then(|| spent("issue_tokens", "issue_usd"))
                .transpose()?,
            project: spent("project_tokens", "project_usd")?,
            day: spent("day_tokens", "day_usd")?,
        },
    })
}
