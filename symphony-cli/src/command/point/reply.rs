//! `symphony point reply`: a person's word on a point, and the answer to an agent's question.

use clap::Args;
use symphony_core::review_point::PointNumber;
use symphony_runner::order::{Replied, reply_to_point};
use symphony_view::PointView;

use crate::app::App;
use crate::command::source::find_source;
use crate::failure::Context as _;
use crate::value::SourceName;

/// What `point reply` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  symphony point reply SYM-1 3 'At most ten, as in the importer'"
)]
pub(crate) struct ReplyArgs {
    /// The issue or the plan
    #[arg(value_name = "ISSUE|PLAN")]
    of: SourceName,
    /// The point, by its number
    #[arg(value_name = "NUMBER")]
    number: PointNumber,
    /// The reply, which the next agent reads; `-` reads it from standard input
    text: String,
}

impl ReplyArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let text = app.text(&self.text)?;
        let what = || format!("reply to review point {}", self.number);
        let mut session = app.session()?;
        let of = find_source(app, &session, &self.of).with_context(what)?;
        let store = &mut session.store;
        let replied = reply_to_point(store, &App::as_human(), &of, self.number, text);
        let Replied { point, continues } = replied.with_context(what)?;
        let then = if continues {
            format!(" {of} continues at the next tick.")
        } else {
            String::new()
        };
        let sentence = format!("Replied to review point {} of {of}.{then}", self.number);
        app.out.done(&PointView::from(point), &sentence)
    }
}
