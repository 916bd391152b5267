//! A server of a test's own, which may be stopped and killed.

use std::fs::Permissions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take to recover on a busy machine.
const START_MAX: Duration = Duration::from_mins(1);
/// How long sessions may take to come to a state on a busy machine.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// A server in a temporary folder, which ends with the value.
#[derive(Debug)]
pub(crate) struct Server {
    folder: tempfile::TempDir,
    programs: PathBuf,
    user: String,
    settings: String,
}

impl Server {
    /// Makes and starts one; `SYMPHONY_TEST_POSTGRES` names the folder of PostgreSQL's programs.
    pub(crate) fn start(settings: &str) -> Option<Self> {
        let programs = PathBuf::from(std::env::var_os("SYMPHONY_TEST_POSTGRES")?);
        let folder = tempfile::tempdir().unwrap();
        let user = output(&mut program("id", &["-un"]));
        let user = if user == "root" {
            assert!(run(program("chown", &["postgres"]).arg(folder.path())));
            "postgres".to_owned()
        } else {
            user
        };
        let server = Self {
            folder,
            programs,
            user,
            settings: settings.to_owned(),
        };
        let mut made = server.program("initdb");
        made.args(["--auth", "trust", "--encoding", "UTF8", "--locale", "C"]);
        assert!(run(&mut made));
        server.begin();
        Some(server)
    }

    /// Returns its address.
    pub(crate) fn address(&self) -> String {
        let folder = self.folder.path().display();
        format!("host={folder} user={} dbname=postgres", self.user)
    }

    /// Asks with `psql`, and returns the answer as it is.
    pub(crate) fn ask(&self, sql: &str) -> String {
        output(self.psql().args(["-c", sql]))
    }

    /// Asks until the answer is this one.
    pub(crate) fn wait_for(&self, sql: &str, answer: &str) {
        let begun = Instant::now();
        while self.ask(sql).trim() != answer {
            assert!(begun.elapsed() < ANSWER_MAX, "{sql} is not {answer}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn psql(&self) -> Command {
        let mut psql = program(&self.programs.join("psql").display().to_string(), &[]);
        psql.args(["-U", &self.user, "-d", "postgres", "-AtqX", "-h"]);
        psql.arg(self.folder.path());
        psql
    }

    /// Begins a transaction with a statement that returns a row, and keeps it open.
    pub(crate) fn hold(&self, sql: &str) -> Held {
        let mut psql = self.psql();
        psql.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut session = psql.spawn().unwrap();
        let mut input = session.stdin.take().unwrap();
        input
            .write_all(format!("BEGIN; {sql};\n").as_bytes())
            .unwrap();
        let mut answer = String::new();
        let output = session.stdout.as_mut().unwrap();
        BufReader::new(output).read_line(&mut answer).unwrap();
        assert!(!answer.is_empty(), "{sql}");
        Held { session, input }
    }

    /// Adds to its settings; they apply from its next start on.
    pub(crate) fn set(&mut self, settings: &str) {
        self.settings.push_str(settings);
    }

    /// Writes a file that only the server's user may read, and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.data().join(name);
        std::fs::write(&path, text).unwrap();
        let user = std::fs::metadata(self.data()).unwrap();
        std::os::unix::fs::chown(&path, Some(user.uid()), Some(user.gid())).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        path
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A program of PostgreSQL on the server's files, as a user that it accepts.
    fn program(&self, name: &str) -> Command {
        let path = self.programs.join(name);
        let mut command = if output(&mut program("id", &["-un"])) == "root" {
            let user = self.user.as_str();
            let mut command = program(
                "setpriv",
                &["--reuid", user, "--regid", user, "--clear-groups"],
            );
            command.arg(path);
            command
        } else {
            program(&path.display().to_string(), &[])
        };
        command
            .current_dir(self.folder.path())
            .arg("-D")
            .arg(self.data());
        command
    }

    /// Starts it. After a kill the old backends need a moment to end, and a new server refuses to start beside them.
    pub(crate) fn begin(&self) {
        let folder = self.folder.path().display();
        let settings = format!(
            "-k {folder} -c listen_addresses= -c fsync=off {}",
            self.settings
        );
        let begun = Instant::now();
        loop {
            let mut start = self.program("pg_ctl");
            start.args(["-w", "-l"]).arg(self.folder.path().join("log"));
            if run(start.args(["-o", &settings, "start"])) {
                return;
            }
            let log = || std::fs::read_to_string(self.folder.path().join("log"));
            assert!(
                begun.elapsed() < START_MAX,
                "it does not start: {:?}",
                log()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Stops it as an administrator does: its sessions are ended.
    pub(crate) fn stop(&self) {
        assert!(run(self
            .program("pg_ctl")
            .args(["-w", "-m", "fast", "stop"])));
    }

    /// Makes it a standby at its next start, or one that can be written.
    pub(crate) fn set_standby(&self, is_standby: bool) {
        let signal = self.data().join("standby.signal");
        if is_standby {
            std::fs::File::create(signal)
                .unwrap()
                .write_all(b"")
                .unwrap();
        } else {
            std::fs::remove_file(signal).unwrap();
        }
    }

    /// Kills the process that all others come from.
    pub(crate) fn kill(&self) {
        kill(self.postmaster());
    }

    fn postmaster(&self) -> u32 {
        let text = std::fs::read_to_string(self.data().join("postmaster.pid")).unwrap();
        text.lines().next().unwrap().trim().parse().unwrap()
    }

    /// Stops all its processes, as a host does that is frozen: the system goes on to accept connections, and no one answers.
    pub(crate) fn freeze(&self) -> Frozen {
        let mut pids = vec![self.postmaster()];
        pids.extend(self.sessions());
        let frozen = Frozen(pids);
        frozen.signal("-STOP");
        frozen
    }

    /// Kills one of the sessions. The server then ends all of them, and recovers.
    pub(crate) fn kill_session(&self, choice: usize) -> bool {
        let sessions = self.sessions();
        let chosen = sessions.get(choice % sessions.len().max(1));
        chosen.inspect(|pid| kill(**pid)).is_some()
    }

    fn sessions(&self) -> Vec<u32> {
        let parent = format!("PPid:\t{}", self.postmaster());
        let is_session = |process: &Path| {
            let read = |name: &str| std::fs::read_to_string(process.join(name)).unwrap_or_default();
            read("cmdline").contains("[local]") && read("status").lines().any(|line| line == parent)
        };
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let processes = processes.filter(|process| is_session(&process.path()));
        processes
            .filter_map(|process| process.file_name().to_str()?.parse().ok())
            .collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        run(self.program("pg_ctl").args(["-m", "immediate", "stop"]));
    }
}

/// A transaction that is open.
pub(crate) struct Held {
    session: Child,
    input: ChildStdin,
}

impl Held {
    pub(crate) fn commit(mut self) {
        self.input.write_all(b"COMMIT;\n").unwrap();
        drop(self.input);
        assert!(self.session.wait().unwrap().success());
    }
}

/// The stopped processes of a server, which go on when it is dropped.
pub(crate) struct Frozen(pub(crate) Vec<u32>);

impl Frozen {
    pub(crate) fn signal(&self, signal: &str) {
        for pid in &self.0 {
            run(&mut program("kill", &[signal, &pid.to_string()]));
        }
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        self.signal("-CONT");
    }
}

fn kill(pid: u32) {
    run(&mut program("kill", &["-9", &pid.to_string()]));
}

fn program(name: &str, arguments: &[&str]) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "a server and its tools, which the store itself never starts"
    )]
    let mut command = Command::new(name);
    command.args(arguments);
    command
}

/// Runs a program without a word, and returns whether it succeeded.
fn run(command: &mut Command) -> bool {
    let command = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().unwrap().success()
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
