//! Stopping a command: its exit code, its message and its hint.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for was done.
    Done,
    /// It failed.
    Failed,
    /// It was not understood.
    Usage,
    /// Something that was named does not exist.
    NotFound,
    /// A rule forbids it.
    Refused,
    /// The database or another tick was busy for longer than was waited.
    Busy,
}

impl Exit {
    /// Returns the exit code.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Refused => 4,
            Self::Busy => 5,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// An error that the command line itself finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(super) exit: Exit,
    message: String,
    pub(super) hint: Option<String>,
}

impl Stop {
    /// Makes an error; the message is a fact, which can be read alone.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            hint: None,
        }
    }

    /// Adds what to type next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Stop {}
