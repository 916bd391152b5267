//! Commands of the configuration that reach out of Symphony, the processes that run them, and why their exchanges end early.

pub(crate) mod helper;
pub(crate) mod hook;
pub mod notify;
pub mod publish;
pub(crate) mod stop;
