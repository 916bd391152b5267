//! `symphony learnings show`.

use clap::Args;
use symphony_view::MeasuredLearning;

use crate::app::App;
use crate::failure::Context as _;

/// What `learnings show` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Issues are not assigned at random: a learning is given where it fits, so a difference may have other causes.\n\nExample:\n  symphony learnings show 5f0e19a2c7d4"
)]
pub(crate) struct ShowArgs {
    /// The learning: the beginning or the end of its id
    #[arg(value_name = "ID")]
    id: String,
}

impl ShowArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let what = || format!("show the learning {}", self.id);
        let session = app.session()?;
        let record = session.store.find_learning(&self.id).with_context(what)?;
        let measured = MeasuredLearning::of(vec![record], &session.store).with_context(what)?;
        measured
            .first()
            .map_or(Ok(()), |learning| app.out.answer(learning))
    }
}
