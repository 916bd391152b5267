//! A PostgreSQL in a folder of its own, for tests that stop or kill it.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::programs::{is_root, program, run, succeeds};

/// The user of PostgreSQL: on the machine where the tests are root, and in the database.
pub(crate) const POSTGRES_USER: &str = "postgres";

/// A server's folder, and the programs that work on it. What is left of the server ends with it.
#[derive(Debug)]
pub(crate) struct PostgresFolder {
    folder: TempDir,
    programs: PathBuf,
    /// The number that an ordinary user has outside of the namespace in which the tests are root.
    outside: Option<String>,
}

impl PostgresFolder {
    /// Makes the folder, for root of a namespace with the user outside of it. `SYMPHONY_TEST_POSTGRES` names the folder of
    /// PostgreSQL's programs.
    pub(crate) fn new(outside: Option<String>) -> Self {
        let programs = std::env::var_os("SYMPHONY_TEST_POSTGRES")
            .expect("SYMPHONY_TEST_POSTGRES names the folder of PostgreSQL's programs");
        Self {
            folder: tempfile::tempdir().unwrap(),
            programs: programs.into(),
            outside,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Makes the server's files, and gives all that is in the folder to its user.
    pub(crate) fn initialize(&self) {
        if self.is_for_another_user() {
            run(program("chown", &["-R", POSTGRES_USER]).arg(self.path()));
        }
        let mut made = self.program("initdb");
        made.args(["--auth", "trust", "--encoding", "UTF8", "--locale", "C"]);
        made.args(["--username", POSTGRES_USER]);
        run(&mut made);
    }

    /// Starts the server, and returns whether it did.
    pub(crate) fn start(&self, settings: &str) -> bool {
        let mut start = self.program("pg_ctl");
        start.args(["-w", "-l"]).arg(self.path().join("log"));
        succeeds(start.args(["-o", settings, "start"]))
    }

    /// Stops it, as a crash does, and returns whether it was there.
    pub(crate) fn stop(&self) -> bool {
        succeeds(self.program("pg_ctl").args(["-m", "immediate", "stop"]))
    }

    /// Prepares a program that asks the server.
    #[cfg(feature = "failpoints")]
    pub(crate) fn client(&self, name: &str) -> Command {
        program(&self.programs.join(name).display().to_string(), &[])
    }

    /// Prepares a program of the server as a user that it accepts: it refuses to run as root.
    fn program(&self, name: &str) -> Command {
        let path = self.programs.join(name).display().to_string();
        let mut command = if self.is_for_another_user() {
            let user = ["--reuid", POSTGRES_USER, "--regid", POSTGRES_USER];
            let mut command = program("setpriv", &user);
            command.args(["--clear-groups", &path]);
            command
        } else if let Some(outside) = &self.outside {
            // Root of this namespace is an ordinary user of the machine, and of a further namespace.
            let user = format!("--map-user={outside}");
            program("unshare", &["--user", &user, &path])
        } else {
            program(&path, &[])
        };
        command.current_dir(self.path()).arg("-D").arg(self.data());
        command
    }

    fn is_for_another_user(&self) -> bool {
        is_root() && self.outside.is_none()
    }
}

impl Drop for PostgresFolder {
    fn drop(&mut self) {
        self.stop();
    }
}
