//! Runs in a sandbox: real bubblewrap, real Landlock, the scripted agent inside.
//!
//! The attacks on a sandbox are in `symphony-sandbox`; here is that runs use one.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::main_job::MAIN_JOB;
use crate::plan_support::{any_phase, plan_of};
use crate::support::{
    JUDGE, Project, agents_of, bash, call, commit, create_pr, kill, scenario, scenarios,
    supervisor_of, text, turn, until, worker,
};

/// A configuration whose runs have namespaces.
fn namespace() -> Value {
    json!({ "sandbox": "namespace", "judge_enabled": false })
}

/// What an agent can do shows in its worktree: the only place that it shares with the test.
#[test]
fn an_agent_reaches_its_worktree_and_its_socket_and_nothing_else_of_the_project() {
    let look = "exec > seen.txt 2>&1; set +e; echo home: $(ls -A ~ | grep -v '^\\.symphony' | tr '\\n' ' '); \
                cat ../../.symphony/symphony.db > /dev/null && echo database; \
                cat ../../symphony.config.json > /dev/null && echo configuration; \
                cat ~/.gitconfig > /dev/null && echo gitconfig; touch ../../escaped; \
                ls ../../.git/objects > /dev/null && echo objects; touch ../../.git/objects/x && echo planted; \
                ls ../../.git/refs && echo refs; true";
    let scenarios = scenarios([worker([bash(look), create_pr("Say hello")])]);
    let project = Project::new("project", &scenarios, &namespace());
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");
    let refused = &run["metadata"]["refused_create_pr"]["kind"];
    assert_eq!(refused, "uncommitted", "the socket answered: {run:#}");
    let id = run["id"].as_str().unwrap();
    let seen = project.git(&["show", "symphony/SYM-1:seen.txt"]);
    let words: Vec<&str> = seen
        .lines()
        .filter(|line| !line.contains("No such file") && !line.contains("Permission denied"))
        .filter(|line| !line.contains("Read-only file system"))
        .collect();
    assert_eq!(words, ["home:", "objects"], "{seen}");
    assert!(!project.root.join("escaped").exists(), "{seen}");
    assert_eq!(
        json!([
            run["sandbox"]["level"],
            run["sandbox"]["network"],
            run["protection"]
        ]),
        json!(["namespace", "allowlist", "sandbox"]),
        "{run:#}"
    );
    let shown = project.ok(&["runs", "show", id]);
    assert!(
        shown.contains("sandbox       namespace (network allowlist, Landlock "),
        "{shown}"
    );
    let left = project.run_folder(id).join("sandbox");
    let left = std::fs::read_dir(left).map_or(0, Iterator::count);
    assert_eq!(left, 0, "the home of the agent is gone");
    project.assert_sound();
}

/// A configuration whose agent is a shell script in a namespace.
fn script(script: &str) -> Value {
    json!({
        "sandbox": "namespace", "judge_enabled": false, "provider": "command",
        "providers": { "command": { "command": script, "output": "text" } },
    })
}

/// Starts the run of an agent that is a script, and waits until the script has begun.
fn begun(project: &Project) -> String {
    project.add_issue("Say hello");
    let run = project.tick_start();
    until("the script has begun", || {
        project
            .worktree("SYM-1")
            .join("begun")
            .exists()
            .then_some(())
    });
    run
}

#[test]
fn an_agent_in_a_sandbox_has_time_to_end_when_it_is_asked_to() {
    let work =
        "trap 'echo asked > asked.txt; exit 0' TERM; touch begun; while :; do sleep 0.1; done";
    let project = Project::new("project", &scenarios([]), &script(work));
    let run = begun(&project);
    project.ok(&["runs", "cancel", &run]);
    project.until_ended(&run);
    assert_eq!(project.run(&run)["status"], "cancelled");
    let asked = std::fs::read_to_string(project.worktree("SYM-1").join("asked.txt"));
    assert_eq!(asked.unwrap(), "asked\n");
    assert_eq!(agents_of(&run), [""; 0]);
    project.assert_sound();
}

#[test]
fn nothing_survives_the_death_of_the_supervisor_or_of_bubblewrap() {
    let work = "(setsid sleep 618 &) ; touch begun; exec sleep 619";
    for (kills_supervisor, status, class) in [
        (true, "crashed", "crashed"),
        (false, "failed", "agent_failed"),
    ] {
        let project = Project::new("project", &scenarios([]), &script(work));
        let run = begun(&project);
        let inside = agents_of(&run);
        for name in ["sleep 618", "sleep 619"] {
            assert!(inside.iter().any(|line| line.contains(name)), "{inside:?}");
        }
        let bubblewrap = || {
            let line = inside.iter().find(|line| line.contains("bwrap "));
            let pid = line.and_then(|line| line.split(' ').next());
            pid.unwrap().parse().unwrap()
        };
        kill(if kills_supervisor {
            supervisor_of(&run).unwrap()
        } else {
            bubblewrap()
        });
        until("all have ended", || {
            agents_of(&run).is_empty().then_some(())
        });
        if kills_supervisor {
            project.tick_wait();
        }
        project.until_ended(&run);
        let ended = project.run(&run);
        let found = (&ended["status"], &ended["error"]["class"]);
        assert_eq!(found, (&json!(status), &json!(class)), "{ended:#}");
        let homes = project.run_folder(&run).join("sandbox");
        until("the home is gone", || {
            let left = std::fs::read_dir(&homes).map_or(0, Iterator::count);
            (left == 0).then_some(())
        });
        project.assert_sound();
    }
}

/// A bubblewrap that works until it is broken, as a machine is whose settings change.
fn breakable_bubblewrap(project: &Project) -> PathBuf {
    let (path, broken) = (project.beside.join("bwrap"), project.beside.join("broken"));
    let text = format!(
        "#!/bin/sh\n[ ! -e '{}' ] || {{ echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1; }}\nexec bwrap \"$@\"\n",
        broken.display()
    );
    std::fs::write(&path, text).expect("the folder can be written");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("the file is there");
    path
}

#[test]
fn a_sandbox_that_cannot_be_made_uses_no_attempt_and_says_what_to_do() {
    for (breaks_at_the_start, words) in [
        (
            false,
            "`sandbox.level` is `namespace`, which this machine does not support: bubblewrap is not installed",
        ),
        (
            true,
            "the sandbox could not be created: bwrap: setting up uid map: Permission denied",
        ),
    ] {
        let scenarios = scenarios([worker([bash("true")])]);
        let project = Project::new("project", &scenarios, &json!({}));
        let bubblewrap = breakable_bubblewrap(&project);
        let sandbox = json!({ "level": "namespace", "bwrap": bubblewrap });
        project.configure_more(&json!({ "sandbox": sandbox, "judge_enabled": false }));
        project.add_issue("Say hello");
        if breaks_at_the_start {
            // what works is remembered, so only the next start notices
            project.tick_one("worker", "succeeded");
            std::fs::write(project.beside.join("broken"), "").unwrap();
            project.ok(&["issue", "retry", "SYM-1"]);
        } else {
            std::fs::remove_file(&bubblewrap).unwrap();
        }
        let before = project.issue("SYM-1");
        let run = project.tick_one("worker", "failed");
        assert_eq!(run["error"]["class"], "sandbox_unavailable", "{run:#}");
        let message = text(&run["error"]["message"]);
        assert!(message.starts_with(words), "{message}");
        assert!(message.contains("`symphony doctor`"), "{message}");
        let issue = project.issue("SYM-1");
        assert_eq!(issue["status"], "todo");
        for count in ["total_runs", "consecutive_failures"] {
            assert_eq!(issue[count], before[count], "{count}");
        }
        let held = project.json(&["status"])["holds"].to_string();
        assert!(held.contains("sandbox_unavailable"), "{held}");
        let doctor = project.symphony(&["doctor"]);
        assert_eq!(doctor.code, 1, "{doctor:#?}");
        assert!(doctor.stdout.contains("so no agent starts"), "{doctor:#?}");

        let off = json!({ "sandbox": "off", "judge_enabled": false });
        project.configure_more(&off);
        project.ok(&["resume"]);
        let run = project.tick_one("worker", "succeeded");
        assert_eq!(run["sandbox"]["level"], "off");
        project.assert_sound();
    }
}

#[test]
fn landlock_alone_keeps_an_agent_from_the_files_of_the_project() {
    let look = "exec > seen.txt 2>&1; echo x > \"$TMPDIR/x\" && echo temporary; echo x > ~/x && echo home; \
                cat ../../.symphony/symphony.db > /dev/null && echo database; touch ../../escaped; true";
    let scenarios = scenarios([worker([bash(look), create_pr("Say hello")])]);
    let config = json!({ "sandbox": "landlock", "judge_enabled": false });
    let project = Project::new("project", &scenarios, &config);
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");
    let refused = &run["metadata"]["refused_create_pr"]["kind"];
    assert_eq!(refused, "uncommitted", "the socket answered: {run:#}");
    let seen = project.git(&["show", "symphony/SYM-1:seen.txt"]);
    let words: Vec<&str> = seen
        .lines()
        .filter(|line| !line.contains("Permission denied"))
        .collect();
    assert_eq!(words, ["temporary", "home"], "{seen}");
    assert!(!project.root.join("escaped").exists(), "{seen}");
    let recorded = json!([
        run["sandbox"]["level"],
        run["sandbox"]["network"],
        run["protection"]
    ]);
    assert_eq!(recorded, json!(["landlock", "host", "none"]));
    project.assert_sound();
}

#[test]
fn a_judge_reads_its_checkout_and_its_verdict_says_how_it_was_confined() {
    let author = worker([commit("hello.txt", "hello"), create_pr("Say hello")]);
    let judge = scenario(
        "judge",
        &json!({ "match_system": JUDGE }),
        [
            turn(call("mcp__symphony__get_issue", json!({}))),
            turn(call(
                "mcp__symphony__approve_pr",
                json!({ "comment": "Good." }),
            )),
        ],
    );
    let project = Project::new("project", &scenarios([author, judge]), &json!({}));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.configure_more(&json!({ "sandbox": "namespace" }));
    let run = project.tick_one("judge", "succeeded");
    let verdict = &project.json(&["pr", "show", "SYM-1"])["verdict"];
    assert_eq!(verdict["protection"], "sandbox", "{verdict:#}");
    assert_eq!(verdict["sandbox"], run["sandbox"], "{verdict:#}");
    assert_eq!(verdict["sandbox"]["level"], "namespace");
    project.assert_sound();
}

/// The agent that plays a script gives a judge no shell, so the judge here is a shell itself.
#[test]
fn a_judge_with_a_shell_can_read_its_checkout_and_write_nothing() {
    let author = worker([commit("hello.txt", "hello"), create_pr("Say hello")]);
    let project = Project::new("project", &scenarios([author]), &json!({}));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let before = project.git(&["for-each-ref", "refs/heads"]);
    let look = "for write in 'touch planted' 'rm hello.txt' 'chmod 777 .' 'git commit --allow-empty -qm planted' \
                'git update-ref refs/heads/planted HEAD' 'mount -o remount,rw .'; do \
                $write 2>/dev/null && echo \"wrote: $write\"; done; \
                cp hello.txt ../planted 2>/dev/null; cp -r . /tmp/own && touch /tmp/own/planted && echo \"tried: $(cat hello.txt) $(git log -1 --format=%s)\"";
    project.configure_more(&json!({
        "sandbox": "namespace", "provider": "command",
        "providers": { "command": { "command": look, "output": "text" } },
    }));
    let runs = project.tick_wait();
    let [run] = runs.as_slice() else {
        panic!("{runs:#?}")
    };
    assert_eq!(run["profile"], "judge", "{run:#}");
    assert_eq!(run["sandbox"]["level"], "namespace", "{run:#}");
    // whoever has a shell can be talked into a verdict
    assert_eq!(run["protection"], "none", "{run:#}");
    let log = project.log(run);
    assert!(
        log.contains("tried: hello write hello.txt"),
        "its shell works: {log}"
    );
    assert!(!log.contains("wrote: "), "{log}");
    let worktree = project.worktree("SYM-1");
    assert!(worktree.join("hello.txt").exists());
    assert!(!worktree.join("planted").exists());
    assert!(!worktree.with_file_name("planted").exists());
    assert_eq!(project.git(&["for-each-ref", "refs/heads"]), before);
    project.assert_sound();
}

#[test]
fn a_plan_in_the_users_folder_needs_no_sandbox() {
    let project = Project::new("project", &scenarios([]), &namespace());
    std::fs::write(project.root.join("plan.md"), plan_of(&[("a", &[])])).unwrap();
    let answer = project.symphony(&["plan", "run", "plan.md", "--isolation", "none"]);
    assert_eq!(answer.code, 4, "{answer:#?}");
    let words = "with isolation `none` the agents of a plan work in your own folder, but `sandbox.level` is `namespace`";
    assert!(answer.stderr.contains(words), "{answer:#?}");
    assert!(
        answer
            .stderr
            .contains("symphony config set sandbox.level off"),
        "{answer:#?}"
    );
}

#[test]
fn an_issue_becomes_a_merged_change_in_a_sandbox() {
    let scenarios: Value = serde_json::from_str(MAIN_JOB).unwrap();
    let project = Project::new("my project", &scenarios, &json!({ "sandbox": "namespace" }));
    let issue = project.add_issue("Say hello");
    let worker = project.tick_one("worker", "succeeded");
    let judge = project.tick_one("judge", "succeeded");
    for run in [&worker, &judge] {
        assert_eq!(run["sandbox"]["level"], "namespace", "{run:#}");
        assert_eq!(run["protection"], "sandbox", "{run:#}");
    }
    let pr = project.json(&["pr", "show", &issue]);
    assert_eq!(
        (&pr["state"], &pr["verdict"]["protection"]),
        (&json!("approved"), &json!("sandbox"))
    );
    project.ok(&["pr", "merge", &issue]);
    assert_eq!(project.issue(&issue)["status"], "done");
    assert_eq!(project.git(&["show", "main:hello.txt"]), "hello from SYM-1");
    assert_eq!(project.git(&["status", "--porcelain"]), "");
    project.assert_sound();
}

#[test]
fn the_phases_of_a_plan_run_in_a_sandbox() {
    let project = Project::new("project", &scenarios([any_phase()]), &namespace());
    std::fs::write(
        project.root.join("plan.md"),
        plan_of(&[("a", &[]), ("b", &["a"])]),
    )
    .unwrap();
    project.ok(&["plan", "run", "plan.md", "--merge"]);
    for name in ["a", "b"] {
        assert_eq!(
            project.git(&["show", &format!("main:{name}.txt")]),
            format!("by {name}")
        );
    }
    let runs = project.json(&["runs", "list"]);
    let runs = runs["items"].as_array().unwrap();
    let of_agents = runs.iter().filter(|run| run["profile"] != "gates");
    let levels: Vec<&Value> = of_agents.map(|run| &run["sandbox"]["level"]).collect();
    assert_eq!(levels, ["namespace", "namespace"], "{runs:#?}");
    project.assert_sound();
}
