//! The settings as typed values (sections 5.3 and 6): defaults, `$VAR`, paths, and what is wrong with them.

mod model;
mod path;
mod place;
mod preflight;
mod read;
mod secret;
mod section;

pub use model::{
    Agent, Codex, Config, DEFAULT_ENDPOINT, Hooks, MILLISECONDS_MAX, Polling, Server, StateName,
    Tracker, Workspace,
};
pub use place::Place;
pub use preflight::{Preflight, TRACKER_KINDS};
pub use read::Reading;
pub use secret::Secret;

#[cfg(test)]
mod tests;
