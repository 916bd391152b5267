//! The network of a run's agent.

use std::collections::BTreeMap;
use std::ffi::OsString;

use symphony_core::config::ProviderName;

use crate::network::{NetworkPlan, NetworkQuery};
use crate::sandbox::{Protection, SandboxFault};
use crate::supervise::Job;

/// Decides what the agent of a run may reach; `None` where its network is the machine's.
///
/// # Errors
/// When the configuration or the environment names something that cannot be reached safely. No agent may start then.
pub(super) async fn plan_network(
    job: &Job<'_>,
    protection: &Protection,
    provider: ProviderName,
    environment: &BTreeMap<OsString, OsString>,
) -> Result<Option<NetworkPlan>, SandboxFault> {
    if !protection.has_own_network() {
        return Ok(None);
    }
    let query = NetworkQuery {
        settings: &job.config.sandbox,
        provider: Some(provider),
        environment,
        project: &job.project.root,
        state: job.installation.state_dir(),
    };
    Ok(Some(query.plan().await?))
}
