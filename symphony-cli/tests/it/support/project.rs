//! A project in a repository of its own, with a home folder of its own.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use symphony_core::Timestamp;
use symphony_core::spending::day_number;
use symphony_core::tick::LockState;
use symphony_runner::process::lock_state;
use tempfile::TempDir;

#[cfg(feature = "harness")]
use super::processes::git_of_symphony;
use super::processes::{all_at_home, kill_all_at_home};

/// How long anything is waited for that has to happen: far longer than it takes on the slowest and busiest machine. Only a
/// test that fails waits so long.
const DEADLINE: Duration = Duration::from_mins(5);
/// How long a whole life may take that meets deaths, kills or a full disk. How many commands it takes is the machine's
/// affair: ticks also pass while a retry waits for its time.
#[cfg(any(feature = "failpoints", feature = "harness"))]
pub(crate) const LIFE_MAX: Duration = Duration::from_mins(15);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(25);

/// What a command answered.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The exit code.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("no signal ended it"),
            stdout: String::from_utf8(output.stdout).expect("output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("output is UTF-8"),
        }
    }
}

impl Answer {
    /// Returns the JSON document that was printed.
    pub(crate) fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error} in {self:#?}"));
        assert_eq!(value["version"], 1, "{value:#}");
        value
    }
}

/// A project that Symphony has been set up for.
#[derive(Debug)]
pub(crate) struct Project {
    /// The root of the repository.
    pub(crate) root: PathBuf,
    /// The folder beside it, for what is not in the repository.
    pub(crate) beside: PathBuf,
    pub(crate) home: PathBuf,
    variables: Vec<(String, String)>,
    base_config: OnceLock<Value>,
    folder: TempDir,
    #[cfg(feature = "real-cli")]
    elsewhere: Vec<TempDir>,
}

impl Project {
    /// Makes a repository with one commit and sets Symphony up in it: the scripted agent plays `scenarios`; `config` is laid
    /// over a configuration whose one gate wants `hello` in `hello.txt`.
    pub(crate) fn new(name: &str, scenarios: &Value, config: &Value) -> Self {
        Self::repository(name).set_up(scenarios, config)
    }

    /// Sets Symphony up in a repository, as [`Self::new`].
    pub(crate) fn set_up(self, scenarios: &Value, config: &Value) -> Self {
        let project = self;
        project.ok(&["init", "--prefix", "SYM", "--no-try"]);
        let scenario = project.beside.join("scenario.json");
        std::fs::write(&scenario, scenarios.to_string()).unwrap();
        let mut whole = json!({
            "provider": "scripted",
            "providers": { "scripted": { "scenario": scenario } },
            "judge_cooldown_ms": 0,
            // a test says itself when gates are tried on the base
            "try_changed_gates": false,
            "keep_run_files": true,
            "max_concurrent_agents": 4,
            "gates": [{ "name": "check", "command": "test ! -e hello.txt || { grep -q hello hello.txt && echo fine; }" }],
        });
        lay_over(&mut whole, config);
        project.configure(&whole);
        project.base_config.set(whole).expect("it is new");
        project
    }

    /// Lays a configuration over the one that the project was made with.
    pub(crate) fn configure_more(&self, config: &Value) {
        let mut whole = self
            .base_config
            .get()
            .expect("it was made with one")
            .clone();
        lay_over(&mut whole, config);
        self.configure(&whole);
    }

    /// Makes a repository with one commit and nothing of Symphony's.
    pub(crate) fn repository(name: &str) -> Self {
        let folder = TempDir::new().unwrap();
        // what git and /proc show has no links in it
        let beside = folder.path().canonicalize().unwrap();
        let (root, home) = (beside.join(name), beside.join("home"));
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&home).unwrap();
        // whatever the name of this machine is, git does not make up who commits
        std::fs::write(home.join(".gitconfig"), "[user]\n\tuseConfigOnly = true\n").unwrap();
        // whatever this machine has, a test says itself when agents are in a sandbox
        let own = home.join(".config/symphony");
        std::fs::create_dir_all(own).unwrap();
        let project = Self {
            root,
            beside,
            home,
            variables: Vec::new(),
            base_config: OnceLock::new(),
            folder,
            #[cfg(feature = "real-cli")]
            elsewhere: Vec::new(),
        };
        project.configure_home("{ \"sandbox\": \"off\" }\n");
        project.git(&["init", "-q", "-b", "main"]);
        std::fs::write(project.root.join("README.md"), "# A project\n").unwrap();
        project.git(&["add", "README.md"]);
        project.git(&["commit", "-q", "-m", "begin"]);
        project
    }

    /// Makes a project whose agent does nothing: a test writes down itself what agents did.
    pub(crate) fn recorded() -> Self {
        let project = Self::repository("tool");
        project.ok(&["init", "--prefix", "SYM"]);
        let nothing = json!({ "command": { "command": "true" } });
        project.configure(&json!({ "prefix": "SYM", "provider": "command", "providers": nothing }));
        project
    }

    /// Commits files, with their folders.
    pub(crate) fn commit_files(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = self.root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            self.git(&["add", "--", name]);
        }
        self.git(&["commit", "-q", "-m", "files"]);
    }

    /// Sets a variable for all commands that follow.
    pub(crate) fn set_variable(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// Takes a variable away again.
    pub(crate) fn unset_variable(&mut self, name: &str) {
        self.variables.retain(|(other, _)| other != name);
    }

    /// Makes a folder outside of the temporary one, which goes with the project.
    #[cfg(feature = "real-cli")]
    pub(crate) fn home_elsewhere(&mut self, name: &str) -> PathBuf {
        let folder = tempfile::Builder::new()
            .prefix(name)
            .tempdir_in("/var/tmp")
            .unwrap();
        let path = folder.path().to_owned();
        self.elsewhere.push(folder);
        path
    }

    /// Replaces the configuration of all projects of the user.
    pub(crate) fn configure_home(&self, text: &str) {
        std::fs::write(self.home.join(".config/symphony/config.json"), text).unwrap();
    }

    /// Replaces the configuration.
    pub(crate) fn configure(&self, config: &Value) {
        std::fs::write(
            self.root.join("symphony.config.json"),
            format!("{config:#}"),
        )
        .unwrap();
    }

    /// Prepares a program in the project's root with an environment of its own.
    #[expect(clippy::disallowed_methods, reason = "end-to-end tests start programs")]
    pub(crate) fn program(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.root)
            .env_clear()
            .env("HOME", &self.home)
            // what the machine's git is told has no say
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("PATH", std::env::var_os("PATH").expect("tests have a PATH"))
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Prepares a command of Symphony.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_symphony"));
        command.args(arguments);
        command
    }

    /// Runs a command of Symphony.
    pub(crate) fn symphony(&self, arguments: &[&str]) -> Answer {
        self.command(arguments).output().unwrap().into()
    }

    /// Runs a command that succeeds; returns what it printed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let answer = self.symphony(arguments);
        assert_eq!(answer.code, 0, "symphony {arguments:?}: {answer:#?}");
        answer.stdout
    }

    /// Runs a command that succeeds; returns its JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let answer = self.symphony(&[arguments, &["--json"]].concat());
        assert_eq!(answer.code, 0, "symphony {arguments:?}: {answer:#?}");
        answer.json()
    }

    /// Waits until a run has ended.
    pub(crate) fn until_ended(&self, run: &str) {
        until("the run has ended", || {
            let status = text(&self.run(run)["status"]);
            (status != "running" && status != "starting").then_some(())
        });
    }

    /// Asks for the audit: everything that must hold does.
    pub(crate) fn assert_sound(&self) {
        let answer = self.symphony(&["doctor", "--audit"]);
        assert_eq!(answer.code, 0, "{answer:#?}");
    }

    /// Files an issue; returns its identifier.
    pub(crate) fn add_issue(&self, title: &str) -> String {
        let issue = self.json(&["issue", "add", title, "--description", "Please do it."]);
        text(&issue["identifier"])
    }

    /// Ticks, and waits for the runs that were started; returns them as they ended. A tick whose issues can only wait ends
    /// with exit code 1.
    pub(crate) fn tick_wait(&self) -> Vec<Value> {
        let answer = self.symphony(&["tick", "--wait", "--json"]);
        assert!(matches!(answer.code, 0 | 1), "{answer:#?}");
        let tick = answer.json();
        tick["runs"]
            .as_array()
            .expect("a tick tells its runs")
            .clone()
    }

    /// Ticks, and waits for the one run that was started.
    pub(crate) fn tick_one(&self, profile: &str, status: &str) -> Value {
        let runs = self.tick_wait();
        let [run] = runs.as_slice() else {
            let last = self.symphony(&["runs", "list"]);
            panic!("one run was expected: {runs:#?}\n{last:#?}")
        };
        let found = (run["profile"].as_str(), run["status"].as_str());
        assert_eq!(
            found,
            (Some(profile), Some(status)),
            "{run:#}\n{}",
            self.log(run)
        );
        run.clone()
    }

    /// Ticks without waiting; returns the id of the one run that was started.
    pub(crate) fn tick_start(&self) -> String {
        let tick = self.json(&["tick"]);
        let runs = tick["runs"].as_array().expect("a tick tells its runs");
        assert_eq!(runs.len(), 1, "{tick:#}");
        text(&runs[0]["id"])
    }

    /// Returns an issue with all that belongs to it.
    pub(crate) fn issue(&self, id: &str) -> Value {
        self.json(&["issue", "show", id])
    }

    /// Returns a run.
    pub(crate) fn run(&self, id: &str) -> Value {
        self.json(&["runs", "show", id])
    }

    /// Returns the appointments of the project.
    pub(crate) fn retries(&self) -> Vec<Value> {
        self.json(&["status"])["retries"]
            .as_array()
            .expect("status tells the retries")
            .clone()
    }

    /// Runs git in the root; returns what it printed, trimmed.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut command = self.program("git");
        command
            .args([
                "-c",
                "user.name=a person",
                "-c",
                "user.email=person@example.invalid",
            ])
            .args(arguments);
        let answer = Answer::from(command.output().unwrap());
        assert_eq!(answer.code, 0, "git {arguments:?}: {answer:#?}");
        answer.stdout.trim_end().to_owned()
    }

    /// Returns the worktree of an issue.
    pub(crate) fn worktree(&self, issue: &str) -> PathBuf {
        self.root.join(".symphony-workspaces").join(issue)
    }

    /// Returns a file of a run, whole.
    pub(crate) fn run_file(&self, run: &str, name: &str) -> String {
        let path = self.run_folder(run).join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Says whether the formatted log of a run has a text by now.
    pub(crate) fn run_log_has(&self, run: &str, text: &str) -> bool {
        let log = std::fs::read_to_string(self.run_folder(run).join("log.txt"));
        log.is_ok_and(|log| log.contains(text))
    }

    /// Returns the folder of a run.
    pub(crate) fn run_folder(&self, run: &str) -> PathBuf {
        self.root.join(".symphony").join("runs").join(run)
    }

    /// Returns the results of a run's tool calls that were errors.
    pub(crate) fn tool_errors(&self, run: &str) -> Vec<String> {
        let stream = self.run_file(run, "stream.ndjson");
        let events = stream
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let blocks = events.flat_map(|event| {
            event["message"]["content"]
                .as_array()
                .cloned()
                .unwrap_or_default()
        });
        blocks
            .filter(|block| block["type"] == "tool_result" && block["is_error"] == true)
            .map(|block| {
                block["content"]
                    .as_str()
                    .map_or_else(|| block["content"].to_string(), str::to_owned)
            })
            .collect()
    }

    /// Returns the processes that this project has started and that are alive: pid and command line.
    pub(crate) fn processes(&self) -> Vec<String> {
        all_at_home(&self.home)
    }

    /// Returns Symphony's git processes in this project.
    #[cfg(feature = "harness")]
    pub(crate) fn git_processes(&self) -> Vec<i32> {
        git_of_symphony(&self.root.join(".git"))
    }

    /// Lists the locks of git in the repository, which it has while git is at work, or was killed.
    pub(crate) fn git_locks(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.root.join(".git")];
        while let Some(folder) = folders.pop() {
            // what is at work removes folders
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let is_lock = path.extension().is_some_and(|end| end == "lock");
                if path.is_dir() {
                    folders.push(path);
                } else if is_lock && !path.ends_with("symphony.lock") {
                    found.push(path);
                }
            }
        }
        found
    }

    /// Makes the locks of git look as if they were there ten minutes earlier.
    #[cfg(feature = "failpoints")]
    pub(crate) fn age_git_locks(&self) {
        for lock in self.git_locks() {
            // one that is gone meanwhile was in use
            if let Ok(file) = std::fs::File::options().write(true).open(lock) {
                let written = file.metadata().unwrap().modified().unwrap();
                file.set_modified(written - Duration::from_mins(10))
                    .unwrap();
            }
        }
    }

    /// Says whether a run's lock is free: nobody is at work on it.
    pub(crate) fn lock_is_free(&self, run: &str) -> bool {
        lock_is(LockState::Free, &self.run_folder(run).join("lock"))
    }

    /// What a run and its supervisor said, for the message of an assertion.
    pub(crate) fn log(&self, run: &Value) -> String {
        let folder = self.run_folder(run["id"].as_str().unwrap_or_default());
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        format!("{}\n{}", read("log.txt"), read("supervisor.log"))
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        // a test that failed leaves its agents at work
        kill_all_at_home(&self.home);
        // and what is there to look at, where that is wanted
        if std::thread::panicking() && std::env::var_os("SYMPHONY_TEST_KEEP").is_some() {
            self.folder.disable_cleanup(true);
            println!("kept: {}", self.beside.display());
        }
    }
}

/// Replaces the fields of an object that another one names.
fn lay_over(whole: &mut Value, config: &Value) {
    let (whole, config) = (whole.as_object_mut().unwrap(), config.as_object().unwrap());
    whole.extend(config.clone());
}

/// Returns a moment, to be compared: as texts they do not sort, for their fractions have no fixed length.
pub(crate) fn moment(value: &Value) -> Timestamp {
    text(value).parse().unwrap()
}

/// Returns a JSON string.
pub(crate) fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("a text was expected: {value}"))
        .to_owned()
}

/// Says how a lock is. It is looked at as Symphony does it, which keeps nobody from taking it.
pub(crate) fn lock_is(state: LockState, path: &Path) -> bool {
    lock_state(path).unwrap() == state
}

/// Plays a story whose beginning and end have to fall on the same day of UTC: once more when midnight came between.
pub(crate) fn on_one_day(story: impl Fn()) {
    let day = || day_number(Timestamp::now());
    let begun = day();
    if let Err(panic) = catch_unwind(AssertUnwindSafe(&story)) {
        if day() == begun {
            resume_unwind(panic);
        }
        story();
    }
}

/// Looks until something is there.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < DEADLINE, "waited in vain for {what}");
        std::thread::sleep(LOOK);
    }
}

/// Lists the names in a folder, sorted; a folder that does not exist has none.
#[cfg(feature = "failpoints")]
pub(crate) fn file_names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
