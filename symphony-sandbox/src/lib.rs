//! What an agent can reach.
//!
//! An agent runs as the user who started Symphony, and without a sandbox it reaches what that user reaches: the
//! database, other checkouts, keys, and the supervisor itself. This crate holds the levels of protection and the pure
//! choice between them, the layout of a sandbox as arguments of bubblewrap, the program that gives up rights inside it
//! (`symphony confine`), and the probe that finds out what a machine offers.
//!
//! ```text
//! exec-in-session → bwrap (namespaces, the view of the files) → symphony confine (Landlock, seccomp, limits) → agent
//! ```
//!
//! Landlock cannot be the outer layer: bubblewrap mounts, which Landlock forbids. Where the network is the sandbox's own,
//! `symphony confine` first starts a forwarder, by which ports of its loopback lead to sockets outside.

mod caches;
mod confine;
mod facts;
mod kernel;
mod layout;
mod level;
mod probe;
mod status;
mod tools;

pub use confine::{
    CONFINE_COMMAND, CONFINE_FAILED, CONFINE_MESSAGE, ConfineError, Confinement, Forward, confine,
    take_terminal,
};
pub use facts::{BUBBLEWRAP_MIN, Bubblewrap, Facts, bubblewrap_version};
pub use kernel::landlock_abi;
pub use layout::{
    HOSTS, Home, LayoutError, Machine, Network, PROCESSES, Programs, RESOLVER, SOCKETS, Sandbox,
    Shown, SystemFolder, TMP_BYTES,
};
pub use level::{
    LANDLOCK_ABI_MIN, LANDLOCK_ALONE_ABI_MIN, Level, LevelSetting, Unavailable, choose,
};
pub use probe::{PROBE_COMMAND, probe, probe_inside};
pub use status::Status;
pub use tools::{Tools, ToolsRequest};
