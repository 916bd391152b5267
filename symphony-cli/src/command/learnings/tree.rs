//! The commands on learnings.

use clap::Subcommand;

use super::{add, edit, export, import, list, rank, retire, search, show, stats};
use crate::app::App;

/// A command on learnings.
#[derive(Debug, Subcommand)]
pub(crate) enum LearningsCommand {
    /// List the learnings that agents are given or may be given later, newest first
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    /// Show a learning, and whether issues went better when their agents had it
    Show(show::ShowArgs),
    /// Add a learning
    Add(add::AddArgs),
    /// Change the text of a learning
    Edit(edit::EditArgs),
    /// Search learnings, best first
    Search(search::SearchArgs),
    /// Rank the learnings in a JSON file, without a database
    Rank(rank::RankArgs),
    /// Show how often each learning was given to an agent, and how those runs ended
    Stats(stats::StatsArgs),
    /// Accept proposed or dropped learnings, so that the agents of every issue get them
    Accept(retire::AcceptArgs),
    /// Stop giving learnings to agents; a proposed one is rejected
    #[command(visible_alias = "reject", alias = "drop")]
    Retire(retire::RetireArgs),
    /// Give retired learnings to agents again
    Restore(retire::RestoreArgs),
    /// Write the learnings as JSON Lines
    Export(export::ExportArgs),
    /// Import learnings from a file that `export` wrote
    Import(import::ImportArgs),
}

impl LearningsCommand {
    /// Runs it.
    ///
    /// # Errors
    /// As the command says.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        match self {
            Self::List(args) => args.run(app),
            Self::Show(args) => args.run(app),
            Self::Add(args) => args.run(app),
            Self::Edit(args) => args.run(app),
            Self::Search(args) => args.run(app),
            Self::Rank(args) => args.run(app),
            Self::Stats(args) => args.run(app),
            Self::Accept(args) => args.run(app),
            Self::Retire(args) => args.run(app),
            Self::Restore(args) => args.run(app),
            Self::Export(args) => args.run(app),
            Self::Import(args) => args.run(app),
        }
    }
}
