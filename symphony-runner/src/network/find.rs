//! Finding out what a run may reach.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use symphony_core::config::{ProviderName, SandboxNetwork, SandboxSettings};
use symphony_workspace::detect_project;

use super::error::NetworkError;
use super::own_models::read_own;
use super::plan::{NetworkPlan, NetworkRequest};
use super::registry::{Registries, RegistryQuery, registries_of};

/// What the network of a run is found by.
#[derive(Debug)]
pub struct NetworkQuery<'a> {
    /// The section `sandbox` of the configuration.
    pub settings: &'a SandboxSettings,
    /// Whose model the run uses; `None` for commands of the project, which use none.
    pub provider: Option<ProviderName>,
    /// The run's whole environment, as it is without a sandbox.
    pub environment: &'a BTreeMap<OsString, OsString>,
    /// The project's folder.
    pub project: &'a Path,
    /// The folder of Symphony's own files, where answers of tools are kept.
    pub state: PathBuf,
}

impl NetworkQuery<'_> {
    /// Finds the registries of the project, and decides what the run may reach.
    ///
    /// # Errors
    /// When an entry, an address or the proxy of the user cannot be used.
    pub async fn plan(self) -> Result<NetworkPlan, NetworkError> {
        let registries = match self.settings.network {
            SandboxNetwork::Allowlist => self.registries().await,
            SandboxNetwork::Host | SandboxNetwork::None => Registries::default(),
        };
        let mut plan = NetworkPlan::new(&NetworkRequest {
            settings: self.settings,
            provider: self.provider,
            environment: self.environment,
            registries: &registries.hosts,
            models: self
                .provider
                .and_then(|provider| read_own(provider, self.environment)),
        })?;
        let settings = registries.variables.into_iter();
        plan.variables
            .extend(settings.map(|(name, value)| (name, Some(value))));
        Ok(plan)
    }

    /// In another thread, since programs are asked: the supervisor must go on meanwhile.
    async fn registries(&self) -> Registries {
        let project = self.project.to_owned();
        let (environment, state) = (self.environment.clone(), self.state.clone());
        let asked = tokio::task::spawn_blocking(move || {
            registries_of(&RegistryQuery {
                detected: detect_project(&project, None),
                project,
                environment,
                state,
            })
        });
        asked.await.unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot find the registries of the project");
            Registries::default()
        })
    }
}
