//! The commands on projects.

use clap::Subcommand;

use super::{add, list, show, wizard};
use crate::app::App;

/// A command on projects.
#[derive(Debug, Subcommand)]
pub(crate) enum ProjectCommand {
    /// List the projects of the installation
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    /// Add a repository to the installation: one database, one limit of agents
    Add(add::AddArgs),
    /// Show a project: its setup, its wizard, what the database adds to its profiles
    Show(show::ShowArgs),
    /// Say how far the setup wizard of a project came, or let it work again
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
            Self::Wizard(args) => args.run(app),
        }
    }
}
