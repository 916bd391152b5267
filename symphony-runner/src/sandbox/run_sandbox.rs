//! A run's sandbox: the level that was chosen, with the places of a program.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use symphony_core::config::{SandboxCache, SandboxSettings};
use symphony_sandbox::{Level, Tools, ToolsRequest};
use symphony_workspace::write_private;

use super::compose::{Places, StartFolders, compose};
use super::fault::SandboxFault;
use super::protection::Protection;
use super::start::Start;
use crate::network::{HomeFile, Ways};
use crate::process::ResourceLimits;
use crate::provider::{AgentCli, agent_clis};
use crate::resume::link_into;
use crate::supervise::KeptSessions;

/// What confines the programs of a run that need the same places.
#[derive(Debug, Clone)]
pub(crate) struct RunSandbox {
    protection: Protection,
    settings: SandboxSettings,
    places: Places,
    /// The run's own folder, which has one for each start.
    run: PathBuf,
    /// The CLI whose login each start gets a copy of.
    login: Option<&'static AgentCli>,
    /// Where the CLI keeps its sessions, for later runs with the same key.
    sessions: Option<KeptSessions>,
    /// What each start has in its home.
    home_files: Vec<HomeFile>,
}

/// A program with all that starts it.
#[derive(Debug)]
pub(crate) struct Wrapped {
    /// The program.
    pub(crate) program: PathBuf,
    /// Its arguments.
    pub(crate) arguments: Vec<OsString>,
    /// Its whole environment.
    pub(crate) environment: BTreeMap<OsString, OsString>,
    /// What must live as long as the program does; `None` where nothing is confined.
    pub(crate) start: Option<Start>,
    /// What its processes may use together; `None` for no limit.
    pub(crate) limits: Option<ResourceLimits>,
}

impl RunSandbox {
    /// Puts it together. `run` is the run's own folder.
    pub(crate) fn new(
        protection: Protection,
        settings: SandboxSettings,
        places: Places,
        run: PathBuf,
    ) -> Self {
        Self {
            protection,
            settings,
            places,
            run,
            login: None,
            sessions: None,
            home_files: Vec::new(),
        }
    }

    /// Returns the level that was chosen.
    pub(super) const fn protection(&self) -> &Protection {
        &self.protection
    }

    /// Returns the run's own folder.
    pub(super) fn folder(&self) -> &Path {
        &self.run
    }

    /// Gives each start the ways out of a network of its own.
    #[must_use]
    pub(crate) fn with_ways(mut self, ways: Option<Ways>) -> Self {
        self.places.ways = ways;
        self
    }

    /// Hands the login of a CLI in at each start.
    #[must_use]
    pub(crate) fn with_login(mut self, login: Option<&'static AgentCli>) -> Self {
        self.login = login;
        self
    }

    /// Puts files into the home of each start.
    #[must_use]
    pub(crate) fn with_home_files(mut self, files: Vec<HomeFile>) -> Self {
        self.home_files = files;
        self
    }

    /// Keeps the sessions of a CLI beyond each start.
    #[must_use]
    pub(crate) fn with_sessions(mut self, sessions: Option<KeptSessions>) -> Self {
        let folder = sessions.iter().map(|kept| kept.folder.clone());
        self.places.write.extend(folder);
        self.sessions = sessions;
        self
    }

    /// Returns the program that starts `program` confined. `program` must be an absolute path, or a name that the
    /// environment's `PATH` finds inside.
    ///
    /// # Errors
    /// When the sandbox cannot be prepared. Then the program must not start.
    pub(crate) fn wrap(
        &self,
        program: &Path,
        arguments: &[OsString],
        mut environment: BTreeMap<OsString, OsString>,
    ) -> Result<Wrapped, SandboxFault> {
        let level = self.protection.level();
        if level == Level::Off {
            return Ok(Wrapped {
                program: program.to_owned(),
                arguments: arguments.to_vec(),
                environment,
                start: None,
                limits: None,
            });
        }
        let (mut start, folders) = Start::make(&self.run, level == Level::Namespace)?;
        let tools = self.tools(level, &environment, &folders);
        let mut places = self.places.clone();
        places.read.extend(tools.read.iter().cloned());
        let mut sandbox = compose(level, &self.settings, &places, folders)?;
        sandbox.shown.clone_from(&tools.shown);
        let Protection {
            machine, programs, ..
        } = &self.protection;
        let (program, arguments) =
            sandbox.command(machine, programs, None, program.as_os_str(), arguments)?;
        // After the command is made, which needs an empty home, and before anything can run in it.
        let home = &sandbox.home.folder;
        tools.furnish(home).map_err(|source| SandboxFault::Io {
            action: "write into the folder",
            path: home.clone(),
            source,
        })?;
        for file in &self.home_files {
            let path = home.join(&file.path);
            write_in_home(&path, &file.text).map_err(|source| SandboxFault::Io {
                action: "write",
                path,
                source,
            })?;
        }
        if let Some(cli) = self.login {
            start.hand_in(cli, &environment, home)?;
        }
        if let Some(kept) = &self.sessions {
            link_into(home, kept.cli, &kept.folder).map_err(|source| SandboxFault::Io {
                action: "link to the kept sessions from",
                path: home.clone(),
                source,
            })?;
        }
        for cli in agent_clis() {
            environment.remove(OsStr::new(cli.credentials.folder_variable));
        }
        for (name, value) in sandbox.environment() {
            environment.insert(name.into(), value.into());
        }
        for (name, value) in tools.variables {
            match value {
                Some(value) => environment.insert(name, value),
                None => environment.remove(&name),
            };
        }
        Ok(Wrapped {
            program,
            arguments,
            environment,
            start: Some(start),
            limits: self
                .settings
                .memory_bytes
                .map(|memory_bytes| ResourceLimits {
                    memory_bytes,
                    processes: self.settings.processes,
                }),
        })
    }

    /// Finds the toolchains and caches that a start shows.
    fn tools(
        &self,
        level: Level,
        environment: &BTreeMap<OsString, OsString>,
        folders: &StartFolders,
    ) -> Tools {
        let Some(home) = &self.places.home else {
            return Tools::default();
        };
        let checkout = &self.places.checkout;
        let mut hidden = [&self.places.closed[..], &self.places.write].concat();
        hidden.push(checkout.clone());
        // the checkouts of other agents
        hidden.extend(checkout.parent().map(Path::to_owned));
        Tools::observe(&ToolsRequest {
            level,
            environment,
            home,
            inside: match level {
                Level::Landlock => &folders.home,
                Level::Namespace | Level::Off => home,
            },
            programs: &[],
            hidden: &hidden,
            cached_for: (self.settings.cache == SandboxCache::Read).then_some(checkout),
        })
    }
}

fn write_in_home(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    write_private(path, text).map_err(io::Error::other)
}
