//! A project whose runs are started by its own host, or by a worker.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use symphony_core::Timestamp;
use symphony_core::config::ServerAddress;
use symphony_core::id::{ProjectId, RunId};
use symphony_store::{Context, Store};

use super::new_issue::new_issue;
use super::project::Project;

/// How long the start or the end of all agents may take.
const DEADLINE: Duration = Duration::from_mins(5);
const LOOK: Duration = Duration::from_millis(10);
/// Time between two ticks while no run may be claimed: a worker has to take some first.
const TICK: Duration = Duration::from_millis(200);
/// More than are started at once.
const SLOTS: &str = "64";

/// Where the database is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind<'a> {
    File,
    /// At this address, and runs are given out to a worker.
    Server(&'a str),
}

/// A run that has started, in milliseconds since the epoch.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) claimed_ms: i64,
    pub(crate) agent_ms: i64,
}

pub(crate) struct Side {
    project: Project,
    store: Store,
    worker: Option<Child>,
}

impl Side {
    pub(crate) fn new(kind: Kind<'_>) -> Self {
        let mut user = json!({ "sandbox": "off" });
        let address = match kind {
            Kind::File => None,
            Kind::Server(server) => {
                let sign = if server.contains('?') { '&' } else { '?' };
                let schema = uuid::Uuid::now_v7().simple();
                Some(format!("{server}{sign}schema=starts_{schema}"))
            }
        };
        if let Some(address) = &address {
            user["database"] = json!(address);
        }
        let project = Project::of_user(&user.to_string());
        let store = match &address {
            None => Store::open(&project.database()),
            Some(address) => Store::open_on(&ServerAddress::parse(address).unwrap()),
        };
        let mut side = Self {
            store: store.unwrap(),
            project,
            worker: None,
        };
        side.configure(address.is_some());
        if address.is_some() {
            side.worker = Some(side.start_worker(&user.to_string()));
        }
        side
    }

    /// Agents note when they begin, and go on until they may end.
    fn configure(&self, has_pool: bool) {
        let beside = self.project.folder.path();
        let notes = self.notes();
        std::fs::create_dir(&notes).unwrap();
        let (notes, go) = (notes.display(), beside.join("go"));
        let go = go.display();
        let command = format!(
            "date +%s%3N > {notes}/.$SYMPHONY_RUN_ID && mv {notes}/.$SYMPHONY_RUN_ID {notes}/$SYMPHONY_RUN_ID && for _ in $(seq 600); do test -e {go} && break; sleep 1; done"
        );
        let call = json!({ "type": "tool_use", "name": "Bash", "input": { "command": command } });
        let scenario = json!({ "scenarios": [{
            "name": "worker", "match_system": "^# Worker$", "turns": [{ "content": [call] }],
        }] });
        let file = beside.join("scenario.json");
        std::fs::write(&file, scenario.to_string()).unwrap();
        let mut config = json!({
            "prefix": "BEN",
            "provider": "scripted",
            "providers": { "scripted": { "scenario": file } },
            "max_concurrent_agents": 64,
            "max_retries": 1,
            "sandbox": "off",
            "gates": [],
            "judge_enabled": false,
        });
        if has_pool {
            config["pool"] = json!("linux");
            config["hub"] = json!(self.project.root);
        }
        let file = self.project.root.join("symphony.config.json");
        std::fs::write(file, config.to_string()).unwrap();
    }

    fn notes(&self) -> PathBuf {
        self.project.folder.path().join("notes")
    }

    fn start_worker(&self, user: &str) -> Child {
        let home = self.project.folder.path().join("host");
        let own = home.join(".config/symphony");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join("config.json"), user).unwrap();
        let arguments = [
            "worker", "--pool", "linux", "--host", "host-1", "--slots", SLOTS,
        ];
        let mut command = self.project.symphony(&arguments);
        command.arg("--data-dir").arg(home.join("data"));
        let command = command.env("HOME", &home).current_dir(&home);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn add_issues(&mut self, count: usize) {
        let id: ProjectId = self.store.projects().unwrap().remove(0).id;
        let context = Context::system(Timestamp::now());
        for number in 0..count {
            let title = format!("Issue {number} of {}", Timestamp::now());
            let new = new_issue(&id, title);
            self.store.add_issue(&context, &new).unwrap();
        }
    }

    /// Has as many agents started as there are new issues, and ends them.
    pub(crate) fn start(&mut self, count: usize) -> Vec<Start> {
        let go = self.project.folder.path().join("go");
        self.add_issues(count);
        let begun = Instant::now();
        let noted = || {
            std::fs::read_dir(self.notes()).unwrap().filter(|entry| {
                let name = entry.as_ref().unwrap().file_name();
                !name.to_string_lossy().starts_with('.')
            })
        };
        let mut claimed = 0;
        while noted().count() < count {
            if claimed < count {
                let output = self.project.symphony(&["tick", "--json"]).output().unwrap();
                let tick: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
                let more = tick["runs"].as_array().map_or(0, Vec::len);
                claimed += more;
                if more == 0 {
                    std::thread::sleep(TICK);
                }
            } else {
                std::thread::sleep(LOOK);
            }
            assert!(
                begun.elapsed() < DEADLINE,
                "{} of {count} started",
                noted().count()
            );
        }
        let start = |entry: std::io::Result<std::fs::DirEntry>| {
            let path = entry.unwrap().path();
            let run = RunId::parse(path.file_name().unwrap().to_str().unwrap().to_owned()).unwrap();
            let note = std::fs::read_to_string(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            Start {
                claimed_ms: self.store.run(&run).unwrap().started_at.as_millisecond(),
                agent_ms: note.trim_end().parse().unwrap(),
            }
        };
        let starts = noted().map(start).collect();
        std::fs::write(&go, "").unwrap();
        while !self.store.live_runs().unwrap().is_empty() {
            std::thread::sleep(LOOK);
            assert!(begun.elapsed() < DEADLINE, "the runs do not end");
        }
        std::fs::remove_file(go).unwrap();
        starts
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        if let Some(mut worker) = self.worker.take() {
            let _gone = worker.kill();
            let _gone = worker.wait();
        }
    }
}
