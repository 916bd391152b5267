//! The repository's marker, which names its database.

use std::path::{Path, PathBuf};

use symphony_core::id::{InstallationId, ProjectId};
use symphony_core::identity::Marker;
use symphony_store::{Store, new_installation_id};
use symphony_workspace::write_marker;

use crate::error::RunnerError;
use crate::installation::Installation;

/// Gives the database its id, and the repository its marker.
pub(super) fn adopt(
    installation: &Installation,
    store: &mut Store,
    wanted: Option<&InstallationId>,
    project: &ProjectId,
    root: &Path,
) -> Result<(), RunnerError> {
    let id = match store.installation()? {
        Some(id) => id,
        None => store.adopt_installation(&wanted.cloned().unwrap_or_else(new_installation_id))?,
    };
    note(
        root,
        &Marker {
            installation: id,
            project: project.clone(),
            database: noted(installation),
        },
    );
    Ok(())
}

/// Returns where the database is as a marker notes it.
fn noted(installation: &Installation) -> PathBuf {
    installation.config.database.to_string().into()
}

/// Updates the database's path in the marker.
pub(super) fn keep_place(installation: &Installation, marker: Option<Marker>) {
    let database = noted(installation);
    if let Some(marker) = marker
        && marker.database != database
    {
        note(&installation.root, &Marker { database, ..marker });
    }
}

/// Writes a marker. If it cannot be written now, the next command writes it.
pub(super) fn note(root: &Path, marker: &Marker) {
    if let Err(error) = write_marker(root, marker) {
        tracing::warn!(%error, "the repository's marker was not written");
    }
}
