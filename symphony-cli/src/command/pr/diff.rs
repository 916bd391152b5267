//! `symphony pr diff`.

use clap::Args;
use symphony_view::DiffView;

use super::find::find_pr;
use crate::app::App;
use crate::failure::Context as _;
use crate::value::PrReference;

/// What `pr diff` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony pr diff SYM-1 | less")]
pub(crate) struct DiffArgs {
    /// The pull request's number, its issue, or its plan
    #[arg(value_name = "ID|ISSUE|PLAN")]
    pr: PrReference,
    /// Print control characters as they are, for `git apply`
    #[arg(long, conflicts_with = "json")]
    raw: bool,
}

impl DiffArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let pr = find_pr(app, &session, &self.pr).context("show the diff")?;
        if self.raw {
            return app.out.write_raw(pr.diff.as_bytes());
        }
        app.out.answer_long(&DiffView::from(pr))
    }
}
