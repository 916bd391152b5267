//! One attack at one level.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use symphony_sandbox::Level;

use crate::fixture::{Fixture, PATH, Template};
use crate::table;

/// The exit code of an attack that something refused.
const REFUSED: i32 = 3;

/// How an attack is seen outside: what must be true after it, for it to have succeeded.
enum Harm {
    /// The file was changed by the attack.
    Changed(&'static str),
    /// The file is there now.
    Made(&'static str),
    /// The file is gone.
    Gone(&'static str),
    /// The file is empty.
    Empty(&'static str),
    /// The process has got the signal.
    Signalled(&'static str),
    /// The file outside of the folder, which the victim made, was changed by the attack.
    VictimChanged(&'static str),
    /// There is a file beside the one that the victim made.
    VictimPlanted(&'static str),
}

const HARMS: &[(&str, Harm)] = &[
    ("write_shell_start_up", Harm::Changed("home/.bashrc")),
    (
        "write_autostart",
        Harm::Made("home/.config/autostart/agent.desktop"),
    ),
    (
        "write_user_service",
        Harm::Made("home/.config/systemd/user/agent.service"),
    ),
    (
        "write_program_in_path",
        Harm::Changed("home/.cargo/bin/cargo"),
    ),
    (
        "write_authorized_keys",
        Harm::Made("home/.ssh/authorized_keys"),
    ),
    ("write_database", Harm::Changed("state/symphony.db")),
    ("remove_database", Harm::Gone("state/symphony.db")),
    ("write_gate_output", Harm::Changed("state/runs/2/gates.log")),
    ("write_another_checkout", Harm::Changed("checkouts/2/file")),
    ("rename_another_checkout", Harm::Gone("checkouts/2")),
    ("write_project_file", Harm::Changed("main/file")),
    (
        "write_project_settings",
        Harm::Changed("main/.symphony/config.json"),
    ),
    ("write_symphony_itself", Harm::Changed("bin/symphony")),
    ("truncate_secret", Harm::Empty("secret/file")),
    ("write_through_symlink", Harm::Changed("home/.bashrc")),
    ("write_temporary_file", Harm::VictimChanged("tmp_file")),
    ("plant_temporary_file", Harm::VictimPlanted("tmp_file")),
    ("write_shared_memory_file", Harm::VictimChanged("shm_file")),
    (
        "plant_setting_in_the_project",
        Harm::Changed("main/.git/config"),
    ),
    ("signal_process", Harm::Signalled("SIGUSR1")),
    ("signal_process_by_descriptor", Harm::Signalled("SIGUSR2")),
    ("signal_group_of_process", Harm::Signalled("SIGHUP")),
    (
        "plant_hook_in_the_project",
        Harm::Made("main/.git/hooks/post-checkout"),
    ),
    (
        "write_object_into_the_project",
        Harm::Made("main/.git/objects/planted"),
    ),
    (
        "block_the_project_by_a_lock",
        Harm::Made("main/.git/index.lock"),
    ),
    (
        "add_worktree_to_the_project",
        Harm::Made("main/.git/worktrees"),
    ),
];

/// Returns the names of all attacks.
pub(crate) fn names() -> Vec<String> {
    let answer = Command::new("/usr/bin/python3")
        .args(["-c", include_str!("attack.py"), "list"])
        .env_clear()
        .env("PATH", PATH)
        .output()
        .expect("python3 starts");
    assert!(answer.status.success(), "{answer:?}");
    let names = String::from_utf8(answer.stdout).expect("names are text");
    names.lines().map(str::to_owned).collect()
}

/// Runs one attack at one level and compares with the table.
pub(crate) fn check(name: &str, level: Level, template: &Template) -> Result<(), String> {
    let mut fixture = Fixture::new(template);
    let succeeded = match name {
        "live_on_in_another_session" => live_on(&mut fixture, name, level)?,
        "listen_where_the_host_connects" => listen(&mut fixture, name, level)?,
        _ => {
            let output = fixture.command(name, level).output();
            let output = output.map_err(|error| error.to_string())?;
            ended(&output)? && harmed(name, &fixture)
        }
    };
    match (succeeded, table::succeeds(name, level)) {
        (true, false) => Err("it succeeded".to_owned()),
        (false, true) => Err("it was refused".to_owned()),
        _ => Ok(()),
    }
}

fn ended(output: &Output) -> Result<bool, String> {
    match output.status.code() {
        Some(0) => Ok(true),
        Some(REFUSED) => Ok(false),
        _ => Err(format!(
            "{}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// What the attack itself says is not enough where it may have hit a copy.
fn harmed(name: &str, fixture: &Fixture) -> bool {
    let base = fixture.base();
    let read = |path: &str| fs::read_to_string(base.join(path)).unwrap_or_default();
    let harm = HARMS.iter().find(|(attack, _)| *attack == name);
    match harm.map(|(_, harm)| harm) {
        None => true,
        Some(Harm::Changed(path)) => read(path).contains("attacked"),
        Some(Harm::Made(path)) => base.join(path).exists(),
        Some(Harm::Gone(path)) => !base.join(path).exists(),
        Some(Harm::Empty(path)) => base.join(path).exists() && read(path).is_empty(),
        Some(Harm::VictimChanged(fact)) => read(fixture.fact(fact)).contains("attacked"),
        Some(Harm::VictimPlanted(fact)) => {
            let planted = Path::new(fixture.fact(fact)).with_extension("planted");
            // it lies in a folder that other rows share
            fs::remove_file(planted).is_ok()
        }
        Some(Harm::Signalled(signal)) => {
            // the process handles it when it is scheduled
            let start = Instant::now();
            while start.elapsed() < Duration::from_secs(2) {
                if read("signalled").contains(signal) {
                    return true;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            false
        }
    }
}

/// The sandbox is killed: what it started must go with it.
fn live_on(fixture: &mut Fixture, name: &str, level: Level) -> Result<bool, String> {
    let mark = mark_of(fixture.base());
    fixture.add("survivor", json!(mark));
    let mut child = fixture
        .command(name, level)
        .spawn()
        .map_err(|error| error.to_string())?;
    let stdout = child.stdout.take().expect("it is piped");
    let mut line = String::new();
    BufReader::new(stdout)
        .read_line(&mut line)
        .map_err(|error| error.to_string())?;
    if line.trim() != "started" {
        let mut words = String::new();
        let mut stderr = child.stderr.take().expect("it is piped");
        drop(stderr.read_to_string(&mut words));
        return Err(format!("it printed {line:?} {words}"));
    }
    child.kill().map_err(|error| error.to_string())?;
    child.wait().map_err(|error| error.to_string())?;
    let start = Instant::now();
    let mut left = survivors(&mark);
    while !left.is_empty() && start.elapsed() < Duration::from_secs(1) {
        std::thread::sleep(Duration::from_millis(20));
        left = survivors(&mark);
    }
    for process in &left {
        // one that is gone by now is no survivor
        let _gone = kill_process(*process, Signal::KILL);
    }
    Ok(!left.is_empty())
}

fn mark_of(base: &Path) -> String {
    base.file_name()
        .unwrap_or_default()
        .display()
        .to_string()
        .replace('.', "survivor-")
}

fn survivors(mark: &str) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let mark = format!("SURVIVOR={mark}");
            environment
                .split(|byte| *byte == 0)
                .any(|variable| variable == mark.as_bytes())
                .then(|| Pid::from_raw(number))?
        })
        .collect()
}

fn listen(fixture: &mut Fixture, name: &str, level: Level) -> Result<bool, String> {
    let port = TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map_err(|error| error.to_string())?
        .port();
    fixture.add("port", json!(port));
    let mut child = fixture
        .command(name, level)
        .spawn()
        .map_err(|error| error.to_string())?;
    let stdout = child.stdout.take().expect("it is piped");
    let mut stdout = BufReader::new(stdout);
    let mut line = String::new();
    stdout
        .read_line(&mut line)
        .map_err(|error| error.to_string())?;
    let reached = TcpStream::connect(("127.0.0.1", port)).is_ok();
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    Ok(ended(&output)? && reached)
}
