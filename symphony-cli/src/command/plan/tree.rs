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
    /// Carry a plan out, or take up the one that is under way
    Run(run::RunArgs),
    /// List the plans that were begun, newest first
    #[command(visible_alias = "ls")]
    List(status::ListArgs),
    /// Show how far a plan is, phase by phase
    Status(status::StatusArgs),
    /// Say how a plan goes on with a phase that failed
    Decide(orders::DecideArgs),
    /// Let a phase that failed begin anew, or one that waits for its next attempt start at once
    Retry(orders::RetryArgs),
    /// Go on without a phase
    Skip(orders::SkipArgs),
    /// Give a phase up with everything behind it, or the whole plan
    Abort(orders::AbortArgs),
    /// Start no more phases; those at work go on
    Pause(orders::PauseArgs),
    /// Start phases again after a pause
    Resume(orders::PauseArgs),
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
    /// Keep a phase of a state file with the session that took it
    Renew(lease::RenewArgs),
    /// Note in a state file that a phase is complete
    MarkComplete(mark::MarkCompleteArgs),
    /// Note in a state file that a phase failed
    MarkFailed(mark::MarkFailedArgs),
    /// Make a phase of a state file ready again
    RetryPhase(resolve::RetryPhaseArgs),
    /// Answer a phase of a state file that awaits a decision
    Resolve(resolve::ResolveArgs),
    /// Show what the plan of a state file has come to
    Summary(summary::SummaryArgs),
    /// Name the class of an error, which decides whether a phase is tried again
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
            Self::Pause(args) => args.pause(app),
            Self::Resume(args) => args.resume(app),
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
