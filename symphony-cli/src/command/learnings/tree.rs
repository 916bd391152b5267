//! The commands on learnings.

use clap::Subcommand;

use super::{add, list, rank, search};
use crate::app::App;

/// A command on learnings.
#[derive(Debug, Subcommand)]
pub(crate) enum LearningsCommand {
    /// List the learnings that agents are given, newest first
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    /// Add a learning
    Add(add::AddArgs),
    /// Search learnings, best first
    Search(search::SearchArgs),
    /// Rank the learnings of a document, without a database
    Rank(rank::RankArgs),
}

impl LearningsCommand {
    /// Runs it.
    ///
    /// # Errors
    /// As the command says.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        match self {
            Self::List(args) => args.run(app),
            Self::Add(args) => args.run(app),
            Self::Search(args) => args.run(app),
            Self::Rank(args) => args.run(app),
        }
    }
}
