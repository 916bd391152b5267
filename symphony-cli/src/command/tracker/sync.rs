//! `symphony tracker sync`.

use clap::Args;
use symphony_runner::tracker::{RefusedWish, SyncWish, sync_now};
use symphony_view::SyncView;
use symphony_view::text::{List, plural};

use super::named::trackers_of;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// What `tracker sync` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  symphony tracker sync\n  symphony tracker sync github --all")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
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
    /// Confirm that the repository or team was renamed to what the configuration says now; its issues stay linked
    #[arg(long, requires = "name")]
    moved: bool,
    /// Forget what the tracker refused; it is not sent again
    #[arg(long, conflicts_with = "retry")]
    forget: bool,
}

impl SyncArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let wish = SyncWish {
            is_all: self.all,
            is_moved: self.moved,
            refused: match (self.retry, self.forget) {
                (true, _) => RefusedWish::Retry,
                (false, true) => RefusedWish::Forget,
                (false, false) => RefusedWish::Keep,
            },
        };
        sync(app, self.name.as_deref(), wish)
    }
}

/// Reads everything of one tracker.
pub(crate) fn sync_all(app: &App, name: &str) -> anyhow::Result<()> {
    let wish = SyncWish {
        is_all: true,
        ..SyncWish::default()
    };
    sync(app, Some(name), wish)
}

fn sync(app: &App, name: Option<&str>, wish: SyncWish) -> anyhow::Result<()> {
    let session = app.session()?;
    let trackers = trackers_of(&session, name)?;
    let waits = || {
        app.out.note(
            "Another process is exchanging changes with trackers. Waiting up to five minutes for it to end; press Ctrl-C to stop waiting.",
        );
    };
    let reports =
        sync_now(&session, name, wish, &waits).context("exchange changes with trackers")?;
    let views: Vec<SyncView> = reports.into_iter().map(SyncView::from).collect();
    let held = views.iter().filter(|view| view.hold.is_some()).count();
    app.out.answer(&views.into_iter().collect::<List<_>>())?;
    if held > 0 {
        let what = format!(
            "{held} of {} did not answer as expected",
            plural(trackers.len(), "tracker")
        );
        return Err(Stop::new(Exit::Failed, what)
            .hint("run `symphony tracker check` for details; nothing is lost, and Symphony tries again by itself")
            .into());
    }
    Ok(())
}
