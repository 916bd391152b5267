//! From a configured tracker or forge to one that can be asked.

use symphony_core::config::{
    ForgeKind, ForgeRepository, ForgeSettings, TrackerPlace, TrackerSettings,
};

use crate::error::SyncError;
use crate::forge::Forge;
use crate::github::{Github, GithubForge};
use crate::http::client::Client;
use crate::http::limits::Options;
use crate::http::plain::Plain;
use crate::linear::Linear;
use crate::token::Token;
use crate::tracker::Tracker;

/// Prepares requests to a tracker; sends none. Loads the system's certificates, which takes milliseconds.
///
/// # Errors
///
/// [`SyncError`] if the address, the certificates or a proxy of the environment cannot be used.
pub fn connect(
    settings: &TrackerSettings,
    token: Token,
    options: &Options,
) -> Result<Box<dyn Tracker>, SyncError> {
    Ok(match &settings.place {
        TrackerPlace::Github { owner, name } => {
            let client = Client::new(&settings.endpoint, token, Github::HEADERS, options)?;
            Box::new(Github::new(client, owner, name).called(&settings.name))
        }
        TrackerPlace::Linear { team, project } => {
            let client = Client::new(&settings.endpoint, token, Linear::HEADERS, options)?;
            Box::new(Linear::new(client, team, project.as_deref()))
        }
    })
}

/// Prepares requests to a forge; sends none. `repository` is the configured one, or what the remote's address names.
///
/// # Errors
///
/// [`SyncError`] if the address, the certificates or a proxy of the environment cannot be used.
pub fn connect_forge(
    settings: &ForgeSettings,
    repository: &ForgeRepository,
    token: Token,
    options: &Options,
) -> Result<Box<dyn Forge>, SyncError> {
    Ok(match settings.kind {
        ForgeKind::Github => {
            let plain = Plain::new(&settings.endpoint, token.clone(), options)?;
            let client = Client::new(&settings.endpoint, token, Github::HEADERS, options)?;
            let github = Github::new(client, &repository.owner, &repository.name);
            Box::new(GithubForge::new(github, plain, settings.method))
        }
    })
}
