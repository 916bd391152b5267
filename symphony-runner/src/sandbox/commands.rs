//! Configured commands with all that confines them: their sandbox, and the ways out of its network.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use symphony_core::config::{ProjectConfig, SandboxNetwork};

use super::fault::SandboxFault;
use super::run_sandbox::RunSandbox;
use crate::installation::Installation;
use crate::network::{NetworkQuery, RunNetwork};

/// A sandbox for configured commands, such as gates. The ways out are served until it is dropped.
#[derive(Debug)]
pub(crate) struct CommandSandbox {
    /// The sandbox.
    pub(crate) sandbox: RunSandbox,
    /// The environment of its commands.
    pub(crate) environment: BTreeMap<OsString, OsString>,
    _network: Option<RunNetwork>,
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
        installation: &Installation,
        config: &ProjectConfig,
        project: &Path,
    ) -> Result<Self, SandboxFault> {
        let protection = sandbox.protection();
        if !protection.is_on() || protection.record().network == SandboxNetwork::Host {
            return Ok(Self {
                sandbox,
                environment,
                _network: None,
            });
        }
        let query = NetworkQuery {
            settings: &config.sandbox,
            provider: None,
            environment: &environment,
            project,
            state: installation.state_dir(),
        };
        let plan = query.plan().await?;
        plan.apply(&mut environment);
        let network = RunNetwork::start(&plan, sandbox.folder())?;
        Ok(Self {
            sandbox: sandbox.with_ways(Some(network.ways().clone())),
            environment,
            _network: Some(network),
        })
    }
}
