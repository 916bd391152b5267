//! `symphony issue close`.

use clap::{ArgGroup, Args};
use symphony_core::id::IssueId;
use symphony_core::issue::{DependentsFate, Resolution};
use symphony_runner::order::Ending;

use super::ending::{carry_out, ending_view};
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::value::{issue_id, named};

/// What `issue close` takes.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("resolution").required(true).args(["done", "cancelled"]),
    after_help = "Examples:\n  symphony issue close SYM-1 --done --reason 'Fixed by hand in 1a2b3c4'\n  symphony \
                  issue close SYM-2 --cancelled --reason 'No longer wanted' --dependents release"
)]
pub(crate) struct CloseArgs {
    /// The issue
    #[arg(value_parser = issue_id)]
    issue: IssueId,
    /// The work is done
    #[arg(long)]
    done: bool,
    /// The work is no longer wanted
    #[arg(long)]
    cancelled: bool,
    /// Why; kept as a comment. `-` reads it from standard input
    #[arg(short = 'm', long, value_name = "TEXT")]
    reason: String,
    /// With `--cancelled`, what happens to the issues that depend on it: `keep` (they wait for your decision), `cancel` (they are cancelled, too) or `release` (they continue without it); if left out, the command asks on a terminal
    #[arg(long, value_name = "CHOICE", value_parser = named(DependentsFate::NAMES, DependentsFate::parse), conflicts_with = "done")]
    dependents: Option<DependentsFate>,
}

impl CloseArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let what = || format!("close {}", self.issue);
        let reason = app.text(&self.reason)?;
        let resolution = if self.done {
            Resolution::Done
        } else {
            Resolution::Cancelled
        };
        let ending =
            Ending::closed(&self.issue, resolution, &reason, self.dependents).with_context(what)?;
        let mut session = app.session()?;
        let issue = session.store.issue(&self.issue).with_context(what)?;
        let status = issue.state.status();
        if status.is_terminal() {
            let message = format!("it is already `{status}`");
            return Err(Stop::new(Exit::Refused, message)).with_context(what);
        }
        let ended = carry_out(app, &mut session, &self.issue, ending).with_context(what)?;
        let (view, sentence) = ending_view(ended);
        app.out.done(&view, &sentence)
    }
}
