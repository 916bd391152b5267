//! `doctor` for the page: in a process of its own, as a person starts it, so that a check that hangs does not hold up the page.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use symphony_web::{Checkup, Doctor};

/// How long `doctor` may take: it starts programs, which may hang.
const TIME_MAX: Duration = Duration::from_mins(1);

/// Most bytes of an answer that are read.
const ANSWER_BYTES_MAX: u64 = 4 << 20;

/// Time between two checks of the process.
const LOOK: Duration = Duration::from_millis(50);

/// A document of the command.
#[derive(Debug, Deserialize)]
struct Items<T> {
    items: Vec<T>,
}

/// Makes what runs `doctor` and its audit in a project.
pub(super) fn doctor_of(executable: PathBuf, root: PathBuf) -> Doctor {
    Doctor::new(move || {
        let deadline = Instant::now() + TIME_MAX;
        Ok(Checkup {
            checks: items(&executable, &root, &["doctor"], deadline)?,
            findings: items(&executable, &root, &["doctor", "--audit"], deadline)?,
        })
    })
}

/// Runs a command, and returns the items of the document that it prints. It fails when a check does, and prints them nevertheless.
fn items<T: DeserializeOwned>(
    executable: &Path,
    root: &Path,
    arguments: &[&str],
    deadline: Instant,
) -> Result<Vec<T>, String> {
    let name = format!("`symphony {}`", arguments.join(" "));
    let mut child = start(executable, root, arguments)
        .map_err(|error| format!("{name} could not be started: {error}"))?;
    let printed = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = printed.map(|printed| printed.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes));
        read.transpose().map(|_count| bytes)
    });
    let is_in_time =
        wait(&mut child, deadline).map_err(|error| format!("{name} is lost: {error}"))?;
    if !is_in_time {
        let seconds = TIME_MAX.as_secs();
        return Err(format!("{name} did not end within {seconds} seconds"));
    }
    let bytes = reader.join().ok().and_then(Result::ok).unwrap_or_default();
    let document: Items<T> = serde_json::from_slice(&bytes)
        .map_err(|error| format!("{name} printed something else than its checks: {error}"))?;
    Ok(document.items)
}

#[expect(
    clippy::disallowed_methods,
    reason = "it is a command that a person types, with its own time limit"
)]
fn start(executable: &Path, root: &Path, arguments: &[&str]) -> std::io::Result<Child> {
    Command::new(executable)
        .arg("-C")
        .arg(root)
        .arg("--json")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // the programs that it starts end with it
        .process_group(0)
        .spawn()
}

/// Waits until the process ends, and kills it with its group if that takes too long; says whether it ended in time.
fn wait(child: &mut Child, deadline: Instant) -> std::io::Result<bool> {
    loop {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        if Instant::now() >= deadline {
            if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                // who has just ended needs no signal
                let _gone = kill_process_group(group, Signal::KILL);
            }
            child.wait()?;
            return Ok(false);
        }
        std::thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn answered(script: &str, limit: Duration) -> Result<Vec<u32>, String> {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        items(&program, folder.path(), &["doctor"], Instant::now() + limit)
    }

    #[test]
    fn what_hangs_is_ended_and_what_fails_is_read() {
        let minute = Duration::from_mins(1);
        let found = answered("echo '{\"version\":1,\"items\":[1,2]}'; exit 1", minute);
        assert_eq!(found, Ok(vec![1, 2]));
        let found = answered("echo no", minute).unwrap_err();
        assert!(found.contains("something else than its checks"), "{found}");
        let begun = Instant::now();
        let found = answered("sleep 300 & sleep 300", Duration::from_millis(300)).unwrap_err();
        assert!(found.contains("did not end within"), "{found}");
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}
