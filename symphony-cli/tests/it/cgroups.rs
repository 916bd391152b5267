//! Cgroups of their own for agents, where this machine lets the user of the tests make them.
//!
//! Where it does not, the tests hold what is so without: runs work as ever, and `doctor` says why.

use std::path::{Path, PathBuf};

use serde_json::json;
use symphony_runner::process::CgroupParent;

use crate::support::{
    Project, bash, commit, create_pr, kill, scenarios, supervisor_of, until, worker,
};

/// Returns the folder in which cgroups can be made.
fn parent() -> Option<PathBuf> {
    let parent = CgroupParent::own().ok()?;
    parent.check().ok()?;
    Some(parent.folder().to_owned())
}

fn is_alive(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    status.is_ok_and(|status| !status.contains(") Z "))
}

fn cgroups_of(parent: &Path, run: &str) -> usize {
    let entries = std::fs::read_dir(parent).unwrap().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().contains(run))
        .count()
}

#[test]
fn an_agent_works_in_a_cgroup_that_is_gone_after_the_run() {
    let scenarios = scenarios([worker([
        bash("cat /proc/self/cgroup > ../../../where; (setsid sleep 616 &) ; true"),
        commit("hello.txt", "hello"),
        create_pr("Say hello"),
    ])]);
    let project = Project::new("project", &scenarios, &json!({ "judge_enabled": false }));
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");
    let id = run["id"].as_str().unwrap();
    let place = std::fs::read_to_string(project.beside.join("where")).unwrap();
    let doctor = project.symphony(&["doctor"]).stdout;
    if let Some(parent) = parent() {
        assert!(place.contains(&format!("symphony-run-{id}.")), "{place}");
        assert_eq!(cgroups_of(&parent, id), 0);
        assert!(doctor.contains("gets its own in"), "{doctor}");
    } else {
        assert!(!place.contains("symphony-run-"), "{place}");
        assert!(doctor.contains("none can be created here"), "{doctor}");
    }
    project.assert_sound();
}

#[test]
fn a_tick_ends_what_a_killed_supervisor_left_in_a_cgroup() {
    // Nothing marks it but its cgroup: no environment, no open file, another folder, another session.
    let hide = "(setsid env -i PATH=\"$PATH\" sh -c 'cd /; exec sleep 617' >/dev/null 2>&1 </dev/null & echo $! > ../../../hidden); sleep 600";
    let project = Project::new("project", &scenarios([worker([bash(hide)])]), &json!({}));
    project.add_issue("Hide");
    let run = project.tick_start();
    let hidden = until("the orphan", || {
        let pid: i32 = std::fs::read_to_string(project.beside.join("hidden"))
            .ok()?
            .trim()
            .parse()
            .ok()?;
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        command.starts_with(b"sleep").then_some(pid)
    });
    kill(until("the supervisor", || supervisor_of(&run)));
    project.ok(&["pause"]);
    until("the end of the run", || {
        project.ok(&["tick"]);
        (project.run(&run)["status"] != "running").then_some(())
    });
    let Some(parent) = parent() else {
        // Without cgroups nobody can tell whose it is.
        kill(hidden);
        return;
    };
    until("the end of the orphan", || {
        (!is_alive(hidden)).then_some(())
    });
    assert_eq!(cgroups_of(&parent, &run), 0);
}

#[test]
fn a_limit_of_memory_is_enforced_or_said_not_to_be() {
    let greedy = "head -c 536870912 /dev/zero | tail -c 536870912 | wc -c > kept.txt; true";
    let work = [
        bash(greedy),
        commit("hello.txt", "hello"),
        create_pr("Say hello"),
    ];
    let sandbox = json!({ "level": "namespace", "memory": 128 << 20 });
    let project = Project::new(
        "project",
        &scenarios([worker(work)]),
        &json!({ "judge_enabled": false, "sandbox": sandbox }),
    );
    project.add_issue("Be greedy");
    let run = project.tick_one("worker", "succeeded");
    let kept = project.git(&["show", "symphony/SYM-1:kept.txt"]);
    let memory = &run["metadata"]["memory"];
    let shown = project.ok(&["runs", "show", run["id"].as_str().unwrap()]);
    let doctor = project.symphony(&["doctor"]).stdout;
    assert_eq!(memory["limit_bytes"], 128 << 20, "{run:#}");
    match CgroupParent::limiting() {
        Ok(_) => {
            assert_eq!(memory["enforced"], true, "{run:#}");
            assert_ne!(memory["killed"], 0, "{run:#}");
            assert_ne!(kept, "536870912");
            assert!(
                shown.contains("at most 128 MiB: the kernel ended"),
                "{shown}"
            );
            assert!(doctor.contains("`sandbox.memory` is enforced"), "{doctor}");
        }
        Err(error) => {
            eprintln!("NOT TESTED HERE: limits of memory, because {error}");
            assert_eq!(memory["enforced"], false, "{run:#}");
            assert_eq!(kept, "536870912");
            assert!(shown.contains("no limit: 128 MiB is configured"), "{shown}");
            assert!(
                doctor.contains("`sandbox.memory` is not enforced"),
                "{doctor}"
            );
        }
    }
}
