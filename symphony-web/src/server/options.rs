//! What a server is started with.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use symphony_runner::session::Session;

use crate::access::{Hosts, User};

/// Opens the installation for each request, so that a changed configuration holds at once. What goes wrong is said in words.
#[derive(Clone)]
pub struct Opener(Arc<dyn Fn() -> Result<Session, String> + Send + Sync>);

impl Opener {
    /// Makes one of a function.
    pub fn new(open: impl Fn() -> Result<Session, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(open))
    }

    pub(crate) fn open(&self) -> Result<Session, String> {
        (self.0)()
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opener")
    }
}

/// What became of the wish for a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refreshed {
    /// A tick of its own comes.
    Alone,
    /// A tick comes that another request asked for.
    WithAnother,
}

/// Asks for a tick now, which runs in a process of its own.
#[derive(Clone)]
pub struct Refresher(Arc<dyn Fn() -> Refreshed + Send + Sync>);

impl Refresher {
    /// Makes one of a function, which does not wait for the tick.
    pub fn new(refresh: impl Fn() -> Refreshed + Send + Sync + 'static) -> Self {
        Self(Arc::new(refresh))
    }

    pub(crate) fn refresh(&self) -> Refreshed {
        (self.0)()
    }
}

impl fmt::Debug for Refresher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Refresher")
    }
}

/// What `doctor` and its audit found: it takes seconds, so that it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkup {
    /// The checks, as `doctor --json` lists them.
    pub checks: Vec<Check>,
    /// What does not hold, as `doctor --audit --json` lists it.
    pub findings: Vec<Finding>,
}

/// One check of `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What was checked.
    pub check: String,
    /// How it came out: `ok`, `absent`, `warning` or `failed`.
    pub status: String,
    /// What was found.
    pub detail: String,
    /// How to repair it; empty when nothing is wrong.
    pub fix: String,
}

/// One finding of the audit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Finding {
    /// What should hold, by name.
    pub invariant: String,
    /// What should hold.
    pub statement: String,
    /// The row, file or process.
    pub subject: String,
    /// What is wrong with it.
    pub detail: String,
}

/// Runs `doctor` in a process of its own, for a limited time. What goes wrong is said in words.
#[derive(Clone)]
pub struct Doctor(Arc<dyn Fn() -> Result<Checkup, String> + Send + Sync>);

impl Doctor {
    /// Makes one of a function, which waits for the result.
    pub fn new(check: impl Fn() -> Result<Checkup, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(check))
    }

    pub(crate) fn check(&self) -> Result<Checkup, String> {
        (self.0)()
    }
}

impl fmt::Debug for Doctor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Doctor")
    }
}

/// Reads the configured users for each request that somebody sends as one, so that who is removed is out at once. What goes wrong is
/// said in words.
#[derive(Clone)]
pub struct Users(Arc<dyn Fn() -> Result<Vec<User>, String> + Send + Sync>);

impl Users {
    /// Makes one of a function.
    pub fn new(read: impl Fn() -> Result<Vec<User>, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    pub(crate) fn read(&self) -> Result<Vec<User>, String> {
        (self.0)()
    }
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Users")
    }
}

/// Who is let in.
#[derive(Debug, Clone)]
pub struct Access {
    /// The names that the server is known by.
    pub hosts: Hosts,
    /// The configured users.
    pub users: Users,
    /// Whether nobody may change anything.
    pub is_read_only: bool,
}
