//! Taking a run: one host begins it, once.

use symphony_core::id::RunId;
use symphony_core::placement::{Host, PROTOCOL, Pool};
use symphony_core::run::Run;

use crate::database::open::Store;
use crate::database::row::parsed;
use crate::db::{OptionalExtension, Transaction, params};
use crate::error::StoreError;
use crate::run::row::from_row;

/// Whether a run may begin on a host whose Symphony speaks the protocol `?2`: the control speaks it as well, and nobody paused Symphony. The
/// statement that begins a run asks, so that no worker acts on an older answer. One that is under way at the moment of a pause may still begin
/// its run.
macro_rules! may_begin {
    () => {
        " AND ?2 = coalesce((SELECT CAST(value AS BIGINT) FROM setting WHERE key = 'worker_protocol'), ?2)
         AND NOT EXISTS (SELECT 1 FROM setting WHERE key = 'paused')"
    };
}

/// The oldest run that waits in a pool begins. A host that took it first and began it later could die in between, and the run would need a
/// time limit of its own to come back.
const TAKE: &str = concat!(
    "UPDATE run SET host = ?3, begun_at = CAST(unixepoch('subsec') * 1000 AS BIGINT),
        beat_at = CAST(unixepoch('subsec') * 1000 AS BIGINT)
     WHERE id = (SELECT id FROM run WHERE pool = ?1 AND status = 'starting' AND begun_at IS NULL ORDER BY fence LIMIT 1)",
    may_begin!(),
    " RETURNING *"
);

/// The same where other hosts take runs at the same moment: each passes by those that another one has just locked. SQLite has no such
/// words and needs none, since it lets in one writer at a time.
#[cfg(feature = "postgres")]
const TAKE_UNLOCKED: &str = concat!(
    "UPDATE run SET host = ?3, begun_at = CAST(unixepoch('subsec') * 1000 AS BIGINT),
        beat_at = CAST(unixepoch('subsec') * 1000 AS BIGINT)
     WHERE id = (SELECT id FROM run WHERE pool = ?1 AND status = 'starting' AND begun_at IS NULL ORDER BY fence LIMIT 1
                 FOR UPDATE SKIP LOCKED)",
    may_begin!(),
    " RETURNING *"
);

const BEGIN: &str = concat!(
    "UPDATE run SET host = ?3, begun_at = CAST(unixepoch('subsec') * 1000 AS BIGINT),
        beat_at = CAST(unixepoch('subsec') * 1000 AS BIGINT)
     WHERE id = ?1 AND pool IS NOT NULL AND status = 'starting' AND begun_at IS NULL",
    may_begin!(),
    " RETURNING *"
);

/// The control is asked for nothing: what it takes out of a pool, it only ends.
const WITHDRAW: &str =
    "UPDATE run SET host = ?2, begun_at = CAST(unixepoch('subsec') * 1000 AS BIGINT),
        beat_at = CAST(unixepoch('subsec') * 1000 AS BIGINT)
     WHERE id = ?1 AND pool IS NOT NULL AND status = 'starting' AND begun_at IS NULL
     RETURNING *";

const WAITING: &str = concat!(
    "SELECT 1 FROM run WHERE pool = ?1 AND status = 'starting' AND begun_at IS NULL",
    may_begin!(),
    " LIMIT 1"
);

/// Whether a host may start a run that it was given.
#[derive(Debug, Clone, PartialEq)]
pub enum Begun {
    /// It is the host's from now on.
    Now(Box<Run>),
    /// A host began it before, which may be the same one.
    Before(Host),
    /// It waits for no worker: it has ended, or the control starts it.
    NotWaiting,
    /// It waits, but not for this host now: Symphony is paused, or the control requires another protocol.
    NotNow,
}

impl Store {
    /// Returns whether a run waits in a pool that this Symphony may begin. It writes nothing, so a worker can ask often.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_waiting(&self, pool: &Pool) -> Result<bool, StoreError> {
        let mut statement = self.conn.prepare_cached(WAITING)?;
        let found = statement
            .query_row(params![pool.as_str(), PROTOCOL], |_| Ok(()))
            .optional()?;
        Ok(found.is_some())
    }

    /// Begins the oldest run that waits in a pool, on this host; `None` when none waits, the control requires another protocol than that of
    /// this Symphony, or Symphony is paused. No two hosts get the same one.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn take(&mut self, pool: &Pool, host: &Host) -> Result<Option<Run>, StoreError> {
        // Most of the time there is none.
        if !self.has_waiting(pool)? {
            return Ok(None);
        }
        self.write_locking(|tx| {
            let sql = match tx.sqlite() {
                Some(_) => TAKE,
                #[cfg(feature = "postgres")]
                None => TAKE_UNLOCKED,
                #[cfg(not(feature = "postgres"))]
                None => TAKE,
            };
            tx.prepare_cached(sql)?
                .query_row(params![pool.as_str(), PROTOCOL, host.as_str()], |row| {
                    Ok(from_row(row))
                })
                .optional()?
                .transpose()
        })
    }

    /// Begins a run on a host that was given it by another scheduler, unless it was begun before.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be written.
    pub fn begin_on(&mut self, run: &RunId, host: &Host) -> Result<Begun, StoreError> {
        self.begin(run, |tx| {
            tx.prepare_cached(BEGIN)?
                .query_row(params![run.as_str(), PROTOCOL, host.as_str()], |row| {
                    Ok(from_row(row))
                })
                .optional()?
                .transpose()
        })
    }

    /// Takes a run out of its pool for the control: what that has begun itself, no worker can begin.
    ///
    /// # Errors
    /// As [`Store::begin_on`].
    pub fn withdraw(&mut self, run: &RunId, control: &Host) -> Result<Begun, StoreError> {
        self.begin(run, |tx| {
            tx.prepare_cached(WITHDRAW)?
                .query_row(params![run.as_str(), control.as_str()], |row| {
                    Ok(from_row(row))
                })
                .optional()?
                .transpose()
        })
    }

    /// Returns whether a control has a live run because it took it out of its pool, and not away from a lost host: a control does not beat,
    /// and taking a run back counts as a beat, long after the run began.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_withdrawn(&self, run: &RunId) -> Result<bool, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT beat_at - begun_at BETWEEN 0 AND 999 FROM run WHERE id = ?1 AND begun_at IS NOT NULL",
        )?;
        Ok(statement
            .query_row([run.as_str()], |row| row.get(0))
            .optional()?
            .unwrap_or(false))
    }

    fn begin(
        &mut self,
        run: &RunId,
        mut one: impl FnMut(&Transaction<'_>) -> Result<Option<Run>, StoreError>,
    ) -> Result<Begun, StoreError> {
        self.write_locking(|tx| {
            if let Some(run) = one(tx)? {
                return Ok(Begun::Now(Box::new(run)));
            }
            let found: Option<(Option<String>, bool, bool)> = tx
                .prepare_cached(
                    "SELECT host, status IN ('starting', 'running'), pool IS NOT NULL FROM run WHERE id = ?1",
                )?
                .query_row(params![run.as_str()], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })
                .optional()?;
            match found {
                None => Err(StoreError::not_found("run", run)),
                Some((Some(host), true, _)) => Ok(Begun::Before(parsed("host", host)?)),
                Some((None, true, true)) => Ok(Begun::NotNow),
                Some(_) => Ok(Begun::NotWaiting),
            }
        })
    }

    /// Returns the live runs that a host began, oldest first. A worker that starts again looks after them: it may have died between the
    /// beginning of a run and the start of its supervisor.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn runs_begun_on(&self, host: &Host) -> Result<Vec<Run>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT * FROM run INDEXED BY run_live WHERE status IN ('starting', 'running') AND host = ?1 ORDER BY fence",
        )?;
        let mut rows = statement.query([host.as_str()])?;
        let mut runs = Vec::new();
        while let Some(row) = &rows.next()? {
            runs.push(from_row(row)?);
        }
        Ok(runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::query_plan::query_plan;

    #[test]
    fn the_oldest_run_of_a_queue_is_found_without_reading_others() {
        let store = Store::open_in_memory().unwrap();
        let plan = query_plan(&store.conn, TAKE);
        assert!(
            plan.iter().any(|line| line.contains("run_queue (pool=?)")),
            "{plan:#?}"
        );
        assert!(
            plan.iter()
                .all(|line| !line.starts_with("SCAN") && !line.contains("TEMP B-TREE")),
            "{plan:#?}"
        );
    }

    /// The other tests cannot see it: `take` looks before it writes, and finds nothing during a pause.
    #[test]
    fn each_statement_that_begins_a_run_asks_for_the_pause() {
        let paused = "NOT EXISTS (SELECT 1 FROM setting WHERE key = 'paused')";
        assert!(may_begin!().contains(paused));
        for sql in [TAKE, BEGIN, WAITING] {
            assert!(sql.contains(may_begin!()), "{sql}");
        }
        #[cfg(feature = "postgres")]
        assert!(TAKE_UNLOCKED.contains(may_begin!()));
    }
}
