//! The log of a run on another host, for readers: formatted text in pieces. The raw streams stay on the host.

use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_core::run::Fence;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::{count, int, time};
use crate::db::{OptionalExtension, params};
use crate::error::StoreError;

/// Most bytes of one piece: what is sent every few seconds and is kept in one row.
pub const RUN_LOG_CHUNK_MAX: usize = 64 * 1024;
/// Most bytes that are kept of a run's log. What comes later is on the host only.
pub const RUN_LOG_MAX: u64 = 8 * 1024 * 1024;

/// Of how many runs the logs are removed at once, so that no tick is held up.
pub const OLD_RUN_LOGS_MAX: i64 = 200;

/// A piece of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogChunk {
    /// How many bytes of the log come before it.
    pub seq: u64,
    /// When it was stored, by the database's clock.
    pub at: Timestamp,
    /// Its bytes. A character may begin in one piece and end in the next.
    pub bytes: Vec<u8>,
}

/// What became of a piece that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// It is stored, now or by an earlier call; the next piece begins here.
    Stored {
        /// How many bytes the log has.
        next: u64,
    },
    /// The log is full: this piece and all later ones are not kept.
    Full,
    /// The log goes on at another place, because a piece is missing: send what comes from there.
    Gap {
        /// How many bytes the log has.
        next: u64,
    },
    /// The run has ended, or was taken away from its host.
    Lost,
}

/// What to do with a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    Append,
    Report(Appended),
}

/// Decides about a piece of `len` bytes that begins at `seq`, when the log ends at `end`.
const fn fit(end: u64, seq: u64, len: u64) -> Fit {
    let after = seq.saturating_add(len);
    if after <= end {
        // it was sent before, and the answer was lost
        Fit::Report(Appended::Stored { next: end })
    } else if seq != end {
        Fit::Report(Appended::Gap { next: end })
    } else if after > RUN_LOG_MAX {
        Fit::Report(Appended::Full)
    } else {
        Fit::Append
    }
}

impl Store {
    /// Appends a piece to the log of a live run. The same piece can be sent again; it is stored once.
    ///
    /// # Errors
    /// When the piece is larger than [`RUN_LOG_CHUNK_MAX`], or the database cannot be written.
    pub fn append_run_log(
        &mut self,
        run: &RunId,
        fence: Fence,
        seq: u64,
        bytes: &[u8],
    ) -> Result<Appended, StoreError> {
        if bytes.len() > RUN_LOG_CHUNK_MAX {
            return Err(StoreError::refused(format!(
                "a piece of a log has {} bytes; the most is {RUN_LOG_CHUNK_MAX}",
                bytes.len()
            )));
        }
        let context = Context::system(Timestamp::UNIX_EPOCH);
        self.write_of_run(&context, run, |tx| {
            let end: Option<u64> = tx
                .prepare_cached(
                    "SELECT coalesce((SELECT l.seq + length(l.bytes) FROM run_log l WHERE l.run = run.id ORDER BY l.seq DESC LIMIT 1), 0)
                         AS log_end
                     FROM run WHERE id = ?1 AND fence = ?2 AND status IN ('starting', 'running')",
                )?
                .query_row(params![run.as_str(), fence.get()], |row| Ok(count(row, "log_end")))
                .optional()?
                .transpose()?;
            let Some(end) = end else {
                return Ok(Appended::Lost);
            };
            let len = bytes.len() as u64;
            match fit(end, seq, len) {
                Fit::Report(appended) => Ok(appended),
                Fit::Append => {
                    tx.prepare_cached(
                        "INSERT INTO run_log (run, seq, at, bytes)
                         VALUES (?1, ?2, CAST(unixepoch('subsec') * 1000 AS BIGINT), ?3)",
                    )?
                    .execute(params![run.as_str(), int(seq), bytes])?;
                    Ok(Appended::Stored { next: seq + len })
                }
            }
        })
    }

    /// Removes the logs of runs that ended before a time, of at most [`OLD_RUN_LOGS_MAX`] runs; returns how many pieces it removed.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn remove_run_logs(&mut self, before: Timestamp) -> Result<usize, StoreError> {
        let context = Context::system(Timestamp::UNIX_EPOCH);
        self.write(&context, |tx| {
            Ok(tx
                .prepare_cached(
                    "DELETE FROM run_log WHERE run IN (
                         SELECT DISTINCT l.run FROM run_log l JOIN run r ON r.id = l.run WHERE r.ended_at < ?1 LIMIT ?2)",
                )?
                .execute(params![before.as_millisecond(), OLD_RUN_LOGS_MAX])?)
        })
    }

    /// Returns the pieces of a log that end after a place, in their order, and at most `limit`: a reader goes on where the last one ended.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn run_log(&self, run: &RunId, from: u64, limit: u32) -> Result<Vec<LogChunk>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT seq, at, bytes FROM run_log WHERE run = ?1 AND seq >= coalesce(
                 (SELECT max(seq) FROM run_log WHERE run = ?1 AND seq <= ?2), 0) AND seq + length(bytes) > ?2 ORDER BY seq LIMIT ?3",
        )?;
        let mut rows = statement.query(params![run.as_str(), int(from), limit])?;
        let mut chunks = Vec::new();
        while let Some(row) = &rows.next()? {
            chunks.push(LogChunk {
                seq: count(row, "seq")?,
                at: time(row.get("at")?)?,
                bytes: row.get("bytes")?,
            });
        }
        Ok(chunks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_stored_once_and_in_its_place() {
        const MAX: u64 = RUN_LOG_MAX;
        for (end, seq, len, expected) in [
            (0, 0, 10, Fit::Append),
            (10, 10, 1, Fit::Append),
            (10, 0, 10, Fit::Report(Appended::Stored { next: 10 })),
            (10, 3, 2, Fit::Report(Appended::Stored { next: 10 })),
            (10, 10, 0, Fit::Report(Appended::Stored { next: 10 })),
            (10, 11, 1, Fit::Report(Appended::Gap { next: 10 })),
            (10, 5, 10, Fit::Report(Appended::Gap { next: 10 })),
            (MAX - 1, MAX - 1, 1, Fit::Append),
            (MAX - 1, MAX - 1, 2, Fit::Report(Appended::Full)),
            (MAX, MAX, 1, Fit::Report(Appended::Full)),
            (
                0,
                u64::MAX,
                u64::MAX,
                Fit::Report(Appended::Gap { next: 0 }),
            ),
        ] {
            assert_eq!(fit(end, seq, len), expected, "{end} {seq} {len}");
        }
    }
}
