//! Processes that a tick starts for work that needs the user's tokens or takes long: one of each kind at a time, with
//! the environment of whoever started the tick (docs/design/0014).

use std::path::PathBuf;
use std::time::{Duration, Instant};

use symphony_mcp::StoreThread;

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::process::{
    DetachedLaunch, DetachedSupervisor, ProcessError, RunLock, Supervision, become_session_leader,
};
use crate::runtime::block_on;

/// How long a command waits for a helper that is at work: it sends many requests or pushes, each with its own time limit.
const TURN_MAX: Duration = Duration::from_mins(5);
/// How often it looks.
const LOOK: Duration = Duration::from_millis(50);

/// The hidden command that runs a helper.
const COMMAND: &str = "deliver";

/// A kind of helper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Helper {
    /// Delivers notifications.
    Notify,
    /// Publishes pull requests.
    Publish,
    /// Exchanges news with trackers.
    Sync,
    /// Exchanges pull requests with forges.
    Forge,
    /// Makes a backup of a large database.
    Backup,
}

impl Helper {
    /// The name of its lock and its log.
    fn name(self) -> &'static str {
        match self {
            Self::Notify => "notify",
            Self::Publish => "publish",
            Self::Sync => "sync",
            Self::Forge => "forge",
            Self::Backup => "backup",
        }
    }

    /// The option that selects this helper.
    fn option(self) -> Option<&'static str> {
        match self {
            Self::Notify => None,
            Self::Publish => Some("--publish"),
            Self::Sync => Some("--sync"),
            Self::Forge => Some("--forge"),
            Self::Backup => Some("--backup"),
        }
    }

    /// Returns the file of its lock.
    pub(crate) fn lock(self, installation: &Installation) -> PathBuf {
        installation
            .state_dir()
            .join(format!("{}.lock", self.name()))
    }

    /// Starts the helper, unless one is running, which takes what is new too.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn start(
        self,
        installation: &Installation,
    ) -> Result<Option<DetachedSupervisor>, RunnerError> {
        // Taken here and handed over: it is never free in between, so two ticks cannot start two helpers.
        let lock = match RunLock::acquire(self.lock(installation)) {
            Ok(lock) => lock,
            Err(ProcessError::LockHeld { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut arguments = installation.arguments();
        arguments.push(COMMAND.into());
        arguments.extend(self.option().map(Into::into));
        let launch = DetachedLaunch {
            executable: installation.executable.clone(),
            arguments,
            directory: installation.root.clone(),
            log: installation
                .state_dir()
                .join(format!("{}.log", self.name())),
            environment: Some(installation.environment.clone()),
            lock,
        };
        Ok(Some(launch.spawn()?))
    }

    /// Takes the helper's lock for a command that does its work, after a helper that is at work has ended; calls `on_wait` once
    /// before it waits.
    ///
    /// # Errors
    /// When another process is at work for too long.
    pub(crate) fn take(
        self,
        installation: &Installation,
        on_wait: &dyn Fn(),
    ) -> Result<RunLock, RunnerError> {
        let begun = Instant::now();
        let mut is_first = true;
        loop {
            match RunLock::acquire(self.lock(installation)) {
                Err(ProcessError::LockHeld { .. }) if begun.elapsed() < TURN_MAX => {
                    if std::mem::take(&mut is_first) {
                        on_wait();
                    }
                    std::thread::sleep(LOOK);
                }
                other => return Ok(other?),
            }
        }
    }

    /// Makes this process the helper: takes its lock from standard input.
    ///
    /// # Errors
    /// When the lock was not handed over.
    pub(crate) fn begin(self, installation: &Installation) -> Result<RunLock, RunnerError> {
        become_session_leader()?;
        Ok(RunLock::adopt_stdin(self.lock(installation))?)
    }

    /// The body of the helper. Takes its lock from standard input.
    ///
    /// # Errors
    /// When the lock was not handed over, the database cannot be opened, or the work fails.
    pub(crate) fn run(
        self,
        installation: &Installation,
        work: impl AsyncFnOnce(&StoreThread, &Supervision) -> Result<(), RunnerError>,
    ) -> Result<(), RunnerError> {
        let _lock = self.begin(installation)?;
        let store = installation.require_store()?;
        let supervision = Supervision::begin()?;
        let store = StoreThread::new(store);
        block_on(&installation.root, work(&store, &supervision))?
    }
}
