//! A person's machine in a folder: a home with secrets, a project, Symphony's state, checkouts, and a process that
//! runs for the person.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::io::{FdFlags, fcntl_setfd};
use serde_json::{Value, json};
use symphony_sandbox::{
    Home, Level, Machine, Network, PROCESSES, Programs, SOCKETS, Sandbox, TMP_BYTES,
};

use crate::proxied;

pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// The socket of the proxy.
const PROXY: &str = "proxy.sock";
const SECRET: &str = "the victim's secret";
const VICTIM: &str = include_str!("victim.py");
const ATTACK: &str = include_str!("attack.py");

/// Files with the secret in them.
const SECRETS: &[&str] = &[
    "home/.ssh/id_ed25519",
    "home/.claude/.credentials.json",
    "home/.codex/auth.json",
    "home/.gitconfig",
    "home/.netrc",
    "home/.bash_history",
    "home/.bashrc",
    "home/.config/chromium/Default/Cookies",
    "home/.cargo/credentials.toml",
    "home/.cargo/bin/cargo",
    "state/symphony.db",
    "state/web-sessions.json",
    "state/runs/2/agent.log",
    "state/runs/2/gates.log",
    "state/runs/2/prompt.md",
    "checkouts/2/file",
    "bin/symphony",
    "secret/held",
    "secret/file",
    "home/.config/autostart/other.desktop",
];

/// The project that each row gets a copy of, and the folder of all rows.
///
/// They are removed together in the end: ext4 takes up to a second to find room for a row among files that have just been removed.
pub(crate) struct Template {
    folder: tempfile::TempDir,
    /// The commit of a branch that the agent has nothing to do with.
    foreign: String,
}

impl Template {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let foreign = make_project(folder.path());
        Self { folder, foreign }
    }

    fn copy_to(&self, base: &Path) {
        let copied = Command::new("cp")
            .arg("-a")
            .arg(self.folder.path().join("main"))
            .arg(base)
            .status();
        assert!(
            copied.expect("cp starts").success(),
            "the project is copied"
        );
    }
}

/// The machine of one row.
pub(crate) struct Fixture {
    base: PathBuf,
    victim: Child,
    facts: Value,
    /// Descriptors that everything started meanwhile inherits.
    inherited: [OwnedFd; 2],
}

impl Fixture {
    pub(crate) fn new(template: &Template) -> Self {
        let folder = tempfile::tempdir_in(template.folder.path()).expect("a temporary folder");
        let base: &Path = &folder.keep();
        fs::set_permissions(base, fs::Permissions::from_mode(0o700)).expect("its mode");
        for path in SECRETS {
            write(base, path, SECRET);
            let mode = fs::Permissions::from_mode(0o700);
            fs::set_permissions(base.join(path), mode).expect("its mode");
        }
        for path in ["run", "own/home", "own/tmp"] {
            fs::create_dir_all(base.join(path)).expect("a folder");
        }
        template.copy_to(base);
        git(base, &["clone", "-q", "--shared", "main", "checkouts/1"]);
        write(base, "attack.py", ATTACK);
        write(base, "victim.py", VICTIM);
        let (victim, facts) = start_victim(base);
        let inherited = [
            leak(
                fs::File::open(base.join("secret/held"))
                    .expect("a file")
                    .into(),
            ),
            leak(
                fs::File::open(base.join("secret"))
                    .expect("a folder")
                    .into(),
            ),
        ];
        let mut fixture = Self {
            base: base.to_owned(),
            victim,
            facts,
            inherited,
        };
        let [file, opened] = &fixture.inherited;
        let inherited = json!({ "file": file.as_raw_fd(), "folder": opened.as_raw_fd() });
        fixture.add("inherited", inherited);
        fixture.add("base", json!(fixture.base()));
        fixture.add("home", json!(fixture.base().join("home")));
        fixture.add("foreign_commit", json!(template.foreign));
        let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
        fixture.add("host", json!(host.trim()));
        fixture.serve_own_run();
        fixture
    }

    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    pub(crate) fn add(&mut self, name: &str, value: Value) {
        let facts = self.facts.as_object_mut().expect("the facts are an object");
        facts.insert(name.to_owned(), value);
    }

    /// Returns a text among the facts.
    pub(crate) fn fact(&self, name: &str) -> &str {
        self.facts
            .get(name)
            .and_then(Value::as_str)
            .expect("the fact is a text")
    }

    /// Returns the command that runs an attack at a level.
    pub(crate) fn command(&mut self, attack: &str, level: Level) -> Command {
        let base = self.base().to_owned();
        let sandbox = self.sandbox(level);
        let service = match level {
            Level::Namespace => Path::new(SOCKETS).join("mcp.sock"),
            Level::Off | Level::Landlock => base.join("own/mcp.sock"),
        };
        self.add("own_service", json!(service));
        self.serve_way_out(level);
        write(&base, "facts.json", &self.facts.to_string());
        let programs = Programs {
            symphony: std::env::current_exe().expect("the path of this program"),
            bwrap: "bwrap".into(),
        };
        let words = [
            base.join("attack.py"),
            attack.into(),
            base.join("facts.json"),
        ];
        let (program, arguments) = sandbox
            .command(
                &Machine::observe().gathered_in(&base.join("sandbox-etc")),
                &programs,
                None,
                "/usr/bin/python3".as_ref(),
                &words.map(PathBuf::into_os_string),
            )
            .expect("the layout is safe");
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&sandbox.directory)
            .env_clear()
            .env("PATH", PATH)
            .env("LANG", "C.UTF-8")
            .env("HOME", base.join("home"))
            .envs(sandbox.environment())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        command
    }

    fn sandbox(&self, level: Level) -> Sandbox {
        let base = self.base();
        Sandbox {
            level,
            directory: base.join("checkouts/1"),
            home: Home {
                path: base.join("home"),
                folder: base.join("own/home"),
            },
            temporary: base.join("own/tmp"),
            read: ["main/.git/objects", "attack.py", "facts.json"]
                .map(|path| base.join(path))
                .to_vec(),
            shown: Vec::new(),
            write: vec![base.join("checkouts/1")],
            moved: None,
            sockets: ["mcp.sock", PROXY]
                .map(|name| (base.join("own").join(name), name.to_owned()))
                .to_vec(),
            network: Network::Own,
            resolver: None,
            hosts: None,
            forwards: vec![(proxied::PORT, PROXY.to_owned())],
            tmp_bytes: TMP_BYTES,
            processes: PROCESSES,
        }
    }

    /// At `off` the proxy allows what the attacks ask for, which shows that they are right.
    fn serve_way_out(&mut self, level: Level) {
        let outside = self.base().join("own").join(PROXY);
        let victim = self.facts.get("tcp").and_then(Value::as_u64);
        let victim = victim.expect("the victim has a port");
        let allowed = proxied::serve(&outside, victim, level, SECRET);
        self.add("allowed_port", json!(allowed));
        let (proxy, socket) = match level {
            Level::Namespace => (
                json!(["127.0.0.1", proxied::PORT]),
                Path::new(SOCKETS).join(PROXY),
            ),
            Level::Off | Level::Landlock => (json!(outside), outside),
        };
        self.add("proxy", proxy);
        self.add("proxy_socket", json!(socket));
    }

    fn serve_own_run(&self) {
        let listener = UnixListener::bind(self.base().join("own/mcp.sock")).expect("a socket");
        std::thread::spawn(move || {
            for peer in listener.incoming() {
                // a peer that is gone needs no answer
                drop(peer.and_then(|mut peer| peer.write_all(SECRET.as_bytes())));
            }
        });
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        drop(self.victim.stdin.take());
        drop(self.victim.wait());
    }
}

/// Returns the commit of a branch that the agent has nothing to do with.
fn make_project(base: &Path) -> String {
    fs::create_dir_all(base.join("main")).expect("a folder");
    let main = base.join("main");
    git(&main, &["init", "-q", "-b", "main"]);
    write(&main, "file", "first\n");
    write(&main, ".gitignore", ".env\nuncommitted\n");
    git(&main, &["add", "."]);
    git(&main, &["commit", "-qm", "first"]);
    git(&main, &["checkout", "-qb", "other"]);
    write(&main, "file", SECRET);
    git(&main, &["commit", "-qam", "other"]);
    let foreign = git(&main, &["rev-parse", "HEAD"]);
    git(&main, &["checkout", "-q", "main"]);
    write(&main, "file", "second\n");
    git(&main, &["commit", "-qam", "second"]);
    write(&main, "file", SECRET);
    git(&main, &["stash", "-q"]);
    write(&main, "uncommitted", SECRET);
    write(&main, ".env", SECRET);
    write(&main, ".symphony/config.json", "{}");
    git(&main, &["config", "remote.origin.url", SECRET]);
    foreign
}

fn start_victim(base: &Path) -> (Child, Value) {
    let mut victim = Command::new("/usr/bin/python3")
        .arg(base.join("victim.py"))
        .arg(base)
        .env_clear()
        .env("PATH", PATH)
        .env("SECRET", SECRET)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // a session of its own, so that an attack on its group does not reach the tests
        .process_group(0)
        .spawn()
        .expect("python3 starts");
    let mut line = String::new();
    let stdout = victim.stdout.take().expect("it is piped");
    BufReader::new(stdout)
        .read_line(&mut line)
        .expect("a line of facts");
    let facts = serde_json::from_str(&line).expect("the facts are JSON");
    (victim, facts)
}

fn leak(descriptor: OwnedFd) -> OwnedFd {
    fcntl_setfd(descriptor.as_fd(), FdFlags::empty()).expect("a descriptor stays open");
    descriptor
}

fn write(base: &Path, path: &str, text: &str) {
    let path = base.join(path);
    let parent = path.parent().expect("it has a parent");
    fs::create_dir_all(parent).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn git(folder: &Path, words: &[&str]) -> String {
    let answer = Command::new("git")
        .current_dir(folder)
        .args(words)
        .env_clear()
        .env("PATH", PATH)
        .envs([
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_AUTHOR_EMAIL", "a@b"),
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@b"),
        ])
        .output()
        .expect("git starts");
    assert!(answer.status.success(), "git {words:?}: {answer:?}");
    String::from_utf8_lossy(&answer.stdout).trim().to_owned()
}
