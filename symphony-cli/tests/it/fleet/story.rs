//! The whole: a fleet, a plan, and what is found at the end.

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use symphony_core::placement::Lease;

use super::control::{Control, play};
use super::faults::{Field, Record};
use super::host::{Host, HostSettings};
use super::hub::{Hub, Place};
use super::placing::{Placing, config};
use super::plan::Planned;
use super::server::Server;
use super::verdict::{Beside, Found, orphans_after, percentile};
use super::{network, watch};

/// How long one issue may take to be merged.
const ISSUE_MAX: Duration = Duration::from_secs(5);
/// How many lost hosts may come one after the other on the last issue, each of which takes a lease in seconds.
const LEASES_MAX: Duration = Duration::from_secs(3);

/// What a story is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Story {
    pub(super) hosts: u8,
    pub(super) slots: u32,
    pub(super) issues: usize,
    /// What gives runs out.
    pub(super) placed_by: fn() -> Box<dyn Placing>,
    /// By how much the lease is shorter than in production.
    pub(super) divisor: u64,
}

impl Story {
    /// Returns the lease of the hosts.
    pub(super) fn lease(&self) -> Lease {
        Lease::default().shortened(NonZeroU64::new(self.divisor).expect("a divisor"))
    }

    /// Plays it until every issue is done; returns what was found.
    pub(super) fn play(&self, plan: &[Planned]) -> Found {
        self.on_stage(
            |_| play(),
            |field| {
                let (orphans, beside) = field.live_through(plan);
                let mut found = field.found();
                (found.orphans, found.beside) = (orphans, beside);
                found
            },
        )
    }

    /// Sets everything up, and has something done with it. What agents do may depend on the folder beside the control's project.
    pub(super) fn on_stage<T>(
        &self,
        agents: impl FnOnce(&Path) -> Value,
        act: impl FnOnce(&Field<'_>) -> T,
    ) -> T {
        network::prepare();
        let divisor = self.divisor.to_string();
        let variables = [("SYMPHONY_TEST_LEASE_DIVISOR".to_owned(), divisor)];
        let server = Server::start();
        let placing = (self.placed_by)();
        let placing = placing.as_ref();
        let control = Control::new(&server, placing, &variables, Place::Control, agents);
        let folder = &control.project.beside;
        let _hub = Hub::start(folder, Place::Control);
        let settings = HostSettings {
            config: config(
                placing,
                &server.remote_address(&folder.join("authority.pem")),
            ),
            slots: self.slots,
            variables: variables.to_vec(),
            git: Hub::git_settings(folder),
        };
        control.add_issues(self.issues);
        let begun = Instant::now();
        let host = |number| Mutex::new(Host::new(folder, number, &settings));
        let field = Field {
            server: &server,
            control: &control,
            placing,
            hosts: (1..=self.hosts).map(host).collect(),
            lease: self.lease(),
            begun,
            record: Mutex::new(Record::default()),
        };
        act(&field)
    }
}

/// Issues that are not done, and those of them whose host may be waiting for the hub: before an agent starts, or after it has ended.
const OPEN: &str = "SELECT count(*), count(*) FILTER (WHERE EXISTS (
        SELECT 1 FROM run r WHERE r.issue = i.id AND r.begun_at IS NOT NULL
            AND (r.status = 'starting' OR r.status = 'running' AND EXISTS (SELECT 1 FROM exit_handling x WHERE x.run = r.id))))
     FROM issue i WHERE i.status NOT IN ('done', 'review')";
/// How many issues are open for each host at most, however many of them are held up.
const OPEN_MAX: usize = 8;

impl Field<'_> {
    fn live_through(&self, plan: &[Planned]) -> (Vec<String>, std::collections::BTreeSet<Beside>) {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let watched = scope.spawn(|| watch::watch(|| is_over.load(Ordering::SeqCst)));
            let _end = EndOnDrop(&is_over);
            let at_work = self.control.begin(scope);
            let are_over = AtomicBool::new(false);
            std::thread::scope(|faults| {
                faults.spawn(|| self.keep_busy(&are_over));
                let _end = EndOnDrop(&are_over);
                self.inflict(plan);
            });
            let last_fault = Instant::now();
            println!(
                "{:.1} s: the faults are over",
                self.begun.elapsed().as_secs_f64()
            );
            self.until_done(self.done_max());
            println!(
                "{:.1} s: every issue is done",
                self.begun.elapsed().as_secs_f64()
            );
            let left = || {
                let mut left = self.left();
                left.extend(self.placing.left_of(&self.ended()));
                left
            };
            let mut still = left();
            while !still.is_empty() && last_fault.elapsed() < orphans_after(self.lease) {
                std::thread::sleep(Duration::from_millis(500));
                still = left();
            }
            drop(at_work);
            is_over.store(true, Ordering::SeqCst);
            (still, watched.join().unwrap())
        })
    }

    /// Files more issues while faults need victims.
    fn keep_busy(&self, are_over: &AtomicBool) {
        while !are_over.load(Ordering::SeqCst) {
            match self.server.answer(OPEN) {
                Ok(found) => {
                    let [open, held_up] = [0, 1].map(|at| found[0][at].parse::<usize>().unwrap());
                    let hosts = self.hosts.len();
                    if open - held_up < hosts * 2 && open < hosts * OPEN_MAX {
                        // the database may be away
                        let _added = self.control.try_add_issues(hosts);
                    }
                }
                Err(problem) => println!(
                    "{:.1} s: {}",
                    self.begun.elapsed().as_secs_f64(),
                    problem.trim_end()
                ),
            }
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    /// Returns how long the rest of the issues may take when the faults are over: a merge after the other, on a busy machine.
    fn done_max(&self) -> Duration {
        let issues = self.server.rows("SELECT count(*) FROM issue");
        let issues: u32 = issues[0][0].parse().unwrap();
        LEASES_MAX * u32::try_from(self.lease.lost_ms()).unwrap() / 1_000 + ISSUE_MAX * issues
    }

    pub(super) fn until_done(&self, limit: Duration) {
        let begun = Instant::now();
        loop {
            let open = self
                .server
                .rows("SELECT id, status FROM issue WHERE status <> 'done'");
            // what is open after that is a problem of the verdict, with its name
            if open.is_empty() || begun.elapsed() > limit {
                return;
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    }
}

/// Sets a flag at the end, also of a test that fails.
pub(super) struct EndOnDrop<'a>(pub(super) &'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Prints the figures.
pub(super) fn report(found: &Found) {
    let runs = found.runs.len();
    let mut ends = std::collections::BTreeMap::<String, usize>::new();
    for run in found.runs.values() {
        let end = [run.status.as_str(), run.error.as_str()].join(" ");
        *ends.entry(end.trim_end().to_owned()).or_default() += 1;
    }
    println!("{} issues, {runs} runs: {ends:?}", found.issues.len());
    let at_work = found.at_work_without_service.len();
    println!("{at_work} of them had begun when what gives runs out broke");
    println!("refused writes: {:?}", found.refused);
    println!("silent hosts were noticed after {:?}", found.noticed_after);
    let lags = [50, 95, 100].map(|part| percentile(&found.log_lags, part));
    println!("logs reached readers after {lags:?} (half, 95 %, all)");
}
