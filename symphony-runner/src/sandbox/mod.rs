//! What confines the programs of a run.
//!
//! - `Protection`: the level that this process's runs have, by the configuration and what the machine offers. Chosen once
//!   per supervisor. Nothing falls back to a weaker level: where a level is not available, no program starts.
//! - `Places`: what of the disk a program needs. Its owner puts it together: for an agent `supervise::prepare`.
//! - `RunSandbox`: both together. `RunSandbox::wrap` turns a program with its arguments and environment into the one
//!   that starts it confined, each time with a new home.
//! - `CommandSandbox`: one for configured commands, with its network.
//! - `Start`: one such start. It reports whether the sandbox itself failed, and removes the home when it is dropped.
//!
//! At `off` everything stays as it is.

mod commands;
mod compose;
mod facts;
mod fault;
mod program;
mod protection;
mod run_sandbox;
mod start;

pub(crate) use commands::{CommandSandbox, CommandsOf};
pub(crate) use compose::{Access, Places, home_of};
pub use fault::SandboxFault;
pub(crate) use program::{object_folders, program_paths};
pub use protection::{Protection, asked};
pub(crate) use run_sandbox::{RunSandbox, Wrapped};
pub(crate) use start::{Start, remove_starts};
