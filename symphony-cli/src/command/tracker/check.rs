//! `symphony tracker check`.

use clap::Args;
use symphony_runner::session::Session;
use symphony_runner::tracker::{TrackerAccess, check_tracker, filter_risk};
use symphony_view::TrackerCheckView;
use symphony_view::text::{List, plural};

use super::named::trackers_of;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// What `tracker check` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  symphony tracker check\n  symphony tracker check github --json"
)]
pub(crate) struct CheckArgs {
    /// Only this tracker
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

impl CheckArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let mut checks = Vec::new();
        for settings in trackers_of(&session, self.name.as_deref())? {
            let answer =
                check_tracker(&session.installation, &settings).context("ask the tracker")?;
            let check = match answer {
                Ok(access) => {
                    lift_hold(&mut session, &settings.name, &access)?;
                    TrackerCheckView::of(&settings.name, access)
                }
                Err(fault) => TrackerCheckView::failed(&settings.name, fault.to_string()),
            };
            checks.push(check.with_warning(filter_risk(&settings)));
        }
        let wrong = checks.iter().filter(|check| !check.problems.is_empty());
        let (wrong, all) = (wrong.count(), checks.len());
        app.out.answer(&checks.into_iter().collect::<List<_>>())?;
        if wrong > 0 {
            let what = format!(
                "{wrong} of {} cannot be used as configured",
                plural(all, "tracker")
            );
            return Err(Stop::new(Exit::Failed, what)
                .hint("docs/trackers.md says which token each tracker needs")
                .into());
        }
        Ok(())
    }
}

/// Ends the hold of a tracker that answers: whoever repaired a token and checks it waits for no quarter of an hour.
fn lift_hold(session: &mut Session, name: &str, access: &TrackerAccess) -> anyhow::Result<()> {
    if !access.problems.is_empty() {
        return Ok(());
    }
    let project = session.project.id.clone();
    let record = session.store.tracker(&project, name);
    let record = record.context("read the tracker")?;
    let Some(record) = record.filter(|record| record.hold.is_some()) else {
        return Ok(());
    };
    session
        .store
        .lift_tracker(&App::as_human(), record.id)
        .context("end the hold of the tracker")
}
