//! Random `kill -9` of ticks, merges, supervisors, agents, MCP pipes and git: when the killing is over, every issue ends done,
//! and what any agent did is on the base once.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::chance::Chance;
use super::rounds;
use crate::support::{
    LIFE_MAX, Project, approving_judge, bash, create_pr, git_commit, kill, scenarios, text, until,
    worker,
};

/// Kills in CI.
const KILLS: usize = 50;
/// Issues that are at work at the same time.
const ISSUES: usize = 3;
/// Longest time between two deeds.
const PAUSE_MAX: Duration = Duration::from_millis(120);

/// How long a git is looked for.
const GIT_WAIT_MAX: Duration = Duration::from_millis(500);
fn play() -> Value {
    let note = bash("echo $SYMPHONY_RUN_ID >> work-$(basename \"$PWD\").txt; sleep 0.3");
    let commit = git_commit("-A", "work");
    let commit = bash(&format!(
        "{commit}; echo more > more-$(basename \"$PWD\").txt"
    ));
    scenarios([approving_judge(), worker([note, commit, create_pr("Work")])])
}

/// A project under fire.
struct Field {
    project: Project,
    chance: Chance,
    ticks: Vec<Child>,
    issues: Vec<String>,
    killed: Vec<&'static str>,
}

#[test]
fn random_kills_lose_nothing_and_do_nothing_twice() {
    let config = json!({
        "max_retry_backoff_ms": 1,
        "max_retries": 10_000,
        "max_concurrent_agents": 4,
        "gates": [{ "name": "check", "command": "true" }],
        // the run that tries the gates is killed like any other
        "try_changed_gates": true,
    });
    let mut field = Field {
        project: Project::new("a project", &play(), &config),
        chance: Chance::new(),
        ticks: Vec::new(),
        issues: Vec::new(),
        killed: Vec::new(),
    };
    let wanted = rounds(KILLS);
    while field.killed.len() < wanted {
        field.keep_busy();
        field.chance.pause(PAUSE_MAX);
        field.kill_one();
    }
    field.drain();
    field.check();
    let mut told = String::new();
    for what in [
        "tick",
        "pr merge",
        "supervise",
        "scripted-agent",
        "mcp",
        "git",
    ] {
        let times = field
            .killed
            .iter()
            .filter(|killed| **killed == what)
            .count();
        write!(told, " {what} {times}").unwrap();
    }
    println!("{wanted} kills:{told}; {} issues done", field.issues.len());
}

impl Field {
    /// Starts another tick or merge, and files another issue when few are left.
    fn keep_busy(&mut self) {
        self.ticks
            .retain_mut(|tick| tick.try_wait().unwrap().is_none());
        let open = self.open();
        if open.len() < ISSUES {
            self.issues.push(self.project.add_issue("Work"));
        }
        let approved = self.approved();
        let merge = approved.first().filter(|_| self.chance.below(2) == 0);
        let arguments: &[&str] = match merge {
            Some(issue) => &["pr", "merge", issue],
            None => &["tick"],
        };
        if self.ticks.len() < 3 {
            let mut command = self.project.command(arguments);
            command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            self.ticks.push(command.spawn().unwrap());
        }
    }

    fn open(&self) -> Vec<Value> {
        let issues = self.project.json(&["issue", "list"]);
        let items = issues["items"].as_array().unwrap();
        items
            .iter()
            .filter(|issue| issue["status"] != "done")
            .cloned()
            .collect()
    }

    fn approved(&self) -> Vec<String> {
        let list = self.project.json(&["pr", "list", "--state", "approved"]);
        let items = list["items"].as_array().unwrap();
        items.iter().map(|pr| text(&pr["issue"])).collect()
    }

    fn kill_one(&mut self) {
        if self.chance.below(4) == 0 && self.kill_git() {
            self.killed.push("git");
            return;
        }
        let victims: Vec<(i32, &'static str)> = self
            .project
            .processes()
            .iter()
            .filter_map(|line| {
                let (pid, command) = line.split_once(' ')?;
                let kind = kind_of(command)?;
                Some((pid.parse().ok()?, kind))
            })
            .collect();
        // a kind first: there are many more ticks than anything else
        let kinds: BTreeSet<&str> = victims.iter().map(|(_, kind)| *kind).collect();
        let kinds: Vec<&str> = kinds.into_iter().collect();
        if kinds.is_empty() {
            return;
        }
        let kind = kinds[self.chance.below(kinds.len())];
        let victims: Vec<(i32, &'static str)> = victims
            .into_iter()
            .filter(|(_, found)| *found == kind)
            .collect();
        let (pid, kind) = victims[self.chance.below(victims.len())];
        kill(pid);
        self.killed.push(kind);
    }

    /// Kills the next git that Symphony starts, if one comes within a moment: none lives for long.
    fn kill_git(&self) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < GIT_WAIT_MAX {
            if let Some(pid) = self.project.git_processes().first() {
                kill(*pid);
                return true;
            }
        }
        false
    }

    /// Nobody is killed any more: all issues end.
    fn drain(&mut self) {
        for mut tick in std::mem::take(&mut self.ticks) {
            tick.wait().unwrap();
        }
        let begun = Instant::now();
        while begun.elapsed() < LIFE_MAX {
            if self.open().is_empty() && self.is_quiet() {
                return;
            }
            self.let_ten_minutes_pass();
            for issue in self.approved() {
                // refused while a crashed judge is still to be finished by the next tick
                let _answer = self.project.symphony(&["pr", "merge", &issue]);
            }
            // gates whose supervisor was killed on the base hold the project: a person does not wait for the next probe
            self.project.ok(&["resume"]);
            self.project.tick_wait();
            until("the end of what is at work", || {
                let live = self.project.json(&["runs", "list", "--live"]);
                let runs = live["items"].as_array().unwrap();
                runs.iter()
                    .all(|run| self.project.lock_is_free(&text(&run["id"])))
                    .then_some(())
            });
        }
        panic!("not done within {LIFE_MAX:?}: {:#?}", self.open());
    }

    /// For locks that a killed git left, and for clean-ups that are put off since theirs was killed.
    fn let_ten_minutes_pass(&self) {
        self.project.age_git_locks();
        let sooner = "UPDATE clean_up_fault SET due_at = due_at - 600000";
        self.database().execute(sooner, []).unwrap();
    }

    fn is_quiet(&self) -> bool {
        let put_off = "SELECT count(*) FROM clean_up_fault";
        let put_off: u32 = self
            .database()
            .query_row(put_off, [], |row| row.get(0))
            .unwrap();
        put_off == 0 && self.project.json(&["tick", "--dry-run"])["actions"] == json!([])
    }

    fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.project.root.join(".symphony/symphony.db")).unwrap()
    }

    fn check(&self) {
        let project = &self.project;
        until("the end of all processes", || {
            project.processes().is_empty().then_some(())
        });
        project.assert_sound();
        assert_eq!(project.git(&["status", "--porcelain"]), "");
        assert_eq!(project.git(&["branch", "--list", "symphony/*"]), "");
        let trees = project.git(&["worktree", "list", "--porcelain"]);
        assert_eq!(trees.matches("worktree ").count(), 1, "{trees}");
        assert!(project.git_locks().is_empty(), "{:?}", project.git_locks());
        project.git(&["fsck", "--no-dangling"]);
        for issue in &self.issues {
            let runs = project.json(&["runs", "list", "--issue", issue]);
            let runs = runs["items"].as_array().unwrap();
            assert_apart(runs);
            let noted = project.git(&["show", &format!("main:work-{issue}.txt")]);
            let unique: BTreeSet<&str> = noted.lines().collect();
            assert_eq!(
                unique.len(),
                noted.lines().count(),
                "twice in {issue}: {noted}"
            );
            for run in runs.iter().filter(|run| run["profile"] == "worker") {
                let id = text(&run["id"]);
                let worked = project.run_log_has(&id, "[tool_result]");
                assert!(
                    !worked || unique.contains(id.as_str()),
                    "lost in {issue}: {run:#}"
                );
            }
            let prs = project.json(&["pr", "list", "--issue", issue]);
            let merged = prs["items"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|pr| pr["state"] == "merged");
            assert_eq!(merged.count(), 1, "{prs:#}");
        }
    }
}

/// A time as a text that sorts like it: fractions have no fixed length, so what follows them goes.
fn time_of(value: &Value) -> String {
    text(value).trim_end_matches('Z').to_owned()
}

/// All runs have ended, and no two were live at the same time.
fn assert_apart(runs: &[Value]) {
    let mut times: Vec<(String, String)> = runs
        .iter()
        .map(|run| (time_of(&run["started_at"]), time_of(&run["ended_at"])))
        .collect();
    times.sort();
    let overlap = times.windows(2).find(|pair| pair[1].0 < pair[0].1);
    assert!(overlap.is_none(), "{overlap:?}");
}

/// What a process is, when it is one of Symphony's.
fn kind_of(command: &str) -> Option<&'static str> {
    let kinds = [
        (" supervise ", "supervise"),
        (" scripted-agent", "scripted-agent"),
        (" mcp --socket ", "mcp"),
        (" pr merge ", "pr merge"),
        (" tick", "tick"),
    ];
    let found = kinds.into_iter().find(|(words, _)| command.contains(words));
    found.map(|(_, kind)| kind)
}
