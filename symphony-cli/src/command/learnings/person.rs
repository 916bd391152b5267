//! What only a person does to learnings.

use anyhow::Context as _;

use crate::app::App;
use crate::failure::{Exit, Stop};

/// Refuses what only a person may do, when an agent's run asks for it: what a person adds would carry a person's name.
///
/// # Errors
/// When the environment carries the mark of a run.
pub(super) fn refuse_agents(app: &App, what: &str) -> anyhow::Result<()> {
    if app.surroundings.is_agent() {
        let message = format!("{what}: this is an agent's run, and here a person writes");
        let hint = "an agent has the tools `add_learning` and `search_learnings`";
        return Err(Stop::new(Exit::Refused, message).hint(hint).into());
    }
    app.surroundings
        .refuse_agents()
        .with_context(|| what.to_owned())
}
