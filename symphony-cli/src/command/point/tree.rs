//! The commands on review points.

use clap::Subcommand;

use super::{add, list, reply, settle};
use crate::app::App;

/// A command on the review points of an issue or a plan.
#[derive(Debug, Subcommand)]
pub(crate) enum PointCommand {
    /// List the review points of an issue or a plan, with their answers
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    /// Add a point, for example a remark on a line
    Add(add::AddArgs),
    /// Close points that are met or settled
    Close(settle::CloseArgs),
    /// Reopen points, so that the agent has to answer them again
    Reopen(settle::ReopenArgs),
    /// Reply to a point, for example to an agent's question; an issue that waits for the reply continues
    Reply(reply::ReplyArgs),
}

impl PointCommand {
    /// Runs it.
    ///
    /// # Errors
    /// As the command says.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        match self {
            Self::List(args) => args.run(app),
            Self::Add(args) => args.run(app),
            Self::Close(args) => args.run(app),
            Self::Reopen(args) => args.run(app),
            Self::Reply(args) => args.run(app),
        }
    }
}
