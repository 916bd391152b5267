//! The workers of the pools that projects name: who is there, and who cannot take a run.

use std::collections::BTreeSet;

use symphony_core::listing::list_few;
use symphony_core::placement::{Lease, Misfit, Pool};
use symphony_runner::RunnerError;
use symphony_runner::installation::Installation;
use symphony_store::{SeenWorker, ServerFacts, Store};
use symphony_view::text::{compact_duration, plural};

use super::check::CheckView;
use super::connections::check_connections;

const CHECK: &str = "workers";
/// Hosts that a line names.
const HOSTS_MAX: usize = 8;

/// Checks the workers of all projects of the database, and whether the server has connections for their runs.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn check_workers_of(
    installation: &Installation,
    store: &Store,
    facts: &ServerFacts,
) -> Result<Vec<CheckView>, RunnerError> {
    let projects = store.projects()?;
    let configs = projects
        .iter()
        .filter_map(|project| installation.project_config(project).ok());
    let pools = configs.filter_map(|config| config.pool).collect();
    let (workers, lease) = (store.workers()?, installation.lease());
    let mut checks = check_workers(&pools, &workers, lease);
    checks.extend(check_connections(facts.connections_max, &workers, lease));
    Ok(checks)
}

fn check_workers(pools: &BTreeSet<Pool>, seen: &[SeenWorker], lease: Lease) -> Vec<CheckView> {
    let mut checks: Vec<CheckView> = pools
        .iter()
        .map(|pool| check_pool(pool, seen, lease))
        .collect();
    let others = seen
        .iter()
        .filter(|seen| !lease.is_worker_gone(seen.age_ms))
        .filter_map(|seen| Some((seen, seen.misfit()?)));
    checks.extend(others.map(|(seen, misfit)| {
        let (pool, host) = (&seen.worker.pool, &seen.worker.host);
        let why = misfit.words();
        let detail = format!("the worker of pool {pool} on {host} takes no runs: {why}");
        CheckView::failed(CHECK, &detail, fix_of(misfit, pool))
    }));
    checks
}

fn fix_of(misfit: Misfit, pool: &Pool) -> String {
    match misfit {
        Misfit::Protocol { .. } => format!(
            "install the control's version of Symphony there, then start `symphony worker --pool {pool}` again"
        ),
        Misfit::Clock { .. } => {
            "`timedatectl` there shows whether the network sets the clock; the worker looks again by itself".to_owned()
        }
        Misfit::Lease { .. } => {
            "set `lease` there as on the control, and start the worker again".to_owned()
        }
        Misfit::Unprepared { .. } => {
            "the worker's log there says what failed; if it was the hub, `git ls-remote HUB` there shows whether it answers. The worker tries again by itself".to_owned()
        }
    }
}

fn check_pool(pool: &Pool, seen: &[SeenWorker], lease: Lease) -> CheckView {
    let of_pool = || seen.iter().filter(|seen| seen.worker.pool == *pool);
    let there: Vec<&str> = of_pool()
        .filter(|seen| seen.takes_runs(lease))
        .map(|seen| seen.worker.host.as_str())
        .collect();
    if !there.is_empty() {
        let count = plural(there.len(), "worker");
        let hosts = list_few(there.into_iter(), HOSTS_MAX);
        return CheckView::ok(CHECK, format!("pool {pool}: {count} ({hosts})"));
    }
    let last = of_pool().min_by_key(|seen| seen.age_ms);
    let last = last.map_or_else(
        || "none was ever seen".to_owned(),
        |last| {
            let age = compact_duration(u64::try_from(last.age_ms).unwrap_or(0));
            format!("{} was seen {age} ago", last.worker.host)
        },
    );
    CheckView::warning(
        CHECK,
        format!("pool {pool} has no worker that could take a run: {last}"),
        format!("start `symphony worker --pool {pool}` on a host (docs/scale-out.md)"),
    )
}

#[cfg(test)]
mod tests {
    use symphony_core::placement::{Host, PROTOCOL};
    use symphony_store::Worker;
    use symphony_view::text::{Clock, Page};

    use super::super::check::write_checks;
    use super::*;

    #[test]
    fn each_pool_and_each_worker_that_takes_nothing_is_named() {
        let worker = |pool: &str, host: &str, version, age_ms| SeenWorker {
            worker: Worker {
                pool: Pool::parse(pool).unwrap(),
                host: Host::parse(host).unwrap(),
                version,
                clock_ahead_ms: if host == "build-10" { 45_000 } else { 0 },
                unprepared: if host == "build-11" { 4 } else { 0 },
                slots: 1,
                folder: String::new(),
                fence_ms: 60_000,
            },
            age_ms,
            required: Some(PROTOCOL),
            dead_ms: Some(90_000),
        };
        let pools = ["gpu", "linux", "mac"].map(|name| Pool::parse(name).unwrap());
        let seen = [
            worker("linux", "build-7", PROTOCOL, 0),
            worker("linux", "build-8", PROTOCOL, 5_000),
            worker("linux", "build-9", PROTOCOL + 1, 5_000),
            worker("linux", "build-10", PROTOCOL, 5_000),
            worker("linux", "build-11", PROTOCOL, 5_000),
            worker("gpu", "gpu-1", PROTOCOL, 600_000),
        ];
        let checks = check_workers(&pools.into(), &seen, Lease::default());
        let mut page = Page::new(None, Clock::system());
        write_checks(&checks, &mut page);
        insta::assert_snapshot!(page.into_text(), @r"
        warning  workers: pool gpu has no worker that could take a run: gpu-1 was seen 10m ago
                 fix: start `symphony worker --pool gpu` on a host (docs/scale-out.md)
        ok       workers: pool linux: 2 workers (build-7, build-8)
        warning  workers: pool mac has no worker that could take a run: none was ever seen
                 fix: start `symphony worker --pool mac` on a host (docs/scale-out.md)
        failed   workers: the worker of pool linux on build-9 takes no runs: it speaks protocol 2, but the control needs 1
                 fix: install the control's version of Symphony there, then start `symphony worker --pool linux` again
        failed   workers: the worker of pool linux on build-10 takes no runs: its clock is 45 s ahead of the database's
                 fix: `timedatectl` there shows whether the network sets the clock; the worker looks again by itself
        failed   workers: the worker of pool linux on build-11 takes no runs: its host could not prepare a run, or reach the hub, 4 times in a row; it tries again by itself
                 fix: the worker's log there says what failed; if it was the hub, `git ls-remote HUB` there shows whether it answers. The worker tries again by itself
        ");
        assert_eq!(
            check_workers(&BTreeSet::new(), &[], Lease::default()).len(),
            0
        );
    }
}
