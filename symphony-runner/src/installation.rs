//! Where Symphony runs: its executable, its configuration, its database, the prompts it ships.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use symphony_core::config::{Config, ProjectConfig, ProviderChoice};
use symphony_core::id::ProjectId;
use symphony_core::placement::Lease;
use symphony_store::Project;
use symphony_workspace::config_file::{ConfigPaths, LoadedConfig, load};

use crate::environment::agent_search_path;
use crate::error::RunnerError;
use crate::prompts::library::{PromptLibrary, ShippedPrompts};
use crate::provider::ProviderCall;
use crate::provider::detect::{Installation as ProviderPlaces, find_provider};

/// The variable by whose value a debug build divides the times of the lease.
const LEASE_DIVISOR: &str = "SYMPHONY_TEST_LEASE_DIVISOR";

/// Everything a command needs to know about where it runs.
#[derive(Debug, Clone)]
pub struct Installation {
    /// Symphony's own executable.
    pub executable: PathBuf,
    /// The folder that commands start from: the repository's root.
    pub root: PathBuf,
    /// Where configuration was searched for.
    pub config_paths: ConfigPaths,
    /// The installation's configuration.
    pub config: Config,
    /// The prompts that ship with Symphony.
    pub shipped: ShippedPrompts,
    /// The environment that agents inherit from, filtered.
    pub environment: BTreeMap<OsString, OsString>,
    loaded: LoadedConfig,
    /// The folder of a worker's clones; `None` for everything but a worker.
    worker_data: Option<PathBuf>,
    /// Whether the configuration of projects is what the control handed over, whatever files say.
    is_handed: bool,
}

impl Installation {
    /// Loads the configuration that applies in a folder.
    ///
    /// # Errors
    /// When a configuration file cannot be read, or one of its installation settings is wrong.
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
            worker_data: None,
            is_handed: false,
        })
    }

    /// Returns the same installation as that of a worker, whose clones of projects are in a folder.
    #[must_use]
    pub fn for_worker(self, data: PathBuf) -> Self {
        Self {
            worker_data: Some(data),
            ..self
        }
    }

    /// Returns the folder of a worker's clones; `None` for everything but a worker.
    pub(crate) fn worker_data(&self) -> Option<&Path> {
        self.worker_data.as_deref()
    }

    /// Returns the same installation with the configuration of a project that the control handed over.
    pub(crate) fn with_handed(&self, loaded: LoadedConfig) -> Self {
        Self {
            loaded,
            is_handed: true,
            ..self.clone()
        }
    }

    /// Reads the configuration files again, to compare them. What was handed over cannot be changed on this host.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(crate) fn loaded_now(&self) -> Result<LoadedConfig, RunnerError> {
        if self.is_handed {
            return Ok(self.loaded.clone());
        }
        Ok(load(&self.config_paths, &self.root)?)
    }

    /// Loads the current configuration, for a command that runs for a long time. The database stays the one that is
    /// open.
    ///
    /// # Errors
    /// When a configuration file cannot be read, or one of its installation settings is wrong.
    pub fn reloaded(&self) -> Result<Self, RunnerError> {
        let loaded = load(&self.config_paths, &self.root)?;
        let mut config = loaded.installation()?.config;
        config.database.clone_from(&self.config.database);
        config.state_dir.clone_from(&self.config.state_dir);
        Ok(Self {
            config,
            loaded,
            ..self.clone()
        })
    }

    /// Returns how many pull requests may run their gates at the same time on this machine.
    pub(crate) fn gate_slots(&self) -> u32 {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        u32::try_from(self.config.gate_slots(cpus)).unwrap_or(u32::MAX)
    }

    /// Returns the same installation with the database of another one, for a repository that is about to join it.
    #[must_use]
    pub fn with_database_of(&self, other: &Config) -> Self {
        let mut joined = self.clone();
        joined.config.database.clone_from(&other.database);
        joined.config.state_dir.clone_from(&other.state_dir);
        joined
    }

    /// Returns how long runs on other hosts live without a sign of life.
    pub fn lease(&self) -> Lease {
        let lease = self.config.lease;
        match self.divisor() {
            Some(divisor) => lease.shortened(divisor.into()),
            None => lease,
        }
    }

    /// Returns a time of work on several hosts, which tests divide as they do the lease.
    pub(crate) fn shorter_in_tests(&self, time: Duration) -> Duration {
        match self.divisor() {
            Some(divisor) => time / divisor.get(),
            None => time,
        }
    }

    /// Returns what tests of whole processes divide times by, since they cannot wait for minutes. A release build has no such
    /// variable, since a lease that is too short can let a run have two agents.
    fn divisor(&self) -> Option<NonZeroU32> {
        if cfg!(debug_assertions) {
            self.variable(LEASE_DIVISOR)?.to_str()?.parse().ok()
        } else {
            None
        }
    }

    /// Returns the configuration files as they were loaded.
    pub fn loaded(&self) -> &LoadedConfig {
        &self.loaded
    }

    /// Returns the lock file that serializes ticks.
    pub fn tick_lock(&self) -> PathBuf {
        self.config.state_file("tick.lock")
    }

    /// Returns the configuration of a project.
    ///
    /// # Errors
    /// When a setting of the project is wrong.
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
        Ok(find_provider(&config.provider, &config.providers, &places)?)
    }

    /// Returns the name of the provider that a project would use if this one were configured for it.
    ///
    /// # Errors
    /// What is wrong, in words: it is not installed or not configured.
    pub fn usable_provider(
        &self,
        config: &ProjectConfig,
        provider: ProviderChoice,
    ) -> Result<String, String> {
        let chosen = ProjectConfig {
            provider,
            ..config.clone()
        };
        let call = self.provider(&chosen).map_err(|error| error.to_string())?;
        Ok(call.full_name().to_string())
    }

    /// As [`Self::usable_provider`], for a provider that an issue, a profile or a plan names.
    ///
    /// # Errors
    /// What is wrong, in words: there is no such provider, or it is not installed or not configured.
    pub fn usable_named_provider(
        &self,
        config: &ProjectConfig,
        name: &str,
    ) -> Result<String, String> {
        let provider = ProviderChoice::parse(name).map_err(|error| error.to_string())?;
        self.usable_provider(config, provider)
    }

    /// Returns whether a project may have prompts of its own. The shipped ones are right: without own prompts nothing
    /// can be wrong.
    pub fn has_own_prompts(&self, config: &ProjectConfig) -> bool {
        // If the folder cannot be accessed, whoever reads it reports that.
        config.prompts_dir.try_exists().unwrap_or(true)
    }

    /// Loads profiles and contracts as they apply to a project.
    ///
    /// # Errors
    /// When a prompt file of the project is wrong: all problems at once.
    pub fn library(&self, config: &ProjectConfig) -> Result<PromptLibrary, RunnerError> {
        PromptLibrary::load(&self.shipped, &config.prompts_dir)
    }

    /// Returns the folder of the installation's own state: that of the database file, or one for the server's database.
    pub fn state_dir(&self) -> PathBuf {
        self.config.state_dir.clone()
    }

    /// Returns the arguments that start this executable again for the same installation.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments = vec![OsString::from("-C"), self.root.clone().into_os_string()];
        if let Some(config) = &self.config_paths.explicit {
            arguments.extend([OsString::from("--config"), config.clone().into_os_string()]);
        }
        arguments
    }

    /// Returns an environment variable.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
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
