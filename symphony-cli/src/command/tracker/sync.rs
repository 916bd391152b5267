//! `symphony tracker sync`.

use clap::Args;
use symphony_runner::tracker::{SyncWish, sync_now};
use symphony_view::SyncView;
use symphony_view::text::{List, plural};

use super::named::trackers_of;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// What `tracker sync` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  symphony tracker sync\n  symphony tracker sync github --all")]
pub(crate) struct SyncArgs {
    /// Only this tracker
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Read everything again, not only what changed since the last time
    #[arg(long)]
    all: bool,
    /// Send again what the tracker refused
    #[arg(long)]
    retry: bool,
}

impl SyncArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let trackers = trackers_of(&session, self.name.as_deref())?;
        let wish = SyncWish {
            is_all: self.all,
            retries_refused: self.retry,
        };
        let reports = sync_now(&session, self.name.as_deref(), wish)
            .context("exchange news with trackers")?;
        let views: Vec<SyncView> = reports.into_iter().map(SyncView::from).collect();
        let held = views.iter().filter(|view| view.hold.is_some()).count();
        app.out.answer(&views.into_iter().collect::<List<_>>())?;
        if held > 0 {
            let what = format!(
                "{held} of {} did not answer as expected",
                plural(trackers.len(), "tracker")
            );
            return Err(Stop::new(Exit::Failed, what)
                .hint("`symphony tracker check` says more; nothing is lost, and the next try is made by itself")
                .into());
        }
        Ok(())
    }
}
