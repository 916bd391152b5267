//! The fleet's PostgreSQL, with TLS as off the own machine, which is killed with all its backends.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use super::certificates::Authority;
use super::namespaces::user_outside;
use super::network::DATABASE;
use crate::support::programs::{is_root, program, run};
use crate::support::{POSTGRES_USER, PostgresFolder, kill, until};

/// Sessions: up to four for each of 128 runs, and those of workers, ticks and people.
const SESSIONS_MAX: usize = 1_000;
/// Who may connect: roles by name, as the server's files are of no worth.
const ACCESS: &str = "local all all trust\nhostssl all all 10.77.0.0/16 trust\n";

/// How long the server may be away: longer than the plan of faults keeps it.
const ANSWER_MAX: Duration = Duration::from_mins(5);
/// How many lines of its log are shown when it stays away.
const LOG_LINES_MAX: usize = 40;

/// What was asked for: rows, each a list of columns.
type Rows = Vec<Vec<String>>;

/// The roles of the manual, and a user of each.
const ROLES: [&str; 4] = [
    "CREATE ROLE symphony_owner NOLOGIN; CREATE ROLE symphony_control NOLOGIN; CREATE ROLE symphony_worker NOLOGIN",
    "CREATE ROLE owner LOGIN IN ROLE symphony_owner; CREATE ROLE control LOGIN IN ROLE symphony_control",
    "CREATE ROLE worker LOGIN IN ROLE symphony_worker",
    "CREATE DATABASE symphony OWNER symphony_owner ENCODING 'UTF8' TEMPLATE template0",
];

/// A server in a folder of its own.
#[derive(Debug)]
pub(super) struct Server(PostgresFolder);

impl Server {
    /// Makes and starts it.
    pub(super) fn start() -> Self {
        let outside = (is_root() && !is_machine_root()).then(user_outside);
        let server = Self(PostgresFolder::new(outside));
        server.write_certificates();
        server.0.initialize();
        std::fs::write(server.0.data().join("pg_hba.conf"), ACCESS).unwrap();
        server.begin();
        for sql in ROLES {
            run(&mut server.psql("postgres", sql));
        }
        server
    }

    /// Writes an authority, and a certificate for the server's address that it signed.
    fn write_certificates(&self) {
        let authority = Authority::new();
        let (leaf, key) = authority.sign(DATABASE);
        let write = |name: &str, text: &str| {
            let path = self.0.path().join(name);
            std::fs::write(&path, text).unwrap();
            run(program("chmod", &["600"]).arg(path));
        };
        write("authority.pem", &authority.certificate().pem());
        write("server.pem", &leaf.pem());
        write("server.key", &key.serialize_pem());
    }

    /// Copies the authority's certificate to where hosts read it, and returns their address of the database.
    pub(super) fn remote_address(&self, certificate: &Path) -> String {
        let own = self.0.path().join("authority.pem");
        std::fs::write(certificate, std::fs::read(own).unwrap()).unwrap();
        let certificate = certificate.display();
        format!("postgres://worker@{DATABASE}/symphony?sslrootcert={certificate}")
    }

    /// Returns the address of the database on this machine.
    pub(super) fn local_address(&self, user: &str) -> String {
        let folder = self.0.path().display();
        format!("postgres://{user}@/symphony?host={folder}")
    }

    /// Starts it. After a kill the shared memory of the old one may have to be given up first.
    pub(super) fn begin(&self) {
        let folder = self.0.path().display();
        let settings = format!(
            "-k {folder} -c listen_addresses={DATABASE} -c fsync=off -c max_connections={SESSIONS_MAX} \
             -c ssl=on -c ssl_cert_file={folder}/server.pem -c ssl_key_file={folder}/server.key"
        );
        until("the server has started", || {
            self.0.start(&settings).then_some(())
        });
    }

    /// Kills it with all its backends, and starts it again after a while. Returns how many processes were killed.
    pub(super) fn kill_and_begin(&self, down: Duration) -> usize {
        let pid = std::fs::read_to_string(self.0.data().join("postmaster.pid")).unwrap();
        let pid: i32 = pid.lines().next().unwrap().trim().parse().unwrap();
        let children = format!("/proc/{pid}/task/{pid}/children");
        let children = std::fs::read_to_string(children).unwrap_or_default();
        let mut pids = vec![pid];
        pids.extend(
            children
                .split_whitespace()
                .map(|pid| pid.parse::<i32>().unwrap()),
        );
        pids.iter().copied().for_each(kill);
        std::thread::sleep(down);
        self.begin();
        pids.len()
    }

    /// Asks with `psql`, and returns the rows, each a list of columns; `None` while the server is away.
    pub(super) fn try_rows(&self, sql: &str) -> Option<Rows> {
        self.answer(sql).ok()
    }

    /// Asks with `psql` until the server answers.
    pub(super) fn rows(&self, sql: &str) -> Rows {
        let begun = Instant::now();
        loop {
            match self.answer(sql) {
                Ok(rows) => return rows,
                Err(problem) => assert!(
                    begun.elapsed() < ANSWER_MAX,
                    "the server does not answer: {problem}\n{}",
                    self.log_end()
                ),
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Asks with `psql`.
    ///
    /// # Errors
    /// Its words when it failed.
    pub(super) fn answer(&self, sql: &str) -> Result<Rows, String> {
        let sql = format!("SET search_path = symphony; {sql}");
        let output = self.psql("symphony", &sql).output().unwrap();
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let answer = String::from_utf8(output.stdout).unwrap();
        let columns = |line: &str| line.split('\t').map(str::to_owned).collect();
        Ok(answer.lines().map(columns).collect())
    }

    /// Returns the end of the server's own log.
    fn log_end(&self) -> String {
        let log = std::fs::read_to_string(self.0.path().join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES_MAX)..].join("\n")
    }

    /// Begins a beat of a run, as a host sends it whose answer takes long: from now on its row is locked.
    pub(super) fn begin_beat(&self, run: &str) -> BeatUnderWay {
        let mut session = self.session("symphony");
        session.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut session = session.spawn().unwrap();
        let mut input = session.stdin.take().unwrap();
        let begin = format!(
            "SET search_path = symphony; BEGIN; SELECT 'locked' FROM run WHERE id = '{run}' FOR NO KEY UPDATE;\n"
        );
        input.write_all(begin.as_bytes()).unwrap();
        let mut answer = String::new();
        let output = session.stdout.as_mut().unwrap();
        BufReader::new(output).read_line(&mut answer).unwrap();
        assert_eq!(answer, "locked\n");
        let run = run.to_owned();
        BeatUnderWay {
            session,
            input,
            run,
        }
    }

    fn psql(&self, database: &str, sql: &str) -> Command {
        let mut ask = self.session(database);
        ask.args(["-c", sql]);
        ask
    }

    fn session(&self, database: &str) -> Command {
        let mut ask = self.0.client("psql");
        ask.args(["-U", POSTGRES_USER, "-d", database, "-AtqX"]);
        ask.args(["-v", "ON_ERROR_STOP=1", "-F", "\t", "-h"]);
        ask.arg(self.0.path());
        ask
    }
}

/// A beat that the database has not carried out yet.
#[derive(Debug)]
pub(super) struct BeatUnderWay {
    session: Child,
    input: ChildStdin,
    run: String,
}

impl BeatUnderWay {
    /// Lets it be carried out.
    pub(super) fn arrive(mut self) {
        let run = &self.run;
        let beat = format!(
            "UPDATE run SET beat_at = CAST(unixepoch('subsec') * 1000 AS BIGINT) WHERE id = '{run}'; COMMIT;\n"
        );
        self.input.write_all(beat.as_bytes()).unwrap();
        drop(self.input);
        assert!(self.session.wait().unwrap().success());
    }
}

/// Returns whether this is root of the machine, and not only of a namespace.
fn is_machine_root() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    is_root() && map.split_whitespace().last() == Some("4294967295")
}
