//! Commands of the configuration that reach out of Symphony, and the processes that run them.

pub(crate) mod helper;
pub(crate) mod hook;
pub mod notify;
pub mod publish;
