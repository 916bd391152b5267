//! The database file itself: `symphony db`.

mod init;
mod restore;
mod tree;

pub(crate) use tree::DbCommand;
