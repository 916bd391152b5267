//! What a start in a sandbox takes more than one without.
//!
//! `cargo bench -p symphony-sandbox`
//!
//! Everything is started in turn in the same run (A B C A B C …), and the median of each counts. A start is all that is done
//! each time: a new home, the look at toolchains and caches, bubblewrap, the way out of the network, Landlock, seccomp,
//! `true`, and the removal of the home. This program plays the part of Symphony's executable inside.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark reads clocks, starts programs, and prints"
)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use symphony_sandbox::{
    CONFINE_COMMAND, FORWARD_COMMAND, Home, Level, Machine, Network, PROCESSES, Programs, Sandbox,
    TMP_BYTES, Tools, ToolsRequest,
};

const ROUNDS: usize = 200;
/// The most that a start may take more than one without a sandbox.
const GOAL_MS: f64 = 10.0;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    match words.next() {
        Some(word) if word == CONFINE_COMMAND => return symphony_sandbox::confine(words),
        Some(word) if word == FORWARD_COMMAND => return symphony_sandbox::run_forwarder(words),
        _ => {}
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let place = Place::new(folder.path());
    let single = Machine::observe();
    let gathered = Machine::observe().gathered_in(&folder.path().join("state"));
    let bare = || {
        Command::new("true").status().unwrap();
    };
    let works: [(&str, &dyn Fn()); 5] = [
        ("without a sandbox", &bare),
        ("namespace", &|| {
            place.start(Level::Namespace, &gathered, true);
        }),
        ("namespace, no way out", &|| {
            place.start(Level::Namespace, &gathered, false);
        }),
        ("namespace, /etc file by file", &|| {
            place.start(Level::Namespace, &single, true);
        }),
        ("landlock", &|| {
            place.start(Level::Landlock, &gathered, false);
        }),
    ];
    let mut times = works.map(|_| Vec::new());
    for _ in 0..ROUNDS {
        for ((_, work), times) in works.iter().zip(&mut times) {
            let begin = Instant::now();
            work();
            times.push(begin.elapsed().as_secs_f64() * 1_000.0);
        }
    }
    let medians = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    for ((name, _), median) in works.iter().zip(medians) {
        println!(
            "{name:<30} {median:>6.2} ms, {:>5.2} ms more, {:>5.1} times (goal {GOAL_MS} ms more)",
            median - medians[0],
            median / medians[0]
        );
    }
    ExitCode::SUCCESS
}

/// What the starts have in common.
struct Place {
    folder: PathBuf,
    programs: Programs,
    environment: BTreeMap<OsString, OsString>,
    /// A way out: connections are never made, but its port is opened.
    _way: UnixListener,
}

impl Place {
    fn new(folder: &Path) -> Self {
        for name in ["checkout", "objects", "starts"] {
            std::fs::create_dir(folder.join(name)).unwrap();
        }
        for name in ["hosts", "resolv.conf"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        let mut programs = Programs {
            symphony: std::env::current_exe().unwrap(),
            bwrap: "bwrap".into(),
        };
        // the way to the socket is short enough for its address
        let way = UnixListener::bind(folder.join("s")).unwrap();
        programs.symphony = programs.symphony.canonicalize().unwrap();
        Self {
            folder: folder.to_owned(),
            programs,
            environment: std::env::vars_os().collect(),
            _way: way,
        }
    }

    fn start(&self, level: Level, machine: &Machine, has_way: bool) {
        let start = tempfile::tempdir_in(self.folder.join("starts")).unwrap();
        let (home, temporary) = (start.path().join("home"), start.path().join("tmp"));
        std::fs::create_dir(&home).unwrap();
        std::fs::create_dir(&temporary).unwrap();
        let users = PathBuf::from(&self.environment[std::ffi::OsStr::new("HOME")]);
        let checkout = self.folder.join("checkout");
        let hidden = [checkout.clone()];
        let tools = Tools::observe(&ToolsRequest {
            level,
            environment: &self.environment,
            home: &users,
            inside: &users,
            programs: &[],
            hidden: &hidden,
            cached_for: Some(&checkout),
        });
        let mut read = vec![self.folder.join("objects")];
        read.extend(tools.read.iter().cloned());
        let sandbox = Sandbox {
            level,
            directory: checkout.clone(),
            home: Home {
                path: users,
                folder: home.clone(),
            },
            temporary,
            read,
            shown: tools.shown.clone(),
            write: vec![checkout.clone()],
            sockets: vec![(self.folder.join("s"), "proxy.sock".to_owned())],
            network: Network::Own,
            resolver: Some(self.folder.join("resolv.conf")),
            hosts: Some(self.folder.join("hosts")),
            forwards: if has_way {
                vec![(3128, "proxy.sock".to_owned())]
            } else {
                Vec::new()
            },
            tmp_bytes: TMP_BYTES,
            processes: PROCESSES,
        };
        let (program, arguments) = sandbox
            .command(machine, &self.programs, None, "true".as_ref(), &[])
            .unwrap();
        tools.furnish(&home).unwrap();
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&checkout);
        let status = command.envs(sandbox.environment()).status().unwrap();
        assert!(status.success(), "{level}: {status}");
    }
}
