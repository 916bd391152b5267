//! The commands on the configuration.

use clap::{Args, Subcommand};
use symphony_core::config::json_schema;

use super::{check, set, show};
use crate::app::App;

/// A command on the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show the effective values, and where each comes from
    Show(show::ShowArgs),
    /// Check the configuration files and report every problem
    Check(check::CheckArgs),
    /// Print the JSON Schema of a configuration file
    Schema(SchemaArgs),
    /// Set a value in the project's file, keeping its comments and layout
    Set(set::SetArgs),
}

/// What `config schema` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony config schema > symphony.schema.json")]
pub(crate) struct SchemaArgs {}

impl ConfigCommand {
    /// Runs it.
    ///
    /// # Errors
    /// As the command says.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        match self {
            Self::Show(args) => args.run(app),
            Self::Check(args) => args.run(app),
            Self::Schema(SchemaArgs {}) => app.out.document(&json_schema()),
            Self::Set(args) => args.run(app),
        }
    }
}
