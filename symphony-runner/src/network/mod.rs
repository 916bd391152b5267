//! The network of a run in a sandbox: what it may reach, and the ways that lead there.
//!
//! The sandbox has a network of its own with nothing in it. A [`RunNetwork`] serves sockets outside, to which ports of
//! the sandbox's loopback lead:
//!
//! ```text
//! 127.0.0.1:3128 -> proxy.sock      -> allowed hosts (docs/design/0037)
//! 127.0.0.1:3129 -> endpoint-*.sock -> the provider's API, with the credential that the agent does not have
//! 127.0.0.1:PORT -> relay-*.sock    -> 127.0.0.1:PORT of the machine, where a person allowed it
//! ```
//!
//! What is allowed is decided in pure files: `model` (the provider's API), `registry` (the project's package registries)
//! and `plan`, which joins them with the configuration.

mod error;
mod find;
mod known_servers;
mod log;
mod login;
mod model;
mod own_models;
mod plan;
mod reach;
mod registry;
mod relay;
mod run_network;
mod upstream;
mod url;

pub use error::NetworkError;
pub use find::NetworkQuery;
pub use log::NetworkLog;
pub(crate) use login::{LoginCopy, kept_key};
pub use model::STAND_IN;
pub(crate) use model::cli_with_login;
pub(crate) use own_models::{HomeFile, read_own};
pub use plan::NetworkPlan;
pub use reach::{ModelReach, model_reach};
pub(crate) use run_network::metered;
pub use run_network::{RunNetwork, Ways};
