//! Ending a process that holds a lock and makes no progress any longer: a supervisor or a tick.
//!
//! Its pid may come from a file that an agent can write. So nothing is signalled before it was checked: a supervisor by
//! the command that it was started with, a tick by the lock that it holds, both by their start time, and through a
//! pidfd that was opened before the check.

use std::path::Path;
use std::time::{Duration, Instant};

use symphony_core::id::RunId;
use symphony_core::placement::BootMs;

use super::ended::Ended;
use super::error::ProcessError;
use super::family::{own_descendants, supervised_run};
use super::identity::ProcessIdentity;
use super::sweep::end_seen;
use super::system::{self, LockUse, ProcessHandle, Signal};

/// How long to wait for a killed process to end. One that hangs in the kernel for longer is left to the next try.
const END_TIME_MAX: Duration = Duration::from_secs(5);
/// The longest single wait.
const LOOK_MILLISECONDS: u32 = 50;

/// What was ended.
#[derive(Debug, Default)]
pub struct EndedHolder {
    /// The processes that held the lock, or were about to take it.
    pub pids: Vec<i32>,
    /// What they had started and what was still running, for instance their git, which carries no marker.
    pub left: Ended,
}

/// Returns the milliseconds of a clock that stops while the machine is suspended (`CLOCK_MONOTONIC`).
pub fn awake_ms() -> u64 {
    system::awake_ms()
}

/// Returns the reading of the clock by which a host judges its leases (`CLOCK_BOOTTIME`).
pub(crate) fn boot_clock() -> BootMs {
    BootMs::new(system::boot_ms())
}

/// Returns the id of this boot of the machine.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn boot_id() -> Result<&'static str, ProcessError> {
    system::boot_id()
}

/// Lists this user's processes that were started as supervisors of a run.
///
/// # Errors
/// When the table of processes cannot be read.
fn supervisors_of(run: &RunId) -> Result<Vec<ProcessIdentity>, ProcessError> {
    let boot_id = system::boot_id()?;
    let found = system::read_records()?.into_iter().filter(|record| {
        record.is_alive
            && system::belongs_to_user(record.pid)
            && supervised_run(record.pid).as_ref() == Some(run)
    });
    Ok(found
        .map(|record| ProcessIdentity {
            pid: record.pid,
            start_time: record.start_time,
            boot_id: boot_id.to_owned(),
        })
        .collect())
}

/// Kills the supervisors of a run that hold its lock, and ends what they had started. Supervisors of other runs that
/// they had started continue.
///
/// # Errors
/// When one does not end, or the table of processes cannot be read.
pub fn end_supervisors(run: &RunId, lock: &Path) -> Result<EndedHolder, ProcessError> {
    let mut ended = EndedHolder::default();
    let supervisors = supervisors_of(run)?;
    let roots: Vec<i32> = supervisors.iter().map(|found| found.pid).collect();
    // Read before the supervisors are killed, since orphans get another parent.
    let below = own_descendants(&system::read_records()?, &roots);
    for supervisor in &supervisors {
        let Some(handle) = ProcessHandle::open(supervisor.pid, supervisor.start_time)? else {
            continue;
        };
        // Checked again while the handle is open, so that the process that is checked is the one that gets the signal.
        let is_it = supervised_run(supervisor.pid).as_ref() == Some(run);
        // Where its open files are not readable, its command line must do.
        if is_it && use_of(supervisor.pid, lock) != LockUse::NotHeld {
            handle.send(Signal::Kill)?;
            wait_for(supervisor, handle)?;
            ended.pids.push(supervisor.pid);
        }
    }
    if !ended.pids.is_empty() {
        ended.left = end_seen(&below)?;
    }
    Ok(ended)
}

/// Returns whether the process with this pid and start time is known to hold a lock.
///
/// # Errors
/// When the table of processes cannot be read.
pub fn is_lock_holder(pid: i32, start_time: u64, lock: &Path) -> Result<bool, ProcessError> {
    let is_alive = system::read_record(pid)?
        .is_some_and(|record| record.is_alive && record.start_time == start_time);
    Ok(is_alive && use_of(pid, lock) == LockUse::Held)
}

/// Kills the process with this pid and start time if it holds a lock, and what it started in its own session, such as
/// git. Returns false when it does not hold the lock, or that cannot be seen.
///
/// # Errors
/// When it does not end, or the table of processes cannot be read.
pub fn end_lock_holder(pid: i32, start_time: u64, lock: &Path) -> Result<bool, ProcessError> {
    let Some(handle) = ProcessHandle::open(pid, start_time)? else {
        return Ok(false);
    };
    if !is_lock_holder(pid, start_time, lock)? {
        return Ok(false);
    }
    // Supervisors that it had started have their own sessions, and continue.
    let session = system::read_record(pid)?.map(|record| record.session);
    let mut below = own_descendants(&system::read_records()?, &[pid]);
    below.retain(|record| Some(record.session) == session);
    handle.send(Signal::Kill)?;
    let holder = ProcessIdentity {
        pid,
        start_time,
        boot_id: system::boot_id()?.to_owned(),
    };
    wait_for(&holder, handle)?;
    end_seen(&below)?;
    Ok(true)
}

fn wait_for(process: &ProcessIdentity, handle: ProcessHandle) -> Result<(), ProcessError> {
    let handle = [handle];
    let begun = Instant::now();
    while process.is_alive()? {
        if begun.elapsed() >= END_TIME_MAX {
            return Err(ProcessError::Survivors {
                count: 1,
                seconds: END_TIME_MAX.as_secs(),
                examples: process.pid.to_string(),
            });
        }
        system::wait_for_an_end(&handle, LOOK_MILLISECONDS)?;
    }
    Ok(())
}

fn use_of(pid: i32, lock: &Path) -> LockUse {
    match lock.metadata() {
        Ok(file) => system::lock_use(pid, &file),
        Err(_) => LockUse::Unknown,
    }
}
