//! The fleet's control: a repository with its project, ticks in a loop, and a person who merges what is approved.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use symphony_core::Timestamp;
use symphony_core::config::ServerAddress;
use symphony_core::issue::{IssueStatus, Priority};
use symphony_core::placement::Lease;
use symphony_core::profile::AgentChoice;
use symphony_store::{Context, NewIssue, SilentRun, Store, StoreError};
use symphony_workspace::{FAILPOINTS_VARIABLE, Failpoint};

use super::host::POOL;
use super::hub::{Hub, Place};
use super::placing::{Placing, config};
use super::server::Server;
use crate::support::{
    Answer, Project, bash, create_pr, git_commit, scenarios, text, until, worker,
};

/// Time between two ticks.
const PAUSE: Duration = Duration::from_millis(500);

/// A control with its project.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) project: Project,
    address: String,
    is_over: AtomicBool,
    /// The file that a tick makes when it dies after its claims; the next ticks are armed while it is set.
    dies_at: Mutex<Option<PathBuf>>,
    pub(super) ticks: AtomicUsize,
    begun: Instant,
}

/// What agents do: each shows its clock, notes its run in a file of its issue, and works for a few seconds.
pub(super) fn play() -> Value {
    // a call of its own, whose answer is in the log while the next one is at work
    let clock = bash("echo clock $(date +%s%3N)");
    let note =
        bash("echo $SYMPHONY_RUN_ID >> work-$(basename \"$PWD\").txt; sleep $((2 + RANDOM % 6))");
    let commit = bash(&git_commit("-A", "work"));
    scenarios([worker([clock, note, commit, create_pr("Work")])])
}

impl Control {
    /// Makes the tables as their owner, and a project whose runs wait in the pool. What agents do may depend on the folder beside it.
    pub(super) fn new(
        server: &Server,
        placing: &dyn Placing,
        variables: &[(String, String)],
        hub: Place,
        agents: impl FnOnce(&Path) -> Value,
    ) -> Self {
        let mut project = Project::repository("project");
        for (name, value) in variables {
            project.set_variable(name, value);
        }
        let owner = project.beside.join("owner.json");
        let settings = json!({ "database": server.local_address("owner") });
        std::fs::write(&owner, settings.to_string()).unwrap();
        project.ok(&["--config", owner.to_str().unwrap(), "db", "init"]);
        let address = server.local_address("control");
        project.configure_home(&config(placing, &address).to_string());
        let mut whole = json!({
            "pool": POOL,
            "gates": [],
            "judge_enabled": false,
            "max_retry_backoff_ms": 1,
            "max_retries": 10_000,
            "max_concurrent_agents": 1,
            "keep_run_files": true,
        });
        if hub == Place::Bare {
            whole["hub"] = json!(Hub::address(&project.beside));
        }
        let agents = agents(&project.beside);
        Self {
            project: project.set_up(&agents, &whole),
            address,
            is_over: AtomicBool::new(false),
            dies_at: Mutex::default(),
            ticks: AtomicUsize::new(0),
            begun: Instant::now(),
        }
    }

    /// Files issues; returns their identifiers.
    pub(super) fn add_issues(&self, count: usize) -> Vec<String> {
        self.try_add_issues(count).unwrap()
    }

    /// Files issues, unless the database is away.
    pub(super) fn try_add_issues(&self, count: usize) -> Result<Vec<String>, StoreError> {
        let mut store = Store::open_on(&ServerAddress::parse(&self.address).unwrap())?;
        let project = store.projects()?.remove(0).id;
        let context = Context::system(Timestamp::now());
        let mut add = |number: usize| {
            let new = NewIssue {
                project: project.clone(),
                title: format!("Piece of work {number} of {}", Timestamp::now()),
                description: "Please do it.".to_owned(),
                status: IssueStatus::Todo,
                priority: Priority::None,
                size: None,
                labels: Vec::new(),
                parent: None,
                depends_on: Vec::new(),
                external_id: None,
                choice: AgentChoice::default(),
            };
            Ok(store.add_issue(&context, &new)?.id.to_string())
        };
        (1..=count).map(&mut add).collect()
    }

    /// Returns the runs whose hosts do not answer.
    pub(super) fn silent(&self, lease: Lease) -> Result<Vec<SilentRun>, StoreError> {
        Store::open_on(&ServerAddress::parse(&self.address).unwrap())?.silent(lease)
    }

    /// Starts the ticks and the merges, each in a thread, which end when the value is dropped.
    pub(super) fn begin<'s>(&'s self, scope: &'s Scope<'s, '_>) -> AtWork<'s> {
        self.is_over.store(false, Ordering::SeqCst);
        scope.spawn(|| self.tick_until_over());
        scope.spawn(|| self.merge_until_over());
        AtWork(self)
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// Ticks as cron does. A tick whose database is away, or that is killed, is followed by the next one.
    fn tick_until_over(&self) {
        while !self.is_over() {
            let mut tick = self.project.command(&["tick", "--json"]);
            if let Some(died) = &*self.dies_at() {
                let armed = format!("{}={}", Failpoint::TickClaimed.name(), died.display());
                tick.env(FAILPOINTS_VARIABLE, armed);
            }
            self.note(&mut tick);
            self.ticks.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(PAUSE);
        }
    }

    /// Runs a command, and notes how long it took and what it reported.
    fn note(&self, command: &mut Command) {
        let begun = Instant::now();
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert_ne!(output.status.code(), Some(101), "{output:?}");
        let (at, took) = (
            self.begun.elapsed().as_secs_f64(),
            begun.elapsed().as_secs_f64(),
        );
        let arguments: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
        let said = String::from_utf8_lossy(&output.stderr);
        let line = format!(
            "{at:.1} s: {} took {took:.1} s: {said}\n",
            arguments.join(" ")
        );
        let path = self.project.beside.join("control.log");
        let mut log = File::options()
            .append(true)
            .create(true)
            .open(path)
            .unwrap();
        log.write_all(line.as_bytes()).unwrap();
    }

    fn dies_at(&self) -> MutexGuard<'_, Option<PathBuf>> {
        self.dies_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a tick die between its claims and what follows from them.
    pub(super) fn kill_a_tick_after_its_claims(&self) {
        let number = self.ticks.load(Ordering::SeqCst);
        let died = self.project.beside.join(format!("died-{number}"));
        *self.dies_at() = Some(died.clone());
        until("a tick has died", || died.exists().then_some(()));
        *self.dies_at() = None;
    }

    /// Merges what waits for a person.
    fn merge_until_over(&self) {
        while !self.is_over() {
            for issue in self.in_review() {
                self.note(&mut self.project.command(&["pr", "merge", &issue]));
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Lists issues in review; none while the database is away.
    fn in_review(&self) -> Vec<String> {
        let list = self
            .project
            .symphony(&["issue", "list", "--status", "review", "--json"]);
        listed(&list)
    }

    /// Says how the audit ends.
    pub(super) fn audit(&self) -> Vec<Answer> {
        [&["doctor", "--audit"][..], &["db", "check"]]
            .map(|command| self.project.symphony(command))
            .into()
    }
}

/// The control at work.
#[derive(Debug)]
pub(super) struct AtWork<'a>(&'a Control);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::SeqCst);
    }
}

fn listed(list: &Answer) -> Vec<String> {
    if list.code != 0 {
        return Vec::new();
    }
    let items = list.json()["items"].as_array().cloned().unwrap_or_default();
    let names = items.iter().map(|issue| text(&issue["identifier"]));
    names.collect()
}
