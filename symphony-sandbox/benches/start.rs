//! What a start in a sandbox takes more than one without.
//!
//! `cargo bench -p symphony-sandbox`
//!
//! Everything is started in turn in the same run (A B C A B C …), and the median of each counts. A start is all that is done
//! each time: a new home, the look at toolchains and caches, bubblewrap, the way out of the network, Landlock, seccomp, and
//! `true`. The removal of the home, after it, is measured by itself. This program plays the part of Symphony's executable inside.

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
    CONFINE_COMMAND, Home, Level, Machine, Network, PROCESSES, Programs, Sandbox, TMP_BYTES, Tools,
    ToolsRequest,
};
use tempfile::TempDir;

const ROUNDS: usize = 200;
/// The most that a start may take more than one without a sandbox.
const GOAL_MS: f64 = 10.0;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    match words.next() {
        Some(word) if word == CONFINE_COMMAND => return symphony_sandbox::confine(words),
        _ => {}
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let place = Place::new(folder.path());
    let single = Machine::observe();
    let gathered = Machine::observe().gathered_in(&folder.path().join("state"));
    let starts = [
        ("without a sandbox", None),
        (
            "landlock",
            Some((Level::Landlock, &gathered, Inside::Confined)),
        ),
        (
            "bubblewrap alone",
            Some((Level::Namespace, &gathered, Inside::Plain)),
        ),
        (
            "namespace, no way out",
            Some((Level::Namespace, &gathered, Inside::Confined)),
        ),
        (
            "namespace",
            Some((Level::Namespace, &gathered, Inside::WithWay)),
        ),
        (
            "namespace, /etc file by file",
            Some((Level::Namespace, &single, Inside::WithWay)),
        ),
    ];
    let mut times = starts.map(|_| (Vec::new(), Vec::new()));
    for _ in 0..ROUNDS {
        for ((_, how), (starts, removals)) in starts.iter().zip(&mut times) {
            let begin = Instant::now();
            let left = match how {
                None => {
                    Command::new("true").status().unwrap();
                    None
                }
                Some((level, machine, inside)) => Some(place.start(*level, machine, *inside)),
            };
            starts.push(milliseconds(begin));
            let begin = Instant::now();
            drop(left);
            removals.push(milliseconds(begin));
        }
    }
    let medians = times.map(|(starts, removals)| (median(starts), median(removals)));
    println!("The goal is a start of {GOAL_MS} ms more than without a sandbox.");
    for ((name, _), (start, removal)) in starts.iter().zip(medians) {
        println!(
            "{name:<30} {start:>6.2} ms, {:>5.2} ms more, {:>4.1} times bubblewrap alone; the removal {removal:>5.2} ms",
            start - medians[0].0,
            start / medians[2].0,
        );
    }
    ExitCode::SUCCESS
}

fn milliseconds(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1_000.0
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// What runs inside bubblewrap.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// `true` alone, with all mounts.
    Plain,
    /// `true` after `symphony confine`.
    Confined,
    /// The same, with a way out of the network.
    WithWay,
}

/// Returns the path of a program.
fn found_in_path(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
        .unwrap()
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
            bwrap: found_in_path("bwrap"),
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

    /// Starts, and waits. Returns the folder that is left, which is removed when it is dropped.
    fn start(&self, level: Level, machine: &Machine, inside: Inside) -> TempDir {
        let start = tempfile::tempdir_in(self.folder.join("starts")).unwrap();
        let (home, temporary) = (start.path().join("home"), start.path().join("tmp"));
        std::fs::create_dir(&home).unwrap();
        if level == Level::Landlock {
            std::fs::create_dir(&temporary).unwrap();
        }
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
            moved: None,
            sockets: vec![(self.folder.join("s"), "proxy.sock".to_owned())],
            network: Network::Own,
            resolver: Some(self.folder.join("resolv.conf")),
            hosts: Some(self.folder.join("hosts")),
            forwards: if inside == Inside::WithWay {
                vec![(3128, "proxy.sock".to_owned())]
            } else {
                Vec::new()
            },
            tmp_bytes: TMP_BYTES,
            processes: PROCESSES,
        };
        let (program, mut arguments) = sandbox
            .command(machine, &self.programs, None, "true".as_ref(), &[])
            .unwrap();
        tools.furnish(&home).unwrap();
        if inside == Inside::Plain {
            let end = arguments.iter().position(|word| word == "--").unwrap();
            arguments.truncate(end + 1);
            arguments.push("true".into());
        }
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&checkout);
        let status = command.envs(sandbox.environment()).status().unwrap();
        assert!(status.success(), "{level}: {status}");
        start
    }
}
