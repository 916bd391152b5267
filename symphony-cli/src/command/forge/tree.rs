//! The commands on the forge.

use clap::Subcommand;

use super::{check, status, sync};
use crate::app::App;

/// A command on the forge.
#[derive(Debug, Subcommand)]
pub(crate) enum ForgeCommand {
    /// Check the token and the remote: whose token it is, and what it allows
    Check(check::CheckArgs),
    /// Exchange pull requests with the forge now: branches, reviews, checks, merges
    Sync(sync::SyncArgs),
    /// Show the open pull requests at the forge, and any problems with them
    Status(status::StatusArgs),
}

impl ForgeCommand {
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
