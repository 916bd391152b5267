//! `symphony point list`.

use clap::Args;
use symphony_view::PointView;
use symphony_view::text::List;

use crate::app::App;
use crate::command::source::find_source;
use crate::failure::Context as _;
use crate::value::SourceName;

/// What `point list` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony point list SYM-1 --all")]
pub(crate) struct ListArgs {
    /// The issue or the plan
    #[arg(value_name = "ISSUE|PLAN")]
    of: SourceName,
    /// Include closed points
    #[arg(short, long)]
    all: bool,
}

impl ListArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let of = find_source(app, &session, &self.of).context("list the review points")?;
        let points = session
            .store
            .review_points(&of)
            .context("list the review points")?;
        let shown = points
            .into_iter()
            .filter(|point| self.all || point.is_open());
        app.out
            .answer_long(&shown.map(PointView::from).collect::<List<_>>())
    }
}
