//! The commands on runs.

use clap::Subcommand;

use super::{cancel, list, logs, open, prompt, say, show, withdraw};
use crate::app::App;

/// A command on runs. Each is named by the beginning or the end of its id, or by its issue.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List runs, newest first
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    /// Show a run: its tokens and cost, its agent, and why it failed
    Show(show::ShowArgs),
    /// Print the log of a run
    #[command(visible_alias = "log")]
    Logs(logs::LogsArgs),
    /// Show the prompts that a run's agent got, and what went into them
    Prompt(prompt::PromptArgs),
    /// Send a message to the agent on an issue, or to the next one if none is running
    Say(say::SayArgs),
    /// Withdraw a message that no agent has read
    Withdraw(withdraw::WithdrawArgs),
    /// Take over an issue: continue its agent's session in this terminal
    Open(open::OpenArgs),
    /// End a live run; its work is kept, and its issue returns to its previous status
    Cancel(cancel::CancelArgs),
}

impl RunsCommand {
    /// Runs it.
    ///
    /// # Errors
    /// As the command says.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        match self {
            Self::List(args) => args.run(app),
            Self::Show(args) => args.run(app),
            Self::Logs(args) => args.run(app),
            Self::Prompt(args) => args.run(app),
            Self::Say(args) => args.run(app),
            Self::Withdraw(args) => args.run(app),
            Self::Open(args) => args.run(app),
            Self::Cancel(args) => args.run(app),
        }
    }
}
