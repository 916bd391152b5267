//! The commands on issues.

use clap::Subcommand;

use super::{
    add, close, comment, delete, edit, export, history, import, list, release, relocate, retry,
    show,
};
use crate::app::App;

/// A command on issues.
#[derive(Debug, Subcommand)]
pub(crate) enum IssueCommand {
    /// Add an issue to the backlog
    Add(add::AddArgs),
    /// List issues
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    /// Show an issue with its comments, findings, pull requests and runs
    Show(show::ShowArgs),
    /// Show everything that happened to an issue, oldest first
    History(history::HistoryArgs),
    /// Change fields of an issue
    Edit(edit::EditArgs),
    /// Move an issue to another status; a live run on it is ended first
    Move(relocate::MoveArgs),
    /// Close an issue as done or cancelled, whatever its status; a live run on it is ended first
    Close(close::CloseArgs),
    /// Delete an issue that was added by mistake
    Delete(delete::DeleteArgs),
    /// Comment on an issue; the next agent reads it
    Comment(comment::CommentArgs),
    /// Retry an issue: reset its count of attempts and its waiting time
    Retry(retry::RetryArgs),
    /// Give an issue back to agents after you took it over with `runs open`
    Release(release::ReleaseArgs),
    /// Import issues from a file: all of them, or none if anything is wrong
    Import(import::ImportArgs),
    /// Write issues to a file that `import` reads
    Export(export::ExportArgs),
}

impl IssueCommand {
    /// Runs it.
    ///
    /// # Errors
    /// As the command says.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        match self {
            Self::Add(args) => args.run(app),
            Self::List(args) => args.run(app),
            Self::Show(args) => args.run(app),
            Self::History(args) => args.run(app),
            Self::Edit(args) => args.run(app),
            Self::Move(args) => args.run(app),
            Self::Close(args) => args.run(app),
            Self::Delete(args) => args.run(app),
            Self::Comment(args) => args.run(app),
            Self::Retry(args) => args.run(app),
            Self::Release(args) => args.run(app),
            Self::Import(args) => args.run(app),
            Self::Export(args) => args.run(app),
        }
    }
}
