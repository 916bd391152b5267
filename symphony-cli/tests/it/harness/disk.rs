//! A full disk at any phase of a run: nobody has failed, nothing is lost, and it goes on when there is space again.
//!
//! `.ci/run harness` gives the tests a small file system of their own as their temporary folder.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{
    LIFE_MAX, Project, approving_judge, bash, create_pr, git_commit, scenarios, until, worker,
};

/// The file system that the tests get is no larger.
const DISK_BYTES_MAX: u64 = 256 << 20;
/// Space that is left when a tick begins, in KiB: from nothing at all to just enough, so that each phase meets the end of
/// the disk once.
const LEFT_KIB: [u64; 14] = [0, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024];
/// How long the disk stays full, when somebody waits for it.
const FULL: Duration = Duration::from_secs(3);

fn free_bytes(folder: &Path) -> u64 {
    let disk = rustix::fs::statvfs(folder).unwrap();
    disk.f_bavail * disk.f_frsize
}

/// Fills the disk but for so much; returns the file that does it.
fn fill(project: &Project, left_kib: u64) -> PathBuf {
    let path = project.beside.join("filler");
    let fill = free_bytes(&project.beside).saturating_sub(left_kib << 10);
    let file = std::fs::File::create(&path).unwrap();
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, fill.max(1)).unwrap();
    path
}

/// Says whether any run's lock is held. The database itself cannot be opened on a full disk.
fn at_work(project: &Project) -> bool {
    let runs = std::fs::read_dir(project.root.join(".symphony/runs"));
    let mut names = runs
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name());
    names.any(|name| {
        let name = name.to_str().expect("a run's id is plain");
        project.run_folder(name).join("lock").exists() && !project.lock_is_free(name)
    })
}

fn play() -> serde_json::Value {
    // the agent's own work may meet the full disk too: what it could not write it writes the next time
    let work = bash(
        "test -s hello.txt || { head -c 100000 /dev/urandom > noise.bin && echo hello > hello.txt; }",
    );
    let commit = bash(&git_commit("-A", "work"));
    scenarios([
        approving_judge(),
        worker([work, commit, create_pr("Say hello")]),
    ])
}

#[test]
fn a_full_disk_at_any_phase_loses_nothing() {
    let total = rustix::fs::statvfs(std::env::temp_dir()).unwrap();
    let total = total.f_blocks * total.f_frsize;
    assert!(
        total <= DISK_BYTES_MAX,
        "{} is no small file system of its own: `.ci/run harness` makes one",
        std::env::temp_dir().display()
    );
    for left in LEFT_KIB {
        println!("{}", live_through(left));
    }
}

/// A life in which the disk is full during the first run; returns what was seen.
fn live_through(left_kib: u64) -> String {
    let config =
        json!({ "max_retry_backoff_ms": 1, "providers": { "scripted": { "hold_ms": 1 } } });
    let mut config = config;
    let project = Project::new("a project", &play(), &json!({}));
    config["providers"]["scripted"]["scenario"] = json!(project.beside.join("scenario.json"));
    config["provider"] = json!("scripted");
    config["judge_cooldown_ms"] = json!(0);
    // the gate is red on the base, and a trial would hold the project
    config["try_changed_gates"] = json!(false);
    config["gates"] = json!([{ "name": "check", "command": "grep -q hello hello.txt" }]);
    project.configure(&config);
    project.add_issue("Say hello");

    let filler = fill(&project, left_kib);
    let full = project.symphony(&["tick", "--json"]);
    let begun = Instant::now();
    until("the end of the run, or of its patience", || {
        (!at_work(&project) || begun.elapsed() > FULL).then_some(())
    });
    let advice = project.symphony(&["doctor"]).stdout;
    assert!(!advice.contains("symphony init"), "{advice}");
    std::fs::remove_file(filler).unwrap();
    until("the end of the run", || (!at_work(&project)).then_some(()));
    let runs = project.json(&["runs", "list"]);
    let first = runs["items"]
        .as_array()
        .unwrap()
        .last()
        .cloned()
        .unwrap_or_default();
    // nobody has failed: the disk was full
    let issue = project.issue("SYM-1");
    assert_eq!(
        issue["consecutive_failures"], 0,
        "{left_kib} KiB: {first:#}\n{full:#?}"
    );
    let said = first["id"].as_str().map(|run| {
        let log = std::fs::read_to_string(project.run_folder(run).join("supervisor.log"));
        log.unwrap_or_default()
            .lines()
            .last()
            .unwrap_or_default()
            .to_owned()
    });
    let seen = format!(
        "{left_kib:>5} KiB left: tick ended with {}, run {} {} ({})",
        full.code,
        first["status"],
        first["error"]["class"],
        said.unwrap_or_default()
    );

    let freed = Instant::now();
    while freed.elapsed() < LIFE_MAX {
        let issue = project.issue("SYM-1");
        if issue["status"] == "done" {
            project.git(&["fsck", "--no-dangling"]);
            assert_eq!(project.git(&["show", "main:hello.txt"]), "hello");
            until("the end of all processes", || {
                project.processes().is_empty().then_some(())
            });
            let runs = project.json(&["runs", "list"]);
            let crashed = runs["items"].as_array().unwrap().iter();
            let crashed = crashed.filter(|run| run["status"] == "crashed").count();
            assert_eq!(crashed, 0, "{seen}: {runs:#}");
            project.assert_sound();
            return format!(
                "{seen}; done after {} runs",
                runs["items"].as_array().unwrap().len()
            );
        }
        let approved = project.json(&["pr", "list", "--state", "approved"])["items"] != json!([]);
        if approved {
            project.json(&["pr", "merge", "SYM-1"]);
            continue;
        }
        // what was on hold is due within a moment
        until("a tick that does something", || {
            let tick = project.symphony(&["tick", "--wait", "--json"]);
            if tick.code == 1 && tick.stderr.contains("everything is on hold") {
                // Gates that met the full disk at its last moment hold everything for a minute.
                project.ok(&["resume"]);
                return None;
            }
            assert_eq!(tick.code, 0, "{seen}: {tick:#?}");
            let done = tick.json()["actions"] != json!([]);
            done.then_some(())
        });
        until("the end of what is at work", || {
            (!at_work(&project)).then_some(())
        });
    }
    panic!(
        "{seen}: not done: {:#}\n{:#}",
        project.issue("SYM-1"),
        project.json(&["runs", "list"])
    );
}
