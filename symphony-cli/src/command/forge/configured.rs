//! The forge that a command is about.

use symphony_core::config::{ForgeSettings, ProjectConfig};
use symphony_runner::session::Session;

use crate::failure::{Context as _, Exit, Stop};

/// Returns the forge of the project, with the whole of its configuration.
pub(super) fn forge_of(session: &Session) -> anyhow::Result<(ProjectConfig, ForgeSettings)> {
    let config = session.config().context("read the configuration")?;
    let Some(settings) = config.forge.clone() else {
        return Err(
            Stop::new(Exit::NotFound, "the project has no forge".to_owned())
                .hint(
                    "add `\"forge\": \"github\"` to symphony.config.json; docs/forges.md shows how",
                )
                .into(),
        );
    };
    Ok((config, settings))
}
