//! The database file itself: `symphony db`.

mod copy;
mod init;
mod restore;
mod tree;

pub(crate) use tree::DbCommand;
