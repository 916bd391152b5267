//! The commands on profiles.

use clap::Subcommand;

use super::{set, show};
use crate::app::App;

/// A command on profiles.
#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// List the profiles in effect here; the project's profiles override the shipped ones
    List(show::ProfileListArgs),
    /// Show a profile: its settings, its tools by role, what `profile set` added, and its text
    Show(show::ProfileShowArgs),
    /// Add instructions and a model to a profile, for one project or for all
    Set(set::ProfileSetArgs),
}

impl ProfileCommand {
    /// Runs it.
    ///
    /// # Errors
    /// When the prompts of the project cannot be read, or there is no such profile.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        match self {
            Self::List(args) => args.run(app),
            Self::Show(args) => args.run(app),
            Self::Set(args) => args.run(app),
        }
    }
}
