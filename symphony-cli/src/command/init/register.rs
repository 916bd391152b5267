//! Registers a repository as a project of an installation.

use std::path::Path;

use symphony_core::config::{KeyPath, Source};
use symphony_core::id::ProjectId;
use symphony_runner::installation::{Installation, project_id_for};
use symphony_store::{NewProject, Project, Store};

use crate::app::App;
use crate::failure::{Exit, Stop};

/// Projects of one name that a number distinguishes.
const SAME_NAME_MAX: u32 = 100;

/// Refuses a repository that is set up with a database of its own.
pub(super) fn refuse_other_installation(installation: &Installation) -> Result<(), Stop> {
    let database = &installation.config.database;
    let named = installation
        .loaded()
        .inspect_installation()
        .effective
        .get(&KeyPath::of("database"))
        .is_some_and(|entry| entry.source != Source::Default);
    if !named && !database.file().is_some_and(Path::exists) {
        return Ok(());
    }
    let message = format!(
        "{} already has the database {database}",
        installation.root.display()
    );
    Err(Stop::new(Exit::Refused, message).hint(
        "a repository belongs to one installation: name the same `database` in both configuration files, then run `symphony init` there",
    ))
}

/// Registers a repository with a prefix and an id that no other project has.
pub(super) fn register(store: &mut Store, root: &Path, prefix: &str) -> anyhow::Result<Project> {
    let projects = store.projects()?;
    if let Some(other) = projects.iter().find(|project| project.prefix == prefix) {
        let message = format!(
            "the prefix {prefix} belongs to the project at {}",
            other.root.display()
        );
        return Err(Stop::new(Exit::Refused, message)
            .hint("choose another one with `symphony init --prefix OTHER`")
            .into());
    }
    let name = root.file_name().map_or_else(
        || "project".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    );
    let base = project_id_for(root);
    let is_free = |id: &ProjectId| projects.iter().all(|project| project.id != *id);
    let numbered = (2..SAME_NAME_MAX).filter_map(|n| ProjectId::parse(format!("{base}-{n}")).ok());
    let id = std::iter::once(base.clone())
        .chain(numbered)
        .find(is_free)
        .unwrap_or(base);
    let new = NewProject {
        id,
        name,
        root: root.to_path_buf(),
        prefix: prefix.to_owned(),
    };
    Ok(store.add_project(&App::as_human(), &new)?)
}
