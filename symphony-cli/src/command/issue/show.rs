//! `symphony issue show`.

use anyhow::Context as _;
use clap::Args;
use symphony_core::id::IssueId;
use symphony_core::inbox::LostDocument;
use symphony_runner::upkeep::kept_documents::lost_documents;
use symphony_view::IssueDetail;

use crate::app::App;
use crate::place::Session;
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
        let detail = IssueDetail::load(&session.store, &self.issue, &session.configured_gates())
            .with_context(|| format!("show {}", self.issue))?;
        app.out
            .answer_long(&detail.with_lost_documents(&self.lost(&session)?))
    }

    /// The documents of its project that are lost. A configuration or a repository that cannot be read is reported elsewhere.
    fn lost(&self, session: &Session) -> anyhow::Result<Vec<LostDocument>> {
        let store = &session.store;
        let project = store.project(&store.issue(&self.issue)?.project)?;
        let Ok(config) = session.installation.project_config(&project) else {
            return Ok(Vec::new());
        };
        Ok(lost_documents(store, &project, &config).unwrap_or_default())
    }
}
