//! Programs of the machine that tests start: `ip`, `unshare`, `git daemon`, PostgreSQL.

use std::process::{Command, Stdio};

use rustix::process::geteuid;

/// Prepares a program.
#[expect(clippy::disallowed_methods, reason = "end-to-end tests start programs")]
pub(crate) fn program(name: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(arguments);
    command
}

/// Runs a program that succeeds, and returns what it printed.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}

/// Runs a program, and returns whether it succeeded.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let silent = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}

/// Returns whether the tests run as root, of this machine or of a namespace.
pub(crate) fn is_root() -> bool {
    geteuid().is_root()
}
