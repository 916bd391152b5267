//! `symphony forge check`.

use clap::Args;
use symphony_runner::forge::check_forge;
use symphony_view::ForgeCheckView;

use super::configured::forge_of;
use super::remedy::Remedy;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// What `forge check` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  symphony forge check\n  symphony forge check --json")]
pub(crate) struct CheckArgs {}

impl CheckArgs {
    #[expect(clippy::unused_self, reason = "every command is called the same way")]
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let (config, settings) = forge_of(&session)?;
        let answer = check_forge(&session.installation, &session.project, &config, &settings)
            .context("ask the forge")?;
        let advice = Remedy::of(&answer).advice();
        let check = match answer {
            Ok(access) => ForgeCheckView::of(access),
            Err(fault) => ForgeCheckView::failed(fault.to_string()),
        };
        app.out.answer(&check)?;
        if !check.problems.is_empty() {
            let what = "the forge cannot be used as configured".to_owned();
            return Err(Stop::new(Exit::Failed, what).hint(advice).into());
        }
        // Whoever repaired a token and checks it waits for no quarter of an hour.
        let project = session.project.id.clone();
        session
            .store
            .lift_forge(&App::as_human(), &project)
            .context("end the hold of the forge")
    }
}
