//! What a checkout is asked for with.

use std::path::PathBuf;

use symphony_core::config::ProjectConfig;
use symphony_core::id::{ProjectId, RunId};
use symphony_workspace::Repository;

use crate::installation::Installation;
use crate::network::NetworkLog;
use crate::watchdog::StepLog;

/// A request for a checkout.
#[derive(Debug, Clone)]
pub struct CheckoutRequest<'a> {
    /// The installation.
    pub installation: &'a Installation,
    /// The project's configuration: environment, set-up command, files to copy.
    pub config: &'a ProjectConfig,
    /// The project.
    pub project: &'a ProjectId,
    /// The project's repository.
    pub repository: &'a Repository,
    /// The id that names the checkout and marks its processes: a run's or a foreground job's.
    pub id: &'a RunId,
    /// The existing folder for the logs of its commands.
    pub logs: PathBuf,
    /// Where the supervisor of a run records its steps. In the foreground, where a person sees what happens, it records
    /// nothing.
    pub steps: &'a StepLog,
    /// What its commands reach for is added here when it is gone.
    pub network: NetworkLog,
}
