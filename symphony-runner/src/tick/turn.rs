//! The lock that makes ticks take turns, and what it records about the last one.
//!
//! The lock file has one line each for when the last tick began, the current step of the running tick, and each problem
//! that the last one reported. They may be lost in a power cut, so a tick with nothing to do writes nothing to the
//! database and waits for no disk.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::watchdog::{Step, Stuck};
use symphony_store::{HostTurn, Store};

use super::holder::{Holder, end_holder, look_at_holder};
use super::notes::read_notes;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::process::{ProcessIdentity, WITHOUT_WAITING, open_without_waiting, refuse_no_file};
use crate::watchdog::record_of;

/// How long a tick waits for its turn, longer than any tick takes.
const TURN_WAIT_MAX: Duration = Duration::from_mins(1);
/// Time between two tries to take the lock.
const LOOK: Duration = Duration::from_millis(100);

/// How to take a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnWish {
    /// At once, if it is free. A stuck tick is only reported.
    Now,
    /// At once. A tick that was found stuck twice is ended.
    EndStuck,
    /// After the tick that has it. A stuck tick is ended.
    Wait,
}

/// The result of taking a turn.
#[derive(Debug)]
pub(crate) enum Taken {
    /// This process has the turn.
    Turn(Turn),
    /// Another tick has the turn. If that one exceeds a time limit, with its step.
    Busy(Option<Stuck>),
}

/// The turn of one tick, which ends when the value is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    file: File,
    path: PathBuf,
    /// When the last tick began, as the file has it.
    last: String,
    holder: Option<ProcessIdentity>,
    /// The number of recorded steps.
    steps: AtomicU32,
    limit: Duration,
    /// The tick that was ended so that this one could start.
    ended: Option<Stuck>,
    /// The problems that the last tick reported.
    told: Vec<String>,
}

impl Turn {
    /// Takes the turn, if need be after the tick that has it.
    ///
    /// # Errors
    /// When the lock file cannot be created or locked, or a stuck tick does not end.
    pub(crate) fn take(installation: &Installation, wish: TurnWish) -> Result<Taken, RunnerError> {
        let path = installation.tick_lock();
        let failed = |error| RunnerError::io("lock", &path, error);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .custom_flags(WITHOUT_WAITING)
            .open(&path)
            .map_err(failed)?;
        refuse_no_file(&file).map_err(failed)?;
        let begun = Instant::now();
        let mut ended = None;
        loop {
            match file.try_lock() {
                Ok(()) => {
                    let notes = read_notes(&file).map_err(failed)?;
                    let turn = Self {
                        file,
                        path,
                        last: notes.last,
                        holder: ProcessIdentity::own().ok(),
                        steps: AtomicU32::new(0),
                        limit: installation.config.watchdog.tick_timeout_ms.duration(),
                        ended,
                        told: notes.told,
                    };
                    turn.enter(Step::Observe);
                    return Ok(Taken::Turn(turn));
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            let late = match look_at_holder(installation)? {
                Holder::InTime => None,
                Holder::Stuck(stuck) if wish != TurnWish::Now && end_holder(&path, &stuck)? => {
                    ended = Some(stuck);
                    continue;
                }
                Holder::Late(stuck) | Holder::Stuck(stuck) => Some(stuck),
            };
            if wish != TurnWish::Wait || begun.elapsed() > TURN_WAIT_MAX {
                return Ok(Taken::Busy(late));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Returns the tick that was ended so that this one could start.
    pub(super) fn ended(&self) -> Option<&Stuck> {
        self.ended.as_ref()
    }

    /// Records that a step begins, which shows other ticks that this one makes progress.
    pub(crate) fn enter(&self, step: Step) {
        self.write(Some(step));
    }

    /// Records when this tick began.
    pub(super) fn note(&mut self, now: Timestamp) {
        self.last = now.to_string();
        self.write(Some(Step::Act));
    }

    /// Writes the record. A failure, for instance on a full disk, does not stop a tick.
    fn write(&self, step: Option<Step>) {
        let record = step.zip(self.holder.as_ref()).and_then(|(step, holder)| {
            let number = self.steps.fetch_add(1, Ordering::Relaxed);
            let record = record_of(holder, number, step, self.limit).ok()?;
            serde_json::to_string(&record).ok()
        });
        let mut text = format!("{}\n{}\n", self.last, record.unwrap_or_default());
        for problem in &self.told {
            text.push_str(problem);
            text.push('\n');
        }
        // Written over the old text before the file is cut, which needs no new space on a full disk.
        let written = self
            .file
            .write_all_at(text.as_bytes(), 0)
            .and_then(|()| self.file.set_len(text.len() as u64));
        if let Err(error) = written {
            tracing::warn!(path = %self.path.display(), %error, "the time of this tick was not noted");
        }
    }

    /// Returns whether the last tick reported a problem that begins like this.
    pub(crate) fn was_told(&self, beginning: &str) -> bool {
        let beginning = line_of(beginning);
        self.told.iter().any(|told| told.starts_with(&beginning))
    }

    /// Keeps the problems of this tick, which are written when it ends. Returns those that the last one did not report.
    pub(super) fn note_problems(&mut self, problems: &[String]) -> Vec<String> {
        let lines: Vec<String> = problems
            .iter()
            .take(TOLD_MAX)
            .map(|text| line_of(text))
            .collect();
        let new = problems
            .iter()
            .filter(|text| !self.told.contains(&line_of(text)));
        let new = new.cloned().collect();
        self.told = lines;
        new
    }
}

impl Drop for Turn {
    /// Writes the problems, and removes the record of the step, since the process may continue after its tick.
    fn drop(&mut self) {
        self.write(None);
    }
}

/// Takes the turn among the hosts of a database on a server; returns false when a tick of another host has it.
///
/// # Errors
/// When the server cannot be reached.
pub(super) fn take_among_hosts(store: &Store, wish: TurnWish) -> Result<bool, RunnerError> {
    let begun = Instant::now();
    loop {
        match store.take_host_turn()? {
            HostTurn::Taken => return Ok(true),
            HostTurn::OfAnotherHost
                if wish == TurnWish::Wait && begun.elapsed() < TURN_WAIT_MAX =>
            {
                std::thread::sleep(LOOK);
            }
            HostTurn::OfAnotherHost => return Ok(false),
        }
    }
}

/// How many problems are kept: those of a hundred projects.
const TOLD_MAX: usize = 100;

/// Returns a problem as a line of the lock file.
fn line_of(problem: &str) -> String {
    problem.replace(['\n', '\r'], " ")
}

/// Returns when the last tick began, if known.
///
/// # Errors
/// When the lock file exists and cannot be read.
pub fn last_tick(installation: &Installation) -> Result<Option<Timestamp>, RunnerError> {
    let path = installation.tick_lock();
    let read = open_without_waiting(&path).and_then(io::read_to_string);
    match read {
        Ok(text) => Ok(text
            .lines()
            .next()
            .and_then(|line| line.trim().parse().ok())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(RunnerError::io("read", &path, error)),
    }
}
