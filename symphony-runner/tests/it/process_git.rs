//! Git processes that a run leaves get the time to remove their locks, and no more than that.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "these tests start processes, and one that cannot is to fail"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use symphony_core::id::RunId;
use symphony_runner::environment::RUN_MARKER;
use symphony_runner::process::{GIT_GRACE, sweep_marked};

use crate::process_probe::{Ended, unique_run, wait_until};

/// Starts a program that calls itself git and plays a script, in an own process group.
fn git(folder: &Path, run: &RunId, script: &str) -> Child {
    use std::os::unix::process::CommandExt as _;
    let program: PathBuf = folder.join("git");
    // another process writes it: this one's open files would be inherited by children of other tests
    let text = format!("#!/bin/sh\n{script}\n");
    let written = Command::new("sh")
        .args(["-c", "printf %s \"$1\" >\"$0\""])
        .arg(&program)
        .arg(text)
        .status();
    assert!(written.unwrap().success());
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    Command::new(&program)
        .current_dir(folder)
        .env(RUN_MARKER, run.as_str())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap()
}

#[test]
fn git_gives_up_its_lock_before_a_sweep_kills_it() {
    let folder = tempfile::tempdir().unwrap();
    let run = unique_run("git");
    let lock = folder.path().join("index.lock");
    // the shell itself marks its lock as given up: a program that it starts for that is no git, and is killed at once
    let script = "trap 'echo given up > index.lock; exit 1' TERM; touch index.lock; while :; do sleep 0.01; done";
    // this process is the parent, and a sweep spares what is below it: so the child leaves it
    let orphan = format!("({script}) & exit 0");
    let mut starter = Ended(git(folder.path(), &run, &orphan));
    starter.0.wait().unwrap();
    wait_until("the lock", || lock.exists());
    let ended = sweep_marked(&run).unwrap();
    assert!(ended.count() > 0);
    assert_eq!(fs::read_to_string(lock).unwrap(), "given up\n");
}

#[test]
fn a_git_that_is_deaf_is_killed_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let run = unique_run("deaf-git");
    let ready = folder.path().join("ready");
    let script = "(trap '' TERM; touch ready; while :; do sleep 0.01; done) & exit 0";
    let mut starter = Ended(git(folder.path(), &run, script));
    starter.0.wait().unwrap();
    wait_until("the deaf git", || ready.exists());
    let begun = Instant::now();
    assert!(sweep_marked(&run).unwrap().count() > 0);
    assert!(begun.elapsed() >= GIT_GRACE, "{:?}", begun.elapsed());
    assert!(
        begun.elapsed() < GIT_GRACE + Duration::from_secs(9),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(sweep_marked(&run).unwrap().count(), 0);
}
