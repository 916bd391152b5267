//! The fleet's PostgreSQL, with TLS as off the own machine, which is killed with all its backends.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose};

use super::namespaces::user_outside;
use super::network::DATABASE;
use super::programs::{is_root, program, run, succeeds};
use crate::support::{kill, until};

/// Sessions: up to four for each of 128 runs, and those of workers, ticks and people.
const SESSIONS_MAX: usize = 1_000;
/// The user of PostgreSQL: on the machine where the tests are root, and in the database.
const USER: &str = "postgres";
/// Who may connect: roles by name, as the server's files are of no worth.
const ACCESS: &str = "local all all trust\nhostssl all all 10.77.0.0/16 trust\n";

/// The roles of the manual, and a user of each.
const ROLES: [&str; 4] = [
    "CREATE ROLE symphony_owner NOLOGIN; CREATE ROLE symphony_control NOLOGIN; CREATE ROLE symphony_worker NOLOGIN",
    "CREATE ROLE owner LOGIN IN ROLE symphony_owner; CREATE ROLE control LOGIN IN ROLE symphony_control",
    "CREATE ROLE worker LOGIN IN ROLE symphony_worker",
    "CREATE DATABASE symphony OWNER symphony_owner ENCODING 'UTF8' TEMPLATE template0",
];

/// A server in a folder of its own.
#[derive(Debug)]
pub(super) struct Server {
    folder: tempfile::TempDir,
    programs: PathBuf,
}

impl Server {
    /// Makes and starts it. `SYMPHONY_TEST_POSTGRES` names the folder of PostgreSQL's programs.
    pub(super) fn start() -> Self {
        let programs = std::env::var_os("SYMPHONY_TEST_POSTGRES")
            .expect("SYMPHONY_TEST_POSTGRES names the folder of PostgreSQL's programs");
        let server = Self {
            folder: tempfile::tempdir().unwrap(),
            programs: programs.into(),
        };
        server.write_certificates();
        if is_machine_root() {
            let folder = server.folder.path();
            run(program("chown", &["-R", USER]).arg(folder));
        }
        let mut made = server.program("initdb");
        made.args(["--auth", "trust", "--encoding", "UTF8", "--locale", "C"]);
        made.args(["--username", USER]);
        run(&mut made);
        std::fs::write(server.data().join("pg_hba.conf"), ACCESS).unwrap();
        server.begin();
        for sql in ROLES {
            run(&mut server.psql("postgres", sql));
        }
        server
    }

    /// Writes an authority, and a certificate for the server's address that it signed.
    fn write_certificates(&self) {
        let authority_key = KeyPair::generate().unwrap();
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let root = authority.self_signed(&authority_key).unwrap().pem();
        let issuer = Issuer::new(authority, authority_key);
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new(vec![DATABASE.to_owned()]).unwrap();
        let leaf = leaf.signed_by(&key, &issuer).unwrap().pem();
        let write = |name: &str, text: &str| {
            let path = self.folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            run(program("chmod", &["600"]).arg(path));
        };
        write("authority.pem", &root);
        write("server.pem", &leaf);
        write("server.key", &key.serialize_pem());
    }

    /// Copies the authority's certificate to where hosts read it, and returns their address of the database.
    pub(super) fn remote_address(&self, certificate: &Path) -> String {
        let own = self.folder.path().join("authority.pem");
        std::fs::write(certificate, std::fs::read(own).unwrap()).unwrap();
        let certificate = certificate.display();
        format!("postgres://worker@{DATABASE}/symphony?sslrootcert={certificate}")
    }

    /// Returns the address of the database on this machine.
    pub(super) fn local_address(&self, user: &str) -> String {
        let folder = self.folder.path().display();
        format!("postgres://{user}@/symphony?host={folder}")
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Prepares a program of PostgreSQL as a user that it accepts: it refuses to run as root.
    fn program(&self, name: &str) -> Command {
        let path = self.programs.join(name).display().to_string();
        let mut command = if is_machine_root() {
            let user = ["--reuid", USER, "--regid", USER, "--clear-groups"];
            let mut command = program("setpriv", &user);
            command.arg(path);
            command
        } else if is_root() {
            // Root of this namespace is an ordinary user of the machine, and of a further namespace.
            let user = format!("--map-user={}", user_outside());
            let mut command = program("unshare", &["--user", &user]);
            command.arg(path);
            command
        } else {
            program(&path, &[])
        };
        command
            .current_dir(self.folder.path())
            .arg("-D")
            .arg(self.data());
        command
    }

    /// Starts it. After a kill the shared memory of the old one may have to be given up first.
    pub(super) fn begin(&self) {
        let folder = self.folder.path().display();
        let settings = format!(
            "-k {folder} -c listen_addresses={DATABASE} -c fsync=off -c max_connections={SESSIONS_MAX} \
             -c ssl=on -c ssl_cert_file={folder}/server.pem -c ssl_key_file={folder}/server.key"
        );
        until("the server has started", || {
            let mut start = self.program("pg_ctl");
            start.args(["-w", "-l"]).arg(self.folder.path().join("log"));
            succeeds(start.args(["-o", &settings, "start"])).then_some(())
        });
    }

    /// Kills it with all its backends, and starts it again after a while. Returns how many processes were killed.
    pub(super) fn kill_and_begin(&self, down: Duration) -> usize {
        let pid = std::fs::read_to_string(self.data().join("postmaster.pid")).unwrap();
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
    pub(super) fn try_rows(&self, sql: &str) -> Option<Vec<Vec<String>>> {
        let sql = format!("SET search_path = symphony; {sql}");
        let output = self.psql("symphony", &sql).output().unwrap();
        let answer = String::from_utf8(output.stdout).unwrap();
        let columns = |line: &str| line.split('\t').map(str::to_owned).collect();
        let rows = answer.lines().map(columns).collect();
        output.status.success().then_some(rows)
    }

    /// Asks with `psql` until the server answers.
    pub(super) fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        until("the server answers", || self.try_rows(sql))
    }

    fn psql(&self, database: &str, sql: &str) -> Command {
        let mut ask = program(&self.programs.join("psql").display().to_string(), &[]);
        ask.args(["-U", USER, "-d", database, "-AtqX"]);
        ask.args(["-v", "ON_ERROR_STOP=1", "-F", "\t", "-h"]);
        ask.arg(self.folder.path()).args(["-c", sql]);
        ask
    }
}

/// Returns whether this is root of the machine, and not only of a namespace.
fn is_machine_root() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    is_root() && map.split_whitespace().last() == Some("4294967295")
}

impl Drop for Server {
    fn drop(&mut self) {
        succeeds(self.program("pg_ctl").args(["-m", "immediate", "stop"]));
    }
}
