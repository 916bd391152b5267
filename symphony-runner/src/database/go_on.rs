//! Going on with an older state of the database: numbers that were given out since are not given out again.

use std::collections::BTreeSet;
use std::path::Path;

use symphony_core::Timestamp;
use symphony_core::id::{InstallationId, ProjectId};
use symphony_core::identity::Seen;
use symphony_store::{RestoreRecord, Store};
use symphony_workspace::{MarkPlaces, RepositoryOptions, find_traces};

use super::identity::all_places;
use super::marker::adopt;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::person::as_person;
use crate::repository::options;

/// Makes an older state usable for a repository: it learns what was seen in repositories and marks, and becomes the database that they
/// belong to.
pub(super) fn go_on(
    installation: &Installation,
    store: &mut Store,
    project: (&ProjectId, &Path),
    known: Option<&InstallationId>,
) -> Result<RestoreRecord, RunnerError> {
    let (id, root) = project;
    let context = as_person(Timestamp::now());
    if root != installation.root {
        store.move_project(&context, id, &installation.root)?;
    }
    let own = store.installation()?;
    let (mut seen, publishing) = observed(installation, store)?;
    count_marks_in(
        &all_places(installation, store)?,
        known.or(own.as_ref()),
        &mut seen,
    );
    let record = store.record_restore(&context, &seen, &publishing)?;
    adopt(installation, store, known, id, &installation.root)?;
    Ok(record)
}

/// What was seen in the repositories of a database, and which of its projects publish.
fn observed(
    installation: &Installation,
    store: &Store,
) -> Result<(Seen, BTreeSet<ProjectId>), RunnerError> {
    let mut seen = Seen::default();
    let mut publishing = BTreeSet::new();
    for project in store.projects()? {
        let config = installation.project_config(&project).ok();
        let settings = config
            .as_ref()
            .map_or_else(RepositoryOptions::default, options);
        match find_traces(&project.root, settings) {
            Ok(traces) => traces.count_in(&mut seen),
            // When it comes back, its branches are unknown to the database, and no run will continue them.
            Err(error) => {
                tracing::warn!(project = %project.id, %error, "its branches were not checked");
            }
        }
        if config.is_some_and(|config| config.publish.is_some()) {
            publishing.insert(project.id);
        }
    }
    Ok((seen, publishing))
}

/// Adds what the marks tell: numbers of issues that have no branch yet, and of runs whose folders were removed.
pub(super) fn count_marks_in(places: &MarkPlaces, of: Option<&InstallationId>, seen: &mut Seen) {
    for mark in places.read().into_iter().flatten() {
        if Some(&mark.installation) == of {
            mark.count_in(seen);
        }
    }
}
