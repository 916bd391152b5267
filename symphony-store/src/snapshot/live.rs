//! Runs that are not over, and the workers that could take those that wait.

use std::collections::BTreeMap;

use symphony_core::id::{ProjectId, RunId};
use symphony_core::placement::{Host, Lease, Pool, Staff, Whereabouts};
use symphony_core::tick::{LiveRun, LockState, ProjectView};

use crate::db::{Connection, Row};
use crate::error::StoreError;
use crate::placement::worker::load_workers;
use crate::run::exit_handling::put_off;
use crate::run::row::from_row as run_from_row;

/// The age of a beat is judged by the database's clock alone, and only of runs that have one.
pub(super) const LIVE_SQL: &str = "SELECT run.*, x.tries, x.due_at, x.problem,
        CASE WHEN run.beat_at IS NOT NULL THEN CAST(unixepoch('subsec') * 1000 AS BIGINT) - run.beat_at END AS beat_age
     FROM run LEFT JOIN exit_handling x ON x.run = run.id
     WHERE run.status IN ('starting', 'running') ORDER BY run.started_at, run.id";

/// Reads the runs that are not over.
pub(super) fn load_live(
    conn: &Connection,
    locks: &BTreeMap<RunId, LockState>,
    lease: Lease,
    staff: &BTreeMap<Pool, Staff>,
) -> Result<Vec<LiveRun>, StoreError> {
    let mut statement = conn.prepare_cached(LIVE_SQL)?;
    let mut rows = statement.query([])?;
    let mut live = Vec::new();
    while let Some(row) = &rows.next()? {
        let run = run_from_row(row)?;
        let interactive = run.is_interactive();
        live.push(LiveRun {
            issue: run.target.issue().cloned(),
            plan: run.target.plan().cloned(),
            project: run.project,
            agent: run.agent,
            provider: run.provider,
            started_at: run.started_at,
            put_off: put_off(row)?,
            interactive,
            whereabouts: whereabouts(row, run.pool, run.host, lease, staff)?,
            cancelled: run.cancel_requested_at.is_some(),
            lock: locks.get(&run.id).copied().unwrap_or(LockState::Held),
            run: run.id,
        });
    }
    Ok(live)
}

fn whereabouts(
    row: &Row<'_>,
    pool: Option<Pool>,
    host: Option<Host>,
    lease: Lease,
    staff: &BTreeMap<Pool, Staff>,
) -> Result<Whereabouts, StoreError> {
    Ok(match (pool, host) {
        (None, _) => Whereabouts::Here,
        (Some(pool), None) => Whereabouts::Queued {
            workers: staff.get(&pool).map_or(0, |staff| staff.workers),
            pool,
        },
        (Some(pool), Some(host)) => {
            let age: Option<i64> = row.get("beat_age")?;
            let liveness = lease.liveness(age.unwrap_or(0));
            Whereabouts::Begun {
                pool,
                host,
                liveness,
            }
        }
    })
}

/// Returns whether a project has a pool, or a run is in one: otherwise workers concern no one.
pub(super) fn has_pool(
    conn: &Connection,
    projects: &BTreeMap<ProjectId, ProjectView>,
) -> Result<bool, StoreError> {
    if projects.values().any(|view| view.pool.is_some()) {
        return Ok(true);
    }
    Ok(conn
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM run INDEXED BY run_live WHERE status IN ('starting', 'running') AND pool IS NOT NULL)",
        )?
        .query_row([], |row| row.get(0))?)
}

/// Reads the workers of each pool that are there.
pub(super) fn load_staff(
    conn: &Connection,
    lease: Lease,
) -> Result<BTreeMap<Pool, Staff>, StoreError> {
    let mut staff: BTreeMap<Pool, Staff> = BTreeMap::new();
    for seen in load_workers(conn)? {
        if seen.takes_runs(lease) {
            let of_pool = staff.entry(seen.worker.pool).or_default();
            *of_pool = of_pool.with(seen.worker.slots);
        }
    }
    Ok(staff)
}
