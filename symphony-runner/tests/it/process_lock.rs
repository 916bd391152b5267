//! The lock of a run, from hand to hand.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "these tests start processes"
)]

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use symphony_core::tick::LockState;
use symphony_runner::process::{
    DetachedLaunch, ProcessError, ProcessIdentity, RunLock, lock_state,
};

use crate::process_probe::{Ended, probe, wait_until};

fn detached(folder: &Path, lock: RunLock) -> DetachedLaunch {
    let path = lock.path().to_owned();
    DetachedLaunch {
        executable: probe(),
        arguments: vec!["hold-lock".into(), path.into()],
        directory: folder.to_owned(),
        log: folder.join("supervisor.log"),
        environment: None,
        lock,
    }
}

#[test]
fn a_lock_passes_to_the_supervisor_without_a_gap_and_dies_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.lock");
    let lock = RunLock::acquire(&path).unwrap();
    let mut supervisor = Ended(
        Command::new(probe())
            .args(["hold-lock".as_ref(), path.as_os_str()])
            .env("PROBE_PIPE", fifo(folder.path()))
            .stdin(lock.into_stdio())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    // From here on nobody but the child holds it.
    let output = supervisor.0.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).unwrap();
        line
    });
    while !reader.is_finished() {
        assert_eq!(lock_state(&path).unwrap(), LockState::Held);
    }
    let report: Value = serde_json::from_str(&reader.join().unwrap()).unwrap();
    assert_eq!(report["input_bytes"], 0, "stdin is /dev/null now");
    let child = i32::try_from(report["child"].as_i64().unwrap()).unwrap();
    let grandchild = ProcessIdentity::of(child).unwrap().unwrap();
    assert_eq!(lock_state(&path).unwrap(), LockState::Held);
    let error = RunLock::acquire(&path).unwrap_err();
    assert!(matches!(error, ProcessError::LockHeld { .. }), "{error}");

    supervisor.0.kill().unwrap();
    supervisor.0.wait().unwrap();
    // A process that another test is just starting may hold a copy for the instant before its exec.
    wait_until("the lock is free", || {
        lock_state(&path).unwrap() == LockState::Free
    });
    assert!(
        grandchild.is_alive().unwrap(),
        "it did not inherit the lock"
    );
    drop(RunLock::acquire(&path).unwrap());
    grandchild.terminate().unwrap();
}

#[test]
fn a_detached_supervisor_has_its_lock_its_log_and_no_foreign_mark() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.lock");
    let lock = RunLock::acquire(&path).unwrap();
    let mut supervisor = detached(folder.path(), lock).spawn().unwrap();
    assert!(supervisor.identity().pid > 1);
    assert!(supervisor.wait().unwrap().success());
    assert!(supervisor.try_wait().unwrap().is_some());
    assert!(!supervisor.identity().is_alive().unwrap());
    let log = folder.path().join("supervisor.log");
    assert_eq!(log.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let report: Value = serde_json::from_str(&std::fs::read_to_string(log).unwrap()).unwrap();
    assert_eq!(report["lock"], path.to_str().unwrap());
    assert_eq!(report["marker"], Value::Null);
    let child = i32::try_from(report["child"].as_i64().unwrap()).unwrap();
    ProcessIdentity::of(child)
        .unwrap()
        .unwrap()
        .terminate()
        .unwrap();
    wait_until("the lock is free", || {
        lock_state(&path).unwrap() == LockState::Free
    });
}

#[test]
fn a_supervisor_without_its_lock_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.lock");
    let other = RunLock::acquire(folder.path().join("other.lock")).unwrap();
    for (input, expected) in [
        (
            other.into_stdio(),
            format!(
                "the lock {} was not handed over: standard input is another file",
                path.display()
            ),
        ),
        (
            Stdio::null(),
            format!(
                "the lock {} was not handed over: standard input is another file",
                path.display()
            ),
        ),
    ] {
        let output = Command::new(probe())
            .args(["hold-lock".as_ref(), path.as_os_str()])
            .stdin(input)
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report, json!({ "error": expected }));
    }
    let _held = RunLock::acquire(&path).unwrap();
    let unlocked = std::fs::File::open(&path).unwrap();
    let output = Command::new(probe())
        .args(["hold-lock".as_ref(), path.as_os_str()])
        .stdin(unlocked)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        report,
        json!({ "error": format!("another process holds the lock {}", path.display()) })
    );
}

#[test]
fn a_supervisor_that_cannot_start_gives_its_lock_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.lock");
    let lock = RunLock::acquire(&path).unwrap();
    let mut launch = detached(folder.path(), lock);
    launch.executable = folder.path().join("missing");
    let error = launch.spawn().unwrap_err();
    assert!(error.to_string().ends_with("/missing"), "{error}");
    wait_until("the lock is free", || {
        lock_state(&path).unwrap() == LockState::Free
    });
}

/// Makes a named pipe on which a process waits until somebody opens its other end.
fn fifo(folder: &Path) -> PathBuf {
    let path = folder.join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    path
}
