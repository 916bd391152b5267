//! Gates, set-up commands and checks of plans in a sandbox. Their text may be a branch's, so they are attacked like agents.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::plan_support::{any_phase, phase};
use crate::support::{Project, bash, commit, create_pr, scenarios, worker};

/// What a command reaches that it should not: one line for each, and one at the end.
fn attacks(project: &Project, port: u16) -> String {
    let paths = [&project.home, &project.root, &project.beside];
    let [home, root, beside] = paths.map(|path| path.display().to_string());
    let process = std::process::id();
    let rows = [
        format!("cat {home}/.ssh/id_ed25519"),
        "cat \"$HOME/.ssh/id_ed25519\"".to_owned(),
        format!("cat {home}/.claude/.credentials.json"),
        format!("cat {home}/.gitconfig"),
        format!("cat {root}/.symphony/symphony.db"),
        format!("ls {root}/.symphony/runs"),
        format!("cat {root}/symphony.config.json"),
        format!("cat {root}/private.txt"),
        format!("ls {root}/.symphony-workspaces/other"),
        format!("touch {root}/.git/hooks/post-checkout"),
        format!("cat {root}/.git/config"),
        format!("ls {root}/.git/refs/heads"),
        format!("touch {root}/.git/objects/planted"),
        format!(
            "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('{beside}/other.sock')\""
        ),
        format!("python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}), 2)\""),
        format!(
            "grep -qsa sandboxed_gates /proc/{process}/environ /proc/{process}/cmdline || kill -0 {process}"
        ),
    ];
    assert_eq!(rows.len(), ATTACKS);
    let lines = rows.map(|attack| {
        let name = attack.replace(['\'', '"', '$'], "");
        format!("({attack}) >/dev/null 2>&1 && echo 'reached: {name}'\n")
    });
    // What is written may go to a copy, so the test looks for it outside.
    format!(
        "{}touch {root}/planted {beside}/planted {home}/planted; echo attacked\n",
        lines.concat()
    )
}

const ATTACKS: usize = 16;

/// A project with what there is to attack.
struct Attacked {
    project: Project,
    script: String,
    _port: TcpListener,
    _socket: UnixListener,
}

impl Attacked {
    fn new(scenes: impl Fn(&str) -> Vec<Value>, config: &Value) -> Self {
        let mut whole = json!({ "judge_enabled": false });
        for (key, value) in config.as_object().unwrap() {
            whole[key] = value.clone();
        }
        let project = Project::new("project", &scenarios([]), &whole);
        for (name, text) in [
            (".ssh/id_ed25519", "a key"),
            (".claude/.credentials.json", "a login"),
        ] {
            let path = project.home.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        std::fs::write(project.root.join("private.txt"), "private").unwrap();
        std::fs::create_dir_all(project.root.join(".symphony-workspaces/other")).unwrap();
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let socket = UnixListener::bind(project.beside.join("other.sock")).unwrap();
        let script = attacks(&project, port.local_addr().unwrap().port());
        let scenario = scenarios(scenes(&script));
        std::fs::write(project.beside.join("scenario.json"), scenario.to_string()).unwrap();
        Self {
            project,
            script,
            _port: port,
            _socket: socket,
        }
    }

    /// Checks what commands reached that logged into files of this name: everything at `off`, since an attack that fails there
    /// shows nothing, and nothing at `namespace`. Forgets it.
    fn assert_reached(&self, level: &str, log: &str) {
        let text = logs_named(&self.project, log);
        assert!(text.contains("attacked"), "{level}: {text}");
        let reached: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("reached: "))
            .collect();
        let folders = [&self.project.root, &self.project.beside, &self.project.home];
        let planted: Vec<_> = folders
            .into_iter()
            .filter(|folder| std::fs::remove_file(folder.join("planted")).is_ok())
            .collect();
        let expected = if level == "off" { (ATTACKS, 3) } else { (0, 0) };
        assert_eq!(
            (reached.len(), planted.len()),
            expected,
            "{level}: {reached:#?}\n{planted:#?}"
        );
        for file in [".git/hooks/post-checkout", ".git/objects/planted"] {
            let is_there = std::fs::remove_file(self.project.root.join(file)).is_ok();
            assert_eq!(is_there, level == "off", "{file}");
        }
    }
}

/// Returns the newest log of a name among those of all runs.
fn logs_named(project: &Project, name: &str) -> String {
    let runs = std::fs::read_dir(project.root.join(".symphony/runs")).unwrap();
    let mut logs: Vec<_> = runs.flatten().map(|run| run.path().join(name)).collect();
    logs.retain(|log| log.exists());
    // ids of runs are in the order of time
    logs.sort();
    let newest = logs.last().unwrap_or_else(|| panic!("no {name}"));
    std::fs::read_to_string(newest).unwrap()
}

#[test]
fn a_gate_that_a_branch_wrote_reaches_nothing() {
    let scenes = |script: &str| {
        let change = format!(
            "cat > check.sh <<'END'\n{script}END\ngit add . && git -c user.name=w -c user.email=w@example.invalid commit -qm 'Change the check'"
        );
        vec![worker([bash(&change), create_pr("Change the check")])]
    };
    let gates = json!([{ "name": "check", "command": "sh check.sh" }]);
    let made = Attacked::new(scenes, &json!({ "gates": gates }));
    let Attacked { project, .. } = &made;
    project.commit_files(&[("check.sh", "true\n")]);
    project.add_issue("Change the check");
    project.tick_one("worker", "succeeded");
    made.assert_reached("off", "gate-check.log");
    project.configure_more(&json!({ "sandbox": "namespace" }));
    project.ok(&["pr", "check", "SYM-1"]);
    made.assert_reached("namespace", "gate-check.log");
}

#[test]
fn a_set_up_command_reaches_nothing() {
    for level in ["off", "namespace"] {
        let scenes = |_: &str| vec![worker([bash("true"), create_pr("Nothing")])];
        let set_up = json!({ "setup": "sh setup.sh" });
        let config = json!({ "worktree": set_up, "gates": [], "sandbox": level });
        let made = Attacked::new(scenes, &config);
        let Attacked {
            project, script, ..
        } = &made;
        project.commit_files(&[("setup.sh", script)]);
        project.add_issue("Set it up");
        project.tick_wait();
        made.assert_reached(level, "setup.log");
    }
}

#[test]
fn a_check_of_a_plan_reaches_nothing() {
    for level in ["off", "namespace"] {
        let scenes = |_: &str| vec![any_phase()];
        let made = Attacked::new(scenes, &json!({ "gates": [], "sandbox": level }));
        let Attacked {
            project, script, ..
        } = &made;
        project.commit_files(&[("check.sh", script)]);
        let phases = json!([{
            "id": "api", "title": "t", "objective": "o", "tasks": ["t"], "success_criteria": "s",
            "checks": [{ "name": "attack", "command": "sh check.sh" }],
        }]);
        let plan = format!("```symphony-phases\n{phases:#}\n```\n");
        std::fs::write(project.root.join("plan.md"), plan).unwrap();
        let answer = project.symphony(&["plan", "run", "--merge", "plan.md", "--json"]);
        assert_eq!(answer.code, 0, "{answer:#?}");
        assert_eq!(phase(project, "api")["status"], "complete", "{answer:#?}");
        made.assert_reached(level, "gate-attack.log");
    }
}

/// A bubblewrap that makes no sandbox for a gate while a file is there.
fn fragile_bubblewrap(project: &Project) -> (PathBuf, PathBuf) {
    let (script, broken) = (project.beside.join("bwrap"), project.beside.join("broken"));
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in *the-gate*) test -e {} && {{ echo 'bwrap: no namespaces today' >&2; exit 1; }};; esac\n\
         exec /usr/bin/env bwrap \"$@\"\n",
        broken.display()
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    (script, broken)
}

#[test]
fn a_sandbox_that_cannot_be_made_is_no_red_gate() {
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let config = json!({
        "judge_enabled": false,
        "gates": [{ "name": "check", "command": ["test", "-e", "hello.txt", "-o", "the-gate", "=", ""] }],
    });
    let project = Project::new("project", &scenarios([worker(turns)]), &config);
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let (script, broken) = fragile_bubblewrap(&project);
    project.configure_more(&json!({ "sandbox": { "level": "namespace", "bwrap": script } }));
    let state = || {
        let issue = project.issue("SYM-1");
        json!([
            issue["status"],
            issue["pull_requests"][0]["state"],
            issue["attempts"]
        ])
    };
    std::fs::write(&broken, "").unwrap();
    let before = state();
    let check = project.symphony(&["pr", "check", "SYM-1"]);
    let shown = format!("{}{}", check.stdout, check.stderr);
    assert!(shown.contains("bwrap: no namespaces today"), "{check:#?}");
    assert!(!shown.contains("are red"), "{check:#?}");
    let after = state();
    assert_eq!(after[0], before[0], "{after}");
    assert_ne!(after[1], "rejected");
    // repaired: the same gate passes, and no attempt was used
    std::fs::remove_file(&broken).unwrap();
    project.ok(&["pr", "check", "SYM-1"]);
    assert_eq!(state(), before);
    project.assert_sound();
}

#[test]
fn results_without_a_sandbox_do_not_count_in_one() {
    for (level, runs_again) in [("off", false), ("namespace", true)] {
        let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
        let config = json!({ "judge_enabled": false });
        let project = Project::new("project", &scenarios([worker(turns)]), &config);
        project.add_issue("Say hello");
        project.tick_one("worker", "succeeded");
        project.configure_more(&json!({ "sandbox": level }));
        let merged = project.ok(&["pr", "merge", "SYM-1"]);
        let ran = merged.contains("The gates ran on the result");
        assert_eq!(ran, runs_again, "{level}: {merged}");
    }
}

#[test]
fn a_gate_builds_with_a_toolchain_of_the_user() {
    let scenes = scenarios([worker([commit("x.txt", "x"), create_pr("Build it")])]);
    let config = json!({
        "judge_enabled": false,
        "gates": [{ "name": "build", "command": "cargo run --quiet --offline" }],
    });
    let mut project = Project::new("project", &scenes, &config);
    let home = std::env::var("HOME").unwrap();
    let rustup = std::env::var("RUSTUP_HOME").unwrap_or_else(|_| format!("{home}/.rustup"));
    project.set_variable("RUSTUP_HOME", &rustup);
    let manifest = "[package]\nname = 'shop'\nversion = '1.0.0'\nedition = '2021'\n";
    project.commit_files(&[
        ("Cargo.toml", manifest),
        (".gitignore", "target\nCargo.lock\n"),
        ("src/main.rs", "fn main() { println!(\"built\") }"),
    ]);
    project.add_issue("Build it");
    project.tick_one("worker", "succeeded");
    project.configure_more(&json!({ "sandbox": "namespace" }));
    project.ok(&["pr", "check", "SYM-1"]);
    assert_eq!(logs_named(&project, "gate-build.log").trim(), "built");
}
