//! What a tick has read.

use std::collections::BTreeMap;

use symphony_core::config::ProjectConfig;
use symphony_core::id::ProjectId;
use symphony_core::tick::{ProjectView, Snapshot};
use symphony_store::Project;

/// A project with its current configuration.
#[derive(Debug, Clone)]
pub struct KnownProject {
    /// The project.
    pub project: Project,
    /// Its configuration; `None` when it is broken.
    pub config: Option<ProjectConfig>,
    /// What dispatch needs to know about it.
    pub view: ProjectView,
}

/// What a tick has read.
#[derive(Debug)]
pub struct Observed {
    /// The input for the plan.
    pub snapshot: Snapshot,
    /// The projects, with what is needed to act on them.
    pub projects: BTreeMap<ProjectId, (Project, Option<ProjectConfig>)>,
}
