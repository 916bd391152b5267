//! The lock that makes ticks take turns, and what it tells of the last one.
//!
//! The lock file holds, a line each, when the last tick began, the step that the tick at work is in, and the problems that the
//! last one reported. They may be lost with the machine's power, so that a tick with nothing to do writes nothing to the
//! database and waits for no disk.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::watchdog::{Step, Stuck};

use super::holder::{Holder, end_holder, look_at_holder};
use super::notes::read_notes;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::process::{ProcessIdentity, WITHOUT_WAITING, open_without_waiting, refuse_no_file};
use crate::watchdog::record_of;

/// How long a tick that waits for its turn waits: longer than any tick takes.
const TURN_WAIT_MAX: Duration = Duration::from_mins(1);
/// Time between two looks at the lock.
const LOOK: Duration = Duration::from_millis(100);

/// How a turn is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnWish {
    /// At once, if no one has it. A tick that is stuck is only reported.
    Now,
    /// At once; a tick that two others have found stuck is ended.
    EndStuck,
    /// After the tick that has it; one that is stuck is ended.
    Wait,
}

/// What came of asking for a turn.
#[derive(Debug)]
pub(crate) enum Taken {
    /// It is this process's.
    Turn(Turn),
    /// Another tick is at work; where it is past a time limit, with what it does.
    Busy(Option<Stuck>),
}

/// The turn of one tick; given up when the value is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    file: File,
    path: PathBuf,
    /// When the last tick began, as it is in the file.
    last: String,
    holder: Option<ProcessIdentity>,
    /// The steps that were recorded.
    steps: AtomicU32,
    limit: Duration,
    /// The tick that was ended so that this one could begin.
    ended: Option<Stuck>,
    /// What the last tick told, once it was asked for.
    told: Vec<String>,
}

impl Turn {
    /// Takes the turn, if need be after the tick that has it.
    ///
    /// # Errors
    /// When the lock file cannot be made or locked, or a stuck tick does not end.
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

    /// Returns the tick that was ended so that this one could begin.
    pub(super) fn ended(&self) -> Option<&Stuck> {
        self.ended.as_ref()
    }

    /// Records that a step begins: other ticks see by it that this one makes progress.
    pub(super) fn enter(&self, step: Step) {
        self.write(Some(step));
    }

    /// Notes when this tick began.
    pub(super) fn note(&mut self, now: Timestamp) {
        self.last = now.to_string();
        self.write(Some(Step::Act));
    }

    /// Writes the notes. A failure to write them (on a full disk) stops no tick.
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
        let written = self
            .file
            .write_all_at(text.as_bytes(), 0)
            .and_then(|()| self.file.set_len(text.len() as u64));
        if let Err(error) = written {
            tracing::warn!(path = %self.path.display(), %error, "the time of this tick was not noted");
        }
    }

    /// Notes the problems of this tick, which are written when it ends; returns those that the last one did not have.
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
    /// Writes the problems, and takes the record of the step back: a process that goes on after its tick is not at work with
    /// one.
    fn drop(&mut self) {
        self.write(None);
    }
}

/// Problems that are remembered: those of a hundred projects.
const TOLD_MAX: usize = 100;

/// A problem as it is in the lock file.
fn line_of(problem: &str) -> String {
    problem.replace(['\n', '\r'], " ")
}

/// Returns when the last tick began, as far as it is known.
///
/// # Errors
/// When the lock file is there and cannot be read.
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
