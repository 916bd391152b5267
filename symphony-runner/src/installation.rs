//! Where Symphony runs: its executable, its configuration, its database, the prompts it ships.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use symphony_core::config::{Config, ProjectConfig};
use symphony_core::id::ProjectId;
use symphony_store::{Project, Store};
use symphony_workspace::config_file::{ConfigPaths, LoadedConfig, load};
use symphony_workspace::file_system::network_file_system_of;

use crate::environment::agent_search_path;
use crate::error::RunnerError;
use crate::library::{PromptLibrary, ShippedPrompts};
use crate::provider::ProviderCall;
use crate::provider::detect::{Installation as ProviderPlaces, find_provider};

/// Everything a command needs to know about where it runs.
#[derive(Debug, Clone)]
pub struct Installation {
    /// Symphony's own executable.
    pub executable: PathBuf,
    /// The folder that commands start from: the repository's root.
    pub root: PathBuf,
    /// Where configuration was looked for.
    pub config_paths: ConfigPaths,
    /// What holds for the installation.
    pub config: Config,
    /// The prompts that ship with Symphony.
    pub shipped: ShippedPrompts,
    /// The environment that agents inherit from, filtered.
    pub environment: BTreeMap<OsString, OsString>,
    loaded: LoadedConfig,
}

impl Installation {
    /// Loads the configuration that holds in a folder.
    ///
    /// # Errors
    /// When a configuration file can not be read, or what it says of the installation is wrong.
    pub fn load(
        executable: PathBuf,
        root: PathBuf,
        config_paths: ConfigPaths,
        shipped: ShippedPrompts,
        environment: BTreeMap<OsString, OsString>,
    ) -> Result<Self, RunnerError> {
        let loaded = load(&config_paths, &root)?;
        let config = loaded.installation()?.config;
        Ok(Self {
            executable,
            root,
            config_paths,
            config,
            shipped,
            environment,
            loaded,
        })
    }

    /// Loads the configuration as it is now, for a command that is at work for long. The database stays the one that
    /// is open.
    ///
    /// # Errors
    /// When a configuration file can not be read, or what it says of the installation is wrong.
    pub fn reloaded(&self) -> Result<Self, RunnerError> {
        let loaded = load(&self.config_paths, &self.root)?;
        let mut config = loaded.installation()?.config;
        config.database.clone_from(&self.config.database);
        Ok(Self {
            config,
            loaded,
            ..self.clone()
        })
    }

    /// Returns how many pull requests may have their gates running at once on this machine.
    pub(crate) fn gate_slots(&self) -> u32 {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        u32::try_from(self.config.gate_slots(cpus)).unwrap_or(u32::MAX)
    }

    /// Returns the configuration files as they were loaded.
    pub fn loaded(&self) -> &LoadedConfig {
        &self.loaded
    }

    /// Opens the database; makes it where there is none, for this user alone.
    ///
    /// # Errors
    /// When it can not be opened, or lies on a network file system.
    pub fn open_store(&self) -> Result<Store, RunnerError> {
        let database = &self.config.database;
        if let Some(folder) = database.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|error| RunnerError::io("make the folder", folder, error))?;
        }
        self.refuse_network()?;
        create_private(database)?;
        Ok(Store::open(database)?)
    }

    /// Opens the database that is there; none when there is no file.
    ///
    /// # Errors
    /// When there is one and it can not be opened.
    pub fn existing_store(&self) -> Result<Option<Store>, RunnerError> {
        let database = &self.config.database;
        if database.exists() {
            Ok(Some(Store::open_existing(database)?))
        } else {
            Ok(None)
        }
    }

    /// Refuses a database on a network file system: locks do not hold there.
    ///
    /// # Errors
    /// When it lies on one, or the system does not say.
    pub(crate) fn refuse_network(&self) -> Result<(), RunnerError> {
        let database = &self.config.database;
        match database.parent() {
            Some(folder) => refuse_network(database, network_file_system_of(folder)?),
            None => Ok(()),
        }
    }

    /// Returns the lock file that makes ticks take turns.
    pub fn tick_lock(&self) -> PathBuf {
        self.config.database.with_extension("tick.lock")
    }

    /// Returns what holds for a project.
    ///
    /// # Errors
    /// When anything that concerns the project is wrong in its configuration.
    pub fn project_config(&self, project: &Project) -> Result<ProjectConfig, RunnerError> {
        Ok(self
            .loaded
            .project(Some(&project.id), &project.root, Some(&project.settings))?
            .config)
    }

    /// Finds the program of a project's provider.
    ///
    /// # Errors
    /// When it is not installed or not configured; the text says what to do.
    pub fn provider(&self, config: &ProjectConfig) -> Result<ProviderCall, RunnerError> {
        let path = agent_search_path(&self.environment, &config.env);
        let places = ProviderPlaces {
            symphony: &self.executable,
            scripted_state_dir: &self.state_dir().join("scripted"),
            search_path: &path,
        };
        Ok(find_provider(config.provider, &config.providers, &places)?)
    }

    /// Says whether a project may have prompts of its own. Those that ship are right: nothing of a project without any can
    /// be wrong.
    pub fn has_own_prompts(&self, config: &ProjectConfig) -> bool {
        // a folder that can not be looked at is told by whoever reads it
        config.prompts_dir.try_exists().unwrap_or(true)
    }

    /// Loads profiles and contracts as they hold for a project.
    ///
    /// # Errors
    /// When a prompt file of the project is wrong: all problems at once.
    pub fn library(&self, config: &ProjectConfig) -> Result<PromptLibrary, RunnerError> {
        PromptLibrary::load(&self.shipped, &config.prompts_dir)
    }

    /// Returns the folder of the installation's own state, beside the database.
    pub fn state_dir(&self) -> PathBuf {
        self.config
            .database
            .parent()
            .map_or_else(|| PathBuf::from("."), Path::to_path_buf)
    }

    /// Returns the arguments by which this executable is started again for the same installation.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments = vec![OsString::from("-C"), self.root.clone().into_os_string()];
        if let Some(config) = &self.config_paths.explicit {
            arguments.extend([OsString::from("--config"), config.clone().into_os_string()]);
        }
        arguments
    }

    /// Finds the project that a folder belongs to.
    ///
    /// # Errors
    /// When the folder is in no project: the text says to run `symphony init`.
    pub fn current_project(&self, store: &Store) -> Result<Project, RunnerError> {
        store.project_at(&self.root)?.ok_or_else(|| {
            RunnerError::refused(format!(
                "{} is not a project of this installation (database {}): run `symphony init` there",
                self.root.display(),
                self.config.database.display()
            ))
        })
    }

    /// Returns one environment variable.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
    }
}

/// Refuses a database on a network file system: SQLite's locks, and those of runs, hold on one machine only.
fn refuse_network(database: &Path, file_system: Option<&str>) -> Result<(), RunnerError> {
    match file_system {
        None => Ok(()),
        Some(name) => Err(RunnerError::refused(format!(
            "the database {} lies on a network file system ({name}), where locks do not hold: set `database` in the \
             configuration to a path on a local disk",
            database.display()
        ))),
    }
}

/// Makes an empty file that only this user may read, where there is none; SQLite takes it for a new database and gives
/// its other files the same mode.
fn create_private(path: &Path) -> Result<(), RunnerError> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let made = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match made {
        Ok(_file) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(RunnerError::io("make the database", path, error)),
    }
}

/// Returns the id that a project gets from its folder's name.
pub fn project_id_for(root: &Path) -> ProjectId {
    let name = root
        .file_name()
        .map(OsStr::to_string_lossy)
        .unwrap_or_default();
    let slug: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .take(symphony_core::id::ID_CHARS_MAX)
        .collect();
    let slug = slug.trim_matches('-');
    ProjectId::parse(if slug.is_empty() { "project" } else { slug })
        .expect("letters, digits and inner dashes make an id")
}

#[cfg(test)]
mod tests {
    use symphony_workspace::file_system::network_file_system;

    use super::*;

    #[test]
    fn a_database_lies_on_a_local_disk() {
        let path = Path::new("/home/me/p/.symphony/symphony.db");
        for (magic, refused) in [
            (0x6969, Some("nfs")),
            (0xff53_4d42, Some("cifs")),
            (0x0102_1997, Some("9p")),
            (0xef53, None),
            (0x0102_1994, None),
        ] {
            let said = refuse_network(path, network_file_system(magic));
            let expected = refused.map(|name| {
                format!(
                    "the database /home/me/p/.symphony/symphony.db lies on a network file system ({name}), where locks do \
                     not hold: set `database` in the configuration to a path on a local disk"
                )
            });
            assert_eq!(
                said.err().map(|error| error.to_string()),
                expected,
                "{magic:#x}"
            );
        }
    }

    #[test]
    fn a_new_database_is_private_and_an_old_one_is_left_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.db");
        create_private(&path).unwrap();
        drop(Store::open(&path).unwrap());
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let size = path.metadata().unwrap().len();
        create_private(&path).unwrap();
        assert_eq!(path.metadata().unwrap().len(), size);
    }
}
