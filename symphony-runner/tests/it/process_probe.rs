//! The program that plays supervisors and agents, as the tests call it.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a helper of tests, which starts processes"
)]

use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::Value;
use symphony_core::id::RunId;

/// Every kind of process that an agent is known to leave behind, and two that make it hard.
pub(crate) const NODES: [&str; 7] = [
    "background",
    "session",
    "orphan",
    "deaf",
    "stopped",
    "bare",
    "rabbit",
];

/// The names under which they tell of themselves; an orphan also of what it leaves.
pub(crate) const READY: [&str; 9] = [
    "background",
    "bare",
    "deaf",
    "leader",
    "left",
    "orphan",
    "rabbit",
    "session",
    "stopped",
];

/// How long anything is waited for that has to happen: longer than it takes on the slowest machine.
const DEADLINE: Duration = Duration::from_mins(5);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(1);

pub(crate) fn probe() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let probe = test
        .ancestors()
        .nth(2)
        .unwrap()
        .join("examples/process_probe");
    assert!(
        probe.exists(),
        "{} is missing: a whole `cargo test` builds it, one with a filter needs `cargo build --examples` before",
        probe.display()
    );
    probe
}

pub(crate) fn run_probe(arguments: &[&str]) -> Vec<Value> {
    reports(Command::new(probe()).args(arguments))
}

pub(crate) fn reports(command: &mut Command) -> Vec<Value> {
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Ends a process of the test whatever happens to the test.
pub(crate) struct Ended(pub(crate) Child);

impl Drop for Ended {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

pub(crate) fn unique_run(name: &str) -> RunId {
    RunId::parse(format!("{name}-{}", uuid::Uuid::now_v7().simple())).unwrap()
}

/// Waits for what the system does in its own time, such as delivering a signal.
pub(crate) fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < DEADLINE, "waited in vain: {what}");
        std::thread::sleep(LOOK);
    }
}
