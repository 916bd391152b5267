//! Which database it is: the facts are gathered here, `symphony_core::identity` decides.

use std::path::Path;

use symphony_core::identity::{
    DatabaseState, Facts, Mark, Marker, ProjectPlace, Traces, Verdict, identify,
};
use symphony_store::{Store, StoreError};
use symphony_workspace::{MarkPlaces, RepositoryOptions, find_traces, read_marker};

use super::marker::{adopt, keep_place};
use super::moved::follow_move;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::repository::options;

/// What is at the database's path.
#[derive(Debug)]
pub(super) enum Opened {
    /// No file.
    Missing,
    /// A file without a schema.
    Empty,
    /// A database.
    Whole(Box<Store>),
}

/// Returns the opened database if it is the repository's; `None` if nothing was ever done here.
pub(super) fn identified(
    installation: &Installation,
    opened: Opened,
) -> Result<Option<Store>, RunnerError> {
    let root = &installation.root;
    let places = places_of(installation);
    let (facts, verdict) = judged(installation, &places, &opened)?;
    let store = match opened {
        Opened::Whole(store) => Some(*store),
        Opened::Missing | Opened::Empty => None,
    };
    match (verdict, store) {
        (Verdict::Refused(problem), _) => Err(RunnerError::Identity {
            database: Box::new(installation.config.database.clone()),
            problem: Box::new(problem),
        }),
        (Verdict::Ours, Some(mut store)) => {
            keep_place(installation, facts.marker);
            note_in(installation, &places, &mut store);
            Ok(Some(store))
        }
        (
            Verdict::Adopt {
                installation: id,
                project,
            },
            Some(mut store),
        ) => {
            adopt(installation, &mut store, id.as_ref(), &project, root)?;
            note_in(installation, &places, &mut store);
            Ok(Some(store))
        }
        (Verdict::Moved { project, from }, Some(mut store)) => {
            follow_move(installation, &mut store, &project, &from)?;
            note_in(installation, &places, &mut store);
            Ok(Some(store))
        }
        (_, store) => Ok(store),
    }
}

/// Returns whether a database can be used for the repository, without noting anything.
pub(super) fn is_usable(installation: &Installation, opened: &Opened) -> bool {
    matches!(opened, Opened::Whole(_))
        && judged(installation, &places_of(installation), opened)
            .is_ok_and(|(_, verdict)| !matches!(verdict, Verdict::Refused(_)))
}

/// Gathers the facts about what was opened, and judges them.
fn judged(
    installation: &Installation,
    places: &MarkPlaces,
    opened: &Opened,
) -> Result<(Facts, Verdict), RunnerError> {
    let root = &installation.root;
    let marker = read_marker(root);
    // The marks are read before the database: if another process commits and raises the mark in between, a mark that is
    // read later would be ahead of our view, which would then look like an older copy.
    let marks = places.read();
    let mut facts = Facts {
        database: state_of(opened, root, marker.as_ref())?,
        marker,
        marks: marks.into_iter().flatten().collect(),
        traces: None,
    };
    let mut verdict = identify(&facts);
    if verdict == Verdict::LookForTraces {
        facts.traces = Some(current_traces(installation)?);
        verdict = identify(&facts);
    }
    Ok((facts, verdict))
}

/// Records the database's progress if it is ahead of the mark. A mark that cannot be written now is written by the next
/// command; until then an older copy is detected only relative to the last mark.
pub fn note_mark(installation: &Installation, store: &mut Store) {
    note_in(installation, &places_of(installation), store);
}

/// The marks that are compared: beside the database, and in the repository that it is opened for.
pub(super) fn places_of(installation: &Installation) -> MarkPlaces {
    MarkPlaces::of(
        &installation.config.state_name(),
        [installation.root.as_path()],
    )
}

/// The marks that are written: a command in any repository of the database compares with its own.
pub(super) fn all_places(
    installation: &Installation,
    store: &Store,
) -> Result<MarkPlaces, RunnerError> {
    let projects = store.projects()?;
    let others = projects.iter().map(|project| project.root.as_path());
    // A repository that belongs to another database by now has that one's mark.
    let id = store.installation()?;
    let others = others.filter(|root| {
        *root != installation.root && read_marker(root).map(|marker| marker.installation) == id
    });
    let roots = [installation.root.as_path()].into_iter().chain(others);
    Ok(MarkPlaces::of(&installation.config.state_name(), roots))
}

fn note_in(installation: &Installation, own: &MarkPlaces, store: &mut Store) {
    if let Err(error) = raise_mark(installation, own, store) {
        tracing::debug!(%error, "the mark of the database was not written");
    }
}

/// Returns whether an older copy of the database would be detected: whether each place has a current mark.
///
/// # Errors
/// When the database cannot be read.
pub fn is_marked(installation: &Installation, store: &Store) -> Result<bool, RunnerError> {
    is_marked_in(&places_of(installation), store)
}

fn is_marked_in(places: &MarkPlaces, store: &Store) -> Result<bool, RunnerError> {
    let Some(id) = store.installation()? else {
        return Ok(false);
    };
    let reach = store.reach()?;
    let is_noted = |mark: &Option<Mark>| {
        let own = mark.as_ref().filter(|mark| mark.is_plausible(&id, reach));
        own.is_some_and(|mark| mark.reach >= reach)
    };
    Ok(places.read().iter().all(is_noted))
}

/// Writes the mark everywhere, unless the own places have it: whoever wrote it there tried to write it everywhere.
fn raise_mark(
    installation: &Installation,
    own: &MarkPlaces,
    store: &mut Store,
) -> Result<(), RunnerError> {
    if is_marked_in(own, store)? {
        return Ok(());
    }
    if let Some(mark) = store.mark()? {
        all_places(installation, store)?.write(&mark)?;
    }
    Ok(())
}

/// Looks for traces of earlier work in the repository.
///
/// # Errors
/// When git fails.
pub fn current_traces(installation: &Installation) -> Result<Traces, RunnerError> {
    // Without a valid configuration the traces can still be found.
    let config = installation
        .loaded()
        .project(None, &installation.root, None);
    let options = config.map_or_else(
        |_wrong| RepositoryOptions::default(),
        |checked| options(&checked.config),
    );
    Ok(find_traces(&installation.root, options)?)
}

fn state_of(
    opened: &Opened,
    root: &Path,
    marker: Option<&Marker>,
) -> Result<DatabaseState, RunnerError> {
    let store = match opened {
        Opened::Missing => return Ok(DatabaseState::Missing),
        Opened::Empty => return Ok(DatabaseState::Empty),
        Opened::Whole(store) => store,
    };
    Ok(DatabaseState::Present {
        installation: store.installation()?,
        project: place_of(store, root, marker)?,
        reach: store.reach()?,
    })
}

fn place_of(
    store: &Store,
    root: &Path,
    marker: Option<&Marker>,
) -> Result<ProjectPlace, RunnerError> {
    if let Some(project) = store.project_at(root)? {
        return Ok(ProjectPlace::Here(project.id));
    }
    if store.is_removed_at(root)? {
        return Ok(ProjectPlace::Removed);
    }
    let Some(marker) = marker else {
        return Ok(ProjectPlace::Unknown);
    };
    let known = match store.project(&marker.project) {
        Ok(known) => known,
        Err(StoreError::NotFound { .. }) => return Ok(ProjectPlace::Unknown),
        Err(error) => return Err(error.into()),
    };
    let is_same_folder = known.root.canonicalize().is_ok_and(|real| real == root);
    let is_still_there = !is_same_folder
        && read_marker(&known.root).is_some_and(|other| {
            (&other.installation, &other.project) == (&marker.installation, &marker.project)
        });
    Ok(if is_still_there {
        ProjectPlace::Copied {
            project: known.id,
            of: known.root,
        }
    } else {
        ProjectPlace::Moved {
            project: known.id,
            from: known.root,
        }
    })
}
