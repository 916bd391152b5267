//! What a tick saw.

use std::collections::BTreeMap;

use symphony_core::config::ProjectConfig;
use symphony_core::id::ProjectId;
use symphony_core::tick::{ProjectView, Snapshot};
use symphony_store::Project;

/// A project, as it is configured now.
#[derive(Debug, Clone)]
pub struct KnownProject {
    /// The project.
    pub project: Project,
    /// Its configuration; none when it is broken.
    pub config: Option<ProjectConfig>,
    /// What dispatch needs to know of it.
    pub view: ProjectView,
}

/// What a tick saw.
#[derive(Debug)]
pub struct Observed {
    /// What the plan is made from.
    pub snapshot: Snapshot,
    /// The projects, with what acting on them needs.
    pub projects: BTreeMap<ProjectId, (Project, Option<ProjectConfig>)>,
}
