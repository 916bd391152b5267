//! Which projects' forges are looked at.

use symphony_core::Timestamp;
use symphony_core::config::{ForgeSettings, ProjectConfig};
use symphony_store::{Project, Store};
use symphony_tracker::wait::next_look;

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::tick::Observed;

/// A project with its forge.
#[derive(Debug, Clone)]
pub(super) struct DueForge {
    pub(super) project: Project,
    pub(super) config: ProjectConfig,
    pub(super) settings: ForgeSettings,
}

impl DueForge {
    fn of(project: &Project, config: &ProjectConfig) -> Option<Self> {
        Some(Self {
            settings: config.forge.clone()?,
            project: project.clone(),
            config: config.clone(),
        })
    }
}

/// Picks the forges that are to be asked now.
pub(super) fn due_of(
    store: &Store,
    forges: Vec<DueForge>,
    now: Timestamp,
) -> Result<Vec<DueForge>, RunnerError> {
    let mut due = Vec::new();
    for forge in forges {
        if is_due(store, &forge, now)? {
            due.push(forge);
        }
    }
    Ok(due)
}

fn is_due(store: &Store, forge: &DueForge, now: Timestamp) -> Result<bool, RunnerError> {
    let Some(record) = store.forge(&forge.project.id)? else {
        return Ok(true);
    };
    if let Some(hold) = &record.hold {
        return Ok(hold.until <= now);
    }
    let is_time = next_look(record.looked_at, forge.settings.poll, None, now) <= now;
    Ok(is_time || store.forge_news(&record)?.0)
}

/// Lists the forges of the projects that a tick observed. Nothing is read for it: a tick without forges costs what it did.
pub(super) fn observed_forges(observed: &Observed) -> Vec<DueForge> {
    let projects = observed.projects.values();
    projects
        .filter_map(|(project, config)| DueForge::of(project, config.as_ref()?))
        .collect()
}

/// Lists all forges. Whoever reads a project's configuration next reports what is wrong with it.
pub(super) fn configured(
    installation: &Installation,
    store: &Store,
) -> Result<Vec<DueForge>, RunnerError> {
    let mut found = Vec::new();
    for project in store.projects()? {
        let Ok(config) = installation.project_config(&project) else {
            continue;
        };
        found.extend(DueForge::of(&project, &config));
    }
    Ok(found)
}
