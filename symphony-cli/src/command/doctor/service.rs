//! `symphony doctor --service`: a systemd service that serves the page and runs ticks.

use serde::Serialize;
use symphony_view::text::{Page, View};

use super::cron_path::schedule_of;
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
    let (schedule, _differs_from_cron) = schedule_of(&session, &config);
    let view = ServiceView {
        service: schedule.page_service(),
    };
    app.out.answer(&view)
}
