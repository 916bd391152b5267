//! The forwarder: a process in the sandbox by which ports of its loopback lead to sockets.
//!
//! `symphony confine` becomes the agent's program, so that exit codes and signals are the agent's own. A forwarder that it
//! started directly would be a child that the agent knows nothing of: programs that wait for all of their children would
//! wait for it. So a starter in between ends at once, and the first process of the sandbox inherits the forwarder, which
//! ends with the sandbox.
//!
//! The forwarder holds no rights that the agent lacks: the sockets are the agent's, too.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

use super::{CONFINE_FAILED, ConfineError, Confinement, Forward, landlock, seccomp};

/// The name of the hidden command.
pub const FORWARD_COMMAND: &str = "forward-in-sandbox";

/// The first argument of the process that starts the forwarder and ends.
const START: &str = "start";
/// The first argument of the forwarder.
const RUN: &str = "run";
/// The line that says that all ports are open; any other line says why they are not.
const READY: &str = "ready\n";
/// Most bytes that are read of such a line.
const LINE_BYTES_MAX: u64 = 4096;

/// A forwarder that opens its ports while this process confines itself.
pub(super) struct Starting(Option<Child>);

/// Starts the forwarder.
pub(super) fn start(forwards: &[Forward]) -> Result<Starting, ConfineError> {
    if forwards.is_empty() {
        return Ok(Starting(None));
    }
    let mut starter = command(START, &arguments(forwards)).map_err(|error| failed(&error))?;
    let starter = starter
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error))?;
    Ok(Starting(Some(starter)))
}

fn failed(error: &io::Error) -> ConfineError {
    ConfineError::Forward(error.to_string())
}

impl Starting {
    /// Waits until all ports are open: an agent connects at once.
    pub(super) fn wait(self) -> Result<(), ConfineError> {
        self.0.map_or(Ok(()), until_open)
    }
}

fn until_open(mut starter: Child) -> Result<(), ConfineError> {
    let mut line = String::new();
    if let Some(stdout) = starter.stdout.take() {
        let mut stdout = BufReader::new(stdout.take(LINE_BYTES_MAX));
        stdout
            .read_line(&mut line)
            .map_err(|error| failed(&error))?;
    }
    starter.wait().map_err(|error| failed(&error))?;
    match line.as_str() {
        READY => Ok(()),
        "" => Err(ConfineError::Forward("its process ended".to_owned())),
        why => Err(ConfineError::Forward(why.trim().to_owned())),
    }
}

/// Runs the starter or the forwarder. The forwarder returns only when a port could not be opened.
///
/// `arguments` are those after the hidden command's name.
pub fn run_forwarder(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let stage = arguments.next();
    let arguments: Vec<_> = arguments.collect();
    let ended = match stage.as_deref().and_then(|stage| stage.to_str()) {
        Some(START) => command(RUN, &arguments)
            // a group of its own: a signal to the agent's group leaves it the way out for its last requests
            .and_then(|mut forwarder| forwarder.process_group(0).spawn())
            .map(drop)
            .map_err(|error| ConfineError::Forward(error.to_string())),
        Some(RUN) => run(arguments).map(|never| match never {}),
        _ => Err(ConfineError::NoProgram),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("{error}\n"));
            ExitCode::from(CONFINE_FAILED)
        }
    }
}

fn run(arguments: Vec<OsString>) -> Result<std::convert::Infallible, ConfineError> {
    let (confinement, _) = Confinement::parse(arguments)?;
    landlock::restrict(&sockets_only(&confinement.forwards))?;
    seccomp::restrict()?;
    let forwards: Vec<_> = confinement
        .forwards
        .into_iter()
        .map(|forward| symphony_proxy::Forward {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, forward.port)),
            socket: forward.socket,
        })
        .collect();
    symphony_proxy::forward(&forwards, |_| say(READY))
        .map_err(|error| ConfineError::Forward(described(&error)))
}

/// It opens nothing but the sockets. From Landlock 9 on, connecting to one needs a rule for it.
fn sockets_only(forwards: &[Forward]) -> Confinement {
    Confinement {
        write: forwards
            .iter()
            .map(|forward| forward.socket.clone())
            .collect(),
        ..Confinement::default()
    }
}

fn arguments(forwards: &[Forward]) -> Vec<OsString> {
    let forwards = Confinement {
        forwards: forwards.to_vec(),
        ..Confinement::default()
    };
    forwards.arguments("".as_ref(), &[])
}

#[expect(
    clippy::disallowed_methods,
    reason = "the forwarder is this program itself, and is part of the sandbox"
)]
fn command(stage: &str, arguments: &[OsString]) -> io::Result<Command> {
    let own: PathBuf = std::env::current_exe()?;
    let mut command = Command::new(own);
    command
        .arg(FORWARD_COMMAND)
        .arg(stage)
        .args(arguments)
        .env_clear()
        .current_dir(Path::new("/"))
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    Ok(command)
}

/// Writes to whoever waits for the line. That one may be gone, which leaves nothing to do.
fn say(line: &str) {
    let mut stdout = io::stdout();
    drop(
        stdout
            .write_all(line.as_bytes())
            .and_then(|()| stdout.flush()),
    );
}

fn described(error: &dyn std::error::Error) -> String {
    let cause = error
        .source()
        .map_or(String::new(), |cause| format!(": {cause}"));
    format!("{error}{cause}")
}
