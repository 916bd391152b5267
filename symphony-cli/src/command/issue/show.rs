//! `symphony issue show`.

use clap::Args;
use symphony_core::id::IssueId;
use symphony_view::read;

use crate::app::App;
use crate::failure::Context as _;
use crate::value::issue_id;

/// What `issue show` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony issue show SYM-1")]
pub(crate) struct ShowArgs {
    /// The issue
    #[arg(value_parser = issue_id)]
    issue: IssueId,
}

impl ShowArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let detail = read::issue(&session, &self.issue);
        let detail = detail.with_context(|| format!("show {}", self.issue))?;
        app.out.answer_long(&detail)
    }
}
