//! The commands on projects.

use clap::Subcommand;

use super::{add, list, relocate, remove, rename_prefix, show, wizard};
use crate::app::App;

/// A command on projects.
#[derive(Debug, Subcommand)]
pub(crate) enum ProjectCommand {
    /// List the projects of the installation
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    /// Add a repository to the installation, so that it shares the database and the limit on running agents
    Add(add::AddArgs),
    /// Show a project: its settings, its setup wizard, and what `profile set` added to its profiles
    Show(show::ShowArgs),
    /// Record that a project's folder was moved
    Move(relocate::MoveArgs),
    /// Remove a project from the installation, but keep its records
    Remove(remove::RemoveArgs),
    /// Give new issues of a project another prefix
    RenamePrefix(rename_prefix::RenamePrefixArgs),
    /// Show how far a project's setup wizard got, or run it again
    Wizard(wizard::WizardArgs),
}

impl ProjectCommand {
    /// Runs it.
    ///
    /// # Errors
    /// As the command says.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        match self {
            Self::List(args) => args.run(app),
            Self::Add(args) => args.run(app),
            Self::Show(args) => args.run(app),
            Self::Move(args) => args.run(app),
            Self::Remove(args) => args.run(app),
            Self::RenamePrefix(args) => args.run(app),
            Self::Wizard(args) => args.run(app),
        }
    }
}
