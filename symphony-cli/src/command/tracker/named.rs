//! The trackers that a command is about.

use symphony_core::config::TrackerSettings;
use symphony_core::nearest::nearest;
use symphony_runner::session::Session;

use crate::command::not_configured::not_configured;
use crate::failure::{Context as _, Exit, Stop};

/// Returns the trackers of the project, or the one with this name.
pub(super) fn trackers_of(
    session: &Session,
    name: Option<&str>,
) -> anyhow::Result<Vec<TrackerSettings>> {
    let config = session.config().context("read the configuration")?;
    let trackers = config.trackers;
    if trackers.is_empty() {
        return Err(not_configured("tracker", "trackers", "docs/trackers.md").into());
    }
    let Some(name) = name else {
        return Ok(trackers);
    };
    let names: Vec<&str> = trackers.iter().map(|one| one.name.as_str()).collect();
    let near = nearest(name, names.iter().copied()).map(str::to_owned);
    let known = names.join(", ");
    let found: Vec<_> = trackers
        .into_iter()
        .filter(|one| one.name == name)
        .collect();
    if found.is_empty() {
        let stop = Stop::new(Exit::NotFound, format!("there is no tracker `{name}`"));
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the project has: {known}"),
        };
        return Err(stop.hint(hint).into());
    }
    Ok(found)
}
