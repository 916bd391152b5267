//! The commands on plans.

use clap::Subcommand;

use super::{
    check, find, graph, init_state, lease, mark, orders, parse, prompt, ready, resolve, run,
    status, statusline, summary,
};
use crate::app::App;
use crate::failure::Exit;

/// A command on plans.
#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// Run a plan, or continue the one that is under way
    Run(run::RunArgs),
    /// List plans, newest first
    #[command(visible_alias = "ls")]
    List(status::ListArgs),
    /// Show the progress of a plan, phase by phase
    Status(status::StatusArgs),
    /// Decide how a plan continues after a phase has failed
    Decide(orders::DecideArgs),
    /// Retry a failed phase, or start the next attempt of a waiting phase now
    Retry(orders::RetryArgs),
    /// Skip a phase and continue without it
    Skip(orders::SkipArgs),
    /// Abort a phase and everything that depends on it, or the whole plan
    Abort(orders::AbortArgs),
    /// Stop starting phases; running phases continue
    Pause(orders::PauseArgs),
    /// End a pause, so that phases can start again
    Resume(orders::ResumeArgs),
    /// Print the plan file that is used when you name none
    Find(find::FindArgs),
    /// Print the phases of a plan file as JSON, with their levels
    Parse(parse::ParseArgs),
    /// Check a plan file and report every problem
    Check(check::CheckArgs),
    /// Draw the phases and their dependencies
    Graph(graph::GraphArgs),
    /// Print the prompt of a phase
    Prompt(prompt::PromptArgs),
    /// Print the progress of the plan in one line, for a status bar
    Statusline(statusline::StatuslineArgs),
    /// Create the state file of a plan that a skill carries out
    InitState(init_state::InitStateArgs),
    /// Print the phases of a state file that can start now, with the artifacts that each gets from other phases
    Ready(ready::ReadyArgs),
    /// Extend the lease of a session on a phase of a state file
    Renew(lease::RenewArgs),
    /// Record in a state file that a phase is complete
    MarkComplete(mark::MarkCompleteArgs),
    /// Record in a state file that a phase failed
    MarkFailed(mark::MarkFailedArgs),
    /// Make a phase of a state file ready again
    RetryPhase(resolve::RetryPhaseArgs),
    /// Decide how a phase of a state file continues after it has failed
    Resolve(resolve::ResolveArgs),
    /// Summarise the plan of a state file
    Summary(summary::SummaryArgs),
    /// Classify an error; its class decides whether a phase is retried
    ClassifyError(resolve::ClassifyErrorArgs),
}

impl PlanCommand {
    /// Runs it.
    ///
    /// # Errors
    /// As the command says.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<Exit> {
        let done = match self {
            Self::Run(args) => return args.run(app),
            Self::List(args) => args.run(app),
            Self::Status(args) => args.run(app),
            Self::Decide(args) => args.run(app),
            Self::Retry(args) => args.run(app),
            Self::Skip(args) => args.run(app),
            Self::Abort(args) => args.run(app),
            Self::Pause(args) => args.run(app),
            Self::Resume(args) => args.run(app),
            Self::Find(args) => args.run(app),
            Self::Parse(args) => args.run(app),
            Self::Check(args) => args.run(app),
            Self::Graph(args) => args.run(app),
            Self::Prompt(args) => args.run(app),
            Self::Statusline(args) => args.run(app),
            Self::InitState(args) => args.run(app),
            Self::Ready(args) => args.run(app),
            Self::Renew(args) => args.run(app),
            Self::MarkComplete(args) => args.run(app),
            Self::MarkFailed(args) => args.run(app),
            Self::RetryPhase(args) => args.run(app),
            Self::Resolve(args) => args.run(app),
            Self::Summary(args) => args.run(app),
            Self::ClassifyError(args) => args.run(app),
        };
        done.map(|()| Exit::Done)
    }
}
