//! `symphony issue list`.

use anyhow::Context as _;
use clap::Args;
use symphony_core::issue::IssueStatus;
use symphony_store::IssueFilter;

use crate::app::App;
use crate::output::List;
use crate::value::named;
use crate::view::IssueView;

/// What `issue list` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony issue list --status todo --label i18n")]
pub(crate) struct ListArgs {
    /// Only issues in this status
    #[arg(short, long, value_name = "STATUS", value_parser = named(IssueStatus::NAMES, IssueStatus::parse))]
    status: Option<IssueStatus>,
    /// Only issues with this label
    #[arg(short, long, value_name = "LABEL")]
    label: Option<String>,
    /// Only issues with this text in title or description
    #[arg(short, long, value_name = "TEXT")]
    text: Option<String>,
    /// At most so many
    #[arg(short = 'n', long, value_name = "NUMBER")]
    limit: Option<u32>,
    /// The issues of all projects of the installation
    #[arg(long = "all-projects")]
    all_projects: bool,
}

impl ListArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let filter = IssueFilter {
            project: (!self.all_projects).then(|| session.project.id.clone()),
            status: self.status,
            label: self.label.clone(),
            text: self.text.clone(),
            limit: self.limit,
            ..IssueFilter::default()
        };
        let page = session
            .store
            .list_issues(&filter)
            .context("list the issues")?;
        let more = page.next.is_some();
        app.out.answer(
            &page
                .items
                .into_iter()
                .map(IssueView::from)
                .collect::<List<_>>(),
        )?;
        if more && !app.out.is_json() {
            app.out.note("There are more: raise --limit.");
        }
        Ok(())
    }
}
