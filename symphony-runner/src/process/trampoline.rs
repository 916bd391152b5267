//! The step between supervisor and agent: a hidden command of Symphony's own executable that creates a session, binds
//! its life to the supervisor's, and then executes the agent's program.
//!
//! Code between fork and exec would have to be unsafe and slow, since std then copies the supervisor's memory map. A
//! separate program in between is neither.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use rustix::process::Signal;
use tokio::signal::unix::SignalKind;

use super::cgroup;
use super::error::ProcessError;
use super::system;

/// The exit code when the program could not be started. The message on stderr has the token.
pub(super) const EXEC_FAILED: u8 = 127;

/// The argument for a cgroup or a report when there is none.
const NOTHING: &str = "-";

/// The option of bubblewrap that names the descriptor of its report. It comes before all of its other options.
const REPORT_OPTION: &str = "--json-status-fd";

/// The beginning of the message about a failed start.
const MESSAGE_START: &str = "symphony: cannot start the agent";

/// Signals whose handling cannot be set: KILL, STOP, and those that tokio refuses (ILL, FPE, SEGV). std itself sets
/// PIPE whenever it starts a program.
const NOT_RESET: [i32; 6] = [
    Signal::FPE.as_raw(),
    Signal::ILL.as_raw(),
    Signal::KILL.as_raw(),
    Signal::PIPE.as_raw(),
    Signal::SEGV.as_raw(),
    Signal::STOP.as_raw(),
];

/// How to call the hidden command: `executable arguments… <what this module appends>`.
#[derive(Debug, Clone)]
pub struct Trampoline {
    /// The Symphony executable.
    pub executable: PathBuf,
    /// The arguments that name the hidden command.
    pub arguments: Vec<OsString>,
}

/// What of the disk the hidden command needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrampolinePlaces<'a> {
    /// The folder of the cgroup to enter.
    pub(super) cgroup: Option<&'a Path>,
    /// The file of the report of bubblewrap, which is the program then.
    pub(super) report: Option<&'a Path>,
}

/// Makes this process the leader of its own session, so that neither a closed terminal nor cron ends it. A supervisor
/// calls it first.
///
/// # Errors
/// When the system refuses, as it does for the leader of a process group, such as a command that a person typed.
pub fn become_session_leader() -> Result<(), ProcessError> {
    system::lead_session()
}

/// Executes the agent's program. Returns only when that failed, with a message on stderr.
///
/// `arguments` are those after the hidden command's name, as [`super::Supervision::spawn`] wrote them: pid of the
/// supervisor, token, the folder of the cgroup or `-`, the file of bubblewrap's report or `-`, program, its arguments.
pub fn exec_in_session(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let parent = arguments
        .next()
        .and_then(|pid| pid.to_str()?.parse::<i32>().ok());
    let token = arguments.next().unwrap_or_default();
    let cgroup = arguments.next().filter(|folder| folder != NOTHING);
    let report = arguments.next().filter(|file| file != NOTHING);
    let (Some(parent), Some(program)) = (parent, arguments.next()) else {
        complain(
            "-",
            "this is an internal command that Symphony runs itself",
            0,
        );
        return ExitCode::from(EXEC_FAILED);
    };
    let token = token.display().to_string();
    // Before anything is started: every process is born into the cgroup of its parent, so all of the agent's will be in
    // it.
    if let Some(folder) = cgroup {
        cgroup::enter(Path::new(&folder));
    }
    let prepared = prepare(parent).and_then(|()| report.as_deref().map(open_report).transpose());
    // bubblewrap begins another session, which takes the terminal itself.
    if report.is_none() {
        symphony_sandbox::take_terminal();
    }
    let report = match prepared {
        Ok(report) => report,
        Err(error) => {
            let (reason, number) = described(&error);
            complain(&token, &reason, number);
            return ExitCode::from(EXEC_FAILED);
        }
    };
    let number = report.as_ref().map(|file| file.as_raw_fd().to_string());
    let option = number.map(|number| [OsString::from(REPORT_OPTION), number.into()]);
    #[expect(
        clippy::disallowed_methods,
        reason = "this module owns the processes of the runner"
    )]
    let error = Command::new(&program)
        .args(option.into_iter().flatten())
        .args(arguments)
        .exec();
    let reason = format!("{}: {error}", program.display());
    complain(&token, &reason, error.raw_os_error().unwrap_or(0));
    ExitCode::from(EXEC_FAILED)
}

/// Finds the message about a failed start in an agent's stderr. Returns the system's error number (0 if there is none)
/// and the message.
pub(super) fn exec_failure(stderr: &str, token: &str) -> Option<(i32, String)> {
    stderr.lines().find_map(|line| {
        let rest = line.strip_prefix(MESSAGE_START)?.strip_prefix(" [")?;
        let (number, rest) = rest
            .strip_prefix(token)?
            .split_once("]: ")
            .and_then(|(number, rest)| Some((number.trim().parse().ok()?, rest)))?;
        Some((number, rest.to_owned()))
    })
}

/// Restores the default handling of inherited ignored signals. `which` selects them.
///
/// It sets a handler for them, and an exec turns handlers into the default. So the agent does not inherit that its
/// starter ignored hang-ups (nohup) or the ends of children.
///
/// # Errors
/// When the system refuses.
pub(super) fn handle_ignored_signals(which: fn(i32) -> bool) -> Result<(), ProcessError> {
    let ignored: Vec<i32> = system::ignored_signals()?
        .into_iter()
        .filter(|signal| which(*signal) && !NOT_RESET.contains(signal))
        .collect();
    if ignored.is_empty() {
        return Ok(());
    }
    // On a separate thread: listening needs a runtime, and the caller may be inside of one, where a second one must not
    // end. The handlers apply to the whole process, and stay.
    let handled = std::thread::spawn(move || listen_once(&ignored)).join();
    handled
        .unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
        .map_err(|source| ProcessError::System {
            action: "restore the handling of signals",
            source,
        })
}

fn listen_once(signals: &[i32]) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let _entered = runtime.enter();
    for signal in signals {
        drop(tokio::signal::unix::signal(SignalKind::from_raw(*signal))?);
    }
    Ok(())
}

/// Opens the file of bubblewrap's report, so that bubblewrap inherits it. What it starts does not: `symphony confine` closes
/// everything but the standard streams.
fn open_report(path: &OsStr) -> Result<File, ProcessError> {
    let failed = |source| ProcessError::System {
        action: "open the file of the sandbox's report",
        source,
    };
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    let file = options.open(path).map_err(failed)?;
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty())
        .map_err(|error| failed(error.into()))?;
    Ok(file)
}

fn prepare(parent: i32) -> Result<(), ProcessError> {
    system::lead_session()?;
    system::die_with_parent()?;
    // A supervisor that died before the line above will never send the signal.
    if system::parent_pid() != parent {
        return Err(ProcessError::System {
            action: "find the supervisor that started this",
            source: io::ErrorKind::NotFound.into(),
        });
    }
    handle_ignored_signals(|_| true)
}

fn described(error: &ProcessError) -> (String, i32) {
    match error {
        ProcessError::System { action, source } => (
            format!("cannot {action}: {source}"),
            source.raw_os_error().unwrap_or(0),
        ),
        error => (error.to_string(), 0),
    }
}

fn complain(token: &str, reason: &str, number: i32) {
    let line = format!("{MESSAGE_START} [{token} {number}]: {reason}\n");
    // If stderr is closed, no one can read the message, and only the exit code remains.
    drop(io::stderr().write_all(line.as_bytes()));
}

impl Trampoline {
    /// Returns the call of an executable's hidden command, by its name.
    pub fn new(executable: impl Into<PathBuf>, command: impl Into<OsString>) -> Self {
        Self {
            executable: executable.into(),
            arguments: vec![command.into()],
        }
    }

    /// Returns the executable and all arguments that start `program`.
    pub(super) fn invocation(
        &self,
        supervisor: i32,
        token: &str,
        places: TrampolinePlaces<'_>,
        program: &Path,
        arguments: &[OsString],
    ) -> (&Path, Vec<OsString>) {
        let mut all = self.arguments.clone();
        all.push(supervisor.to_string().into());
        all.push(token.into());
        for place in [places.cgroup, places.report] {
            all.push(place.map_or_else(|| NOTHING.into(), Into::into));
        }
        all.push(program.into());
        all.extend(arguments.iter().cloned());
        (&self.executable, all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_message_with_the_token_counts() {
        let message = format!("warning\n{MESSAGE_START} [tok 2]: /bin/x: No such file\nmore\n");
        assert_eq!(
            exec_failure(&message, "tok"),
            Some((2, "/bin/x: No such file".to_owned()))
        );
        for (stderr, token) in [
            (message.as_str(), "other"),
            ("", "tok"),
            ("symphony: cannot start the agent [tok]: x", "tok"),
            ("symphony: cannot start the agent [tok two]: x", "tok"),
        ] {
            assert_eq!(exec_failure(stderr, token), None, "{stderr}");
        }
    }
}
