//! `symphony issue list`.

use clap::Args;
use symphony_core::id::IssueId;
use symphony_core::issue::IssueStatus;
use symphony_store::IssueFilter;
use symphony_view::read;
use symphony_view::text::plural;

use crate::app::App;
use crate::failure::Context as _;
use crate::value::{issue_id, named};

/// Issues that a list shows when no limit is typed: more scroll away.
const LIST_MAX: u32 = 100;

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
    /// Show at most this many; by default 100, or all with `--json`
    #[arg(short = 'n', long, value_name = "NUMBER")]
    limit: Option<u32>,
    /// Only issues after this one: the next page
    #[arg(long, value_name = "ISSUE", value_parser = issue_id)]
    after: Option<IssueId>,
    /// Include all projects of the installation
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
            limit: self.limit.or((!app.out.is_json()).then_some(LIST_MAX)),
            after: self.after.clone(),
            ..IssueFilter::default()
        };
        if app.out.is_json() {
            let view = read::issue_stream(&session, &filter);
            let written = app.out.json_as_it_comes(&view);
            // What ended the document early is the failure, not that it ended early.
            return match view.failure() {
                Some(error) => Err(error.into()),
                None => written,
            }
            .context("list the issues");
        }
        let view = read::issues(&session, &filter).context("list the issues")?;
        app.out.answer_long(&view)?;
        if let Some(next) = view.next.filter(|_| !app.out.is_json()) {
            let shown = plural(view.list.items.len(), "issue");
            app.out.note(&format!(
                "Only {shown} shown: `--after {next}` shows the next page, `--limit NUMBER` more at once."
            ));
        }
        Ok(())
    }
}
