//! `symphony doctor --cron`: what differs under cron, and the lines for cron and systemd.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_runner::installation::Installation;
use symphony_runner::tick::last_tick;
use symphony_view::text::{Page, View, ago};

use super::check::{CheckView, fail_with, write_checks};
use super::cron_path::schedule_of;
use super::schedule::Schedule;
use crate::app::App;
use crate::failure::Context as _;

/// A tick older than this is missing: cron makes one each minute.
const TICK_AGE_SECONDS_MAX: i64 = 300;
/// What the names of variables that carry credentials end with.
const CREDENTIALS: &[&str] = &["_API_KEY", "_AUTH_TOKEN", "_OAUTH_TOKEN", "_BASE_URL"];

/// What is checked, and what is to be installed.
#[derive(Debug, Serialize)]
struct CronView {
    checks: Vec<CheckView>,
    crontab: String,
    service: String,
    timer: String,
}

impl View for CronView {
    fn write(&self, page: &mut Page) {
        write_checks(&self.checks, page);
        page.heading("Either add this line with `crontab -e`:");
        page.verbatim(&self.crontab);
        page.heading("Or write ~/.config/systemd/user/symphony.service:");
        page.verbatim(&self.service);
        page.heading("and ~/.config/systemd/user/symphony.timer:");
        page.verbatim(&self.timer);
        page.gap();
        page.line("then run `systemctl --user enable --now symphony.timer`, and `loginctl enable-linger` to keep it \
                   running when you log out.");
    }
}

pub(super) fn run(app: &App) -> anyhow::Result<()> {
    let session = app.session()?;
    let config = session.config().context("check what differs under cron")?;
    let installation = &session.installation;
    let last_tick = last_tick(installation).context("read the time of the last tick")?;
    let (schedule, programs) = schedule_of(&session, &config);
    let checks = vec![
        check_home(installation),
        check_user(installation),
        programs,
        check_credentials(installation, &config),
        check_last_tick(last_tick),
    ];
    let view = CronView {
        checks,
        crontab: schedule.crontab(),
        service: schedule.service(),
        timer: Schedule::timer(),
    };
    app.out.answer(&view)?;
    fail_with(&view.checks)
}

fn check_home(installation: &Installation) -> CheckView {
    const CHECK: &str = "home";
    match installation.variable("HOME").map(Path::new) {
        Some(home) if home.is_dir() => CheckView::ok(CHECK, home.display().to_string()),
        Some(home) => CheckView::failed(
            CHECK,
            &format!("{} is no folder", home.display()),
            "set HOME with `crontab -e`: agents keep their settings there",
        ),
        None => CheckView::failed(
            CHECK,
            &"HOME is not set",
            "set HOME with `crontab -e`: agents keep their settings there",
        ),
    }
}

/// The crontab must be that of the user who owns the database.
fn check_user(installation: &Installation) -> CheckView {
    const CHECK: &str = "user";
    let user = rustix::process::geteuid().as_raw();
    let Some(database) = installation.config.database.file() else {
        return CheckView::ok(CHECK, format!("{user}; the database is on a server"));
    };
    match database.metadata() {
        Ok(meta) if meta.uid() != user => CheckView::failed(
            CHECK,
            &format!(
                "the database belongs to user {}, you are user {user}",
                meta.uid()
            ),
            "put the line into that user's crontab: run `crontab -e` as that user",
        ),
        Ok(_) => CheckView::ok(CHECK, format!("{user}, who owns the database")),
        Err(error) => CheckView::failed(CHECK, &error, "`symphony doctor`"),
    }
}

fn check_credentials(installation: &Installation, config: &ProjectConfig) -> CheckView {
    const CHECK: &str = "credentials";
    let here: Vec<String> = installation
        .environment
        .keys()
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| CREDENTIALS.iter().any(|end| name.ends_with(end)))
        .filter(|name| !config.env.contains_key(name))
        .collect();
    if here.is_empty() {
        return CheckView::ok(CHECK, "none depend on the environment of this shell");
    }
    CheckView::warning(
        CHECK,
        format!("this shell sets {}; cron does not", here.join(", ")),
        "put them into `env` in your own configuration file, or log in with the agent's CLI",
    )
}

fn check_last_tick(last: Option<Timestamp>) -> CheckView {
    const CHECK: &str = "last tick";
    let now = Timestamp::now();
    let fix = "install the line below, then check again after a minute";
    match last {
        None => CheckView::warning(CHECK, "there was none", fix),
        Some(at) => {
            let detail = ago(at, now);
            if now.as_second().saturating_sub(at.as_second()) > TICK_AGE_SECONDS_MAX {
                CheckView::warning(CHECK, detail, fix)
            } else {
                CheckView::ok(CHECK, detail)
            }
        }
    }
}
