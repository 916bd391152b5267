//! `symphony pause` and `symphony resume`.

use clap::Args;
use serde::Serialize;

use crate::app::App;
use crate::failure::Context as _;

/// What `pause` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony pause")]
pub(crate) struct PauseArgs {}

/// What `resume` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony resume")]
pub(crate) struct ResumeArgs {}

/// Whether Symphony is paused now, and how many holds were lifted.
#[derive(Debug, Serialize)]
struct PauseView {
    paused: bool,
    lifted_holds: usize,
}

impl PauseArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let Self {} = self;
        let mut session = app.session()?;
        session
            .store
            .set_paused(&App::as_human(), true)
            .context("pause")?;
        let live = session.store.live_runs().context("pause")?.len();
        let more = if live == 0 {
            String::new()
        } else {
            format!(" Running agents continue: {live}.")
        };
        let sentence = format!("No new agent starts until you run `symphony resume`.{more}");
        let view = PauseView {
            paused: true,
            lifted_holds: 0,
        };
        app.out.done(&view, &sentence)
    }
}

impl ResumeArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let Self {} = self;
        let mut session = app.session()?;
        session
            .store
            .set_paused(&App::as_human(), false)
            .context("resume")?;
        let lifted_holds = session
            .store
            .lift_holds(&App::as_human())
            .context("resume")?;
        let more = match lifted_holds {
            0 => String::new(),
            n => format!(" What was on hold ({n}) will be retried at once."),
        };
        let view = PauseView {
            paused: false,
            lifted_holds,
        };
        app.out
            .done(&view, &format!("The next tick starts agents again.{more}"))
    }
}
