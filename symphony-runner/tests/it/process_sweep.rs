//! What a killed supervisor leaves, and who must not be hit when it is cleared away.

#![expect(clippy::disallowed_methods, reason = "these tests start processes")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use symphony_core::tick::LockState;
use symphony_runner::environment::RUN_MARKER;
use symphony_runner::process::{
    ProcessIdentity, RunPlace, descendants, lock_state, sweep_marked, sweep_run,
};

use crate::process_probe::{Ended, NODES, READY, probe, unique_run, wait_until};

#[test]
fn what_a_killed_supervisor_left_is_found_by_its_mark() {
    let run = unique_run("sweep");
    let folder = tempfile::tempdir().unwrap();
    let chain = folder.path().join("chain.lock");
    let mut supervisor = Ended(
        Command::new(probe())
            .arg("hold")
            .args(NODES)
            .env(RUN_MARKER, run.as_str())
            .env("PROBE_VALUE", &chain)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut line = String::new();
    BufReader::new(supervisor.0.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let pids: BTreeMap<String, i32> = serde_json::from_str(&line).unwrap();
    assert_eq!(pids.keys().collect::<Vec<_>>(), READY);
    let identities: BTreeMap<String, ProcessIdentity> = pids
        .into_iter()
        .filter_map(|(name, pid)| Some((name, ProcessIdentity::of(pid).unwrap()?)))
        .collect();
    let is_alive = |name: &str| identities[name].is_alive().unwrap();

    let strangers = [
        (RUN_MARKER, format!("{run}-other"), "true"),
        ("X_SYMPHONY_RUN_ID", run.to_string(), "true"),
        ("NOTE", format!("x{RUN_MARKER}={run}"), "true"),
        ("NOTE", "marker in an argument".to_owned(), run.as_str()),
    ]
    .map(|(name, value, argument)| {
        let child = Command::new(probe())
            .args(["node", "background", argument])
            .env(name, value)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut child = Ended(child);
        let mut word = String::new();
        BufReader::new(child.0.stderr.take().unwrap())
            .read_line(&mut word)
            .unwrap();
        assert_eq!(word, "ready\n");
        child
    });

    supervisor.0.kill().unwrap();
    supervisor.0.wait().unwrap();
    wait_until("the agent follows its supervisor", || !is_alive("leader"));
    for name in ["background", "session", "left", "deaf", "stopped", "bare"] {
        assert!(is_alive(name), "{name} ended by itself");
    }

    // The chain of short-lived processes goes on by itself; it holds this lock as long as it does.
    assert_eq!(lock_state(&chain).unwrap(), LockState::Held);

    let ended = sweep_marked(&run).unwrap();
    wait_until("the chain ends", || {
        lock_state(&chain).unwrap() == LockState::Free
    });
    assert!(ended.count() >= 5, "{ended:?}");
    assert!(
        ended
            .listed()
            .iter()
            .all(|process| process.name == "process_probe"),
        "{ended:?}"
    );
    // Among them `bare`, which has no mark itself: its parent has one.
    for name in identities.keys() {
        wait_until(name, || !is_alive(name));
    }
    for mut stranger in strangers {
        assert!(stranger.0.try_wait().unwrap().is_none());
    }
    assert_eq!(sweep_marked(&run).unwrap().count(), 0);
}

/// Starts an orphan without a mark: a double fork with a cleared environment, in a session of its own.
fn unmarked_orphan(folder: &std::path::Path, variables: &str) -> i32 {
    let note = folder.join("pid");
    let script = format!(
        "cd '{}'; setsid env -i {variables} /bin/sleep 600 >/dev/null 2>&1 </dev/null & echo $! > '{}'",
        folder.display(),
        note.display()
    );
    let started = Command::new("sh").args(["-c", &script]).status();
    let started = started.expect("a shell starts");
    assert!(started.success());
    let pid = std::fs::read_to_string(note).expect("the shell wrote the number");
    let pid = pid.trim().parse().expect("it is a number");
    let name = format!("/proc/{pid}/comm");
    wait_until("its environment is cleared", || {
        std::fs::read_to_string(&name).is_ok_and(|name| name.trim() == "sleep")
    });
    pid
}

#[test]
fn an_unmarked_orphan_is_found_by_where_it_works() {
    let run = unique_run("unmarked");
    let (worktree, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let stray = unmarked_orphan(worktree.path(), "");
    let strangers = [
        unmarked_orphan(elsewhere.path(), ""),
        // an editor that a person opened on the worktree from a desktop
        unmarked_orphan(worktree.path(), "DISPLAY=:0"),
    ];
    let is_alive = |pid| {
        ProcessIdentity::of(pid)
            .unwrap()
            .is_some_and(|one| one.is_alive().unwrap())
    };
    let place = RunPlace {
        worktree: worktree.path().canonicalize().unwrap(),
        age_max: Duration::from_mins(5),
    };
    let ended = sweep_run(&run, &place).unwrap();
    assert_eq!(ended.count(), 1, "{ended:?}");
    wait_until("the stray ends", || !is_alive(stray));
    for stranger in strangers {
        assert!(is_alive(stranger));
        let stranger = ProcessIdentity::of(stranger).unwrap().unwrap();
        assert!(stranger.terminate().unwrap());
    }
}

#[test]
fn a_sweep_spares_what_is_below_the_sweeper() {
    let run = unique_run("family");
    // The node `bare` is marked and waits; its child is not marked.
    let mut marked = Ended(
        Command::new(probe())
            .args(["node", "bare"])
            .env(RUN_MARKER, run.as_str())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut line = String::new();
    BufReader::new(marked.0.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let pid: i32 = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
    let unmarked = ProcessIdentity::of(pid).unwrap().unwrap();
    assert_eq!(sweep_marked(&run).unwrap().count(), 0);
    assert!(unmarked.is_alive().unwrap());
    let below = descendants(i32::try_from(marked.0.id()).unwrap()).unwrap();
    assert_eq!(
        below.iter().map(|record| record.pid).collect::<Vec<_>>(),
        [pid]
    );
    marked.0.kill().unwrap();
    marked.0.wait().unwrap();
    assert!(unmarked.terminate().unwrap());
    wait_until("the unmarked child", || !unmarked.is_alive().unwrap());
}

#[test]
fn another_process_with_the_same_number_is_a_stranger() {
    let mut child = Ended(
        Command::new(probe())
            .args(["node", "background"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let pid = i32::try_from(child.0.id()).unwrap();
    let real = ProcessIdentity::of(pid).unwrap().unwrap();
    let earlier = ProcessIdentity {
        start_time: real.start_time - 1,
        ..real.clone()
    };
    let rebooted = ProcessIdentity {
        boot_id: "00000000-0000-0000-0000-000000000000".to_owned(),
        ..real.clone()
    };
    for stranger in [&earlier, &rebooted] {
        assert!(!stranger.is_alive().unwrap());
        assert!(!stranger.terminate().unwrap());
    }
    assert!(real.is_alive().unwrap());
    assert!(child.0.try_wait().unwrap().is_none());
    assert!(real.terminate().unwrap());
    child.0.wait().unwrap();
    assert!(!real.is_alive().unwrap());
    assert!(!real.terminate().unwrap());
    assert_eq!(
        ProcessIdentity::of(pid).unwrap().filter(|now| *now == real),
        None
    );
}

#[test]
fn an_identity_survives_storage() {
    let own = ProcessIdentity::own().unwrap();
    assert_eq!(own.pid, i32::try_from(std::process::id()).unwrap());
    assert!(own.is_alive().unwrap());
    let stored = serde_json::to_string(&own).unwrap();
    assert_eq!(
        serde_json::from_str::<ProcessIdentity>(&stored).unwrap(),
        own
    );
}
