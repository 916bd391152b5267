//! The commands on plans.

use clap::Subcommand;

use super::{check, find, parse};
use crate::app::App;

/// A command on plans.
#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// Name the plan file that is meant when none is named
    Find(find::FindArgs),
    /// Print a plan file's phases as JSON, with their levels
    Parse(parse::ParseArgs),
    /// Check a plan file; all problems at once
    Check(check::CheckArgs),
}

impl PlanCommand {
    /// Runs it.
    ///
    /// # Errors
    /// As the command says.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        match self {
            Self::Find(args) => args.run(app),
            Self::Parse(args) => args.run(app),
            Self::Check(args) => args.run(app),
        }
    }
}
