//! Workers: which hosts serve a pool, and when each was last seen.

use symphony_core::placement::{Fit, Host, Lease, Misfit, Pool};

use crate::database::open::Store;
use crate::database::row::{count, count32, int, parsed};
use crate::db::{Connection, params};
use crate::error::StoreError;

/// A worker, as it shows itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Worker {
    /// The pool that it serves.
    pub pool: Pool,
    /// Its host, which has one worker for each pool.
    pub host: Host,
    /// The version of the protocol that it speaks with the control.
    pub version: u32,
    /// How far its clock is ahead of the database's, in milliseconds, as it found last.
    pub clock_ahead_ms: i64,
    /// How often in a row its host could not prepare a run, as long as it takes nothing for that; else 0.
    pub unprepared: u32,
    /// How many runs it can have at once; 0 if it has not said so since the column was there.
    pub slots: u32,
    /// Where it works: the folder of its clones on this machine. Empty if it has not said so since the column was there.
    pub folder: String,
    /// Its `lease.fence_ms`; 0 if it has not said so since the column was there.
    pub fence_ms: u64,
}

/// What came of it that a worker showed itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// It is the worker of this name.
    Here,
    /// Another one with this name works in another folder, or on another machine.
    Other,
}

/// A worker that was seen at least once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenWorker {
    /// The worker.
    pub worker: Worker,
    /// How long ago it was last seen, in milliseconds by the database's clock. [`symphony_core::placement::Lease`] says when it is gone.
    pub age_ms: i64,
    /// The protocol that the control requires; `None` before its first tick with a pool.
    pub required: Option<u32>,
    /// The control's `lease.dead_ms`; `None` before its first tick with a pool.
    pub dead_ms: Option<u64>,
}

impl SeenWorker {
    /// Returns why it takes nothing although it may be there.
    pub const fn misfit(&self) -> Option<Misfit> {
        let worker = &self.worker;
        Misfit::of(&Fit {
            speaks: worker.version,
            required: self.required,
            ahead_ms: worker.clock_ahead_ms,
            failures: worker.unprepared,
            fence_ms: worker.fence_ms,
            dead_ms: self.dead_ms,
        })
    }

    /// Returns whether it is there and takes runs.
    pub fn takes_runs(&self, lease: Lease) -> bool {
        !lease.is_worker_gone(self.age_ms) && self.misfit().is_none()
    }
}

/// One statement, so that of two that begin at the same moment one is refused.
const SHOW: &str = "INSERT INTO worker (host, pool, version, clock_ahead_ms, unprepared, slots, folder, fence_ms, seen_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, CAST(unixepoch('subsec') * 1000 AS BIGINT))
     ON CONFLICT (host, pool) DO UPDATE SET version = excluded.version, clock_ahead_ms = excluded.clock_ahead_ms,
         unprepared = excluded.unprepared, slots = excluded.slots, folder = excluded.folder,
         fence_ms = excluded.fence_ms, seen_at = excluded.seen_at
     WHERE worker.folder IN ('', excluded.folder) OR worker.seen_at <= excluded.seen_at - ?9";

impl Store {
    /// Records that a worker is there, unless another one has its name and may be there by this lease. Two with one name would each take the
    /// other's runs for its own. A run of the other one may have beaten up to `beat` after its worker was seen.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn worker_seen(&mut self, worker: &Worker, lease: Lease) -> Result<Shown, StoreError> {
        self.write_locking(|tx| {
            let written = tx.prepare_cached(SHOW)?.execute(params![
                worker.host.as_str(),
                worker.pool.as_str(),
                worker.version,
                worker.clock_ahead_ms,
                worker.unprepared,
                worker.slots,
                worker.folder,
                int(worker.fence_ms),
                int(lease.dead_ms().saturating_add(lease.beat_ms()))
            ])?;
            Ok(if written > 0 {
                Shown::Here
            } else {
                Shown::Other
            })
        })
    }

    /// Returns all workers that were ever seen, by pool and host.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn workers(&self) -> Result<Vec<SeenWorker>, StoreError> {
        load_workers(&self.conn)
    }
}

pub(crate) fn load_workers(conn: &Connection) -> Result<Vec<SeenWorker>, StoreError> {
    let mut statement = conn.prepare_cached(
            "SELECT pool, host, version, clock_ahead_ms, unprepared, slots, folder, fence_ms,
                 CAST(unixepoch('subsec') * 1000 AS BIGINT) - seen_at AS age,
                 (SELECT CAST(value AS BIGINT) FROM setting WHERE key = 'worker_protocol') AS required,
                 (SELECT CAST(value AS BIGINT) FROM setting WHERE key = 'worker_dead_ms') AS dead_ms
             FROM worker ORDER BY pool, host",
        )?;
    let mut rows = statement.query([])?;
    let mut workers = Vec::new();
    while let Some(row) = &rows.next()? {
        workers.push(SeenWorker {
            worker: Worker {
                pool: parsed("pool", row.get("pool")?)?,
                host: parsed("host", row.get("host")?)?,
                version: count32(row, "version")?,
                clock_ahead_ms: row.get("clock_ahead_ms")?,
                unprepared: count32(row, "unprepared")?,
                slots: count32(row, "slots")?,
                folder: row.get("folder")?,
                fence_ms: count(row, "fence_ms")?,
            },
            age_ms: row.get("age")?,
            required: row.get("required")?,
            dead_ms: row
                .get::<_, Option<i64>>("dead_ms")?
                .and_then(|ms| u64::try_from(ms).ok()),
        });
    }
    Ok(workers)
}
