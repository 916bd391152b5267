//! Where the database is: a file of SQLite, or a server of PostgreSQL.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use super::server_address::ServerAddress;

/// Name that the files of an installation begin with when its database is on a server.
const FILE_NAME: &str = "symphony.db";

/// The place of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    /// A file of SQLite on a local disk.
    File(PathBuf),
    /// A database of a PostgreSQL server.
    Server(Box<ServerAddress>),
}

impl Database {
    /// Returns the file; `None` if the database is on a server.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Server(_) => None,
        }
    }

    /// Returns the address of the server; `None` if the database is a file.
    pub fn server(&self) -> Option<&ServerAddress> {
        match self {
            Self::File(_) => None,
            Self::Server(address) => Some(address),
        }
    }

    /// Returns the path that the installation's own files are named after: they are beside the database file, or in the
    /// folder of the installation's state.
    pub fn name_in(&self, state_dir: &Path) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Server(_) => state_dir.join(FILE_NAME),
        }
    }
}

/// The path, or the address: it never holds a password.
impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Server(address) => address.fmt(f),
        }
    }
}

impl Serialize for Database {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<PathBuf> for Database {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl From<&str> for Database {
    fn from(path: &str) -> Self {
        Self::File(path.into())
    }
}

impl From<ServerAddress> for Database {
    fn from(address: ServerAddress) -> Self {
        Self::Server(Box::new(address))
    }
}
