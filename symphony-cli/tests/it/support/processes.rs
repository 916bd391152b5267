//! Processes, as `/proc` shows them.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

/// The variable that marks every process of a run.
const MARKER: &str = "SYMPHONY_RUN_ID";

fn processes() -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").expect("Linux has /proc");
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect()
}

fn command_line(pid: i32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

/// Finds the processes whose environment has a variable with a value. A zombie has no environment and does not count.
fn with_variable(name: &str, value: &str) -> Vec<i32> {
    let wanted = format!("{name}={value}");
    let has = |pid: &i32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|pair| pair == wanted.as_bytes())
    };
    processes().into_iter().filter(has).collect()
}

/// Returns the processes of a run that are alive: pid and command line.
pub(crate) fn agents_of(run: &str) -> Vec<String> {
    with_variable(MARKER, run)
        .into_iter()
        .map(|pid| format!("{pid} {}", command_line(pid)))
        .collect()
}

/// Says whether a process of this number is alive and belongs to a run.
pub(crate) fn is_there(pid: i32, run: &str) -> bool {
    with_variable(MARKER, run).contains(&pid)
}

/// Finds the supervisor of a run.
pub(crate) fn supervisor_of(run: &str) -> Option<i32> {
    let wanted = format!("supervise --run {run}");
    processes()
        .into_iter()
        .find(|pid| command_line(*pid).contains(&wanted))
}

/// Returns the runs whose agents are alive, each with the issue in whose worktree a process of it is.
#[cfg(all(feature = "postgres", feature = "failpoints"))]
pub(crate) fn agents_at_work() -> std::collections::BTreeMap<String, String> {
    let agent = |pid: i32| {
        let folder = std::fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
        let mut parts = folder.iter().map(|part| part.to_string_lossy());
        parts.find(|part| part == ".symphony-workspaces")?;
        let issue = parts.next()?.into_owned();
        let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
        let mut pairs = environment.split(|byte| *byte == 0);
        let run =
            pairs.find_map(|pair| pair.strip_prefix(MARKER.as_bytes())?.strip_prefix(b"="))?;
        Some((String::from_utf8_lossy(run).into_owned(), issue))
    };
    processes().into_iter().filter_map(agent).collect()
}

/// Returns the supervisors with a home folder, each with its run.
#[cfg(all(feature = "postgres", feature = "failpoints"))]
pub(crate) fn supervisors_at(home: &Path) -> Vec<(i32, String)> {
    let of = |pid: i32| {
        let line = command_line(pid);
        let run = line.split("supervise --run ").nth(1)?;
        Some((pid, run.split(' ').next()?.to_owned()))
    };
    let pids = with_variable(
        "HOME",
        home.to_str().expect("test folders have plain names"),
    );
    pids.into_iter().filter_map(of).collect()
}

/// Returns the processes with a home folder: pid and command line.
#[cfg(all(feature = "postgres", feature = "failpoints"))]
pub(crate) fn at_home(home: &Path) -> Vec<String> {
    all_at_home(home)
}

/// Kills a process that a test started, without a chance to tidy up.
pub(crate) fn kill(pid: i32) {
    let pid = Pid::from_raw(pid).expect("a process has a positive number");
    // it may be gone by itself
    let _gone = kill_process(pid, Signal::KILL);
}

/// Returns the processes with a home folder: pid and command line.
pub(super) fn all_at_home(home: &Path) -> Vec<String> {
    let home = home.to_str().expect("test folders have plain names");
    with_variable("HOME", home)
        .into_iter()
        .map(|pid| format!("{pid} {}", command_line(pid)))
        .collect()
}

/// Returns Symphony's own git processes in a repository.
#[cfg(feature = "harness")]
pub(super) fn git_of_symphony(git_dir: &Path) -> Vec<i32> {
    let git_dir = git_dir.to_str().expect("test folders have plain names");
    let wanted = format!("GIT_COMMON_DIR={git_dir}\0");
    let is_ours = |pid: &i32| {
        // its name first: it is read sooner than the environment, and git does not live long
        let name = std::fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
        let environment = || std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        name == b"git\n"
            && environment()
                .windows(wanted.len())
                .any(|part| part == wanted.as_bytes())
    };
    processes().into_iter().filter(is_ours).collect()
}

/// Kills whatever still runs with a home folder: all that a test's project has started, and nothing else.
pub(crate) fn kill_all_at_home(home: &Path) {
    let home = home.to_str().expect("test folders have plain names");
    // a process may start another one between two looks
    for _ in 0..20 {
        let left = with_variable("HOME", home);
        if left.is_empty() {
            return;
        }
        left.into_iter().for_each(kill);
    }
}
