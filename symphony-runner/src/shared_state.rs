//! What Symphony and the person share with the code of a change: the repository's own git configuration, Symphony's configuration and
//! the project's prompts. Gates run that code, and can write all of it.

use serde::{Deserialize, Serialize};
use symphony_core::config_change::SharedChanges;
use symphony_core::left_behind::shown_setting;
use symphony_store::Project;
use symphony_workspace::config_file::{ConfigDigests, LoadedConfig, load};
use symphony_workspace::{Repository, SharedSettings};

use crate::error::RunnerError;
use crate::installation::Installation;

/// The shared state at one moment.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SharedState {
    settings: SharedSettings,
    configuration: ConfigDigests,
}

impl SharedState {
    /// Records the state; the configuration is the one that was loaded.
    ///
    /// # Errors
    /// When the git configuration cannot be read.
    pub(crate) fn at_start(
        installation: &Installation,
        project: &Project,
        repository: &Repository,
    ) -> Result<Self, RunnerError> {
        Self::with(digests_of(installation.loaded(), project), repository)
    }

    /// Records the state, with the configuration as its files have it now: the command may have written them itself.
    ///
    /// # Errors
    /// When the git configuration cannot be read.
    pub(crate) fn now(
        installation: &Installation,
        project: &Project,
        repository: &Repository,
    ) -> Result<Self, RunnerError> {
        Self::with(configuration_now(installation, project), repository)
    }

    fn with(configuration: ConfigDigests, repository: &Repository) -> Result<Self, RunnerError> {
        Ok(Self {
            settings: repository.shared_settings()?.unwrap_or_default(),
            configuration,
        })
    }

    /// Names what has changed since.
    ///
    /// # Errors
    /// When the git configuration cannot be read.
    pub(crate) fn changes(
        &self,
        installation: &Installation,
        project: &Project,
        repository: &Repository,
    ) -> Result<SharedChanges, RunnerError> {
        let settings = repository.shared_settings()?.unwrap_or_default();
        let settings = settings.changes_since(&self.settings);
        let configuration = configuration_now(installation, project);
        Ok(SharedChanges {
            settings: settings.iter().map(|name| shown_setting(name)).collect(),
            configuration: configuration.changes_since(&self.configuration),
        })
    }
}

/// Returns the digests of a configuration.
pub(crate) fn digests_of(loaded: &LoadedConfig, project: &Project) -> ConfigDigests {
    loaded.digests(&project.id, &project.root)
}

/// Reads the configuration as it is now. When its files can no longer be read, all keys count as changed.
pub(crate) fn configuration_now(installation: &Installation, project: &Project) -> ConfigDigests {
    load(&installation.config_paths, &installation.root).map_or_else(
        |error| {
            tracing::warn!(%error, "the configuration cannot be read any more");
            ConfigDigests::default()
        },
        |loaded| digests_of(&loaded, project),
    )
}
