//! The forge that a command is about.

use symphony_core::config::{ForgeSettings, ProjectConfig};
use symphony_runner::session::Session;

use crate::command::not_configured::not_configured;
use crate::failure::Context as _;

/// Returns the forge of the project, with the whole of its configuration.
pub(super) fn forge_of(session: &Session) -> anyhow::Result<(ProjectConfig, ForgeSettings)> {
    let config = session.config().context("read the configuration")?;
    let Some(settings) = config.forge.clone() else {
        return Err(not_configured("forge", "forge", "docs/forges.md").into());
    };
    Ok((config, settings))
}
