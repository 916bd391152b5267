//! Configured commands with all that confines them: their sandbox, and the ways out of its network.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use symphony_core::config::ProjectConfig;

use super::fault::SandboxFault;
use super::run_sandbox::RunSandbox;
use crate::installation::Installation;
use crate::network::{NetworkLog, NetworkQuery, RunNetwork};

/// A sandbox for configured commands, such as gates. The ways out are served until it is dropped.
#[derive(Debug)]
pub(crate) struct CommandSandbox {
    /// The sandbox.
    pub(crate) sandbox: RunSandbox,
    /// The environment of its commands.
    pub(crate) environment: BTreeMap<OsString, OsString>,
    network: Option<(RunNetwork, NetworkLog)>,
}

/// Whose commands they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandsOf<'a> {
    /// The installation.
    pub(crate) installation: &'a Installation,
    /// The project's configuration.
    pub(crate) config: &'a ProjectConfig,
    /// The project's folder.
    pub(crate) project: &'a Path,
    /// What they reach for is added here when they have ended.
    pub(crate) used: &'a NetworkLog,
}

impl Drop for CommandSandbox {
    fn drop(&mut self) {
        if let Some((network, log)) = &self.network {
            log.add(network.used());
        }
    }
}

impl CommandSandbox {
    /// Serves the ways out in the sandbox's own folder: to the registries of the project's tools and the hosts of the
    /// configuration. Commands need no provider.
    ///
    /// # Errors
    /// When the configuration names something that cannot be reached safely, or a socket cannot be made.
    pub(crate) async fn open(
        sandbox: RunSandbox,
        mut environment: BTreeMap<OsString, OsString>,
        of: CommandsOf<'_>,
    ) -> Result<Self, SandboxFault> {
        if !sandbox.protection().has_own_network() {
            return Ok(Self {
                sandbox,
                environment,
                network: None,
            });
        }
        let query = NetworkQuery {
            settings: &of.config.sandbox,
            provider: None,
            environment: &environment,
            project: of.project,
            state: of.installation.state_dir(),
        };
        let plan = query.plan().await?;
        plan.apply(&mut environment);
        let network = RunNetwork::start(&plan, sandbox.folder())?;
        Ok(Self {
            sandbox: sandbox.with_ways(Some(network.ways().clone())),
            environment,
            network: Some((network, of.used.clone())),
        })
    }
}
