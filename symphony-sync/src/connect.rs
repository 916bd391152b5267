//! From a configured tracker to one that can be asked.

use symphony_core::config::{TrackerPlace, TrackerSettings};

use crate::error::SyncError;
use crate::github::Github;
use crate::http::client::Client;
use crate::http::limits::Options;
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
            Box::new(Github::new(client, owner, name))
        }
        TrackerPlace::Linear { team, project } => {
            let client = Client::new(&settings.endpoint, token, Linear::HEADERS, options)?;
            Box::new(Linear::new(client, team, project.as_deref()))
        }
    })
}
