//! `symphony point add`: a point outside a verdict, as a remark on a line.

use clap::Args;
use symphony_core::review_point::{PointChanges, ReviewPoint, Severity, list_numbers, read_point};
use symphony_view::PointView;
use symphony_view::text::List;

use super::settle::how_it_goes_back;
use crate::app::App;
use crate::command::source::find_source;
use crate::failure::Context as _;
use crate::value::SourceName;

/// What `point add` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  symphony point add SYM-1 'src/main.rs:12: a longer name would say more'\n  \
    symphony point add SYM-1 'should: src/main.rs:12-20: one function would do'"
)]
pub(crate) struct AddArgs {
    /// The issue or the plan
    #[arg(value_name = "ISSUE|PLAN")]
    of: SourceName,
    /// The points, each `[must|should|note: ][FILE[:LINES]: ]TEXT`; by default a note
    #[arg(required = true, value_name = "POINT")]
    points: Vec<String>,
}

impl AddArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let of = find_source(app, &session, &self.of).context("add a review point")?;
        let changes = PointChanges {
            new: self
                .points
                .iter()
                .map(|typed| read_point(typed, Severity::Note))
                .collect(),
            moved: Vec::new(),
        };
        let mut points = session
            .store
            .change_points(&App::as_human(), &of, &changes)
            .context("add a review point")?;
        let added = points.split_off(points.len().saturating_sub(changes.new.len()));
        let numbers: Vec<_> = added.iter().map(|point| point.number).collect();
        let asks = added.iter().any(ReviewPoint::is_open_must);
        let sentence = format!("Added {} to {of}.", list_numbers(&numbers))
            + &how_it_goes_back(&session, &of, asks)?;
        let views: List<_> = added.into_iter().map(PointView::from).collect();
        app.out.done(&views, &sentence)
    }
}
