//! Whether the server has a connection for each process that may need one at the same time.

use symphony_core::placement::{Lease, Staff};
use symphony_store::SeenWorker;

use super::check::CheckView;

const CHECK: &str = "server";
/// Connections of a run at work: its supervisor's, and one for the beats, which wait for nothing else.
const PER_RUN: u32 = 2;
/// Connections for what is not a run of a worker: ticks, commands of people, the page.
const OTHERS: u32 = 10;

/// Checks that all slots of all workers can be in use; says nothing where they can.
pub(super) fn check_connections(
    max: i64,
    workers: &[SeenWorker],
    lease: Lease,
) -> Option<CheckView> {
    let there = workers
        .iter()
        .filter(|seen| !lease.is_worker_gone(seen.age_ms));
    let staff = there.fold(Staff::default(), |staff, seen| {
        staff.with(seen.worker.slots)
    });
    let needed = staff
        .slots
        .saturating_mul(PER_RUN)
        .saturating_add(staff.workers)
        .saturating_add(OTHERS);
    (staff.workers > 0 && max < i64::from(needed)).then(|| {
        CheckView::warning(
            CHECK,
            format!(
                "it has {max} connections for users, but {needed} may be needed: {PER_RUN} for each of the workers' {} slots, one for each worker, and {OTHERS} for ticks and commands",
                staff.slots
            ),
            "raise `max_connections` in `postgresql.conf` and restart the server, or start the workers with fewer `--slots`",
        )
    })
}

#[cfg(test)]
mod tests {
    use symphony_core::placement::{Host, PROTOCOL, Pool};
    use symphony_store::Worker;

    use super::*;

    fn worker(host: &str, slots: u32, age_ms: i64) -> SeenWorker {
        SeenWorker {
            worker: Worker {
                pool: Pool::parse("linux").unwrap(),
                host: Host::parse(host).unwrap(),
                version: PROTOCOL,
                clock_ahead_ms: 0,
                unprepared: 0,
                slots,
                folder: String::new(),
                fence_ms: 60_000,
            },
            age_ms,
            required: Some(PROTOCOL),
            dead_ms: Some(90_000),
        }
    }

    #[test]
    fn every_slot_needs_two_connections() {
        let two = [
            worker("build-7", 16, 0),
            worker("build-8", 27, 0),
            worker("gone", 500, 600_000),
        ];
        let of = |max, workers: &[SeenWorker]| {
            let check = check_connections(max, workers, Lease::default());
            check.map(|check| check.detail)
        };
        assert_eq!(of(98, &two), None);
        assert_eq!(
            of(97, &two).as_deref(),
            Some(
                "it has 97 connections for users, but 98 may be needed: 2 for each of the workers' 43 slots, one for each worker, and 10 for ticks and commands"
            )
        );
        assert_eq!(of(5, &[]), None);
        assert!(of(i64::MAX, &[worker("build-7", u32::MAX, 0)]).is_none());
    }
}
