//! What a server is started with.

use std::fmt;
use std::sync::Arc;

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
