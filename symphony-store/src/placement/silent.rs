//! Runs whose hosts are not heard from, and taking them back.

use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_core::placement::{Host, Lease, Liveness, Pool};
use symphony_core::run::Fence;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::{int, parsed};
use crate::db::{OptionalExtension, params};
use crate::error::StoreError;

/// How many silent runs are read at once: when a whole pool is cut off, the next tick goes on with the rest.
const RUNS_MAX: i64 = 1_000;

/// A live run without a sign of life for as long as no host lets its agent run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SilentRun {
    /// The run.
    pub run: RunId,
    /// Its fencing number.
    pub fence: Fence,
    /// The pool that it came from.
    pub pool: Pool,
    /// The host that began it.
    pub host: Host,
    /// How long ago its last beat was, in milliseconds.
    pub age_ms: i64,
    /// Whether its own host may still end it, or the control does.
    pub liveness: Liveness,
}

/// The fencing number after all that were ever given.
macro_rules! next_fence {
    () => {
        "1 + max((SELECT coalesce(max(fence), 0) FROM run),
                 coalesce((SELECT CAST(value AS BIGINT) FROM setting WHERE key = 'fence_floor'), 0))"
    };
}

const TAKE_BACK: &str = concat!(
    "UPDATE run SET host = ?3, beat_at = CAST(unixepoch('subsec') * 1000 AS BIGINT), fence = ",
    next_fence!(),
    " WHERE id = ?1 AND fence = ?2 AND status IN ('starting', 'running') AND begun_at IS NOT NULL
         AND CAST(unixepoch('subsec') * 1000 AS BIGINT) - beat_at >= ?4
     RETURNING fence"
);

/// As [`SignsOfLife::Never`](super::beat::SignsOfLife::Never).
const BEGIN_AGAIN: &str = concat!(
    "UPDATE run SET begun_at = CAST(unixepoch('subsec') * 1000 AS BIGINT), beat_at = CAST(unixepoch('subsec') * 1000 AS BIGINT), fence = ",
    next_fence!(),
    " WHERE id = ?1 AND fence = ?2 AND status IN ('starting', 'running') AND beat_at <= begun_at + 999
         AND begun_at <= CAST(unixepoch('subsec') * 1000 AS BIGINT) - ?3
     RETURNING fence"
);

impl Store {
    /// Returns the runs that are silent or lost by the database's clock, the longest silent first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn silent(&self, lease: Lease) -> Result<Vec<SilentRun>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT id, fence, pool, host, CAST(unixepoch('subsec') * 1000 AS BIGINT) - beat_at AS age FROM run INDEXED BY run_live
             WHERE status IN ('starting', 'running') AND begun_at IS NOT NULL
                 AND CAST(unixepoch('subsec') * 1000 AS BIGINT) - beat_at >= ?1
             ORDER BY beat_at, fence LIMIT ?2",
        )?;
        let mut rows = statement.query(params![int(lease.dead_ms()), RUNS_MAX])?;
        let mut runs = Vec::new();
        while let Some(row) = &rows.next()? {
            let age_ms = row.get("age")?;
            runs.push(SilentRun {
                run: parsed("run id", row.get("id")?)?,
                fence: Fence::new(row.get("fence")?),
                pool: parsed("pool", row.get("pool")?)?,
                host: parsed("host", row.get("host")?)?,
                age_ms,
                liveness: lease.liveness(age_ms),
            });
        }
        Ok(runs)
    }

    /// Takes a run that is lost away from its host, and gives it to another one to end; `None` when it is not lost, or no longer as it was.
    ///
    /// It gets the next fencing number: whatever its old host still sends, beats included, is refused from this moment on. The silence is
    /// judged here again, because a beat may have arrived since the run was listed.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn take_back(
        &mut self,
        run: &RunId,
        fence: Fence,
        host: &Host,
        lease: Lease,
    ) -> Result<Option<Fence>, StoreError> {
        // A run's fence is the highest number: serializable, as a claim may give out the next one at the same moment.
        let context = Context::system(Timestamp::UNIX_EPOCH);
        self.write(&context, |tx| {
            let raised: Option<i64> = tx
                .prepare_cached(TAKE_BACK)?
                .query_row(
                    params![
                        run.as_str(),
                        fence.get(),
                        host.as_str(),
                        int(lease.lost_ms())
                    ],
                    |row| row.get(0),
                )
                .optional()?;
            Ok(raised.map(Fence::new))
        })
    }

    /// Begins a run once more on its host, which no supervisor has given a later sign of life for; `None` when that is not so, or no longer.
    ///
    /// It gets the next fencing number: one that was started after all, and has waited for an answer of the database since, is refused.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn begin_again(
        &mut self,
        run: &RunId,
        fence: Fence,
        lease: Lease,
    ) -> Result<Option<Fence>, StoreError> {
        // Serializable for the same reason.
        let context = Context::system(Timestamp::UNIX_EPOCH);
        self.write(&context, |tx| {
            let raised: Option<i64> = tx
                .prepare_cached(BEGIN_AGAIN)?
                .query_row(
                    params![run.as_str(), fence.get(), int(lease.dead_ms())],
                    |row| row.get(0),
                )
                .optional()?;
            Ok(raised.map(Fence::new))
        })
    }
}
