//! `symphony pr show`.

use clap::Args;
use symphony_view::read;

use super::find::find_pr;
use crate::app::App;
use crate::failure::Context as _;
use crate::value::PrReference;

/// What `pr show` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony pr show SYM-1")]
pub(crate) struct ShowArgs {
    /// The pull request's number, its issue, or its plan
    #[arg(value_name = "ID|ISSUE|PLAN")]
    pr: PrReference,
}

impl ShowArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let pr = find_pr(app, &session, &self.pr).context("show the pull request")?;
        let view = read::whole_pull_request(&session, pr).context("show the pull request")?;
        app.out.answer_long(&view)
    }
}
