//! Breaks what the plan says, and notes what that explains later.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use symphony_core::Timestamp;
use symphony_core::placement::Lease;

use super::control::Control;
use super::host::Host;
use super::network::Link;
use super::placing::Placing;
use super::plan::{Fault, Planned, ServiceFault};
use super::server::Server;
use super::verdict::{RunFound, Zombie};
use crate::support::{agents_of, kill, supervisors_at, until};

/// What the faults did.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// A line for each.
    pub(super) lines: Vec<String>,
    pub(super) stopped: BTreeSet<String>,
    pub(super) killed: BTreeSet<String>,
    /// Runs that had begun when what gives runs out broke.
    pub(super) at_work_without_service: BTreeSet<String>,
    pub(super) faulty_hosts: BTreeSet<String>,
    /// When a host was cut off, or the database was away for all hosts.
    pub(super) outages: Vec<Outage>,
    pub(super) is_server_killed: bool,
    pub(super) expected_zombies: BTreeSet<Zombie>,
    pub(super) noticed_after: Vec<Duration>,
    /// What a worker wrote that had slept while its run was taken back.
    pub(super) late_ends: Vec<String>,
}

/// A time in which no log can be expected to reach its readers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outage {
    /// `None` for all hosts.
    pub(super) host: Option<String>,
    /// Milliseconds of the machine's clock, which the database and all hosts have.
    pub(super) from: i64,
    pub(super) to: i64,
}

impl Outage {
    /// Returns whether text that a host wrote and that arrived at these times may have waited for its end.
    pub(super) fn explains(&self, host: &str, written: i64, arrived: i64) -> bool {
        self.concerns(host) && written <= self.to && self.from <= arrived
    }

    /// Returns whether it may have ended a run.
    pub(super) fn may_have_ended(&self, run: &RunFound) -> bool {
        self.concerns(&run.host)
            && run.started_at <= self.to
            && run.ended_at.is_some_and(|ended| self.from <= ended)
    }

    fn concerns(&self, host: &str) -> bool {
        self.host.as_ref().is_none_or(|own| own == host)
    }
}

/// What may be broken.
#[derive(Debug)]
pub(super) struct Field<'a> {
    pub(super) server: &'a Server,
    pub(super) control: &'a Control,
    pub(super) placing: &'a dyn Placing,
    pub(super) hosts: Vec<Mutex<Host>>,
    pub(super) lease: Lease,
    pub(super) begun: Instant,
    pub(super) record: Mutex<Record>,
}

impl Field<'_> {
    /// Carries out a plan, and returns when the last fault is over.
    pub(super) fn inflict(&self, plan: &[Planned]) {
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for planned in plan {
                std::thread::sleep(planned.at.saturating_sub(begun.elapsed()));
                scope.spawn(|| {
                    let started = self.begun.elapsed();
                    let note = self.break_it(&planned.fault);
                    let (from, to) = (started.as_secs_f64(), self.begun.elapsed().as_secs_f64());
                    let line = format!("{from:.1}–{to:.1} s: {:?}{note}", planned.fault);
                    println!("{line}");
                    self.record().lines.push(line);
                });
            }
        });
    }

    pub(super) fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn host(&self, host: usize) -> MutexGuard<'_, Host> {
        self.hosts[host]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what is to be added to the line of the fault.
    fn break_it(&self, fault: &Fault) -> String {
        let host = fault.host().map(|host| self.host(host).name.clone());
        if fault.may_lose_runs()
            && let Some(name) = &host
        {
            self.record().faulty_hosts.insert(name.clone());
        }
        let from = now_ms();
        let note = self.inflict_one(fault);
        if fault.may_lose_runs() || matches!(fault, Fault::KillServer { .. }) {
            let to = now_ms();
            self.record().outages.push(Outage { host, from, to });
        }
        note
    }

    fn inflict_one(&self, fault: &Fault) -> String {
        match fault {
            Fault::KillWorker { host, away } => {
                let mut host = self.host(*host);
                host.kill_worker();
                std::thread::sleep(*away);
                host.begin();
                String::new()
            }
            Fault::KillSupervisor { host } => {
                let (pid, run) = self.stopped_victim(&self.host(*host));
                kill(pid);
                self.record().killed.insert(run.clone());
                format!(" {run}")
            }
            Fault::StopSupervisor { host, during } => self.stop_supervisor(*host, *during),
            Fault::StopWorker { host, during } => self.stop_worker(*host, *during),
            Fault::Cut {
                host,
                links,
                during,
            } => self.cut(*host, links, *during),
            Fault::KillControl => {
                self.control.kill_a_tick_after_its_claims();
                String::new()
            }
            Fault::KillServer { away } => {
                self.record().is_server_killed = true;
                format!(": {} processes", self.server.kill_and_begin(*away))
            }
            Fault::Service(fault) => self.break_service(fault),
        }
    }

    /// Runs are at work when it breaks.
    fn break_service(&self, fault: &ServiceFault) -> String {
        let at_work =
            "SELECT id FROM run WHERE begun_at IS NOT NULL AND status IN ('starting', 'running')";
        let at_work = until("a run at work", || {
            let rows = self.server.try_rows(at_work)?;
            (!rows.is_empty()).then_some(rows)
        });
        let note = format!(": {} runs were at work", at_work.len());
        let runs = at_work.into_iter().flatten();
        self.record().at_work_without_service.extend(runs);
        self.placing.suffer(fault);
        note
    }

    fn stop_supervisor(&self, host: usize, during: Duration) -> String {
        let host = self.host(host);
        let (pid, run) = self.stopped_victim(&host);
        self.record().stopped.insert(run.clone());
        let begun = Instant::now();
        self.until_noticed(&host.name, begun);
        std::thread::sleep(during.saturating_sub(begun.elapsed()));
        self.until_taken_back(&run, &host.name);
        signal(pid, Signal::CONT);
        self.record().expected_zombies.insert(Zombie::Supervisor);
        format!(" {run}, back after {:?}", begun.elapsed())
    }

    /// The worker sleeps after it has seen that a supervisor died, and ends its run when that is another's.
    fn stop_worker(&self, host: usize, during: Duration) -> String {
        let host = self.host(host);
        let worker = host
            .worker()
            .expect("no other fault of this host is going on");
        let (pid, run) = self.stopped_victim(&host);
        let begun = Instant::now();
        signal(worker, Signal::STOP);
        kill(pid);
        self.until_noticed(&host.name, begun);
        std::thread::sleep(during.saturating_sub(begun.elapsed()));
        self.until_taken_back(&run, &host.name);
        let said = host.finish(&run);
        signal(worker, Signal::CONT);
        let mut record = self.record();
        record.expected_zombies.insert(Zombie::Worker);
        record.late_ends.push(said.clone());
        format!(" {run}: {said}")
    }

    fn cut(&self, host: usize, links: &[Link], during: Duration) -> String {
        let host = self.host(host);
        let set = |is_up| {
            for link in links {
                host.network.set(*link, is_up);
            }
        };
        let (run, begun) = loop {
            let ((_, run), begun) = (victim(&host), Instant::now());
            set(false);
            if self.is_live(&run, &host) {
                break (run, begun);
            }
            set(true);
        };
        if links.contains(&Link::Database) {
            self.until_noticed(&host.name, begun);
        }
        std::thread::sleep(during.saturating_sub(begun.elapsed()));
        set(true);
        format!(" {run}")
    }

    /// Stops a supervisor whose agent is at work. On a busy machine an agent may have ended, and its run, since it was looked for.
    fn stopped_victim(&self, host: &Host) -> (i32, String) {
        loop {
            let (pid, run) = victim(host);
            signal(pid, Signal::STOP);
            if self.is_live(&run, host) {
                return (pid, run);
            }
            signal(pid, Signal::CONT);
        }
    }

    /// Returns whether a run has not ended, and is on a host.
    fn is_live(&self, run: &str, host: &Host) -> bool {
        let name = &host.name;
        let sql = format!(
            "SELECT 1 FROM run WHERE id = '{run}' AND host = '{name}' AND status IN ('starting', 'running')"
        );
        !self.server.rows(&sql).is_empty()
    }

    /// Waits until the host is silent by the statement that all readers ask, which is of the tick's own user.
    fn until_noticed(&self, host: &str, begun: Instant) {
        until("the silent host is noticed", || {
            // the database may be away
            let silent = self.control.silent(self.lease).ok()?;
            silent
                .iter()
                .any(|run| run.host.as_str() == host)
                .then_some(())
        });
        self.record().noticed_after.push(begun.elapsed());
    }

    /// Waits until a run is not its host's any more.
    fn until_taken_back(&self, run: &str, host: &str) {
        let sql = format!(
            "SELECT 1 FROM run WHERE id = '{run}' AND (host <> '{host}' OR status NOT IN ('starting', 'running'))"
        );
        until("the run is taken back", || {
            self.server.try_rows(&sql)?.pop().map(drop)
        });
    }
}

/// Waits for a supervisor whose agent is at work.
fn victim(host: &Host) -> (i32, String) {
    until("a supervisor at work", || {
        let supervisors = supervisors_at(&host.home);
        let has_agent = |(_, run): &(i32, String)| !agents_of(run).is_empty();
        supervisors.into_iter().find(has_agent)
    })
}

/// Returns the machine's clock, in milliseconds.
fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

pub(super) fn signal(pid: i32, signal: Signal) {
    let pid = Pid::from_raw(pid).expect("a process has a positive number");
    // it may be gone by itself
    let _gone = kill_process(pid, signal);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_explains_what_waited_for_its_end_on_its_host() {
        let of_one = Outage {
            host: Some("host-1".to_owned()),
            from: 100,
            to: 200,
        };
        let of_all = Outage {
            host: None,
            ..of_one.clone()
        };
        for (host, written, arrived, one, all) in [
            ("host-1", 50, 99, false, false),
            ("host-1", 50, 100, true, true),
            ("host-1", 150, 160, true, true),
            ("host-1", 200, 300, true, true),
            ("host-1", 201, 300, false, false),
            ("host-2", 150, 160, false, true),
        ] {
            let found = [&of_one, &of_all].map(|outage| outage.explains(host, written, arrived));
            assert_eq!(found, [one, all], "{host} {written} {arrived}");
        }
    }
}
