//! `symphony issue release`.

use clap::Args;
use symphony_core::id::IssueId;
use symphony_runner::take_over::{Uncommitted, release_issue};
use symphony_view::{IssueView, released_sentence};

use crate::app::App;
use crate::failure::Context as _;
use crate::live_run::note_dead;
use crate::value::issue_id;

/// What `issue release` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony issue release SYM-1")]
pub(crate) struct ReleaseArgs {
    /// The issue
    #[arg(value_parser = issue_id)]
    issue: IssueId,
    /// Leave uncommitted changes as they are in the checkout, instead of committing them to the issue's branch
    #[arg(long)]
    keep: bool,
}

impl ReleaseArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let uncommitted = if self.keep {
            Uncommitted::Keep
        } else {
            Uncommitted::Commit
        };
        note_dead(app, &session, &self.issue)?;
        let released = release_issue(&mut session, &App::as_human(), &self.issue, uncommitted)
            .with_context(|| format!("release {}", self.issue))?;
        let sentence = released_sentence(&released);
        app.out.done(&IssueView::from(released.issue), &sentence)
    }
}
