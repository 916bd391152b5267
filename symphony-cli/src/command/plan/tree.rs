//! The commands on plans.

use clap::Subcommand;

use super::{check, find, graph, init_state, mark, parse, prompt, ready, resolve, statusline};
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
    /// Draw which phase waits for which
    Graph(graph::GraphArgs),
    /// Print the prompt of a phase
    Prompt(prompt::PromptArgs),
    /// Print how far the plan is, in one line for a status bar
    Statusline(statusline::StatuslineArgs),
    /// Begin a plan that a skill carries out: make its state file
    InitState(init_state::InitStateArgs),
    /// Print the phases of a state file that can be worked on now, and what each gets from others
    Ready(ready::ReadyArgs),
    /// Note in a state file that a phase is complete
    MarkComplete(mark::MarkCompleteArgs),
    /// Note in a state file that a phase failed
    MarkFailed(mark::MarkFailedArgs),
    /// Make a phase of a state file ready again
    RetryPhase(resolve::RetryPhaseArgs),
    /// Answer a phase of a state file that awaits a decision
    Resolve(resolve::ResolveArgs),
    /// Name the class of an error, which decides whether a phase is tried again
    ClassifyError(resolve::ClassifyErrorArgs),
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
            Self::Graph(args) => args.run(app),
            Self::Prompt(args) => args.run(app),
            Self::Statusline(args) => args.run(app),
            Self::InitState(args) => args.run(app),
            Self::Ready(args) => args.run(app),
            Self::MarkComplete(args) => args.run(app),
            Self::MarkFailed(args) => args.run(app),
            Self::RetryPhase(args) => args.run(app),
            Self::Resolve(args) => args.run(app),
            Self::ClassifyError(args) => args.run(app),
        }
    }
}
