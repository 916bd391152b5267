//! The database file itself: `symphony db`.

mod restore;
mod tree;

pub(crate) use tree::DbCommand;
