//! `symphony pause` and `symphony resume`.

use std::fmt::Write as _;

use clap::Args;
use serde::Serialize;
use symphony_core::run::Run;

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
        let live = session.store.live_runs().context("pause")?;
        let sentence = paused_sentence(&live);
        let view = PauseView {
            paused: true,
            lifted_holds: 0,
        };
        app.out.done(&view, &sentence)
    }
}

fn paused_sentence(live: &[Run]) -> String {
    let waiting = live.iter().filter(|run| run.waits_in_pool()).count();
    let running = live.len() - waiting;
    let mut sentence = "No new agent starts until you run `symphony resume`.".to_owned();
    if running > 0 {
        let _ = write!(sentence, " Running agents continue: {running}.");
    }
    if waiting > 0 {
        let _ = write!(
            sentence,
            " Runs that wait for a worker do not start, and the next tick ends them: {waiting}."
        );
    }
    sentence
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
