//! `symphony issue move`.

use clap::Args;
use symphony_core::id::IssueId;
use symphony_core::issue::{DependentsFate, IssueStatus};
use symphony_runner::order::{Ending, Shifted, shift_issue};
use symphony_runner::session::Session;
use symphony_view::IssueView;

use super::ending::{carry_out, closed_in_words, ending_view, now_in};
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::value::{issue_id, named};

/// What `issue move` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  symphony issue move SYM-1 todo\n  symphony issue move SYM-1 cancelled --delete-branch"
)]
pub(crate) struct MoveArgs {
    /// The issue
    #[arg(value_parser = issue_id)]
    issue: IssueId,
    /// The new status
    #[arg(value_parser = named(IssueStatus::NAMES, IssueStatus::parse))]
    status: IssueStatus,
    /// With `cancelled`, delete its branch and its worktree, even if the branch is not merged
    #[arg(long = "delete-branch")]
    delete_branch: bool,
    /// With `cancelled`, what happens to the issues that depend on it: `keep` (they wait for your decision), `cancel` (they are cancelled, too) or `release` (they continue without it); if left out, the command asks on a terminal
    #[arg(long, value_name = "CHOICE", value_parser = named(DependentsFate::NAMES, DependentsFate::parse))]
    dependents: Option<DependentsFate>,
}

impl MoveArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        self.refuse_flags()?;
        let mut session = app.session()?;
        let what = || format!("move {} to `{}`", self.issue, self.status);
        let status = session
            .store
            .issue(&self.issue)
            .with_context(what)?
            .state
            .status();
        if self.status == IssueStatus::Cancelled && !status.is_terminal() {
            return self.cancel(app, &mut session).with_context(what);
        }
        let Shifted { issue, closed } =
            shift_issue(&mut session, &App::as_human(), &self.issue, self.status)
                .with_context(what)?;
        let mut sentence = now_in(&issue.id, issue.state.status());
        if let Some(pr) = closed {
            sentence = format!("{sentence} {}", closed_in_words(&pr));
        }
        app.out.done(&IssueView::from(issue), &sentence)
    }

    fn refuse_flags(&self) -> Result<(), Stop> {
        let flags = [
            (self.delete_branch, "--delete-branch"),
            (self.dependents.is_some(), "--dependents"),
        ];
        let wrong = flags.iter().find(|(is_given, _)| *is_given);
        match wrong {
            Some((_, flag)) if self.status != IssueStatus::Cancelled => {
                let message = format!("{flag} cannot be used with `{}`", self.status);
                Err(Stop::new(Exit::Usage, message)
                    .hint(format!("use {flag} only to move an issue to `cancelled`")))
            }
            _ => Ok(()),
        }
    }

    fn cancel(&self, app: &App, session: &mut Session) -> anyhow::Result<()> {
        let ending = Ending::cancelled(&self.issue, self.dependents);
        let ended = carry_out(app, session, &self.issue, ending)?;
        if self.delete_branch {
            let context = App::as_human();
            session
                .store
                .request_branch_deletion(&context, &self.issue)?;
        }
        let (view, sentence) = ending_view(ended);
        app.out.done(&view, &sentence)
    }
}
