//! The current step of a process, in the file whose lock it holds.
//!
//! The record is one line of a fixed length, written over the one before: it needs no new space on a full disk, does
//! not wait for the disk, and a reader finds the old line or the new one.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use symphony_core::config::Millis;
use symphony_core::watchdog::{Moment, Step, StepRecord};

use crate::error::RunnerError;
use crate::process::{
    GRACE, ProcessError, ProcessIdentity, RunLock, SWEEP_TIME_MAX, awake_ms, boot_id,
    open_without_waiting,
};

/// Bytes of a record in the lock file of a run. One has about 220.
const RECORD_BYTES: usize = 512;

/// Time for ending a command that exceeds its limit: a request, a wait, a sweep, and once more.
const ENDING_TIME: Duration = Duration::from_secs(2 * (GRACE.as_secs() + SWEEP_TIME_MAX.as_secs()));

/// Returns the current moment of a clock that stops while the machine is suspended.
///
/// # Errors
/// When the boot is unknown.
pub fn moment() -> Result<Moment, ProcessError> {
    Ok(Moment {
        boot: boot_id()?.to_owned(),
        at_ms: awake_ms(),
    })
}

/// Creates the record of a step that this process begins now.
pub(crate) fn record_of(
    identity: &ProcessIdentity,
    number: u32,
    step: Step,
    limit: Duration,
) -> Result<StepRecord, ProcessError> {
    Ok(StepRecord {
        pid: identity.pid,
        start_time: identity.start_time,
        number,
        step,
        begun: moment()?,
        limit_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
    })
}

/// Parses a record from a line; `None` if it is not one.
pub(crate) fn parse_record(line: &str) -> Option<StepRecord> {
    serde_json::from_str(line.trim()).ok()
}

/// Reads the record in the lock file of a run; `None` if there is no readable one. An agent can have put anything in
/// its place: nothing blocks, and at most a line is read.
pub fn read_record(lock: &Path) -> Option<StepRecord> {
    let file = open_without_waiting(lock).ok()?;
    let mut bytes = Vec::new();
    file.take(RECORD_BYTES as u64)
        .read_to_end(&mut bytes)
        .ok()?;
    parse_record(std::str::from_utf8(&bytes).ok()?.lines().next()?)
}

/// Where a supervisor records its steps.
#[derive(Debug, Default)]
pub struct StepLog {
    to: Option<(File, ProcessIdentity)>,
    number: AtomicU32,
    step_timeout: Duration,
}

impl StepLog {
    /// Records in the file of a held lock. Without an identity or a descriptor nothing is recorded: the run goes on,
    /// and ticks wait for it as they do for an unreadable record.
    pub fn of(lock: &RunLock, step_timeout: Millis) -> Self {
        let open = || Ok::<_, ProcessError>((lock.open_file()?, ProcessIdentity::own()?));
        let to =
            open().map_err(|error| tracing::warn!(%error, "the steps of the run are not recorded"));
        Self {
            to: to.ok(),
            number: AtomicU32::new(0),
            step_timeout: step_timeout.duration(),
        }
    }

    /// Records that a step without a time limit of its own begins.
    pub fn enter(&self, step: Step) {
        self.enter_for(step, self.step_timeout);
    }

    /// Records that a step begins in which commands with a time limit run.
    pub fn enter_commands(&self, step: Step, limit: Millis) {
        self.enter_for(step, limit.duration().saturating_add(ENDING_TIME));
    }

    /// Records that a step begins in which this process ends others.
    pub fn enter_ending(&self, step: Step) {
        self.enter_for(step, ENDING_TIME);
    }

    /// Records that a step begins, and how long it may take. A record that cannot be written stops no one.
    pub fn enter_for(&self, step: Step, limit: Duration) {
        let Some((file, identity)) = &self.to else {
            return;
        };
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let written = record_of(identity, number, step, limit)
            .map_err(RunnerError::from)
            .and_then(|record| write(file, &record));
        if let Err(error) = written {
            tracing::warn!(%error, %step, "a step of the run is not recorded");
        }
    }
}

fn write(file: &File, record: &StepRecord) -> Result<(), RunnerError> {
    let text = serde_json::to_string(record).expect("a record has string keys only");
    let line = format!("{text:<width$}\n", width = RECORD_BYTES - 1);
    file.write_all_at(line.as_bytes(), 0)
        .map_err(|error| RunnerError::io("record a step in", "the lock file", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written_and_replaces_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let lock = RunLock::acquire(&path).unwrap();
        assert_eq!(read_record(&path), None);
        let steps = StepLog::of(&lock, Millis::new(3_000));
        steps.enter(Step::Prepare);
        let first = read_record(&path).unwrap();
        assert_eq!(
            (first.step, first.number, first.limit_ms),
            (Step::Prepare, 0, 3_000)
        );
        steps.enter_for(Step::Agent, Duration::from_secs(2));
        let second = read_record(&path).unwrap();
        assert_eq!(
            (second.step, second.number, second.limit_ms),
            (Step::Agent, 1, 2_000)
        );
        let own = ProcessIdentity::own().unwrap();
        assert_eq!((second.pid, second.start_time), (own.pid, own.start_time));
        assert!(second.begun.at_ms >= first.begun.at_ms);
        assert_eq!(second.begun.boot, own.boot_id);
        assert_eq!(path.metadata().unwrap().len(), RECORD_BYTES as u64);
    }

    #[test]
    fn what_is_no_record_is_none_and_a_pipe_keeps_nobody_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        for text in ["", "{", "{}", "\u{0}", "[1]", &"x".repeat(4096)] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(read_record(&path), None, "{text}");
        }
        assert_eq!(read_record(&folder.path().join("missing")), None);
        assert_eq!(read_record(folder.path()), None);
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
        assert_eq!(read_record(&pipe), None);
    }
}
