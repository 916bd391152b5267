//! A project as a worker has it: a clone below the worker's folder, and the configuration that the control handed over.

use std::path::{Path, PathBuf};

use symphony_core::config::Database;
use symphony_core::id::{ProjectId, RunId};
use symphony_store::{Project, Store};
use symphony_workspace::config_file::LoadedConfig;

use super::refusal::WorkerRefusal;
use crate::error::RunnerError;
use crate::installation::Installation;

/// The folder of the clones, below that of the worker.
const CLONES: &str = "projects";

/// A project on a worker's host.
#[derive(Debug, Clone)]
pub struct LocalProject {
    /// The worker's installation, with the project's configuration.
    pub installation: Installation,
    /// The project, whose root is the clone.
    pub project: Project,
    /// The address of its hub; `None` where the project's own repository is worked in.
    pub hub: Option<String>,
}

impl Installation {
    /// Opens the database of a worker.
    ///
    /// # Errors
    /// When it is a file, which no other host can open, or cannot be reached.
    pub(crate) fn worker_store(&self) -> Result<Store, RunnerError> {
        match &self.config.database {
            Database::Server(address) => Ok(Store::open_on(address)?),
            Database::File(path) => Err(WorkerRefusal::FileDatabase { path: path.clone() }.into()),
        }
    }

    /// Lists the projects of which this worker has a clone.
    pub(super) fn cloned_projects(&self) -> Vec<ProjectId> {
        let folder = self.worker_data().map(|data| data.join(CLONES));
        let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok());
        let names = entries.into_iter().flatten().flatten();
        names
            .filter_map(|entry| ProjectId::parse(entry.file_name().to_str()?).ok())
            .collect()
    }

    /// Returns the folder of a project's clone on this worker.
    pub(super) fn clone_of(&self, id: &ProjectId) -> Option<PathBuf> {
        self.worker_data().map(|data| clone_folder(data, id))
    }

    /// Returns the same, where there must be one.
    ///
    /// # Errors
    /// When this is the installation of no worker.
    pub(super) fn require_clone_of(&self, id: &ProjectId) -> Result<PathBuf, RunnerError> {
        self.clone_of(id)
            .ok_or_else(|| RunnerError::refused("only a worker has clones of projects"))
    }

    /// Returns a project as this worker has it, with the configuration of this moment. Nothing is fetched.
    ///
    /// # Errors
    /// When the control has not handed the project over, or the folder of the clone cannot be made.
    pub fn localize(&self, store: &Store, id: &ProjectId) -> Result<LocalProject, RunnerError> {
        let refused = |missing| WorkerRefusal::NotHandedOver {
            project: id.clone(),
            missing,
        };
        let root = self.require_clone_of(id)?;
        let project = store.project(id)?;
        let mut handed = store
            .handed_project(id)?
            .ok_or_else(|| refused("configuration"))?;
        self.resolve_secrets(&mut handed.layers)?;
        let hub = handed.hub.ok_or_else(|| refused("hub"))?;
        make_private(&root)?;
        let home = self.config_paths.home.clone();
        let loaded = LoadedConfig::handed(&handed.layers, &root, home)?;
        Ok(LocalProject {
            installation: self.with_handed(loaded),
            project: Project { root, ..project },
            hub: Some(hub),
        })
    }
}

impl LocalProject {
    /// Returns the project of a run as this host has it: a worker's clone, or the project's own repository.
    ///
    /// # Errors
    /// As [`Installation::localize`].
    pub(crate) fn of_run(
        installation: &Installation,
        store: &Store,
        run: &RunId,
    ) -> Result<Self, RunnerError> {
        let project = store.run(run)?.project;
        if installation.worker_data().is_some() {
            return installation.localize(store, &project);
        }
        Ok(Self {
            installation: installation.clone(),
            project: store.project(&project)?,
            hub: None,
        })
    }
}

/// Returns the folder of a project's clone.
fn clone_folder(data: &Path, project: &ProjectId) -> PathBuf {
    data.join(CLONES).join(project.as_str())
}

/// Makes a folder that only this user may read: it holds code, prompts and logs.
pub(super) fn make_private(folder: &Path) -> Result<(), RunnerError> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| RunnerError::io("make the folder", folder, error))
}
