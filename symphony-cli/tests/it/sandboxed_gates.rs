//! Gates, set-up commands and checks of plans in a sandbox. Their text may be a branch's, so they are attacked like agents.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;

use serde_json::{Value, json};

use crate::plan_support::{any_phase, phase};
use crate::support::{Project, bash, create_pr, scenarios, worker};

/// What a command reaches that it should not: one line for each.
fn attacks(project: &Project, port: u16) -> String {
    let (home, root, beside) = (&project.home, &project.root, &project.beside);
    let [home, root, beside] = [home, root, beside].map(|path| path.display().to_string());
    let rows = [
        ("key", format!("cat {home}/.ssh/id_ed25519")),
        (
            "key by the variable",
            "cat \"$HOME/.ssh/id_ed25519\"".to_owned(),
        ),
        ("login", format!("cat {home}/.claude/.credentials.json")),
        ("git settings", format!("cat {home}/.gitconfig")),
        ("database", format!("cat {root}/.symphony/symphony.db")),
        ("runs", format!("ls {root}/.symphony/runs")),
        ("configuration", format!("cat {root}/symphony.config.json")),
        ("uncommitted file", format!("cat {root}/private.txt")),
        (
            "worktree of an agent",
            format!("ls {root}/.symphony-workspaces/*SYM-1*/"),
        ),
        ("hook", format!("touch {root}/.git/hooks/post-checkout")),
        ("git config", format!("cat {root}/.git/config")),
        ("refs", format!("ls {root}/.git/refs/heads")),
        ("object", format!("touch {root}/.git/objects/planted")),
        ("file of the project", format!("touch {root}/planted")),
        ("file of the user", format!("touch {beside}/planted")),
        (
            "start-up of the shell",
            format!("echo >> {home}/.bashrc; test -s {home}/.profile"),
        ),
        (
            "socket",
            format!(
                "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('{beside}/other.sock')\""
            ),
        ),
        (
            "port",
            format!(
                "python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}), 2)\""
            ),
        ),
        (
            "supervisor",
            "grep -lsa supervise /proc/[0-9]*/cmdline".to_owned(),
        ),
    ];
    let lines = rows
        .map(|(name, attack)| format!("({attack}) >/dev/null 2>&1 && echo 'reached: {name}'\n"));
    format!("{}true\n", lines.concat())
}

/// A project whose gate is a script that the branch can change, with what there is to attack.
struct Attacked {
    project: Project,
    _port: TcpListener,
    _socket: UnixListener,
}

const ATTACKS: usize = 19;

impl Attacked {
    fn new(level: &str, scenes: &[Value], config: &Value) -> Self {
        let mut whole = json!({
            "sandbox": level,
            "judge_enabled": false,
            "gates": [{ "name": "check", "command": "sh check.sh" }],
        });
        for (key, value) in config.as_object().unwrap() {
            whole[key] = value.clone();
        }
        let project = Project::new("project", &scenarios(scenes.iter().cloned()), &whole);
        for (name, text) in [
            (".ssh/id_ed25519", "a key"),
            (".claude/.credentials.json", "a login"),
            (".profile", "# start"),
        ] {
            let path = project.home.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        std::fs::write(project.root.join("private.txt"), "private").unwrap();
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let socket = UnixListener::bind(project.beside.join("other.sock")).unwrap();
        std::fs::write(
            project.beside.join("attack.sh"),
            attacks(&project, port.local_addr().unwrap().port()),
        )
        .unwrap();
        Self {
            project,
            _port: port,
            _socket: socket,
        }
    }

    fn script(&self) -> String {
        std::fs::read_to_string(self.project.beside.join("attack.sh")).unwrap()
    }
}

fn reached(log: &str) -> Vec<&str> {
    log.lines()
        .filter_map(|line| line.strip_prefix("reached: "))
        .collect()
}

fn logs_named(project: &Project, name: &str) -> String {
    let runs = std::fs::read_dir(project.root.join(".symphony/runs")).unwrap();
    let logs = runs.flatten().filter_map(|run| {
        let text = std::fs::read_to_string(run.path().join(name)).ok()?;
        Some(text)
    });
    logs.collect()
}

/// At `off` each attack must succeed, or it shows nothing.
fn assert_reached(level: &str, log: &str) {
    let reached = reached(log);
    let expected = if level == "off" { ATTACKS } else { 0 };
    assert_eq!(reached.len(), expected, "{level}: {reached:#?}\n{log}");
}

#[test]
fn a_gate_that_a_branch_wrote_reaches_nothing() {
    for level in ["off", "namespace"] {
        let made = Attacked::new(level, &[], &json!({}));
        let script = made.script();
        let Attacked { project, .. } = &made;
        project.commit_files(&[("check.sh", "true\n")]);
        let change = format!(
            "cat > check.sh <<'END'\n{script}END\ngit add . && git -c user.name=w -c user.email=w@example.invalid commit -qm 'Change the check'"
        );
        let scenes = scenarios([worker([bash(&change), create_pr("Change the check")])]);
        std::fs::write(project.beside.join("scenario.json"), scenes.to_string()).unwrap();
        project.add_issue("Change the check");
        project.tick_one("worker", "succeeded");
        let log = logs_named(project, "gate-check.log");
        assert_reached(level, &log);
        project.assert_sound();
    }
}

#[test]
fn a_set_up_command_reaches_nothing() {
    for level in ["off", "namespace"] {
        let config = json!({ "worktree": { "setup": "sh setup.sh" }, "gates": [] });
        let scenes = [worker([bash("true"), create_pr("Nothing")])];
        let made = Attacked::new(level, &scenes, &config);
        let script = made.script();
        let Attacked { project, .. } = &made;
        project.commit_files(&[("setup.sh", &script)]);
        project.add_issue("Set it up");
        project.tick_wait();
        assert_reached(level, &logs_named(project, "setup.log"));
    }
}

#[test]
fn a_check_of_a_plan_reaches_nothing() {
    for level in ["off", "namespace"] {
        let made = Attacked::new(level, &[any_phase()], &json!({ "gates": [] }));
        let script = made.script();
        let Attacked { project, .. } = &made;
        project.commit_files(&[("check.sh", &script)]);
        let phases = json!([{
            "id": "api", "title": "t", "objective": "o", "tasks": ["t"], "success_criteria": "s",
            "checks": [{ "name": "attack", "command": "sh check.sh; ls .symphony-workspaces" }],
        }]);
        let plan = format!("```symphony-phases\n{phases:#}\n```\n");
        std::fs::write(project.root.join("plan.md"), plan).unwrap();
        let answer = project.symphony(&["plan", "run", "--merge", "plan.md", "--json"]);
        let log = logs_named(project, "gate-attack.log");
        assert_eq!(phase(project, "api")["status"], "failed", "{answer:#?}");
        let lines: Vec<&str> = reached(&log);
        // there is no issue, so no worktree of one
        let expected = if level == "off" { ATTACKS - 1 } else { 0 };
        assert!(
            lines.len() % expected.max(1) == 0 && lines.is_empty() == (expected == 0),
            "{level}: {lines:#?}\n{log}"
        );
    }
}

/// A bubblewrap that works until a file says otherwise.
fn fragile_bubblewrap(project: &Project) -> (std::path::PathBuf, std::path::PathBuf) {
    let (script, broken) = (project.beside.join("bwrap"), project.beside.join("broken"));
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in *gate-only*) test -e {0} && {{ echo 'bwrap: no namespaces today' >&2; exit 1; }};; esac\n\
         exec bwrap \"$@\"\n",
        broken.display()
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    (script, broken)
}

#[test]
fn a_sandbox_that_cannot_be_made_is_no_red_gate() {
    let turns = [
        crate::support::commit("hello.txt", "hello"),
        create_pr("Say hello"),
    ];
    let project = Project::new(
        "project",
        &scenarios([worker(turns)]),
        &json!({ "judge_enabled": false, "max_retry_backoff_ms": 1 }),
    );
    let (script, broken) = fragile_bubblewrap(&project);
    std::fs::write(&broken, "").unwrap();
    project.configure_more(&json!({
        "sandbox": { "level": "namespace", "bwrap": script },
        "gates": [{ "name": "check", "command": ["test", "-e", "hello.txt", "-o", "gate-only", "=", ""] }],
    }));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let issue = project.issue("SYM-1");
    let state = |issue: &Value| {
        json!([
            issue["status"],
            issue["pull_requests"][0]["state"],
            issue["attempts"]
        ])
    };
    assert_eq!(issue["pull_requests"][0]["state"], "open", "{issue:#}");
    assert_eq!(issue["status"], "review", "{issue:#}");
    let before = state(&issue);
    let runs = project.json(&["runs", "list", "--all"]);
    let gates: Vec<&Value> = runs["items"]
        .as_array()
        .or_else(|| runs.as_array())
        .unwrap()
        .iter()
        .filter(|run| run["profile"] == "gates")
        .collect();
    let error = &gates.first().unwrap_or_else(|| panic!("{runs:#}"))["error"];
    assert!(
        error.to_string().contains("bwrap: no namespaces today"),
        "{gates:#?}"
    );
    // Repaired: the same gates pass, and no attempt was used.
    std::fs::remove_file(&broken).unwrap();
    let after = crate::support::until("the gates pass", || {
        project.tick_wait();
        let issue = project.issue("SYM-1");
        let is_done = issue["pull_requests"][0]["state"] == "approved";
        is_done.then_some(issue)
    });
    assert_eq!(before[2], after["attempts"]);
    project.assert_sound();
}

#[test]
fn a_gate_builds_with_a_toolchain_of_the_user() {
    // one of the system needs no place
    let Some(cargo) = toolchain() else {
        return;
    };
    let turns = [bash("true"), create_pr("Build it")];
    let mut project = Project::new(
        "project",
        &scenarios([worker(turns)]),
        &json!({
            "sandbox": "namespace",
            "judge_enabled": false,
            "gates": [{ "name": "build", "command": "cargo run --quiet --offline" }],
        }),
    );
    for (name, value) in cargo {
        project.set_variable(&name, &value);
    }
    project.commit_files(&[
        (
            "Cargo.toml",
            "[package]\nname = 'shop'\nversion = '1.0.0'\nedition = '2021'\n",
        ),
        ("src/main.rs", "fn main() { println!(\"built\") }"),
    ]);
    project.add_issue("Build it");
    project.tick_wait();
    project.tick_wait();
    let log = logs_named(&project, "gate-build.log");
    assert!(log.contains("built"), "{log}");
}

/// Returns the variables with which cargo finds its toolchain although the home is another one.
fn toolchain() -> Option<Vec<(String, String)>> {
    let home = std::env::var("HOME").ok()?;
    let rustup = std::env::var("RUSTUP_HOME").unwrap_or_else(|_| format!("{home}/.rustup"));
    Path::new(&rustup)
        .is_dir()
        .then(|| vec![("RUSTUP_HOME".to_owned(), rustup)])
}
