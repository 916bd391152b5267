//! What Symphony and the person share with agents and with the code of a change: the repository's own git
//! configuration, its branches, tags and stash, Symphony's configuration and the project's prompts. Agents and gates
//! can write all of it.

use serde::{Deserialize, Serialize};
use symphony_core::config_change::SharedChanges;
use symphony_core::left_behind::shown_setting;
use symphony_core::shared_refs::SharedRefs;
use symphony_store::Project;
use symphony_workspace::config_file::{ConfigDigests, LoadedConfig};
use symphony_workspace::{Repository, SharedSettings};

use crate::error::RunnerError;
use crate::installation::Installation;

/// The shared state at one moment.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SharedState {
    /// `None` if git could not read them.
    settings: Option<SharedSettings>,
    configuration: ConfigDigests,
    #[serde(default)]
    refs: SharedRefs,
}

impl SharedState {
    /// Records the state; the configuration is the one that was loaded.
    ///
    /// # Errors
    /// When the git configuration or the refs cannot be read.
    pub(crate) fn at_start(
        installation: &Installation,
        project: &Project,
        repository: &Repository,
    ) -> Result<Self, RunnerError> {
        Self::with(digests_of(installation.loaded(), project), repository)
    }

    /// Records the state, with the configuration that its files have now: the command may have written them itself.
    ///
    /// # Errors
    /// When the git configuration or the refs cannot be read.
    pub(crate) fn now(
        installation: &Installation,
        project: &Project,
        repository: &Repository,
    ) -> Result<Self, RunnerError> {
        Self::with(configuration_now(installation, project), repository)
    }

    fn with(configuration: ConfigDigests, repository: &Repository) -> Result<Self, RunnerError> {
        Ok(Self {
            settings: repository.shared_settings()?,
            configuration,
            refs: repository.shared_refs()?,
        })
    }

    /// Returns a record that was damaged: it is compared with nothing, so that all settings are named.
    pub(crate) fn spoilt() -> Self {
        Self {
            settings: Some(SharedSettings::default()),
            configuration: ConfigDigests::default(),
            refs: SharedRefs::default(),
        }
    }

    /// The branches, tags and stash entries.
    pub(crate) fn refs(&self) -> &SharedRefs {
        &self.refs
    }

    /// The entries of the stash.
    pub(crate) fn stash(&self) -> &[String] {
        &self.refs.stash
    }

    /// Names what has changed since; lost commits are kept.
    ///
    /// # Errors
    /// When the git configuration or the refs cannot be read.
    pub(crate) fn changes(
        &self,
        installation: &Installation,
        project: &Project,
        repository: &Repository,
    ) -> Result<SharedChanges, RunnerError> {
        let settings = match &self.settings {
            Some(before) => {
                let now = repository.shared_settings()?.unwrap_or_default();
                now.changes_since(before)
            }
            None => Vec::new(),
        };
        let configuration = configuration_now(installation, project);
        Ok(SharedChanges {
            settings: settings.iter().map(|name| shown_setting(name)).collect(),
            configuration: configuration.changes_since(&self.configuration),
            refs: repository.lost_refs(&self.refs)?,
        })
    }
}

/// Returns the digests of a configuration.
fn digests_of(loaded: &LoadedConfig, project: &Project) -> ConfigDigests {
    loaded.digests(&project.id, &project.root)
}

/// Reads the current configuration. If its files can no longer be read, all keys count as changed.
fn configuration_now(installation: &Installation, project: &Project) -> ConfigDigests {
    installation.loaded_now().map_or_else(
        |error| {
            tracing::warn!(%error, "the configuration can no longer be read");
            ConfigDigests::default()
        },
        |loaded| digests_of(&loaded, project),
    )
}
