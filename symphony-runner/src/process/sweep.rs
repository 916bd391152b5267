//! Ending what a killed supervisor left. Its processes are found by the run's marker in their environment (spec:
//! lifecycle, "Time limits and killing").
//!
//! A process that cleared its environment and whose ancestors have all ended carries no marker. It is found by where it
//! works: an orphan without a terminal, younger than the run, with its working directory or an open file inside the
//! run's worktree. Only a sandbox could find one that has also left the worktree.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use symphony_core::id::RunId;

use super::cgroup::end_cgroups_of;
use super::ended::{Ended, SWEEP_TIME_MAX, survivors};
use super::error::ProcessError;
use super::family::{descendants_within, own_descendants};
use super::git_grace::GitGrace;
use super::record::ProcessRecord;
use super::system::{self, ProcessHandle};
use crate::environment::RUN_MARKER;

/// The longest wait for killed processes before the table is read again, in milliseconds.
const ROUND_MILLISECONDS_MAX: u32 = 20;

/// How long a sweep watches for new processes before it concludes that none is left: many times what a process needs to
/// start another one.
const CHASE_TIME: Duration = Duration::from_millis(30);

/// How long no process may be started anywhere before a chase rests between its looks: many times what a chain needs
/// for its next link.
const CALM_TIME: Duration = Duration::from_millis(2);

/// How long it rests: less than a program needs to start.
const CHASE_REST: Duration = Duration::from_micros(250);

/// Programs that adopt orphans, besides the first process: a session's manager, or a container's init.
const ADOPTERS: &[&str] = &[
    "catatonit",
    "docker-init",
    "dumb-init",
    "init",
    "systemd",
    "tini",
];

/// Variables of a person's session or service, which no agent inherits. An editor that was opened on the worktree from
/// a desktop is also an orphan without a terminal, and must not be killed.
const PERSONAL: &[&str] = &[
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "INVOCATION_ID",
    "SSH_CONNECTION",
    "WAYLAND_DISPLAY",
    "XDG_SESSION_ID",
];

/// Where a run worked, to find its processes without a marker.
#[derive(Debug, Clone)]
pub struct RunPlace {
    /// The run's worktree.
    pub worktree: PathBuf,
    /// At least how long ago the run was claimed. No older process belongs to it.
    pub age_max: Duration,
}

/// Returns whether the process that started this one has ended.
fn is_orphan(record: &ProcessRecord) -> bool {
    let is_adopter = |parent: ProcessRecord| ADOPTERS.contains(&parent.name.as_str());
    let parent = system::read_record(record.parent).ok().flatten();
    record.parent <= 1 || parent.is_none_or(is_adopter)
}

impl RunPlace {
    /// Returns whether a process is one that the run left there. A person's shell, editor or file watcher in the
    /// worktree has a terminal, a living parent, or the variables of a login, a desktop or a service.
    fn is_strays(&self, record: &ProcessRecord) -> bool {
        record.terminal == 0
            && is_orphan(record)
            && system::age(record).is_none_or(|age| age <= self.age_max)
            && self.is_inside(record.pid)
            && !PERSONAL
                .iter()
                .any(|name| system::environment_value(record.pid, name).is_some())
    }

    fn is_inside(&self, pid: i32) -> bool {
        let is_inside = |path: PathBuf| path.starts_with(&self.worktree);
        system::working_directory(pid).is_some_and(is_inside)
            || system::open_files(pid).into_iter().any(is_inside)
    }
}

/// Ends every process of a run whose supervisor is dead. The caller must hold the run's lock.
///
/// Finds this user's processes with the marker and their descendants, and kills them (git after [`super::GIT_GRACE`])
/// until none is left and, for a moment, none is started. This process and its own descendants are left alone. It
/// blocks, usually for some tens of milliseconds, at most for [`SWEEP_TIME_MAX`].
///
/// # Errors
/// `Survivors` when a process could not be ended in time, `Table` or `System` when the system refuses.
pub fn sweep_marked(run: &RunId) -> Result<Ended, ProcessError> {
    sweep(run, None)
}

/// As [`sweep_marked`], and also ends orphans that cleared their environment but still work in the run's worktree.
///
/// # Errors
/// As [`sweep_marked`].
pub fn sweep_run(run: &RunId, place: &RunPlace) -> Result<Ended, ProcessError> {
    sweep(run, Some(place))
}

fn sweep(run: &RunId, place: Option<&RunPlace>) -> Result<Ended, ProcessError> {
    let marker = format!("{RUN_MARKER}={run}");
    let deadline = Instant::now() + SWEEP_TIME_MAX;
    let mut ended = Ended::default();
    let mut grace = GitGrace::begin();
    loop {
        // Read before the table, so that a process that is started while the table is read has a later pid.
        let last_pid = system::last_pid()?;
        let targets = marked(&marker, place)?;
        if targets.is_empty() && !chase(&marker, last_pid, &mut ended, &mut grace)? {
            end_cgroups_of(run, &mut ended)?;
            return Ok(ended);
        }
        if Instant::now() >= deadline {
            return Err(survivors(&targets));
        }
        // A target may have forked between the reading of the table and its own end, so the table is read again until
        // it is empty.
        let mut killed = Vec::new();
        for target in &targets {
            killed.extend(end(target, &mut ended, &mut grace)?);
        }
        system::wait_for_an_end(&killed, ROUND_MILLISECONDS_MAX)?;
    }
}

/// Watches which pids are given out for a moment, and kills processes with the marker on sight: a chain of processes,
/// each of which starts the next one and ends, is too quick for the table. Returns true when it found one, or when the
/// pids wrapped around, so that the table must be read again.
fn chase(
    marker: &str,
    last_pid: i32,
    ended: &mut Ended,
    grace: &mut GitGrace,
) -> Result<bool, ProcessError> {
    let until = Instant::now() + CHASE_TIME;
    let mut seen = last_pid;
    let mut last_start = Instant::now();
    let mut is_hit = false;
    while Instant::now() < until {
        let last = system::last_pid()?;
        if last < seen {
            return Ok(true);
        }
        for pid in seen.saturating_add(1)..=last {
            if let Some(record) = newborn(pid, marker)?
                && end(&record, ended, grace)?.is_some()
            {
                is_hit = true;
            }
        }
        if last != seen {
            (seen, last_start) = (last, Instant::now());
        }
        // A rest misses links of a chain, so there is none while processes are being started. Otherwise it leaves the
        // processor to others.
        if last_start.elapsed() > CALM_TIME {
            std::thread::sleep(CHASE_REST);
        } else {
            std::thread::yield_now();
        }
    }
    Ok(is_hit)
}

fn newborn(pid: i32, marker: &str) -> Result<Option<ProcessRecord>, ProcessError> {
    let Some(record) = system::read_record(pid)?.filter(|record| record.is_alive) else {
        return Ok(None);
    };
    let is_marked = system::belongs_to_user(pid) && system::has_environment_entry(pid, marker);
    Ok((is_marked && !is_below_this(pid)?).then_some(record))
}

/// Returns whether a process is this one, or a descendant of it.
pub(super) fn is_below_this(pid: i32) -> Result<bool, ProcessError> {
    let own = system::own_pid();
    let mut seen = BTreeSet::new();
    let mut pid = pid;
    while seen.insert(pid) {
        if pid == own {
            return Ok(true);
        }
        let Some(record) = system::read_record(pid)? else {
            return Ok(false);
        };
        pid = record.parent;
    }
    Ok(false)
}

/// Sends a process SIGKILL, or SIGTERM first if it is git.
fn end(
    target: &ProcessRecord,
    ended: &mut Ended,
    grace: &mut GitGrace,
) -> Result<Option<ProcessHandle>, ProcessError> {
    let Some(handle) = ProcessHandle::open(target.pid, target.start_time)? else {
        return Ok(None);
    };
    if !grace.tell(target, &handle)? {
        return Ok(None);
    }
    ended.note(target);
    Ok(Some(handle))
}

/// Ends processes that were found in the table, and what they start meanwhile, except supervisors. Git gets its time.
///
/// # Errors
/// As [`sweep_marked`].
pub(super) fn end_seen(seen: &[ProcessRecord]) -> Result<Ended, ProcessError> {
    let deadline = Instant::now() + SWEEP_TIME_MAX;
    let mut ended = Ended::default();
    let mut grace = GitGrace::begin();
    let mut known: BTreeSet<(i32, u64)> = seen.iter().map(|p| (p.pid, p.start_time)).collect();
    loop {
        let records = system::read_records()?;
        let is_known = |record: &&ProcessRecord| known.contains(&(record.pid, record.start_time));
        let roots: Vec<i32> = records.iter().filter(is_known).map(|r| r.pid).collect();
        let below = own_descendants(&records, &roots);
        let left: Vec<ProcessRecord> = records
            .iter()
            .filter(is_known)
            .chain(&below)
            .filter(|record| record.is_alive)
            .cloned()
            .collect();
        if left.is_empty() {
            return Ok(ended);
        }
        if Instant::now() >= deadline {
            return Err(survivors(&left));
        }
        let mut killed = Vec::new();
        for target in &left {
            known.insert((target.pid, target.start_time));
            killed.extend(end(target, &mut ended, &mut grace)?);
        }
        system::wait_for_an_end(&killed, ROUND_MILLISECONDS_MAX)?;
    }
}

fn marked(marker: &str, place: Option<&RunPlace>) -> Result<Vec<ProcessRecord>, ProcessError> {
    let own = system::own_pid();
    let records = system::read_records()?;
    let roots: Vec<i32> = records
        .iter()
        .filter(|record| record.is_alive && system::belongs_to_user(record.pid))
        .filter(|record| {
            system::has_environment_entry(record.pid, marker)
                || place.is_some_and(|place| place.is_strays(record))
        })
        .map(|record| record.pid)
        .collect();
    // This process may be below the run that it sweeps, with the marker in its environment. It must not kill itself.
    let mut spared: BTreeSet<i32> = descendants_within(&records, &[own])
        .iter()
        .map(|record| record.pid)
        .collect();
    spared.insert(own);
    let below: BTreeSet<i32> = descendants_within(&records, &roots)
        .iter()
        .map(|record| record.pid)
        .chain(roots)
        .collect();
    Ok(records
        .into_iter()
        .filter(|record| record.is_alive && below.contains(&record.pid))
        .filter(|record| !spared.contains(&record.pid))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::ended::ENDED_LISTED_MAX;

    fn record(pid: i32, parent: i32) -> ProcessRecord {
        ProcessRecord {
            pid,
            name: format!("p{pid}"),
            is_alive: true,
            parent,
            group: pid,
            session: pid,
            start_time: 1,
            terminal: 0,
        }
    }

    #[test]
    fn descendants_are_found_whatever_their_numbers() {
        let table = [
            record(1, 0),
            record(5, 9),
            record(7, 1),
            record(9, 7),
            record(12, 5),
            record(20, 1),
        ];
        let pids = |roots: &[i32]| -> Vec<i32> {
            descendants_within(&table, roots)
                .iter()
                .map(|record| record.pid)
                .collect()
        };
        assert_eq!(pids(&[7]), [9, 5, 12]);
        assert_eq!(pids(&[1]), [7, 20, 9, 5, 12]);
        assert_eq!(pids(&[5, 7]), [12, 9]);
        assert_eq!(pids(&[20]), Vec::<i32>::new());
        assert_eq!(pids(&[999]), Vec::<i32>::new());
    }

    #[test]
    fn a_circle_in_the_table_ends() {
        let table = [record(2, 3), record(3, 2)];
        assert_eq!(descendants_within(&table, &[2]), [record(3, 2)]);
    }

    #[test]
    fn what_was_ended_is_counted_once_and_listed_boundedly() {
        let mut ended = Ended::default();
        for pid in (1..=100).chain(1..=100) {
            ended.note(&record(pid, 1));
        }
        assert_eq!(ended.count(), 100);
        assert_eq!(ended.listed().len(), ENDED_LISTED_MAX);
        assert_eq!(ended.listed()[0].to_string(), "1 (p1)");
    }

    #[test]
    fn survivors_are_named() {
        let left: Vec<ProcessRecord> = (1..=9).map(|pid| record(pid, 1)).collect();
        assert_eq!(
            survivors(&left).to_string(),
            "9 processes did not end within 10 s: 1 (p1), 2 (p2), 3 (p3), 4 (p4), 5 (p5), 6 (p6), 7 (p7), 8 (p8)"
        );
    }
}
