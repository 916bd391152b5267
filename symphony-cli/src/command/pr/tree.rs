//! The commands on pull requests.

use clap::Subcommand;

use super::{check, diff, list, merge, publish, show, verdict};
use crate::app::App;
use crate::failure::Exit;

/// A command on pull requests. Each is named by its number, its issue or its plan.
#[derive(Debug, Subcommand)]
pub(crate) enum PrCommand {
    /// List pull requests, newest first
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    /// Show a pull request with its gates, its verdict and its review points
    Show(show::ShowArgs),
    /// Print the diff of a pull request
    Diff(diff::DiffArgs),
    /// Run the gates of a pull request again, even those that passed
    Check(check::CheckArgs),
    /// Approve the head of a pull request
    Approve(verdict::ApproveArgs),
    /// Send a pull request back with points that the next agent has to answer
    Reject(verdict::RejectArgs),
    /// Merge a pull request into its base, which completes its issue or plan
    Merge(merge::MergeArgs),
    /// Publish a pull request elsewhere with the configured command
    Publish(publish::PublishArgs),
    /// Close a pull request without merging it; its issue goes back to `todo`, its plan waits for you
    Close(verdict::CloseArgs),
}

impl PrCommand {
    /// Runs it.
    ///
    /// # Errors
    /// As the command says.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<Exit> {
        match self {
            Self::List(args) => args.run(app)?,
            Self::Show(args) => args.run(app)?,
            Self::Diff(args) => args.run(app)?,
            Self::Check(args) => return args.run(app),
            Self::Approve(args) => args.run(app)?,
            Self::Reject(args) => args.run(app)?,
            Self::Merge(args) => args.run(app)?,
            Self::Publish(args) => return args.run(app),
            Self::Close(args) => args.run(app)?,
        }
        Ok(Exit::Done)
    }
}
