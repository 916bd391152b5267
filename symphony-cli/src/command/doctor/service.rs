//! `symphony doctor --service`: a systemd service that serves the page and ticks.

use serde::Serialize;
use symphony_runner::repository::open_repository;
use symphony_view::text::{Page, View};
use symphony_workspace::{FilterUse, LFS_FILTER};

use super::cron_path::needed_path;
use super::schedule::Schedule;
use crate::app::App;
use crate::failure::Context as _;

/// What is to be installed.
#[derive(Debug, Serialize)]
struct ServiceView {
    service: String,
}

impl View for ServiceView {
    fn write(&self, page: &mut Page) {
        page.heading("Write ~/.config/systemd/user/symphony.service:");
        page.verbatim(&self.service);
        page.gap();
        page.line("then run `systemctl --user enable --now symphony`, and `loginctl enable-linger` to keep it running when \
                   you log out. `symphony serve url` prints a link to the page. The service also ticks, so you need no cron line.");
    }
}

pub(super) fn run(app: &App) -> anyhow::Result<()> {
    let session = app.session()?;
    let config = session.config().context("make the service")?;
    let installation = &session.installation;
    let filter = open_repository(&session.project, &config)
        .map_or(FilterUse::NotConfigured, |repository| {
            repository.filter_use(LFS_FILTER)
        });
    let (path, _differs_from_cron) = needed_path(installation, &config, &filter);
    let program = installation.executable.to_string_lossy().into_owned();
    let schedule = Schedule::new(program, installation.arguments(), path);
    let view = ServiceView {
        service: schedule.page_service(),
    };
    app.out.answer(&view)
}
