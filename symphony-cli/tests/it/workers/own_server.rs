//! A PostgreSQL of a test's own, which it can stop.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The user of PostgreSQL: on the machine where the tests are root, and in the database.
const USER: &str = "postgres";

/// A server that is reached through its socket.
pub(super) struct OwnServer {
    folder: TempDir,
    programs: PathBuf,
}

impl OwnServer {
    /// Makes and starts it. `SYMPHONY_TEST_POSTGRES` names the folder of PostgreSQL's programs.
    pub(super) fn start() -> Self {
        let programs = std::env::var_os("SYMPHONY_TEST_POSTGRES")
            .expect("SYMPHONY_TEST_POSTGRES names the folder of PostgreSQL's programs");
        let server = Self {
            folder: tempfile::tempdir().unwrap(),
            programs: programs.into(),
        };
        if rustix::process::getuid().is_root() {
            let folder = server.folder.path().display().to_string();
            succeed(command("chown", &[USER, &folder]));
        }
        let auth = ["--auth", "trust", "--encoding", "UTF8", "--locale", "C"];
        let mut made = server.program("initdb");
        made.args(auth).args(["--username", USER]);
        succeed(made);
        server.begin();
        server
    }

    /// Returns the address of a schema.
    pub(super) fn address(&self, schema: &str) -> String {
        let folder = self.folder.path().display();
        format!("postgres://{USER}@/postgres?host={folder}&schema={schema}")
    }

    /// Starts it again.
    pub(super) fn begin(&self) {
        let folder = self.folder.path().display();
        let settings = format!("-k {folder} -c listen_addresses= -c fsync=off");
        let mut start = self.program("pg_ctl");
        start.args(["-w", "-l"]).arg(self.folder.path().join("log"));
        start.args(["-o", &settings, "start"]);
        succeed(start);
    }

    /// Stops it, as a crash does.
    pub(super) fn stop(&self) {
        let mut stop = self.program("pg_ctl");
        stop.args(["-m", "immediate", "stop"]);
        succeed(stop);
    }

    /// Prepares a program of PostgreSQL, which refuses to run as root.
    fn program(&self, name: &str) -> Command {
        let path = self.programs.join(name).display().to_string();
        let user = ["--reuid", USER, "--regid", USER, "--clear-groups", &path];
        let mut command = if rustix::process::getuid().is_root() {
            command("setpriv", &user)
        } else {
            command(&path, &[])
        };
        command
            .current_dir(self.folder.path())
            .arg("-D")
            .arg(self.folder.path().join("data"));
        command
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        let mut stop = self.program("pg_ctl");
        // it may be stopped already
        let _stopped = stop.args(["-m", "immediate", "stop"]).output();
    }
}

#[expect(clippy::disallowed_methods, reason = "end-to-end tests start programs")]
fn command(name: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(arguments);
    command
}

fn succeed(mut command: Command) {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
    let status = quiet.stderr(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}
