//! HTTP to issue trackers and forges (the specification's `trackers.md`): one trait for each, one folder for each service.
//!
//! This crate asks and reads. It decides nothing about issues (`symphony-tracker` does) or pull requests (`symphony-forge`
//! does), keeps nothing (`symphony-store`
//! does) and starts no process: whoever calls gives the token as a value ([`Token`]). No error, log or `Debug` text has it.
//!
//! [`connect`] makes a [`Tracker`] of a configured one, and [`connect_forge`] a [`Forge`]. Where a request fails, the answer is a [`Fault`]: the same for all
//! trackers.

mod access;
mod connect;
mod error;
mod forge;
mod github;
mod http;
mod linear;
pub mod linear_polls;
pub mod token;
mod tracker;

pub use access::{Access, AccessProblem};
pub use connect::{connect, connect_forge};
pub use error::SyncError;
pub use forge::Forge;
pub use http::limits::{self, Options, ProxyUse};
pub use linear::query as linear_queries;
pub use symphony_tracker::fault::Fault;
pub use token::{Token, TokenError};
pub use tracker::{Answering, Tracker};
