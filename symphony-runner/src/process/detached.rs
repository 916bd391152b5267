//! Starting a supervisor that outlives the process that starts it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};

use super::error::ProcessError;
use super::handover::{HANDED_OVER, environment_file};
use super::identity::ProcessIdentity;
use super::lock::RunLock;
use crate::environment::{RUN_MARKER, is_public};

/// How to start a supervisor.
#[derive(Debug)]
pub struct DetachedLaunch {
    /// The Symphony executable.
    pub executable: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its working directory.
    pub directory: PathBuf,
    /// The file to which its standard output and error are appended (created with mode 0600).
    pub log: PathBuf,
    /// Its environment, handed over so that no one can read it in the table of processes (see
    /// [`super::adopt_environment`]). `None` lets it inherit the environment of this process.
    pub environment: Option<BTreeMap<OsString, OsString>>,
    /// The lock of its run, which becomes its standard input (see [`RunLock::adopt_stdin`]).
    pub lock: RunLock,
}

/// A started supervisor.
#[derive(Debug)]
pub struct DetachedSupervisor {
    child: Child,
    identity: ProcessIdentity,
}

impl DetachedLaunch {
    /// Starts the supervisor.
    ///
    /// Its environment never has the marker of a run, even if Symphony itself runs inside one, because the supervisor
    /// does not belong to that run. It creates its session itself (see [`super::become_session_leader`]), since a
    /// session cannot be given to a child.
    ///
    /// # Errors
    /// `Log` or `Spawn`. Then the lock is released.
    pub fn spawn(self) -> Result<DetachedSupervisor, ProcessError> {
        let failed = |source| ProcessError::Log {
            path: self.log.clone(),
            source,
        };
        let output = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.log)
            .map_err(failed)?;
        let errors = output.try_clone().map_err(failed)?;
        #[expect(
            clippy::disallowed_methods,
            reason = "this module owns the processes of the runner"
        )]
        let mut command = Command::new(&self.executable);
        command
            .args(&self.arguments)
            .current_dir(&self.directory)
            .env_remove(RUN_MARKER)
            .stdin(self.lock.into_stdio())
            .stderr(errors);
        match &self.environment {
            None => command.stdout(output),
            Some(environment) => {
                let public = environment.iter().filter(|(name, _)| is_public(name));
                let handed =
                    environment_file(environment).map_err(|source| ProcessError::System {
                        action: "hand the environment over",
                        source,
                    })?;
                command
                    .env_clear()
                    .envs(public)
                    .env(HANDED_OVER, "1")
                    .stdout(handed)
            }
        };
        let spawned = command.spawn();
        // The command holds this process's copies of the lock: if they outlived the hand-over, the lock would stay held
        // after the supervisor's death.
        drop(command);
        let child = spawned.map_err(|source| ProcessError::Spawn {
            program: self.executable.clone(),
            source,
        })?;
        let pid = i32::try_from(child.id()).unwrap_or(i32::MAX);
        // The child is not reaped, so its record exists even if it has already ended.
        let identity = ProcessIdentity::of(pid)?.ok_or(ProcessError::System {
            action: "find the started supervisor in the table of processes",
            source: std::io::ErrorKind::NotFound.into(),
        })?;
        Ok(DetachedSupervisor { child, identity })
    }
}

impl DetachedSupervisor {
    /// Returns the identity of the process.
    pub fn identity(&self) -> &ProcessIdentity {
        &self.identity
    }

    /// Returns how it ended, if it did. A process that runs for long must call this now and then for each supervisor
    /// that it started, or zombies pile up.
    ///
    /// # Errors
    /// When the system call fails.
    pub fn try_wait(&mut self) -> Result<Option<ExitStatus>, ProcessError> {
        self.child
            .try_wait()
            .map_err(|source| ProcessError::System {
                action: "ask for the end of a supervisor",
                source,
            })
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When the system call fails.
    pub fn wait(&mut self) -> Result<ExitStatus, ProcessError> {
        self.child.wait().map_err(|source| ProcessError::System {
            action: "wait for the end of a supervisor",
            source,
        })
    }
}
