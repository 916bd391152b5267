//! What the agent of a lost host had done when its host last saved it at the hub.

use symphony_core::run::{Run, RunTarget};
use symphony_store::Project;
use symphony_workspace::{SilentHubs, saved_reference};

use super::hub::Hub;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::repository::{issue_workspace, open_repository};

/// Returns the ref of the project's repository that has it, after it was fetched; `None` when nothing was saved.
///
/// # Errors
/// When the hub does not answer or has not answered this tick before, or the configuration cannot be read.
pub(crate) fn saved_work(
    installation: &Installation,
    project: &Project,
    run: &Run,
    hubs: &mut SilentHubs,
) -> Result<Option<String>, RunnerError> {
    let RunTarget::Issue(issue) = &run.target else {
        return Ok(None);
    };
    let config = installation.project_config(project)?;
    let hub = Hub::of(project, &config);
    let repository = open_repository(project, &config)?;
    let key = issue_workspace(&repository, &config, issue)?.key;
    if !hub.is_own {
        let (address, environment) = (hub.address.as_str(), &installation.environment);
        // No tick asks again for what a lost run had saved.
        hubs.call_once(&repository, (address, environment), || {
            repository.fetch_saved(address, environment, &key)
        })?;
    }
    let found = repository.saved_here(&key, &run.id)?;
    Ok(found.map(|_commit| saved_reference(&key, &run.id)))
}
