//! The project that a command is about.

use symphony_core::id::ProjectId;
use symphony_runner::session::Session;
use symphony_store::Project;

use crate::failure::Context as _;

/// Returns the named project, or the one of the repository.
///
/// # Errors
/// When there is none of this id.
pub(super) fn find_project(
    session: &Session,
    named: Option<&ProjectId>,
) -> anyhow::Result<Project> {
    Ok(match named {
        Some(id) => session.store.project(id).context("find the project")?,
        None => session.project.clone(),
    })
}
