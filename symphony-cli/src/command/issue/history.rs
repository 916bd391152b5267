//! `symphony issue history`.

use clap::Args;
use symphony_core::id::IssueId;
use symphony_store::EventFilter;

use crate::app::App;
use crate::command::events::print_events;
use crate::failure::Context as _;
use crate::value::issue_id;

/// What `issue history` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony issue history SYM-1")]
pub(crate) struct HistoryArgs {
    /// The issue
    #[arg(value_parser = issue_id)]
    issue: IssueId,
    /// Show at most this many events, the newest; 0 shows all
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 0)]
    limit: u32,
}

impl HistoryArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let show = || format!("show the history of {}", self.issue);
        session.store.issue(&self.issue).with_context(show)?;
        let filter = EventFilter {
            issue: Some(self.issue.clone()),
            limit: (self.limit > 0).then_some(self.limit),
            ..EventFilter::default()
        };
        let events = session.store.events(&filter).with_context(show)?;
        print_events(app, events)
    }
}
