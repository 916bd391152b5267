//! Random `kill -9` of ticks, plans, merges, supervisors, agents, MCP pipes and git, while a person rejects, comments and answers
//! the inbox: when the killing is over, every issue ends done and every plan complete, and what any agent did is on the base once.

mod check;
mod passing;
mod person;
mod victim;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::rounds;
use crate::chance::Chance;
use crate::plan_support::{PLAN_WORKER, complete, plan_of};
use crate::support::{
    LIFE_MAX, Project, approving_judge, bash, create_pr, git_commit, scenario, scenarios, text,
    until, worker,
};
use check::names_in;
use passing::Age;
use victim::{KINDS, Kill};

/// Kills in CI.
const KILLS: usize = 50;
/// Issues that are at work at the same time.
const ISSUES: usize = 3;
/// Processes that a person or cron started, and that are at work at the same time.
const COMMANDS_MAX: usize = 3;
/// Longest time between two deeds.
const PAUSE_MAX: Duration = Duration::from_millis(120);

/// What the log of a run has once its agent has noted it. A call alone is no proof: a kill may hit its shell before it does anything.
const NOTED: &str = "[tool_result] noted";

/// What agents do: each notes its run in a file of its issue or phase.
fn play() -> Value {
    let note =
        bash("echo $SYMPHONY_RUN_ID >> work-$(basename \"$PWD\").txt && echo noted; sleep 0.3");
    let commit = git_commit("-A", "work");
    let commit = bash(&format!(
        "{commit}; echo more > more-$(basename \"$PWD\").txt"
    ));
    let phase_note = bash(
        "name=$(git branch --show-current | sed 's|.*/||'); echo \"$SYMPHONY_RUN_ID\" >> \"work-$name.txt\" && echo noted; sleep 0.3",
    );
    let phase = json!({ "match_system": PLAN_WORKER });
    scenarios([
        approving_judge(),
        scenario("phase", &phase, [phase_note, complete(&json!([]))]),
        worker([note, commit, create_pr("Work")]),
    ])
}

/// A project under fire.
struct Field {
    project: Project,
    chance: Chance,
    commands: Vec<Child>,
    issues: Vec<String>,
    /// How many plans were begun: `plan-1` and so on.
    plans: usize,
    killed: Vec<Kill>,
    /// What the person did, by its kind.
    deeds: BTreeMap<&'static str, usize>,
    /// How often ten minutes passed while processes were killed.
    passed: usize,
    begun: Instant,
    /// How long the killing took.
    killing: Duration,
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
        "plan": { "by_tick": true },
    });
    let mut field = Field {
        project: Project::new("a project", &play(), &config),
        chance: Chance::new(),
        commands: Vec::new(),
        issues: Vec::new(),
        plans: 0,
        killed: Vec::new(),
        deeds: BTreeMap::new(),
        passed: 0,
        begun: Instant::now(),
        killing: Duration::ZERO,
    };
    let wanted = rounds(KILLS);
    while field.killed.len() < wanted {
        field.keep_busy();
        field.chance.pause(PAUSE_MAX);
        field.meddle();
        field.kill_one();
        field.let_time_pass_by_chance();
    }
    field.killing = field.begun.elapsed();
    field.drain();
    field.check();
    println!("{}", field.summary());
}

impl Field {
    /// Starts another tick, merge or plan, and files another issue when few are left.
    fn keep_busy(&mut self) {
        self.forget_ended();
        if self.open().len() < ISSUES {
            self.issues.push(self.project.add_issue("Work"));
        }
        if self.commands.len() >= COMMANDS_MAX {
            return;
        }
        let plan = self.plan_to_run();
        let mergeable = self.mergeable();
        let arguments: Vec<&str> = match (self.chance.below(6), plan.as_deref()) {
            (0, Some(plan)) => vec!["plan", "run", "--on-failure", "wait", plan],
            (1..=3, _) if !mergeable.is_empty() => vec!["pr", "merge", &mergeable[0]],
            _ => vec!["tick"],
        };
        self.start(&arguments);
    }

    fn start(&mut self, arguments: &[&str]) {
        let mut command = self.project.command(arguments);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.commands.push(command.spawn().unwrap());
    }

    fn forget_ended(&mut self) {
        self.commands.retain_mut(|command| {
            let ended = command.try_wait().unwrap();
            let panicked = ended.is_some_and(|status| status.code() == Some(101));
            assert!(!panicked, "a command panicked");
            ended.is_none()
        });
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

    /// Returns the numbers of approved pull requests, of issues and of plans.
    fn mergeable(&self) -> Vec<String> {
        let list = self.project.json(&["pr", "list", "--state", "approved"]);
        let items = list["items"].as_array().unwrap();
        items.iter().map(|pr| text(&pr["id"])).collect()
    }

    /// Returns the status of a plan; none before it has begun.
    fn plan_status(&self, number: usize) -> Option<String> {
        let plan = format!("plan-{number}");
        let answer = self
            .project
            .symphony(&["plan", "status", "--plan", &plan, "--json"]);
        (answer.code == 0).then(|| text(&answer.json()["status"]))
    }

    /// Returns the file of the plan that is under way, or of the next one when the last is over.
    fn plan_to_run(&mut self) -> Option<String> {
        let status = (self.plans > 0).then(|| self.plan_status(self.plans));
        match status.as_ref().map(Option::as_deref) {
            Some(Some("completed")) | None => {
                self.plans += 1;
                let [first, second] = phases_of(self.plans);
                let plan = plan_of(&[(&first, &[]), (&second, &[&first])]);
                std::fs::write(self.plan_path(self.plans), plan).unwrap();
            }
            Some(Some("review")) => return None,
            // also where its first command was killed before it was recorded
            Some(_) => {}
        }
        Some(format!("plan-{}.md", self.plans))
    }

    fn plan_path(&self, number: usize) -> std::path::PathBuf {
        self.project.root.join(format!("plan-{number}.md"))
    }

    /// Nobody is killed any more: all issues and plans end.
    fn drain(&mut self) {
        let begun = Instant::now();
        while begun.elapsed() < LIFE_MAX {
            // a plan that waits for a decision of the person is at work until it has it
            self.forget_ended();
            if self.commands.is_empty() && self.is_over() {
                return;
            }
            self.let_ten_minutes_pass(Age::Any);
            for pr in self.mergeable() {
                // refused while a crashed judge is still to be finished by the next tick
                let _answer = self.project.symphony(&["pr", "merge", &pr]);
            }
            let is_begun = self.plans == 0 || self.plan_status(self.plans).is_some();
            if !is_begun && self.commands.is_empty() {
                let plan = format!("plan-{}.md", self.plans);
                self.start(&["plan", "run", "--on-failure", "wait", &plan]);
            }
            self.answer_inbox(|_| true);
            self.project.tick_wait();
            until("the end of what is at work", || {
                let live = self.project.json(&["runs", "list", "--live"]);
                let runs = live["items"].as_array().unwrap();
                runs.iter()
                    .all(|run| self.project.lock_is_free(&text(&run["id"])))
                    .then_some(())
            });
        }
        panic!("not done within {LIFE_MAX:?}: {}", self.story());
    }

    fn is_over(&self) -> bool {
        let plan = (self.plans > 0).then(|| self.plan_status(self.plans));
        let plan_is_over = plan.is_none_or(|status| status.as_deref() == Some("completed"));
        plan_is_over && self.open().is_empty() && self.is_quiet()
    }

    fn is_quiet(&self) -> bool {
        let put_off = "SELECT count(*) FROM clean_up_fault";
        let put_off: u32 = self
            .database()
            .query_row(put_off, [], |row| row.get(0))
            .unwrap();
        let unfinished = names_in(&self.project.root.join(".symphony/unfinished"));
        put_off == 0
            && unfinished.is_empty()
            && self.project.json(&["tick", "--dry-run"])["actions"] == json!([])
    }

    fn database(&self) -> rusqlite::Connection {
        let database =
            rusqlite::Connection::open(self.project.root.join(".symphony/symphony.db")).unwrap();
        database.busy_timeout(Duration::from_secs(30)).unwrap();
        database
    }

    /// How many of each kind were killed, and what was done meanwhile.
    fn summary(&self) -> String {
        let mut told = format!("{} kills:", self.killed.len());
        for kind in KINDS {
            let times = self.killed.iter().filter(|kill| kill.kind == kind).count();
            write!(told, " {kind} {times}").unwrap();
        }
        write!(
            told,
            "; {} issues done, {} plans complete; the person: {:?}; {} times ten minutes; {} s, {} s of them to the end",
            self.issues.len(),
            self.plans,
            self.deeds,
            self.passed,
            self.begun.elapsed().as_secs(),
            self.begun.elapsed().saturating_sub(self.killing).as_secs()
        )
        .unwrap();
        told
    }
}

/// The phases of a plan.
fn phases_of(plan: usize) -> [String; 2] {
    [format!("first-{plan}"), format!("second-{plan}")]
}
