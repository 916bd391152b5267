//! The process of an agent: how it starts and how it ended.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use symphony_core::run_memory::RunMemory;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::boxed::boxed_program;
use super::cgroup::Cgroup;
use super::cgroup_limits::ResourceLimits;
use super::error::ProcessError;
use super::identity::ProcessIdentity;
use super::program::resolve_program;
use super::trampoline::{self, Trampoline, TrampolinePlaces};

/// How to start an agent.
#[derive(Debug)]
pub struct AgentLaunch {
    /// The command that starts the program in its own session.
    pub trampoline: Trampoline,
    /// The program, a name or a path (see [`resolve_program`]).
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its whole environment. It inherits nothing.
    pub environment: BTreeMap<OsString, OsString>,
    /// Its working directory.
    pub directory: PathBuf,
    /// Its standard input.
    pub input: AgentInput,
    /// The file of bubblewrap's report, when the program is bubblewrap, with the agent's program among its arguments.
    pub report: Option<PathBuf>,
    /// What its processes may use together, where the machine can limit it; see [`Agent::memory`].
    pub limits: Option<ResourceLimits>,
}

/// The cgroup that an agent starts in.
#[derive(Debug)]
pub(super) struct AgentPlace {
    /// The cgroup; `None` where none can be made.
    pub(super) cgroup: Option<Cgroup>,
    /// Whether it has the limits that were asked for.
    pub(super) is_limited: bool,
}

/// What an agent reads from its standard input.
#[derive(Debug)]
pub enum AgentInput {
    /// Nothing.
    Empty,
    /// A file, from its current position.
    File(File),
    /// A pipe, to be written to while the agent works (see [`Agent::take_stdin`]).
    Pipe,
    /// A terminal, which takes its output as well, and becomes that of its session.
    Terminal(File),
}

impl AgentInput {
    /// Returns the three standard streams.
    fn streams(self) -> io::Result<[Stdio; 3]> {
        let input = match self {
            Self::Empty => Stdio::null(),
            Self::File(file) => Stdio::from(file),
            Self::Pipe => Stdio::piped(),
            Self::Terminal(terminal) => {
                let copy = || terminal.try_clone().map(Stdio::from);
                return Ok([copy()?, copy()?, copy()?]);
            }
        };
        Ok([input, Stdio::piped(), Stdio::piped()])
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentExit {
    /// Its exit code, if it exited.
    pub code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
}

impl AgentExit {
    /// Returns whether it exited with code 0.
    pub fn is_success(self) -> bool {
        self.code == Some(0)
    }
}

impl From<ExitStatus> for AgentExit {
    fn from(status: ExitStatus) -> Self {
        Self {
            code: status.code(),
            signal: status.signal(),
        }
    }
}

/// The pids of the children that tokio waits for. No one else may reap them.
pub(super) type Spawned = Arc<Mutex<BTreeSet<i32>>>;

/// A started agent.
///
/// [`super::Supervision::end_tree`] ends it with all its processes. A value that is dropped before that kills only the
/// agent's own process.
#[derive(Debug)]
pub struct Agent {
    child: Child,
    identity: ProcessIdentity,
    program: PathBuf,
    token: String,
    exit: Option<AgentExit>,
    spawned: Spawned,
    cgroup: Option<Cgroup>,
    memory: Option<RunMemory>,
    /// Whether its own process is bubblewrap.
    is_boxed: bool,
}

impl Agent {
    pub(super) fn spawn(
        launch: AgentLaunch,
        supervisor: i32,
        spawned: Spawned,
        place: AgentPlace,
    ) -> Result<Self, ProcessError> {
        let AgentPlace { cgroup, is_limited } = place;
        let search_path = launch.environment.get(OsStr::new("PATH"));
        let program = resolve_program(
            &launch.program,
            search_path.map(OsString::as_os_str),
            &launch.directory,
        )?;
        let places = TrampolinePlaces {
            cgroup: cgroup.as_ref().map(Cgroup::folder),
            report: launch.report.as_deref(),
        };
        let token = uuid::Uuid::now_v7().simple().to_string();
        let (executable, arguments) =
            launch
                .trampoline
                .invocation(supervisor, &token, places, &program, &launch.arguments);
        let streams = launch.input.streams();
        let [input, output, errors] = streams.map_err(|source| ProcessError::System {
            action: "copy the terminal for the agent",
            source,
        })?;
        let child = Command::new(executable)
            .args(arguments)
            .env_clear()
            .envs(&launch.environment)
            .current_dir(&launch.directory)
            .stdin(input)
            .stdout(output)
            .stderr(errors)
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| ProcessError::Spawn {
                program: program.clone(),
                source,
            })?;
        // The child is not reaped yet, so it has a pid and a record even if it has already ended.
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
        let identity = match pid {
            Some(pid) => ProcessIdentity::of(pid)?,
            None => None,
        };
        let identity = identity.ok_or(ProcessError::System {
            action: "find the started agent in the table of processes",
            source: io::ErrorKind::NotFound.into(),
        })?;
        // It enters its cgroup by itself, and says nothing when it cannot. The same right moves it from here.
        let memory = launch.limits.map(|limits| RunMemory {
            limit_bytes: limits.memory_bytes,
            enforced: is_limited
                && cgroup
                    .as_ref()
                    .is_some_and(|cgroup| cgroup.take_in(identity.pid).is_ok()),
            killed: 0,
        });
        // If the reaper of orphans took the exit status of this child, tokio would wait for it for ever.
        locked(&spawned).insert(identity.pid);
        Ok(Self {
            child,
            identity,
            program,
            token,
            exit: None,
            spawned,
            cgroup,
            memory,
            is_boxed: launch.report.is_some(),
        })
    }

    /// Returns the identity of the process.
    pub fn identity(&self) -> &ProcessIdentity {
        &self.identity
    }

    /// Returns the file that is executed.
    pub fn program(&self) -> &std::path::Path {
        &self.program
    }

    /// Returns the writing end of its standard input, once, if it is a pipe.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Returns the reading end of its standard output, once.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Returns the reading end of its standard error, once.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Waits for the end of the agent's own process, while others of its tree may continue. It is cancel safe, and may
    /// be called again.
    ///
    /// # Errors
    /// When the system call fails.
    pub async fn wait(&mut self) -> Result<AgentExit, ProcessError> {
        if let Some(exit) = self.exit {
            return Ok(exit);
        }
        let status = self.child.wait().await.map_err(lost)?;
        Ok(self.note_exit(status))
    }

    /// Returns how the agent's own process ended, if it did.
    ///
    /// # Errors
    /// When the system call fails.
    pub fn try_wait(&mut self) -> Result<Option<AgentExit>, ProcessError> {
        if self.exit.is_some() {
            return Ok(self.exit);
        }
        let status = self.child.try_wait().map_err(lost)?;
        Ok(status.map(|status| self.note_exit(status)))
    }

    /// Returns why the program never started, if that is how the process ended. `stderr` is what it printed, at least
    /// the beginning.
    pub fn start_failure(&self, exit: AgentExit, stderr: &str) -> Option<ProcessError> {
        if exit.code != Some(i32::from(trampoline::EXEC_FAILED)) {
            return None;
        }
        let (number, message) = trampoline::exec_failure(stderr, &self.token)?;
        let source = match number {
            0 => io::Error::other(message),
            // The file existed a moment ago, so its interpreter is missing.
            2 => io::Error::new(
                io::ErrorKind::NotFound,
                "the interpreter or loader that the file names does not exist",
            ),
            number => io::Error::from_raw_os_error(number),
        };
        Some(ProcessError::Spawn {
            program: self.program.clone(),
            source,
        })
    }

    /// Asks the agent to end. bubblewrap would die of the request at once, and take the agent with it: so the agent's program
    /// gets it instead, if it runs already.
    pub(super) fn request_end(&self) -> Result<(), ProcessError> {
        if self.is_boxed
            && let Some(program) = boxed_program(&self.identity)?
        {
            program.terminate()?;
            return Ok(());
        }
        self.identity.terminate()?;
        Ok(())
    }

    /// Kills the process itself. It keeps its pid until it is waited for.
    pub(super) fn kill_itself(&mut self) -> Result<(), ProcessError> {
        self.child
            .start_kill()
            .map_err(|source| ProcessError::System {
                action: "kill the agent",
                source,
            })
    }

    /// Returns what became of its limit of memory; `None` where none was asked for. What the kernel ended is known when the
    /// agent has ended.
    pub const fn memory(&self) -> Option<RunMemory> {
        self.memory
    }

    /// Returns its cgroup, so that the caller can end it.
    pub(super) fn take_cgroup(&mut self) -> Option<Cgroup> {
        if let (Some(memory), Some(cgroup)) = (&mut self.memory, &self.cgroup) {
            memory.killed = cgroup.killed_for_memory();
        }
        self.cgroup.take()
    }

    fn note_exit(&mut self, status: ExitStatus) -> AgentExit {
        let exit = AgentExit::from(status);
        self.exit = Some(exit);
        // The pid is free now, and an orphan may get it. If it stayed in the list, that orphan would never be reaped.
        locked(&self.spawned).remove(&self.identity.pid);
        exit
    }
}

pub(super) fn locked(spawned: &Spawned) -> std::sync::MutexGuard<'_, BTreeSet<i32>> {
    spawned.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lost(source: io::Error) -> ProcessError {
    ProcessError::System {
        action: "wait for the agent",
        source,
    }
}
