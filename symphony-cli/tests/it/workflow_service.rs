//! `run --workflow` and `tick --workflow`: an unchanged `WORKFLOW.md` of openai/symphony, with a Linear on loopback, real
//! processes, and a script in the place of Codex's app-server.

#![expect(
    clippy::disallowed_methods,
    reason = "tests start the program and end its processes"
)]

mod attacks;
#[cfg(feature = "failpoints")]
pub(crate) mod deaths;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_fakes::{FakeLinear, Fault, On};
use symphony_store::{ServiceJob, ServiceRetry, ServiceTask, Store};

/// Longest wait for anything; the machine may be busy.
const DEADLINE: Duration = Duration::from_mins(1);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// Plays Codex's app-server: what it does in a turn is in `turn.sh`.
const APP_SERVER: &str = r#"turn=0
while IFS= read -r line; do
  printf '%s\n' "$line" >> "$HOME/asked.jsonl"
  id=0; [[ $line =~ \"id\":([0-9]+|\"[^\"]*\") ]] && id=${BASH_REMATCH[1]}
  case $line in
    *'"method":"initialize"'*) printf '{"id":%s,"result":{"userAgent":"fake"}}\n' "$id" ;;
    *'"method":"thread/start"'*) printf '{"id":%s,"result":{"thread":{"id":"t-1"}}}\n' "$id" ;;
    *'"method":"turn/start"'*)
      turn=$((turn + 1))
      printf '{"id":%s,"result":{"turn":{"id":"u-%s","status":"inProgress"}}}\n' "$id" "$turn"
      printf '{"method":"thread/tokenUsage/updated","params":{"threadId":"t-1","turnId":"u-%s","tokenUsage":{"total":{"inputTokens":%s,"outputTokens":1,"totalTokens":%s}}}}\n' "$turn" "$((turn * 10))" "$((turn * 10 + 1))"
      . "$HOME/turn.sh" ;;
  esac
done
"#;

/// A turn that ends well.
const COMPLETE: &str = r#"printf '{"method":"turn/completed","params":{"threadId":"t-1","turn":{"id":"u-%s","status":"completed"}}}\n' "$turn"
"#;

/// A turn that never ends, with a process that left its session.
const HANG: &str = "setsid sleep 4321 </dev/null >/dev/null 2>&1 &\nprintf '%s\\n' $! > \"$HOME/stray.pid\"\nsleep 4321\n";

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < DEADLINE, "waited in vain for {what}");
        std::thread::sleep(LOOK);
    }
}

fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}

/// A folder with a `WORKFLOW.md`, and its Linear.
struct Site {
    folder: tempfile::TempDir,
    linear: FakeLinear,
    /// Variables of all processes.
    variables: Vec<(&'static str, String)>,
}

impl Site {
    fn new(turn: &str) -> Self {
        let site = Self {
            folder: tempfile::tempdir().unwrap(),
            linear: FakeLinear::start(),
            variables: Vec::new(),
        };
        site.write("app-server.sh", APP_SERVER);
        site.write("turn.sh", turn);
        site.workflow("");
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        // the service reads it while it is written
        let new = self.path(&format!("{name}.new"));
        fs::write(&new, text).unwrap();
        fs::rename(new, self.path(name)).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn lines(&self, name: &str) -> usize {
        self.read(name).lines().count()
    }

    /// Writes the `WORKFLOW.md`, with some sections of settings more.
    fn workflow(&self, sections: &str) {
        self.write("WORKFLOW.md", &self.text(sections));
    }

    fn text(&self, sections: &str) -> String {
        let stall = if sections.contains("codex:") {
            ""
        } else {
            "codex:\n  command: bash \"$HOME/app-server.sh\"\n"
        };
        format!(
            "---\ntracker:\n  kind: linear\n  endpoint: {}\n  api_key: $THE_KEY\n  project_slug: web-1a2b3c\npolling:\n  interval_ms: 300\nworkspace:\n  root: ./work\n{stall}{sections}---\nWork on {{{{ issue.identifier }}}}, attempt {{{{ attempt }}}}.\n",
            self.linear.endpoint(),
        )
    }

    fn add_issue(&self, title: &str) -> (String, String) {
        self.linear.with(|world| {
            let id = world.add_issue("ada", "ENG", title, "text");
            let project = world.project();
            world.edit_issue(&id, |issue| issue.project = Some(project));
            let number = world.issue(&id).number;
            (id, format!("ENG-{number}"))
        })
    }

    fn symphony(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_symphony"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.path(""))
            .env("THE_KEY", FakeLinear::TOKEN)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    fn tick(&self) -> Value {
        let output = self
            .symphony(&["tick", "--workflow", "--json"])
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }

    /// Ticks until something is as expected.
    fn tick_until<T>(&self, what: &str, mut look: impl FnMut(&Value) -> Option<T>) -> T {
        until(what, || look(&self.tick()))
    }

    fn log(&self) -> String {
        self.read(".symphony/service/WORKFLOW.md/service.log")
    }

    /// Returns the workers that are at work, by their processes.
    fn workers(&self) -> Vec<u32> {
        let folder = self.path(".symphony/service/WORKFLOW.md/workers");
        let entries = fs::read_dir(folder).into_iter().flatten();
        let identities = entries.filter_map(|entry| {
            let text = fs::read_to_string(entry.unwrap().path().join("identity.json")).ok()?;
            let identity: Value = serde_json::from_str(&text).unwrap();
            u32::try_from(identity["pid"].as_u64()?).ok()
        });
        identities.filter(|pid| is_alive(*pid)).collect()
    }

    fn kill(pid: u32, signal: &str) {
        let status = Command::new("kill")
            .args([signal, &pid.to_string()])
            .status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        for pid in self.workers() {
            let _gone = Command::new("kill")
                .args(["-TERM", &pid.to_string()])
                .status();
        }
    }
}

/// A loop at work.
struct Loop {
    child: Child,
    address: String,
}

impl Loop {
    fn start(site: &Site) -> Self {
        let mut child = site
            .symphony(&["run", "--workflow", "WORKFLOW.md", "--port", "0"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut seen = String::new();
        let address = loop {
            let mut line = String::new();
            assert!(errors.read_line(&mut line).unwrap() > 0, "it ended: {seen}");
            seen.push_str(&line);
            if let Some((_, rest)) = line.split_once("http://") {
                break rest.trim().trim_end_matches('/').to_owned();
            }
        };
        std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        Self { child, address }
    }

    fn ask(&self, method: &str, path: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let address = &self.address;
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    fn state(&self) -> Value {
        self.ask("GET", "/api/v1/state").1
    }

    fn until<T>(&self, what: &str, mut look: impl FnMut(&Value) -> Option<T>) -> T {
        until(what, || look(&self.state()))
    }

    /// Asks it to end as a service manager does.
    fn end(mut self) -> i32 {
        Site::kill(self.child.id(), "-TERM");
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

fn is_running(state: &Value, identifier: &str) -> Option<()> {
    let rows = state["running"].as_array()?;
    rows.iter()
        .any(|row| row["issue_identifier"] == identifier)
        .then_some(())
}

fn retry(state: &Value, identifier: &str) -> Option<Value> {
    let rows = state["retrying"].as_array()?;
    rows.iter()
        .find(|row| row["issue_identifier"] == identifier)
        .cloned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_file_that_cannot_be_used_starts_nothing_and_says_why() {
    let site = Site::new(COMPLETE);
    site.add_issue("Do it");
    fs::remove_file(site.path("WORKFLOW.md")).unwrap();
    for command in ["run", "tick"] {
        let output = site.symphony(&[command, "--workflow"]).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(stderr(&output).contains("WORKFLOW.md"), "{output:?}");
    }
    for (text, expected) in [
        ("---\n: [\n---\n", "invalid YAML"),
        ("---\n- a\n---\n", "found a list"),
        (
            "---\ntracker: {kind: jira}\n---\n",
            "`jira`, which is not supported",
        ),
        (
            "---\ntracker: {kind: linear, project_slug: x, api_key: $NONE}\n---\n",
            "LINEAR_API_KEY",
        ),
    ] {
        site.write("WORKFLOW.md", text);
        let output = site.symphony(&["run", "--workflow"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(stderr(&output).contains(expected), "{output:?}");
    }
    assert_eq!(site.lines("asked.jsonl"), 0);
}

#[test]
fn two_services_never_work_with_one_file() {
    let site = Site::new(HANG);
    let looping = Loop::start(&site);
    for command in ["run", "tick"] {
        let output = site.symphony(&[command, "--workflow"]).output().unwrap();
        assert_eq!(output.status.code(), Some(5), "{output:?}");
        assert!(
            stderr(&output).contains("another `run --workflow`"),
            "{output:?}"
        );
    }
    assert_eq!(looping.end(), 0);
    assert_eq!(site.tick()["counts"]["running"], 0);
}

#[test]
fn hooks_surround_each_attempt_and_a_workspace_is_made_once() {
    let site = Site::new(COMPLETE);
    let (id, name) = site.add_issue("Do it");
    site.workflow(
        "hooks:\n  after_create: echo \"create $PWD\" >> \"$HOME/hooks\"\n  before_run: echo before >> \"$HOME/hooks\"\n  after_run: echo after >> \"$HOME/hooks\"\n  before_remove: echo remove >> \"$HOME/hooks\"; exit 7\nagent:\n  max_turns: 1\n",
    );
    let looping = Loop::start(&site);
    until("two attempts", || (site.lines("hooks") >= 5).then_some(()));
    let create = format!("create {}", site.path("work").join(&name).display());
    let hooks = site.read("hooks");
    let first: Vec<&str> = hooks.lines().take(5).collect();
    assert_eq!(
        first,
        [create.as_str(), "before", "after", "before", "after"]
    );
    // the second attempt is a continuation
    assert!(site.read("asked.jsonl").contains("attempt 1."));
    // the agent works until the ticket ends; a failing hook keeps no workspace from being removed
    site.write("turn.sh", HANG);
    looping.until("the hanging agent", |_| {
        site.path("stray.pid").exists().then_some(())
    });
    site.linear.with(|world| world.move_issue(&id, "Done"));
    until("the removal", || {
        (!site.path("work").join(&name).exists()).then_some(())
    });
    assert!(
        site.read("hooks").ends_with("after\nremove\n"),
        "{}",
        site.read("hooks")
    );
    let stray: u32 = site.read("stray.pid").trim().parse().unwrap();
    until("the end of the stray", || (!is_alive(stray)).then_some(()));
    looping.until("no run", |state| {
        (state["counts"]["running"] == 0).then_some(())
    });
    assert_eq!(looping.end(), 0);
}

#[test]
fn failing_and_hanging_hooks_fail_their_attempt_only() {
    let site = Site::new(COMPLETE);
    let (_, name) = site.add_issue("Do it");
    let folder = site.path("work").join(&name);
    site.workflow("hooks:\n  after_create: touch half; echo no such branch; exit 3\n");
    let error = site.tick_until("the failure", |state| {
        Some(retry(state, &name)?["error"].to_string())
    });
    assert!(
        error.contains("after_create") && error.contains("no such branch"),
        "{error}"
    );
    // it is made from the beginning by the next attempt
    assert!(!folder.exists());
    assert_eq!(site.lines("asked.jsonl"), 0);

    let (_, hanging) = site.add_issue("Hang");
    site.workflow(
        "hooks:\n  timeout_ms: 400\n  before_run: (setsid sleep 4322 & echo $! > \"$HOME/hook.pid\"); yes | head -c 5000000; sleep 4322\n",
    );
    let error = site.tick_until("the time limit", |state| {
        Some(retry(state, &hanging)?["error"].to_string())
    });
    assert!(
        error.contains("before_run") && error.contains("did not end within"),
        "{error}"
    );
    // it may be the next try's, on a busy machine
    let left: u32 = site.read("hook.pid").trim().parse().unwrap();
    until("the end of what the hook left", || {
        (!is_alive(left)).then_some(())
    });
    assert!(site.path("work").join(&hanging).exists());
    assert_eq!(site.lines("asked.jsonl"), 0);
}

#[test]
fn what_has_the_place_of_a_workspace_is_left_alone() {
    let site = Site::new(COMPLETE);
    let (_, linked) = site.add_issue("A link");
    let (_, file) = site.add_issue("A file");
    fs::create_dir_all(site.path("work")).unwrap();
    fs::create_dir(site.path("elsewhere")).unwrap();
    fs::write(site.path("elsewhere/precious"), "x").unwrap();
    symlink(site.path("elsewhere"), site.path("work").join(&linked)).unwrap();
    fs::write(site.path("work").join(&file), "mine").unwrap();
    for (name, expected) in [(&linked, "a symbolic link"), (&file, "a file")] {
        let error = site.tick_until("the refusal", |state| {
            Some(retry(state, name)?["error"].to_string())
        });
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(site.lines("asked.jsonl"), 0);
    assert!(site.path("elsewhere/precious").exists());
}

#[test]
fn a_worker_that_is_killed_is_followed_by_its_hook_and_another_attempt() {
    let site = Site::new(HANG);
    let (_, name) = site.add_issue("Do it");
    site.workflow("hooks:\n  after_run: echo after >> \"$HOME/hooks\"\n");
    site.tick();
    until("the agent", || {
        site.path("stray.pid").exists().then_some(())
    });
    let stray: u32 = site.read("stray.pid").trim().parse().unwrap();
    let workers = site.workers();
    assert_eq!(workers.len(), 1);
    Site::kill(workers[0], "-KILL");
    let row = site.tick_until("another attempt", |state| retry(state, &name));
    assert_eq!(
        (&row["attempt"], &row["error"]),
        (&1.into(), &"the worker died".into())
    );
    assert_eq!(site.read("hooks"), "after\n");
    until("the end of the stray", || (!is_alive(stray)).then_some(()));
}

#[test]
fn a_loop_that_is_killed_loses_nothing_and_the_next_starts_nothing_twice() {
    let site = Site::new(HANG);
    let (_, name) = site.add_issue("Do it");
    let looping = Loop::start(&site);
    looping.until("the run", |state| is_running(state, &name));
    until("the agent", || {
        site.path("stray.pid").exists().then_some(())
    });
    drop(looping);
    let workers = site.workers();
    assert_eq!(workers.len(), 1, "the worker outlives the loop");
    for _ in 0..3 {
        let state = site.tick();
        assert_eq!(state["counts"]["running"], 1, "{state}");
    }
    let looping = Loop::start(&site);
    looping.until("the adopted run", |state| is_running(state, &name));
    assert_eq!(site.workers(), workers);
    let session = looping.until("its session", |state| {
        state["running"][0]["session_id"]
            .as_str()
            .map(str::to_owned)
    });
    assert_eq!(session, "t-1-u-1");
    let (status, issue) = looping.ask("GET", &format!("/api/v1/{name}"));
    assert_eq!((status, &issue["status"]), (200, &"running".into()));
}

/// As if the loop had died between the record of a worker and its start.
#[test]
fn a_record_without_a_worker_is_a_failed_attempt_and_starts_nothing_twice() {
    let site = Site::new(HANG);
    let (id, name) = site.add_issue("Do it");
    site.linear.with(|world| world.move_issue(&id, "Backlog"));
    site.tick();
    let database = site.path(".symphony/service/WORKFLOW.md/state.db");
    let job = ServiceJob {
        ticket: id.clone(),
        worker: RunId::parse("00000000-0000-7000-8000-000000000001").unwrap(),
        task: ServiceTask::Attempt,
        identifier: name.clone(),
        attempt: Some(2),
        snapshot: "{}".to_owned(),
        started_at: Timestamp::now(),
        ending: None,
        error: None,
    };
    let begun = Store::open(&database).unwrap().begin_service_job(&job);
    assert!(begun.unwrap());
    site.linear.with(|world| world.move_issue(&id, "Todo"));
    let state = site.tick();
    let row = retry(&state, &name).unwrap();
    assert_eq!(
        (&row["attempt"], &row["error"]),
        (&3.into(), &"the worker died".into())
    );
    assert_eq!(state["counts"]["running"], 0);
    assert_eq!(site.lines("asked.jsonl"), 0);
    // the clock was ahead when the retry was recorded
    let kept = Store::open(&database).unwrap().service_retries().unwrap();
    let ahead = ServiceRetry {
        due: Timestamp::now().saturating_add_ms(90 * 24 * 3600 * 1000),
        ..kept[0].clone()
    };
    let mut store = Store::open(&database).unwrap();
    store.put_service_retry(&ahead, Timestamp::now()).unwrap();
    drop(store);
    site.tick_until("the attempt", |state| is_running(state, &name));
    until("the agent", || {
        site.path("stray.pid").exists().then_some(())
    });
    assert!(site.read("asked.jsonl").contains("attempt 3."));
}

#[test]
fn a_silent_agent_is_ended_and_tried_again() {
    let site = Site::new(HANG);
    let (_, name) = site.add_issue("Do it");
    site.workflow("codex:\n  command: bash \"$HOME/app-server.sh\"\n  stall_timeout_ms: 1500\n");
    let looping = Loop::start(&site);
    let row = looping.until("the stall", |state| retry(state, &name));
    assert!(row["error"].as_str().unwrap().contains("stalled"), "{row}");
    assert_eq!(site.workers(), [0; 0]);
    let log = site.log();
    let line = log
        .lines()
        .find(|line| line.contains("event=ending_worker"))
        .unwrap();
    for part in [
        "reason=stall",
        "issue_id=",
        &format!("issue_identifier={name}"),
        "session_id=t-1-u-1",
    ] {
        assert!(line.contains(part), "{line}");
    }
    assert!(!log.contains(FakeLinear::TOKEN));
}

#[test]
fn another_state_stops_the_agent_and_keeps_its_workspace() {
    let site = Site::new(HANG);
    let (id, name) = site.add_issue("Do it");
    let looping = Loop::start(&site);
    until("the agent", || {
        site.path("stray.pid").exists().then_some(())
    });
    site.linear
        .with(|world| world.move_issue(&id, "In Progress"));
    looping.until("the new state", |state| {
        (state["running"][0]["state"] == "In Progress").then_some(())
    });
    site.linear.with(|world| world.move_issue(&id, "Backlog"));
    looping.until("the end", |state| {
        (state["counts"]["running"] == 0).then_some(())
    });
    assert_eq!(looping.state()["counts"]["retrying"], 0);
    assert!(site.path("work").join(&name).exists());
}

#[test]
fn rubbish_in_the_file_keeps_agents_and_stops_new_work() {
    let site = Site::new(HANG);
    let (_, first) = site.add_issue("First");
    let looping = Loop::start(&site);
    looping.until("the run", |state| is_running(state, &first));
    site.write("WORKFLOW.md", "---\ntracker: [\n---\n");
    let problem = looping.until("the problem", |state| {
        state["problems"][0].as_str().map(str::to_owned)
    });
    assert!(
        problem.contains("last good settings stay in force"),
        "{problem}"
    );
    let (_, second) = site.add_issue("Second");
    std::thread::sleep(Duration::from_secs(1));
    let state = looping.state();
    assert!(
        is_running(&state, &first).is_some() && is_running(&state, &second).is_none(),
        "{state}"
    );
    // a tick that finds it so looks after the agents all the same
    assert_eq!(looping.end(), 0);
    let output = site
        .symphony(&["tick", "--workflow", "--json"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let state: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(state["counts"]["running"], 1);
    site.workflow("");
    site.tick_until("the second run", |state| is_running(state, &second));
}

#[test]
fn a_tracker_that_fails_ends_no_agent_and_no_loop() {
    let site = Site::new(HANG);
    let (_, name) = site.add_issue("Do it");
    let looping = Loop::start(&site);
    looping.until("the run", |state| is_running(state, &name));
    for fault in [
        Fault::status(401, "bad key"),
        Fault::status(500, "down"),
        Fault::CutBefore,
        Fault::Half,
        Fault::TruncatedJson,
    ] {
        site.linear.fail(On::any(), fault);
        let problems = looping.until("the problems", |state| {
            let problems = state["problems"].as_array()?;
            (problems.len() == 2).then(|| problems.clone())
        });
        assert!(
            problems
                .iter()
                .any(|one| one.to_string().contains("agents continue, but")),
            "{problems:?}"
        );
        site.linear.heal();
        looping.until("no problem", |state| {
            state["problems"].as_array()?.is_empty().then_some(())
        });
    }
    assert_eq!(looping.state()["counts"]["running"], 1);
    // one that is gone from the tracker is left to its agent
    assert_eq!(site.workers().len(), 1);
}

#[test]
fn slots_are_kept_and_workspaces_of_ended_tickets_go_at_the_start() {
    let site = Site::new(HANG);
    let names: Vec<(String, String)> = (0..3)
        .map(|number| site.add_issue(&format!("{number}")))
        .collect();
    let (done, ended) = &names[2];
    site.linear.with(|world| world.move_issue(done, "Done"));
    fs::create_dir_all(site.path("work").join(ended)).unwrap();
    fs::create_dir_all(site.path("work/other")).unwrap();
    site.workflow("agent:\n  max_concurrent_agents: 1\n");
    let looping = Loop::start(&site);
    let state = looping.until("one run and one that waits", |state| {
        (state["counts"]["running"] == 1 && state["waiting"].as_array()?.len() == 1)
            .then(|| state.clone())
    });
    assert_eq!(state["waiting"][0]["reason"], "every slot is taken");
    until("the removal", || {
        (!site.path("work").join(ended).exists()).then_some(())
    });
    assert!(site.path("work/other").exists());
    // a higher limit is taken over while it runs
    site.workflow("agent:\n  max_concurrent_agents: 2\n");
    looping.until("two runs", |state| {
        (state["counts"]["running"] == 2).then_some(())
    });
    until("two workers", || (site.workers().len() == 2).then_some(()));
    let (status, answer) = looping.ask("POST", "/api/v1/refresh");
    assert_eq!((status, &answer["queued"]), (202, &true.into()));
}

/// The whole way, with every field set: from Todo to the review of a person, by the agent's own hand.
#[test]
fn an_agent_takes_its_ticket_from_todo_to_review() {
    let site = Site::new("");
    let (id, name) = site.add_issue("Do it");
    let review = site.linear.with(|world| world.state("ENG", "In Review"));
    let mutation = format!(
        r#"{{"id":900,"method":"item/tool/call","params":{{"threadId":"t-1","turnId":"u-1","callId":"c-1","tool":"linear_graphql","arguments":{{"query":"mutation M($id: String!, $input: IssueUpdateInput!) {{ issueUpdate(id: $id, input: $input) {{ success }} }}","variables":{{"id":"{id}","input":{{"stateId":"{review}"}}}}}}}}}}"#
    );
    site.write(
        "turn.sh",
        &format!("cat <<'END'\n{mutation}\nEND\nIFS= read -r answer; printf '%s\\n' \"$answer\" > \"$HOME/answer\"\n{COMPLETE}"),
    );
    site.write(
        "WORKFLOW.md",
        &format!(
            "---\ntracker:\n  kind: linear\n  endpoint: {}\n  api_key: $THE_KEY\n  project_slug: web-1a2b3c\n  active_states: Todo, In Progress\n  terminal_states: [Done, Canceled]\npolling:\n  interval_ms: 300\nworkspace:\n  root: $HOME/spaces\nhooks:\n  after_create: touch created\n  before_run: touch before\n  after_run: touch after\n  before_remove: touch removed\n  timeout_ms: 20000\nagent:\n  max_concurrent_agents: 2\n  max_turns: 3\n  max_retry_backoff_ms: 60000\n  max_concurrent_agents_by_state:\n    todo: 1\ncodex:\n  command: bash \"$HOME/app-server.sh\"\n  approval_policy: never\n  thread_sandbox: workspace-write\n  turn_sandbox_policy:\n    type: workspaceWrite\n  turn_timeout_ms: 60000\n  read_timeout_ms: 20000\n  stall_timeout_ms: 60000\nserver:\n  port: 0\n---\n{{% if attempt %}}Again: {{% endif %}}{{{{ issue.identifier }}}} {{{{ issue.title }}}}\n",
            site.linear.endpoint()
        ),
    );
    let looping = Loop::start(&site);
    until("the review", || {
        (site.linear.with(|world| world.state_name(&id)) == "In Review").then_some(())
    });
    looping.until("the release", |state| {
        (state["counts"]["running"] == 0
            && state["counts"]["retrying"] == 0
            && state["codex_totals"]["total_tokens"] == 11)
            .then_some(())
    });
    assert!(
        site.read("answer").contains("\"success\":true"),
        "{}",
        site.read("answer")
    );
    let asked = site.read("asked.jsonl");
    assert!(asked.contains(&format!("{name} Do it")), "{asked}");
    assert_eq!(
        asked.matches("\"turn/start\"").count(),
        1,
        "the ticket left its state after the turn: {asked}"
    );
    let folder = site.path("spaces").join(&name);
    for made in ["created", "before", "after"] {
        assert!(folder.join(made).exists(), "{made}");
    }
    assert!(!Path::exists(&folder.join("removed")));
    let (status, issue) = looping.ask("GET", &format!("/api/v1/{name}"));
    assert_eq!((status, &issue["status"]), (200, &"released".into()));
    let log = site.log();
    assert!(
        log.contains("event=session_started") && log.contains("session_id=t-1-u-1"),
        "{log}"
    );
    assert_eq!(looping.end(), 0);
}
