//! Why a folder cannot be written.

use std::fmt;

/// Why a folder cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unwritable {
    /// It belongs to another user.
    Owner {
        /// Its number.
        uid: u32,
    },
    /// Its owner has no right to write there.
    Mode,
    /// Its file system is mounted read-only.
    ReadOnly,
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner { uid: 0 } => f.write_str("it belongs to root"),
            Self::Owner { uid } => write!(f, "it belongs to another user (uid {uid})"),
            Self::Mode => f.write_str("its mode does not let you write there"),
            Self::ReadOnly => f.write_str("its file system is mounted read-only"),
        }
    }
}
