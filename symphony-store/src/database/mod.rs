//! The database: opening it, its history, its log and its copies.

pub(crate) mod backup;
#[cfg(feature = "postgres")]
pub(crate) mod connect;
pub(crate) mod context;
pub(crate) mod copy;
pub(crate) mod event;
pub(crate) mod event_query;
pub(crate) mod holdings;
pub(crate) mod home;
pub(crate) mod identity;
pub(crate) mod maintenance;
pub(crate) mod migration;
pub(crate) mod open;
#[cfg(test)]
pub(crate) mod query_plan;
pub(crate) mod restore;
pub(crate) mod row;
pub(crate) mod run_lock;
pub(crate) mod sequence;
pub(crate) mod server;
pub(crate) mod sessions;
pub(crate) mod setting;
pub(crate) mod suggestion;
#[cfg(feature = "postgres")]
mod test_copy;
pub(crate) mod trigger;
pub(crate) mod turn;
pub(crate) mod unwritable;
