//! `symphony runs cancel`.

use clap::Args;
use symphony_core::run::Run;
use symphony_runner::cancel::{end_run, force_end_run};
use symphony_view::RunView;

use super::find::find_run;
use crate::app::App;
use crate::failure::Context as _;
use crate::value::RunReference;

/// What `runs cancel` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony runs cancel SYM-1")]
pub(crate) struct CancelArgs {
    /// The run's id, or the beginning or end of that id; or an issue, to select its newest run
    #[arg(value_name = "RUN|ISSUE")]
    run: RunReference,

    /// Kill the run's supervisor if it does not answer within 15 seconds; the work is still kept
    #[arg(long)]
    force: bool,
}

impl CancelArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let run = self.carry_out(app).context("cancel the run")?;
        let sentence = format!("Run {} ended: {}.", run.id, run.status);
        app.out.done(&RunView::from(run), &sentence)
    }

    fn carry_out(&self, app: &App) -> anyhow::Result<Run> {
        let mut session = app.session()?;
        let run = find_run(&session.store, &self.run)?;
        let installation = session.installation.clone();
        let ended = if self.force {
            force_end_run(&installation, &mut session.store, &App::as_human(), &run.id)
        } else {
            end_run(&installation, &mut session.store, &App::as_human(), &run.id)
        };
        Ok(ended?)
    }
}
