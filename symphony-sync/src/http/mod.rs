//! Requests with limits: one client, what an answer is, and how it is read.

pub(crate) mod answer;
pub(crate) mod client;
pub(crate) mod date;
pub mod limits;
pub(crate) mod origin;
pub(crate) mod plain;
pub(crate) mod rate;
mod tls;
