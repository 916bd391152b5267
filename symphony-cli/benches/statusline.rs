//! `symphony plan statusline` beside a bare process: an empty Rust program, in turn in the same run.
//!
//! `cargo bench -p symphony-cli --bench statusline -- [ROUNDS]`. What it prints is compared before anything is timed. The
//! goal is that of the specification: no longer than twice the bare process.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reads clocks and arguments, starts its peer, and prints"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Rounds of each; the shortest counts, because what else the machine does only adds.
const ROUNDS: usize = 500;
/// What the specification says: at most so many times a bare process.
const GOAL: f64 = 2.0;

/// A state file of forty phases, about as long as real ones.
fn state_file() -> String {
    let phases: Vec<String> = (0..40)
        .map(|n| {
            let words = "does what the phase is there for; ".repeat(6);
            format!(
                "{{\"id\": \"phase-{n}\", \"title\": \"Phase {n}\", \"objective\": \"{words}\", \"tasks\": [\"{words}\"], \"success_criteria\": \"s\"}}"
            )
        })
        .collect();
    let records: Vec<String> = (0..40)
        .map(|n| {
            let status = match n {
                0..16 => "complete",
                16 | 17 => "running",
                18 => "failed",
                _ => "pending",
            };
            format!("\"phase-{n}\": {{\"status\": \"{status}\", \"artifacts\": []}}")
        })
        .collect();
    format!(
        "{{\"planPath\": \"plan.md\", \"startedAt\": \"2026-01-01T00:00:00Z\", \"status\": \"running\", \"completedCount\": 16, \"failedCount\": 1, \"plan\": {{\"phases\": [{}]}}, \"phases\": {{{}}}}}",
        phases.join(","),
        records.join(",")
    )
}

/// Compiles the peer.
fn empty_program(folder: &Path) -> std::path::PathBuf {
    let (source, program) = (folder.join("empty.rs"), folder.join("empty"));
    fs::write(&source, "fn main() {}\n").unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let status = Command::new(rustc)
        .args(["-O", "-o"])
        .args([&program, &source])
        .status()
        .unwrap();
    assert!(status.success(), "rustc is there to compile the peer");
    program
}

fn time(command: &mut Command) -> Duration {
    let begun = Instant::now();
    let status = command.status().unwrap();
    let taken = begun.elapsed();
    assert!(status.success());
    taken
}

fn main() {
    let rounds = std::env::args().find_map(|argument| argument.parse().ok());
    let rounds: usize = rounds.unwrap_or(ROUNDS);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(".symphony-state.json"), state_file()).unwrap();
    let mut bare = Command::new(empty_program(folder.path()));
    let mut ours = Command::new(env!("CARGO_BIN_EXE_symphony"));
    ours.args(["plan", "statusline"]);
    for command in [&mut bare, &mut ours] {
        command
            .current_dir(folder.path())
            .env_remove("NO_COLOR")
            .stdin(Stdio::null())
            .stdout(Stdio::null());
    }
    let line = ours.stdout(Stdio::piped()).output().unwrap().stdout;
    let line = String::from_utf8(line).unwrap();
    assert!(line.contains("16/40"), "{line}");
    ours.stdout(Stdio::null());

    let mut times = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        times.0.push(time(&mut bare));
        times.1.push(time(&mut ours));
    }
    times.0.sort_unstable();
    times.1.sort_unstable();
    let shortest = |times: &[Duration]| times.first().map_or(0.0, Duration::as_secs_f64);
    let middle = |times: &[Duration]| times.get(rounds / 2).map_or(0.0, Duration::as_secs_f64);
    for (name, of) in [
        ("shortest", &shortest as &dyn Fn(&[Duration]) -> f64),
        ("median", &middle),
    ] {
        let (bare, ours) = (of(&times.0), of(&times.1));
        println!(
            "{name:>8}: bare process {:.3} ms, statusline {:.3} ms, ratio {:.2} (goal: at most {GOAL})",
            bare * 1e3,
            ours * 1e3,
            ours / bare
        );
    }
}
