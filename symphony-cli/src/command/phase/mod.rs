//! Phases: `symphony phase`. Contracts are listed, shown and checked; deliveries are approved and rejected.

mod check;
mod contracts;
mod verdict;

use clap::Subcommand;

use self::check::PhaseCheckArgs;
use self::contracts::{PhaseListArgs, PhaseShowArgs};
use self::verdict::{ApprovePhaseArgs, RejectPhaseArgs};
use crate::app::App;

/// A command on phases.
#[derive(Debug, Subcommand)]
pub(crate) enum PhaseCommand {
    /// List the phases in effect here; the project's contracts override the shipped ones
    List(PhaseListArgs),
    /// Show the contract of a phase: its settings and its text
    Show(PhaseShowArgs),
    /// Check a contract file and its place in the chain, and report every problem
    Check(PhaseCheckArgs),
    /// Approve the delivery of an issue's phase
    Approve(ApprovePhaseArgs),
    /// Reject the delivery of an issue's phase; the next agent gets your points
    Reject(RejectPhaseArgs),
}

impl PhaseCommand {
    /// Runs it.
    ///
    /// # Errors
    /// When the prompts cannot be read, there is no such phase, a checked file has problems, or a verdict is refused.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        match self {
            Self::List(args) => args.run(app),
            Self::Show(args) => args.run(app),
            Self::Check(args) => args.run(app),
            Self::Approve(args) => args.run(app),
            Self::Reject(args) => args.run(app),
        }
    }
}
