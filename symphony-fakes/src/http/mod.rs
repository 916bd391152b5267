//! The server that all fakes share: requests, answers, faults, and the record of what was exchanged.

pub(crate) mod fault;
pub(crate) mod message;
pub(crate) mod record;
pub(crate) mod server;
