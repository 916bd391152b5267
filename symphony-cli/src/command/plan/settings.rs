//! What the project's configuration says of plans.

use std::path::PathBuf;

use symphony_core::config::PlanSettings;
use symphony_core::plan::failure::FailurePatterns;
use symphony_workspace::config_file::load;

use crate::app::App;
use crate::failure::Context as _;

/// The project that files are named in: the repository's root, or the folder where there is no repository.
pub(super) fn project_root(app: &App) -> PathBuf {
    let root = app.surroundings.root();
    root.unwrap_or_else(|_no_repository| app.surroundings.current.clone())
}

/// What the project's configuration says of plans; without a configuration, the defaults.
pub(super) fn plan_settings(app: &App) -> anyhow::Result<PlanSettings> {
    let root = project_root(app);
    let loaded = load(&app.surroundings.config_paths(), &root).context("load the configuration")?;
    let project = app.surroundings.recorded_project()?;
    let settings = loaded.project(
        project.as_ref().map(|project| &project.id),
        &root,
        project.as_ref().map(|project| &project.settings),
    )?;
    Ok(settings.config.plan)
}

/// Returns the project's own patterns of failures. A configuration that cannot be read has none: the commands of skills
/// need no project.
pub(super) fn failure_patterns(app: &App) -> FailurePatterns {
    let settings = plan_settings(app).unwrap_or_default();
    FailurePatterns::compile(&settings.failure_patterns)
}
