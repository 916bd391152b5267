//! What a run in a sandbox would reach of its models, for whoever asks before a run.

use std::collections::BTreeMap;
use std::ffi::OsString;

use symphony_core::config::ProviderName;

use super::error::NetworkError;
use super::model::model_way;
use super::own_models::read_own;

/// How a provider's agents reach their models in a sandbox with a network of its own.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ModelReach {
    /// The servers that an endpoint leads to: their keys stay outside, and their tokens are counted.
    pub outside: Vec<String>,
    /// The entries of the hosts that the CLI reaches itself, with a login that goes in.
    pub hosts: Vec<String>,
    /// The files that its home has of its own settings.
    pub files: Vec<String>,
    /// Providers of models in its settings whose servers Symphony does not know.
    pub unknown: Vec<String>,
}

/// Finds out.
///
/// # Errors
/// When a base URL or a credential cannot be used. No run starts then.
pub fn model_reach(
    provider: ProviderName,
    environment: &BTreeMap<OsString, OsString>,
) -> Result<ModelReach, NetworkError> {
    let way = model_way(provider, environment, read_own(provider, environment))?;
    let relays = way.relays.iter().map(ToString::to_string);
    Ok(ModelReach {
        outside: way.endpoints.into_iter().map(|it| it.base_url).collect(),
        hosts: way.hosts.into_iter().chain(relays).collect(),
        files: way
            .files
            .iter()
            .map(|file| format!("~/{}", file.path.display()))
            .collect(),
        unknown: way.unknown,
    })
}
