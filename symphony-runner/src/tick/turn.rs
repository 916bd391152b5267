//! The lock that makes ticks take turns, and what it tells of the last one.
//!
//! When the last tick began stands in the lock file itself, and the problems that it told, a line each: they may be lost with
//! the machine's power, so that a tick with nothing to do writes nothing to the database and waits for no disk.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use symphony_core::Timestamp;

use crate::error::RunnerError;
use crate::installation::Installation;

/// How long a tick that waits for its turn waits: longer than any tick takes.
const TURN_WAIT_MAX: Duration = Duration::from_mins(1);
/// Time between two looks at the lock.
const LOOK: Duration = Duration::from_millis(100);

/// The turn of one tick; given up when the value is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    file: File,
    path: PathBuf,
    /// What the last tick told, once it was asked for.
    told: Vec<String>,
}

impl Turn {
    /// Takes the turn, if need be (`wait`) after the tick that has it; `None` when that is still at work.
    ///
    /// # Errors
    /// When the lock file can not be made or locked.
    pub(crate) fn take(
        installation: &Installation,
        wait: bool,
    ) -> Result<Option<Self>, RunnerError> {
        let path = installation.tick_lock();
        let failed = |error| RunnerError::io("lock", &path, error);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => {
                    let told = told_problems(&file).map_err(failed)?;
                    return Ok(Some(Self { file, path, told }));
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            if !wait || begun.elapsed() > TURN_WAIT_MAX {
                return Ok(None);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Notes when this tick began. A note that can not be written (the disk is full) keeps no tick back.
    pub(super) fn note(&self, now: Timestamp) {
        let mut text = format!("{now}\n");
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

    /// Notes the problems of this tick; returns those that the last one did not have.
    pub(super) fn note_problems(&mut self, now: Timestamp, problems: &[String]) -> Vec<String> {
        let lines: Vec<String> = problems
            .iter()
            .take(TOLD_MAX)
            .map(|text| line_of(text))
            .collect();
        let new = problems
            .iter()
            .filter(|text| !self.told.contains(&line_of(text)));
        let new = new.cloned().collect();
        if lines != self.told {
            self.told = lines;
            self.note(now);
        }
        new
    }
}

/// Problems that are remembered: those of a hundred projects.
const TOLD_MAX: usize = 100;

/// A problem as it stands in the lock file.
fn line_of(problem: &str) -> String {
    problem.replace(['\n', '\r'], " ")
}

fn told_problems(mut file: &File) -> io::Result<Vec<String>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().skip(1).map(str::to_owned).collect())
}

/// Returns when the last tick began, as far as it is known.
///
/// # Errors
/// When the lock file is there and can not be read.
pub fn last_tick(installation: &Installation) -> Result<Option<Timestamp>, RunnerError> {
    let path = installation.tick_lock();
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(text
            .lines()
            .next()
            .and_then(|line| line.trim().parse().ok())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(RunnerError::io("read", &path, error)),
    }
}
