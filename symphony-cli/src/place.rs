//! Where a command runs: what surrounds the process, and the repository's project.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use symphony_core::listing::list_few;
use symphony_runner::installation::Installation;
use symphony_runner::process::adopt_environment;
use symphony_runner::session::Session;
use symphony_store::{Project, Store};
use symphony_workspace::config_file::ConfigPaths;
use symphony_workspace::discover;

use crate::failure::{Context as _, Exit, Stop};
use crate::global::GlobalArgs;
use crate::handover::Handover;
use crate::output::Output;
use crate::shipped::SHIPPED;

/// Projects that a sentence names.
const NAMES_MAX: usize = 5;

/// What surrounds the process: read once, at the edge.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    /// The folder that commands start from: the working directory, or `-C`.
    pub(crate) current: PathBuf,
    /// The environment.
    pub(crate) environment: BTreeMap<OsString, OsString>,
    config: Option<PathBuf>,
    /// The folder that the command was typed in, whatever `-C` says.
    typed_in: PathBuf,
    handover: Handover,
}

impl Surroundings {
    /// Reads them.
    ///
    /// # Errors
    /// When the working directory, or the folder of `-C`, is not there.
    pub(crate) fn read(globals: &GlobalArgs) -> anyhow::Result<Self> {
        let current = std::env::current_dir().context("find the working directory")?;
        let typed_in = current.clone();
        let current = match &globals.directory {
            None => current,
            Some(folder) => {
                let folder = current.join(folder);
                if !folder.is_dir() {
                    let message = format!("there is no folder {}", folder.display());
                    return Err(Stop::new(Exit::NotFound, message)
                        .hint("`-C` takes the path of a folder")
                        .into());
                }
                folder
            }
        };
        let handed = adopt_environment().context("receive the environment from the tick")?;
        let environment = handed.unwrap_or_else(|| std::env::vars_os().collect());
        Ok(Self {
            current,
            environment,
            config: globals.config.clone(),
            typed_in,
            handover: Handover::default(),
        })
    }

    /// Reads what completing a command line in a shell needs. It does not take over the environment that a tick hands to a
    /// supervisor.
    ///
    /// # Errors
    /// When the working directory is not there.
    pub(crate) fn of_completion(
        directory: Option<PathBuf>,
        config: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        let current = std::env::current_dir().context("find the working directory")?;
        Ok(Self {
            current: directory.map_or_else(|| current.clone(), |folder| current.join(folder)),
            environment: std::env::vars_os().collect(),
            config,
            typed_in: current,
            handover: Handover::default(),
        })
    }

    /// Returns the same surroundings with another folder and its own configuration file, whatever the environment says.
    pub(crate) fn within(&self, folder: PathBuf, config: PathBuf) -> Self {
        Self {
            typed_in: folder.clone(),
            current: folder,
            config: Some(config),
            environment: self.environment.clone(),
            handover: Handover::default(),
        }
    }

    /// Returns the root of the repository that the command was typed in; none where there is none.
    pub(crate) fn typed_in(&self) -> Option<PathBuf> {
        discover(&self.typed_in).ok().map(|found| found.root)
    }

    /// Returns where configuration is looked for.
    pub(crate) fn config_paths(&self) -> ConfigPaths {
        let home = self.variable("HOME").map(Path::new);
        ConfigPaths::new(
            self.config.as_deref(),
            self.variable("SYMPHONY_CONFIG"),
            home,
            &self.current,
        )
    }

    /// Finds the root of the repository.
    ///
    /// # Errors
    /// When the folder is in none, or in a linked worktree of one.
    pub(crate) fn root(&self) -> anyhow::Result<PathBuf> {
        Ok(discover(&self.current)?.root)
    }

    /// Loads what holds where the command runs.
    ///
    /// # Errors
    /// When the folder is in no repository, or the configuration of the installation is wrong.
    pub(crate) fn installation(&self) -> anyhow::Result<Installation> {
        self.installation_at(self.root()?)
    }

    /// Loads what holds in the repository, and outside of any in the current folder: for a command that needs only the address of a server.
    ///
    /// # Errors
    /// When the configuration of the installation is wrong.
    pub(crate) fn installation_anywhere(&self) -> anyhow::Result<Installation> {
        self.installation_at(self.root().unwrap_or_else(|_none| self.current.clone()))
    }

    /// Loads what holds in a repository. A database that was left for the command is closed: who asks for the installation alone may be
    /// about to move it, or has changed the configuration.
    ///
    /// # Errors
    /// When the configuration of the installation is wrong.
    pub(crate) fn installation_at(&self, root: PathBuf) -> anyhow::Result<Installation> {
        self.close();
        let executable = std::env::current_exe().context("find symphony's own program")?;
        let environment = self.environment.clone();
        Ok(Installation::load(
            executable,
            root,
            self.config_paths(),
            SHIPPED,
            environment,
        )?)
    }

    /// Leaves the database that a check before the command has opened, for the command.
    pub(crate) fn leave(&self, opened: (Installation, Store)) {
        self.handover.leave(opened);
    }

    /// Closes the database that was left for the command, which uses another one.
    pub(crate) fn close(&self) {
        drop(self.handover.take());
    }

    /// Opens the database of the installation, or takes the one that was left for the command; a command that only looks does not make
    /// one.
    ///
    /// # Errors
    /// When there is none yet, or it cannot be opened.
    pub(crate) fn existing(&self) -> anyhow::Result<(Installation, Store)> {
        if let Some(opened) = self.handover.take() {
            return Ok(opened);
        }
        let installation = self.installation()?;
        let store = installation
            .existing_store()?
            .ok_or_else(|| not_set_up(&installation))?;
        Ok((installation, store))
    }

    /// Opens the database for a command that works on all its projects; says so where the repository itself is none.
    ///
    /// # Errors
    /// As [`Surroundings::existing`], and when there is no project at all.
    pub(crate) fn all_projects(&self, out: Output) -> anyhow::Result<(Installation, Store)> {
        let (installation, store) = self.existing()?;
        let projects = store.projects()?;
        if projects.is_empty() {
            return Err(not_set_up(&installation).into());
        }
        if store.project_at(&installation.root)?.is_none() {
            let names = projects.iter().map(|project| project.id.as_str());
            out.note(&format!(
                "No project is set up in {}; `symphony init` would set it up. This command works on {}.",
                installation.root.display(),
                list_few(names, NAMES_MAX)
            ));
        }
        Ok((installation, store))
    }

    /// Opens the database and finds the project of the repository.
    ///
    /// # Errors
    /// When the repository is not set up yet, or the database cannot be opened.
    pub(crate) fn session(&self) -> anyhow::Result<Session> {
        let (installation, store) = self.existing()?;
        let project = store
            .project_at(&installation.root)?
            .ok_or_else(|| not_set_up(&installation))?;
        Ok(Session {
            installation,
            store,
            project,
        })
    }

    /// Returns the project as it is recorded; none when the repository is not set up or its database is unknown.
    ///
    /// # Errors
    /// When there is a database and it cannot be opened.
    pub(crate) fn recorded_project(&self) -> anyhow::Result<Option<Project>> {
        let Ok(installation) = self.installation() else {
            return Ok(None);
        };
        match installation.existing_store()? {
            Some(store) => Ok(store.project_at(&installation.root)?),
            None => Ok(None),
        }
    }

    /// Returns an environment variable; an empty one is as unset.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }
}

/// Returns the prefix of the issues of the project here. Arguments are parsed before the surroundings are known, so this
/// reads the few that name them by itself; none when there is no project, which the command then says.
pub(crate) fn prefix_here() -> Option<String> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let surroundings = Surroundings::read(&GlobalArgs::naming_the_place(&arguments)).ok()?;
    let project = surroundings.session().ok()?.project;
    Some(project.prefix)
}

/// The error for a repository that Symphony does not know.
fn not_set_up(installation: &Installation) -> Stop {
    Stop::new(
        Exit::NotFound,
        format!("{} is not set up for Symphony", installation.root.display()),
    )
    .hint("`symphony init` sets it up")
}
