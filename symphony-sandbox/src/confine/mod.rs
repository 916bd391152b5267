//! `symphony confine`: the program that gives up rights for good, and then becomes the agent's program.
//!
//! It is the innermost of two layers: bubblewrap makes the view of the files, and this program makes sure that even in
//! that view nothing is reached that need not be. At the level `landlock` it is the only one. Whatever step fails, the
//! agent's program does not start.

mod arguments;
mod forwarder;
mod landlock;
mod limits;
mod seccomp;
mod terminal;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use crate::kernel;
pub use arguments::{Confinement, Forward};
pub use terminal::take_terminal;

/// The name of the hidden command.
pub const CONFINE_COMMAND: &str = "confine";

/// The exit code when the agent's program could not be confined or started.
pub const CONFINE_FAILED: u8 = 126;

/// The beginning of the message about a step that failed.
pub const CONFINE_MESSAGE: &str = "symphony confine: ";

/// A step that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfineError {
    /// The arguments are not those that [`Confinement::arguments`] writes.
    #[error("unexpected argument `{0}`; this is an internal command that Symphony runs itself")]
    Argument(String),
    /// There is no program to execute.
    #[error("no program; this is an internal command that Symphony runs itself")]
    NoProgram,
    /// The kernel refused to restrict files.
    #[error("Landlock: {0}")]
    Landlock(String),
    /// The kernel refused to restrict system calls.
    #[error("seccomp: {0}")]
    Seccomp(String),
    /// The ports that lead out of the sandbox could not be opened.
    #[error("cannot set up the sandbox's network: {0}")]
    Forward(String),
    /// Another step was refused.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// The answer of the system.
        source: io::Error,
    },
    /// The program could not be executed.
    #[error("{program}: {source}")]
    Exec {
        /// The program.
        program: String,
        /// The answer of the system.
        source: io::Error,
    },
}

/// Confines this process and executes the agent's program. Returns only when a step failed, with a message on stderr.
///
/// `arguments` are those after the hidden command's name, as [`Confinement::arguments`] wrote them.
pub fn confine(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let error = match enter(arguments) {
        Err(error) => error,
        Ok(never) => match never {},
    };
    // When stderr is closed, only the exit code remains.
    drop(writeln!(io::stderr(), "{CONFINE_MESSAGE}{error}"));
    ExitCode::from(CONFINE_FAILED)
}

/// The order matters: the forwarder inherits what system calls are left, and restricts its files itself, more narrowly than
/// the agent's are. No step needs a call that is refused before it.
fn enter(
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<std::convert::Infallible, ConfineError> {
    let (confinement, mut words) = Confinement::parse(arguments)?;
    if words.is_empty() {
        return Err(ConfineError::NoProgram);
    }
    let program = words.remove(0);
    kernel::close_inherited().map_err(|source| ConfineError::System {
        action: "close inherited descriptors",
        source,
    })?;
    // bubblewrap's session has none, and a person works in this one
    take_terminal();
    limits::set(confinement.processes)?;
    rustix::thread::set_no_new_privs(true).map_err(|error| ConfineError::System {
        action: "give up new privileges",
        source: error.into(),
    })?;
    seccomp::restrict()?;
    let forwarder = forwarder::start(&confinement.forwards)?;
    landlock::restrict(&confinement)?;
    forwarder.wait()?;
    #[expect(
        clippy::disallowed_methods,
        reason = "this program becomes the agent's, it starts none"
    )]
    let source = Command::new(&program).args(words).exec();
    Err(ConfineError::Exec {
        program: program.display().to_string(),
        source,
    })
}
