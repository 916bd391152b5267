//! `symphony status`.

use std::time::Duration;

use clap::Args;
use symphony_core::Timestamp;
use symphony_runner::session::Session;
use symphony_view::{Elsewhere, StatusView, read};

use crate::app::App;
use crate::failure::Context as _;
use crate::sandbox_notice::note_once;
use crate::watch::watch;

/// What `status` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "With --watch the screen is redrawn until Ctrl-C. If standard output is not a terminal, each status \
                  is printed below the last one, with its time. With --json each status is one \
                  line.\n\nExample:\n  symphony status --watch"
)]
pub(crate) struct StatusArgs {
    /// Keep the status up to date until Ctrl-C
    #[arg(short, long)]
    watch: bool,
    /// Seconds between two updates
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=3_600), requires = "watch")]
    interval: u64,
}

impl StatusArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        if self.watch {
            let interval = Duration::from_secs(self.interval);
            return watch(app.out, interval, || load(app, &mut session))
                .context("watch the status");
        }
        let view = load(app, &mut session).context("show the status")?;
        note_once(app.out, &session.installation, &mut session.store);
        app.out.answer_long(&view)
    }
}

fn load(app: &App, session: &mut Session) -> anyhow::Result<StatusView> {
    let here = app.surroundings.typed_in();
    let elsewhere = Elsewhere::load(here.as_deref(), &session.store)?;
    Ok(read::status(session, &elsewhere, Timestamp::now())?)
}
