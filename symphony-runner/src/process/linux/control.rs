//! Single actions on processes: signals through pidfds, reaping, sessions, the parent-death signal.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{self, Pid, PidfdFlags, WaitOptions};

use super::table::read_record;
use crate::process::error::ProcessError;

/// The signals that Symphony sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::process) enum Signal {
    /// Asks a process to end.
    Terminate,
    /// Continues a stopped process, so that it can exit.
    Continue,
    /// Kills a process.
    Kill,
}

impl Signal {
    const fn number(self) -> process::Signal {
        match self {
            Self::Terminate => process::Signal::TERM,
            Self::Continue => process::Signal::CONT,
            Self::Kill => process::Signal::KILL,
        }
    }
}

/// A handle of a process. It never refers to another process.
#[derive(Debug)]
pub(in crate::process) struct ProcessHandle(OwnedFd);

impl ProcessHandle {
    /// Opens the process with this pid if it started at this time; `None` when it did not, or is gone.
    pub(in crate::process) fn open(
        pid: i32,
        start_time: u64,
    ) -> Result<Option<Self>, ProcessError> {
        let Some(pid) = Pid::from_raw(pid) else {
            return Ok(None);
        };
        // First the handle, then the check: if the pid changed hands before the handle was opened, the check sees the
        // stranger; if it does so afterwards, the handle refers to a dead process.
        let handle = match process::pidfd_open(pid, PidfdFlags::empty()) {
            Ok(handle) => Self(handle),
            Err(Errno::SRCH | Errno::NOENT | Errno::INVAL) => return Ok(None),
            Err(error) => return Err(failed("open a handle of a process", error)),
        };
        let record = read_record(pid.as_raw_pid())?;
        Ok(record
            .is_some_and(|record| record.start_time == start_time)
            .then_some(handle))
    }

    /// Sends a signal. Returns false when the process is gone.
    pub(in crate::process) fn send(&self, signal: Signal) -> Result<bool, ProcessError> {
        match process::pidfd_send_signal(&self.0, signal.number()) {
            Ok(()) => Ok(true),
            Err(Errno::SRCH) => Ok(false),
            Err(error) => Err(failed("send a signal to a process", error)),
        }
    }
}

/// Waits until one of the processes ends, at most for this many milliseconds.
pub(in crate::process) fn wait_for_an_end(
    handles: &[ProcessHandle],
    milliseconds_max: u32,
) -> Result<(), ProcessError> {
    let mut polled: Vec<PollFd<'_>> = handles
        .iter()
        .map(|handle| PollFd::new(&handle.0, PollFlags::IN))
        .collect();
    let timeout = Timespec {
        tv_sec: i64::from(milliseconds_max / 1000),
        tv_nsec: i64::from(milliseconds_max % 1000) * 1_000_000,
    };
    match rustix::event::poll(&mut polled, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(failed("wait for the end of processes", error)),
    }
}

/// Kills a process group. The caller must have an unreaped child, alive or dead, in the group, so that its number
/// cannot belong to another group.
pub(in crate::process) fn kill_group(group: i32) -> Result<(), ProcessError> {
    let Some(group) = Pid::from_raw(group).filter(|group| !group.is_init()) else {
        return Ok(());
    };
    match process::kill_process_group(group, process::Signal::KILL) {
        // PERM: a member changed its user (a setuid program). The others got the signal.
        Ok(()) | Err(Errno::SRCH | Errno::PERM) => Ok(()),
        Err(error) => Err(failed("kill a process group", error)),
    }
}

/// Reaps one dead child. Returns true if there was one.
pub(in crate::process) fn reap(pid: i32) -> Result<bool, ProcessError> {
    let Some(pid) = Pid::from_raw(pid) else {
        return Ok(false);
    };
    match process::waitpid(Some(pid), WaitOptions::NOHANG) {
        Ok(status) => Ok(status.is_some()),
        Err(Errno::CHILD) => Ok(false),
        Err(error) => Err(failed("reap an orphaned process", error)),
    }
}

/// Makes this process the parent of every orphan among its descendants.
pub(in crate::process) fn become_subreaper() -> Result<(), ProcessError> {
    process::set_child_subreaper(Some(process::getpid()))
        .map_err(|error| failed("become the subreaper of the agent's processes", error))
}

/// Creates a session with this process as its leader. Does nothing when it already leads one.
pub(in crate::process) fn lead_session() -> Result<(), ProcessError> {
    match process::setsid() {
        Ok(_) => Ok(()),
        Err(Errno::PERM) if own_session()? == own_pid() => Ok(()),
        Err(error) => Err(failed("make a session of its own", error)),
    }
}

/// Requests SIGTERM for this process when the thread that started it ends.
pub(in crate::process) fn die_with_parent() -> Result<(), ProcessError> {
    process::set_parent_process_death_signal(Some(process::Signal::TERM))
        .map_err(|error| failed("set the parent-death signal", error))
}

/// Returns the milliseconds of a clock that only moves forward, and stops while the machine is suspended.
pub(in crate::process) fn awake_ms() -> u64 {
    milliseconds(rustix::time::clock_gettime(
        rustix::time::ClockId::Monotonic,
    ))
}

/// Returns the milliseconds of a clock that only moves forward, and goes on while the machine is suspended.
pub(in crate::process) fn boot_ms() -> u64 {
    milliseconds(rustix::time::clock_gettime(rustix::time::ClockId::Boottime))
}

fn milliseconds(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let milliseconds = u64::try_from(time.tv_nsec / 1_000_000).unwrap_or(0);
    seconds.saturating_mul(1_000).saturating_add(milliseconds)
}

/// Returns the pid of the parent, 0 when it is outside of this PID namespace.
pub(in crate::process) fn parent_pid() -> i32 {
    Pid::as_raw(process::getppid())
}

/// Creates a file without a name, which disappears with its last descriptor.
pub(in crate::process) fn nameless_file(name: &str) -> io::Result<std::fs::File> {
    let file = rustix::fs::memfd_create(name, rustix::fs::MemfdFlags::CLOEXEC)?;
    Ok(file.into())
}

/// Closes this process's memory, environment and descriptors to all other processes of its user.
pub(in crate::process) fn close_memory() -> io::Result<()> {
    Ok(process::set_dumpable_behavior(
        process::DumpableBehavior::NotDumpable,
    )?)
}

/// Returns the pid of this process.
pub(in crate::process) fn own_pid() -> i32 {
    process::getpid().as_raw_pid()
}

/// Returns the number of this process's session, 0 when its leader is outside of this PID namespace (`getsid` also
/// returns 0 then, which `rustix` considers impossible).
pub(in crate::process) fn own_session() -> Result<i32, ProcessError> {
    read_record(own_pid())?
        .map(|record| record.session)
        .ok_or_else(|| failed("read the number of the session", Errno::SRCH))
}

/// Returns whether the calling thread is the process's first, which lives as long as the process.
pub(in crate::process) fn is_main_thread() -> bool {
    rustix::thread::gettid() == process::getpid()
}

/// Moves stdin to a descriptor that no child inherits, and replaces it with `/dev/null`.
pub(in crate::process) fn move_stdin() -> io::Result<OwnedFd> {
    // 3, because stdin, stdout and stderr keep their descriptors.
    let moved = rustix::io::fcntl_dupfd_cloexec(io::stdin().as_fd(), 3)?;
    let null = OpenOptions::new().read(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    Ok(moved)
}

fn failed(action: &'static str, error: Errno) -> ProcessError {
    ProcessError::System {
        action,
        source: error.into(),
    }
}
