//! `symphony doctor --gates`: set-up and gates, run on the base branch.

use anyhow::Context as _;
use symphony_core::trial::Trial;

use crate::app::App;
use crate::failure::{Exit, Stop};
use crate::output::{Page, View};
use crate::trial::{try_gates, write_trial};

impl View for Trial {
    fn write(&self, page: &mut Page) {
        write_trial(self, page);
    }
}

/// Tries them, and fails when one of them keeps every change from passing.
pub(super) fn run(app: &App, seconds: u64) -> anyhow::Result<()> {
    let session = app.session()?;
    let config = session.config().context("try the gates")?;
    if config.gates.iter().all(|gate| !gate.required) {
        app.out.warn("no gate is required: changes are marked `unverified`\n`symphony config set gates '[{\"name\": \"test\", \"command\": \"make test\"}]'` adds one");
    }
    let trial = try_gates(
        app.out,
        &session.installation,
        &session.project,
        &config,
        seconds,
    )?;
    app.out.answer(&trial)?;
    let blocking = trial.blocking().count();
    if blocking == 0 {
        return Ok(());
    }
    let message = format!(
        "pass the gates on {}: {} red",
        trial.base,
        if blocking == 1 {
            "1 command is".to_owned()
        } else {
            format!("{blocking} commands are")
        }
    );
    Err(Stop::new(Exit::Failed, message).into())
}
