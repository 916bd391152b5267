//! Finding out what a machine offers, by trying it.
//!
//! Versions promise too little: distributions forbid namespaces by a setting, containers by a filter. So a sandbox is
//! made, and a program in it tries what it must be able to do and what it must not.

use std::fs;
use std::io::{self, Read as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::facts::{BUBBLEWRAP_MIN, Bubblewrap, Facts, bubblewrap_version};
use crate::kernel;
use crate::layout::{Home, Machine, Network, PROCESSES, Programs, Sandbox};
use crate::level::Level;

/// The name of the hidden command that runs inside.
pub const PROBE_COMMAND: &str = "sandbox-probe";

/// The most time for one program of the probe. It takes milliseconds; a machine that swaps is slow.
const LIMIT: Duration = Duration::from_secs(20);

/// How often a program is asked whether it has ended.
const LOOK: Duration = Duration::from_millis(2);

/// The most bytes that are read of what a program prints.
const PRINTED_BYTES_MAX: u64 = 16 * 1024;

/// The most time for a connection that must not come about.
const CONNECT_LIMIT: Duration = Duration::from_secs(2);

/// The most memory of the probe's `/tmp`.
const TMP_BYTES: u64 = 1 << 20;

/// What a program in the sandbox could do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that is tried"
)]
struct Tried {
    wrote_inside: bool,
    read_outside: bool,
    wrote_outside: bool,
    made_namespace: bool,
    connected: bool,
}

impl Tried {
    /// Returns what a sandbox did not keep, or that it forbids normal work.
    fn problem(self) -> Option<&'static str> {
        let Self {
            wrote_inside,
            read_outside,
            wrote_outside,
            made_namespace,
            connected,
        } = self;
        [
            (
                !wrote_inside,
                "a program could not write into its own folder",
            ),
            (read_outside, "a program could read a file outside"),
            (wrote_outside, "a program could write a file outside"),
            (made_namespace, "a program could make another namespace"),
            (connected, "a program could connect to the machine"),
        ]
        .into_iter()
        .find_map(|(found, what)| found.then_some(what))
    }
}

/// Finds out what this machine offers.
///
/// # Errors
/// When the probe itself could not be prepared, such as on a full disk.
pub fn probe(programs: &Programs) -> io::Result<Facts> {
    Ok(Facts {
        bubblewrap: bubblewrap(programs)?,
        landlock_abi: kernel::landlock_abi(),
    })
}

fn bubblewrap(programs: &Programs) -> io::Result<Bubblewrap> {
    let mut asked = command(&programs.bwrap);
    let answer = match run(asked.arg("--version")) {
        Ok(answer) => answer,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Bubblewrap::Missing),
        Err(error) => return Err(error),
    };
    let Some((version, numbers)) = bubblewrap_version(&answer.stdout) else {
        return Ok(Bubblewrap::Missing);
    };
    let version = version.to_owned();
    if numbers < BUBBLEWRAP_MIN {
        return Ok(Bubblewrap::Old { version });
    }
    if kernel::landlock_abi().is_none() {
        // The sandbox below would fail for this reason, which is found by itself.
        return Ok(Bubblewrap::Works { version });
    }
    let tried = try_sandbox(programs)?;
    let report = serde_json::from_str::<Tried>(tried.stdout.trim());
    Ok(match report.map(Tried::problem) {
        Ok(None) => Bubblewrap::Works { version },
        Ok(Some(what)) => Bubblewrap::Leaks {
            version,
            what: what.to_owned(),
        },
        Err(_) => Bubblewrap::Refused {
            version,
            message: tried.reason(),
        },
    })
}

fn try_sandbox(programs: &Programs) -> io::Result<Answer> {
    let folder = tempfile::Builder::new()
        .prefix("symphony-probe-")
        .tempdir()?;
    let base = folder.path().canonicalize()?;
    for name in ["inside", "home", "outside", "temporary"] {
        fs::create_dir(base.join(name))?;
    }
    let outside = base.join("outside/file");
    fs::write(&outside, "outside")?;
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let sandbox = Sandbox {
        level: Level::Namespace,
        directory: base.join("inside"),
        home: Home {
            path: base.join("home"),
            folder: base.join("home"),
        },
        temporary: base.join("temporary"),
        read: vec![programs.bwrap.clone()],
        shown: Vec::new(),
        write: vec![base.join("inside")],
        moved: None,
        sockets: Vec::new(),
        network: Network::Own,
        resolver: None,
        hosts: None,
        forwards: Vec::new(),
        tmp_bytes: TMP_BYTES,
        processes: PROCESSES,
    };
    let arguments = [
        PROBE_COMMAND.into(),
        base.join("inside/file").into(),
        outside.into(),
        listener.local_addr()?.to_string().into(),
        programs.bwrap.clone().into(),
    ];
    let (program, arguments) = sandbox
        .command(
            &Machine::observe(),
            programs,
            None,
            programs.symphony.as_os_str(),
            &arguments,
        )
        .map_err(io::Error::other)?;
    run(command(&program).args(arguments))
}

/// What runs inside: tries everything, and prints what it could do.
///
/// `arguments` are those after the hidden command's name: a file in the sandbox's own folder, one outside, an address of
/// the machine, and bubblewrap.
pub fn probe_inside(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> ExitCode {
    let arguments: Vec<PathBuf> = arguments.into_iter().map(PathBuf::from).collect();
    let [inside, outside, address, bwrap] = arguments.as_slice() else {
        return ExitCode::FAILURE;
    };
    let Some(address) = address.to_str().and_then(|address| address.parse().ok()) else {
        return ExitCode::FAILURE;
    };
    let tried = Tried {
        wrote_inside: fs::write(inside, "inside").is_ok(),
        read_outside: fs::read(outside).is_ok(),
        // not `fs::write`: on an empty view it would make a file of its own
        wrote_outside: fs::File::options().write(true).open(outside).is_ok(),
        made_namespace: makes_namespace(bwrap),
        connected: connects(address),
    };
    match serde_json::to_writer(io::stdout(), &tried) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn makes_namespace(bwrap: &Path) -> bool {
    let mut asked = command(bwrap);
    asked.args(["--unshare-user", "--ro-bind", "/", "/", "true"]);
    run(&mut asked).is_ok_and(|answer| answer.succeeded)
}

fn connects(address: SocketAddr) -> bool {
    TcpStream::connect_timeout(&address, CONNECT_LIMIT).is_ok()
}

/// What a program printed, and how it ended.
struct Answer {
    succeeded: bool,
    stdout: String,
    stderr: String,
}

impl Answer {
    /// Returns its last words.
    fn reason(&self) -> String {
        let last = self.stderr.lines().rfind(|line| !line.trim().is_empty());
        last.unwrap_or("it ended without an error message")
            .trim()
            .to_owned()
    }
}

fn command(program: &Path) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "the probe owns its processes: each is waited for, and killed at a limit"
    )]
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    command
}

/// Runs a program to its end, or to the limit.
fn run(command: &mut Command) -> io::Result<Answer> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > LIMIT {
            child.kill()?;
            break child.wait()?;
        }
        std::thread::sleep(LOOK);
    };
    let (stdout, stderr) = printed(&mut child)?;
    Ok(Answer {
        succeeded: status.success(),
        stdout,
        stderr,
    })
}

/// All of a probe's programs print less than a pipe holds, so they never wait for a reader.
fn printed(child: &mut Child) -> io::Result<(String, String)> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    if let Some(pipe) = child.stdout.take() {
        pipe.take(PRINTED_BYTES_MAX).read_to_end(&mut stdout)?;
    }
    if let Some(pipe) = child.stderr.take() {
        pipe.take(PRINTED_BYTES_MAX).read_to_end(&mut stderr)?;
    }
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((text(stdout), text(stderr)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anything_but_a_tight_sandbox_that_can_be_worked_in_is_a_problem() {
        let tight = Tried {
            wrote_inside: true,
            read_outside: false,
            wrote_outside: false,
            made_namespace: false,
            connected: false,
        };
        assert_eq!(tight.problem(), None);
        for loose in [
            Tried {
                wrote_inside: false,
                ..tight
            },
            Tried {
                read_outside: true,
                ..tight
            },
            Tried {
                wrote_outside: true,
                ..tight
            },
            Tried {
                made_namespace: true,
                ..tight
            },
            Tried {
                connected: true,
                ..tight
            },
        ] {
            assert!(loose.problem().is_some(), "{loose:?}");
        }
    }

    #[test]
    fn a_missing_program_is_a_fact_and_no_error() {
        let programs = Programs {
            symphony: "/proc/self/exe".into(),
            bwrap: "/nonexistent/bwrap".into(),
        };
        let facts = probe(&programs).unwrap();
        assert_eq!(facts.bubblewrap, Bubblewrap::Missing);
    }
}
