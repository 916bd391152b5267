//! `symphony runs show`.

use clap::Args;
use symphony_view::RunView;

use super::find::find_run;
use crate::app::App;
use crate::failure::Context as _;
use crate::value::RunReference;

/// What `runs show` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony runs show SYM-1")]
pub(crate) struct ShowArgs {
    /// The run's id, or the beginning or end of that id; or an issue, to select its newest run
    #[arg(value_name = "RUN|ISSUE")]
    run: RunReference,
}

impl ShowArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let run = find_run(&session.store, &self.run).context("show the run")?;
        app.out.answer_long(&RunView::from(run))
    }
}
