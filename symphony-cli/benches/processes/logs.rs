//! `runs logs` of a mebibyte and of a gibibyte: its last lines, its first line, and the memory that all of it takes.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rusqlite::Connection;

use super::measure::{in_turn, quietly};
use super::peers;
use super::project::Project;

const ROUNDS: usize = 21;
const LINES: &str = "200";
const SMALL_BYTES: usize = 1 << 20;
const LARGE_BYTES: usize = 1 << 30;

/// A run that has ended, with a log of this many bytes.
fn project(bytes: usize) -> (Project, PathBuf) {
    let project = Project::new();
    let connection = Connection::open(project.database()).unwrap();
    connection
        .execute_batch(
            "INSERT INTO issue (id, project, number, title, title_key, description, status, priority, created_at, updated_at)
             SELECT 'BEN-1', id, 1, 't', 't', '', 'done', 0, 0, 0 FROM project;
             INSERT INTO run (id, fence, project, issue, agent, attempt, provider, status, protection, started_at, ended_at, worktree)
             SELECT '01890000-0000-7000-8000-000000000001', 1, id, 'BEN-1', 'worker', 1, 'scripted', 'succeeded', 'none', 0, 1, 'w'
             FROM project;",
        )
        .unwrap();
    let log = project
        .root
        .join(".symphony/runs/01890000-0000-7000-8000-000000000001/log.txt");
    write_log(&log, bytes);
    (project, log)
}

fn write_log(path: &Path, bytes: usize) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut block = String::new();
    while block.len() < SMALL_BYTES {
        let number = block.len();
        writeln!(
            block,
            "12:00:00 [text] The tests of the parser fail because the fixture is sorted by another locale ({number})."
        )
        .unwrap();
        block.push_str("12:00:01 [tool_use] Bash {\"command\":\"cargo test -p parser --quiet\"}\n");
    }
    let mut file = File::create(path).unwrap();
    for _ in 0..bytes / SMALL_BYTES {
        file.write_all(block.as_bytes()).unwrap();
    }
}

/// Reads the first line of a command's answer, and leaves.
fn first_line(mut command: Command) {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    assert!(line.starts_with("12:00:00 [text]"), "{line}");
    drop(output);
    child.wait().unwrap();
}

/// Compares all that a command writes with a file; returns the most memory that it had, in KiB.
fn compared(mut command: Command, log: &Path) -> u64 {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut file = File::open(log).unwrap();
    let (mut came, mut expected, mut peak) = (vec![0; 1 << 20], vec![0; 1 << 20], 0);
    loop {
        let count = output.read(&mut came).unwrap();
        if count == 0 {
            break;
        }
        file.read_exact(&mut expected[..count]).unwrap();
        assert!(came[..count] == expected[..count], "the log as it is");
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        peak = peak.max(kib.unwrap_or(0));
    }
    assert_eq!(file.read(&mut expected).unwrap(), 0, "all of the log");
    assert!(child.wait().unwrap().success());
    peak
}

pub(crate) fn run() {
    let tail = ["runs", "logs", "BEN-1", "--tail", LINES];
    let whole = ["runs", "logs", "BEN-1"];
    let [small, large] = [SMALL_BYTES, LARGE_BYTES].map(|bytes| {
        let (project, log) = project(bytes);
        let expected = Command::new("tail").arg("-n").arg(LINES).arg(&log).output();
        assert!(
            project.ok(&tail).stdout == expected.unwrap().stdout,
            "the last lines"
        );
        let peak = compared(project.symphony(&whole), &log);
        println!("runs logs of {} MiB: at most {peak} KiB", bytes >> 20);
        project
    });
    let empty = peers::empty();
    let [bare, tail_small, tail_large, first_small, first_large] = in_turn(
        ROUNDS,
        [
            &mut || quietly(&mut Command::new(&empty)),
            &mut || quietly(&mut small.symphony(&tail)),
            &mut || quietly(&mut large.symphony(&tail)),
            &mut || first_line(small.symphony(&whole)),
            &mut || first_line(large.symphony(&whole)),
        ],
    );
    println!(
        "  its last {LINES} lines: {:.2} ms, {:.2} times those of 1 MiB (goal 1.2), {:.1} times a bare process",
        tail_large * 1e3,
        tail_large / tail_small,
        tail_large / bare
    );
    println!(
        "  its first line: {:.2} ms, {:.2} times that of 1 MiB (goal 1.2)",
        first_large * 1e3,
        first_large / first_small
    );
}
