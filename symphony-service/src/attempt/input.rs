//! What an attempt needs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use symphony_runner::process::{Supervision, Trampoline};
use symphony_sync::linear_polls::LinearPolls;
use symphony_workflow::{Config, Ticket};
use tokio_util::sync::CancellationToken;

/// What an attempt needs. The caller has prepared the workspace, and runs the hooks around it.
#[derive(Debug)]
pub struct AttemptInput<'a> {
    /// The settings that were in force when the attempt began.
    pub config: Config,
    /// The ticket, as the tracker showed it when the attempt began.
    pub ticket: Ticket,
    /// The folder of the ticket: absolute, existing, without links.
    pub workspace: PathBuf,
    /// The folder of all workspaces: absolute, without links.
    pub root: PathBuf,
    /// What the agent is sent in its first turn.
    pub prompt: String,
    /// Asks the tracker for the ticket between turns, and serves the agent's own questions to it.
    pub polls: LinearPolls,
    /// Starts and ends the app-server with all its processes.
    pub supervision: &'a Supervision,
    /// The command that starts a program in a session of its own.
    pub trampoline: Trampoline,
    /// The whole environment of the app-server; it has no token of the tracker unless the user's own shell sets it.
    pub environment: BTreeMap<OsString, OsString>,
    /// Cancelled when the attempt has to end.
    pub stop: CancellationToken,
}
