//! Which trackers are due.

use symphony_core::Timestamp;
use symphony_core::config::TrackerSettings;
use symphony_store::{Project, Store, TrackerRecord};
use symphony_tracker::fault::Fault;
use symphony_tracker::wait::next_look;

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::tick::Observed;

/// A tracker of a project.
pub(super) type DueTracker = (Project, TrackerSettings);

/// Picks the trackers that are to be asked now.
pub(super) fn due_of(
    store: &Store,
    trackers: Vec<DueTracker>,
    now: Timestamp,
) -> Result<Vec<DueTracker>, RunnerError> {
    let mut due = Vec::new();
    for (project, settings) in trackers {
        let record = store.tracker(&project.id, &settings.name)?;
        let is_due = match &record {
            None => true,
            Some(record) => is_due(store, &settings, record, now)?,
        };
        if is_due {
            due.push((project, settings));
        }
    }
    Ok(due)
}

/// Lists the trackers of the projects that a tick observed. Nothing is read for it: a tick without trackers costs what it did.
pub(super) fn observed_trackers(observed: &Observed) -> Vec<DueTracker> {
    let projects = observed.projects.values();
    let known = projects.filter_map(|(project, config)| Some((project, config.as_ref()?)));
    known
        .flat_map(|(project, config)| {
            let trackers = config.trackers.iter();
            trackers.map(|settings| (project.clone(), settings.clone()))
        })
        .collect()
}

/// Lists all trackers of all projects. Whoever reads a project's configuration next reports what is wrong with it.
pub(super) fn configured(
    installation: &Installation,
    store: &Store,
) -> Result<Vec<DueTracker>, RunnerError> {
    let mut found = Vec::new();
    for project in store.projects()? {
        let Ok(config) = installation.project_config(&project) else {
            continue;
        };
        let trackers = config.trackers.into_iter();
        found.extend(trackers.map(|settings| (project.clone(), settings)));
    }
    Ok(found)
}

fn is_due(
    store: &Store,
    settings: &TrackerSettings,
    record: &TrackerRecord,
    now: Timestamp,
) -> Result<bool, RunnerError> {
    // A token that may not write keeps no one from reading: what waits is put off by itself.
    let hold = record.hold.as_ref();
    if let Some(hold) = hold.filter(|hold| !matches!(hold.fault, Fault::ReadOnly { .. })) {
        return Ok(hold.until <= now);
    }
    let is_time = next_look(record.looked_at, settings.poll, None, now) <= now;
    Ok(is_time || store.tracker_has_news(record, now)?)
}
