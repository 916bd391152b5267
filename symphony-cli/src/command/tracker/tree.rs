//! The commands on trackers.

use clap::Subcommand;

use super::{check, status, sync};
use crate::app::App;

/// A command on trackers.
#[derive(Debug, Subcommand)]
pub(crate) enum TrackerCommand {
    /// Check the token of each tracker: whose token it is, and what it allows
    Check(check::CheckArgs),
    /// Exchange changes with trackers now: issues, edits, comments
    Sync(sync::SyncArgs),
    /// Show what is mirrored, what waits to be sent, and what a tracker refused
    Status(status::StatusArgs),
}

impl TrackerCommand {
    /// Runs it.
    ///
    /// # Errors
    /// As the command says.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        match self {
            Self::Check(args) => args.run(app),
            Self::Sync(args) => args.run(app),
            Self::Status(args) => args.run(app),
        }
    }
}
