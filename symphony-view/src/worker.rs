//! The workers of pools.

use serde::Serialize;
use symphony_core::placement::{Host, Lease, Misfit, Pool};
use symphony_store::SeenWorker;

use crate::text::{Page, Table, compact_duration};

/// A worker that was seen.
#[derive(Debug, Clone, Serialize)]
pub struct WorkerView {
    /// The pool that it serves.
    pub pool: Pool,
    /// Its host.
    pub host: Host,
    /// Whether it is alive.
    pub alive: bool,
    /// How long ago it was last seen, in milliseconds by the database's clock.
    pub age_ms: u64,
    /// How many runs it can have at once; `None` if it has not said so yet.
    pub slots: Option<u32>,
    /// The version of the protocol that it speaks.
    pub protocol: u32,
    /// How far its clock is ahead of the database's, in milliseconds.
    pub clock_ahead_ms: i64,
    /// Why it takes no runs; `None` if it does.
    pub takes_nothing: Option<String>,
}

impl WorkerView {
    /// Makes the view from the record in the database.
    pub fn of(seen: SeenWorker, lease: Lease) -> Self {
        Self {
            alive: !lease.is_worker_gone(seen.age_ms),
            age_ms: u64::try_from(seen.age_ms).unwrap_or(0),
            takes_nothing: seen.misfit().map(Misfit::words),
            clock_ahead_ms: seen.worker.clock_ahead_ms,
            pool: seen.worker.pool,
            host: seen.worker.host,
            slots: Some(seen.worker.slots).filter(|slots| *slots > 0),
            protocol: seen.worker.version,
        }
    }

    fn state(&self) -> String {
        match (self.alive, &self.takes_nothing) {
            (true, None) => "alive".to_owned(),
            (true, Some(why)) => format!("alive, but takes no runs: {why}"),
            (false, _) => format!("gone for {}", compact_duration(self.age_ms)),
        }
    }
}

/// Writes workers as a table, if there are any.
pub(crate) fn write_workers(workers: &[WorkerView], page: &mut Page) {
    if workers.is_empty() {
        return;
    }
    page.heading("Workers");
    let mut table = Table::new(["POOL", "HOST", "SLOTS", "STATE"]);
    for worker in workers {
        table.row([
            worker.pool.to_string(),
            worker.host.to_string(),
            worker
                .slots
                .map_or_else(|| "-".to_owned(), |slots| slots.to_string()),
            worker.state(),
        ]);
    }
    page.table(&table);
}

#[cfg(test)]
mod tests {
    use symphony_core::placement::PROTOCOL;
    use symphony_store::Worker;

    use super::*;

    #[test]
    fn a_worker_is_there_gone_or_speaks_something_else() {
        for (age_ms, version, clock_ahead_ms, unprepared, expected) in [
            (-5, PROTOCOL, 0, 0, "alive"),
            (89_000, PROTOCOL, 30_000, 0, "alive"),
            (300_000, PROTOCOL, 0, 0, "gone for 5m"),
            (
                0,
                PROTOCOL + 1,
                0,
                0,
                "alive, but takes no runs: it speaks protocol 2, but the control needs 1",
            ),
            (
                0,
                PROTOCOL,
                -90_000,
                0,
                "alive, but takes no runs: its clock is 90 s behind the database's",
            ),
            (
                0,
                PROTOCOL,
                0,
                1,
                "alive, but takes no runs: its host could not prepare a run; it tries again by itself",
            ),
            (300_000, PROTOCOL, 0, 3, "gone for 5m"),
            (300_000, PROTOCOL + 1, 0, 0, "gone for 5m"),
        ] {
            let worker = Worker {
                pool: Pool::parse("linux").unwrap(),
                host: Host::parse("build-7").unwrap(),
                version,
                clock_ahead_ms,
                unprepared,
                slots: 1,
                folder: String::new(),
                fence_ms: 60_000,
            };
            let seen = SeenWorker {
                worker,
                age_ms,
                required: Some(PROTOCOL),
                dead_ms: Some(90_000),
            };
            let view = WorkerView::of(seen, Lease::default());
            assert_eq!(view.state(), expected, "{age_ms} {version}");
        }
    }
}
