//! Where the addresses of a running page are kept.

use symphony_runner::database::state_folder;
use symphony_runner::session::Session;
use symphony_web::DoorsFile;

/// Returns the file of the sessions of a project: a server is one project's.
///
/// # Errors
/// When the environment names no home.
pub(super) fn doors_of(session: &Session) -> anyhow::Result<DoorsFile> {
    let installation = session.store.installation()?;
    let installation =
        installation.map_or_else(|| "unknown".to_owned(), |id| id.as_str().to_owned());
    Ok(DoorsFile::of(
        &state_folder(&session.installation)?,
        &format!("{installation}-{}", session.project.id),
    ))
}
