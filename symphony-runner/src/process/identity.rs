//! The identity of a process. Its pid alone is not enough, since pids are reused.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::error::ProcessError;
use super::system;

/// Identifies one process for good: its pid, its start time, and the boot of the machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// The pid.
    pub pid: i32,
    /// When it started, in clock ticks since boot (field 22 of `/proc/PID/stat`).
    pub start_time: u64,
    /// The boot, a UUID (`/proc/sys/kernel/random/boot_id`).
    pub boot_id: String,
}

impl ProcessIdentity {
    /// Reads the identity of the process with this pid; `None` if there is none.
    ///
    /// # Errors
    /// When the table of processes cannot be read.
    pub fn of(pid: i32) -> Result<Option<Self>, ProcessError> {
        let boot_id = system::boot_id()?;
        Ok(system::read_record(pid)?.map(|record| Self {
            pid,
            start_time: record.start_time,
            boot_id: boot_id.to_owned(),
        }))
    }

    /// Reads the identity of this process.
    ///
    /// # Errors
    /// When the table of processes cannot be read.
    pub fn own() -> Result<Self, ProcessError> {
        let pid = system::own_pid();
        Self::of(pid)?.ok_or(ProcessError::System {
            action: "find this process in the table of processes",
            source: std::io::ErrorKind::NotFound.into(),
        })
    }

    /// Returns whether the process is alive. A zombie is not.
    ///
    /// # Errors
    /// When the table of processes cannot be read.
    pub fn is_alive(&self) -> Result<bool, ProcessError> {
        if self.boot_id != system::boot_id()? {
            return Ok(false);
        }
        Ok(system::read_record(self.pid)?
            .is_some_and(|record| record.start_time == self.start_time && record.is_alive))
    }

    /// Asks the process to end (SIGTERM), and continues it if it is stopped. Returns false when it is gone. Another
    /// process that has its pid by now is not signalled.
    ///
    /// # Errors
    /// When the signal could not be sent, for instance to a process of another user.
    pub fn terminate(&self) -> Result<bool, ProcessError> {
        if self.boot_id != system::boot_id()? {
            return Ok(false);
        }
        let Some(handle) = system::ProcessHandle::open(self.pid, self.start_time)? else {
            return Ok(false);
        };
        // The request goes first, so that the process handles it as soon as it continues.
        let is_there = handle.send(system::Signal::Terminate)?;
        Ok(handle.send(system::Signal::Continue)? && is_there)
    }
}

impl fmt::Display for ProcessIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pid,
            start_time,
            boot_id,
        } = self;
        write!(f, "process {pid} (tick {start_time} of boot {boot_id})")
    }
}
