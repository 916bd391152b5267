//! `symphony run`: it ends when nothing is left to do, leaves agents at work on one Ctrl-C, and ends them on two.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStderr, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::id::IssueId;
use symphony_core::log::short_run;
use symphony_core::run::RunTarget;

use crate::records::{claimed_run, end_run_held, failed_run, idle_project};
use crate::support::{
    Project, WORKER, agents_of, approving_judge, bash, call, commit, create_pr, hang, scenario,
    scenarios, text, turn, until,
};

/// How often a second press may come too late, because the machine is slow: there are three seconds for it.
const SLOW_PRESSES_MAX: usize = 10;

fn project(turns: [Value; 1]) -> Project {
    let when = json!({ "match_system": WORKER });
    let project = Project::new(
        "a project",
        &scenarios([scenario("worker", &when, turns)]),
        &json!({}),
    );
    project.add_issue("One");
    project
}

/// Gates that end while a tick decides must not end the loop before their judge. A tick takes longer with each pull
/// request that waits for a person, so that the gates of one of them end at that moment.
#[test]
fn the_loop_does_not_end_before_the_judge_of_gates_that_have_just_passed() {
    let worker = scenario(
        "worker",
        &json!({ "match_system": WORKER }),
        [
            bash(
                "f=$(git branch --show-current | tr / -).txt; echo text > $f; git add $f; git commit -qm $f",
            ),
            create_pr("Add a file"),
        ],
    );
    let gate = "sleep 0.1";
    let config = json!({ "gates": [{ "name": "test", "command": gate }] });
    let project = Project::new("project", &scenarios([worker, approving_judge()]), &config);
    for number in 1..=6 {
        let issue = project.add_issue("Add a file");
        project.ok(&["run", "--until-idle", "--interval", "1"]);
        let prs = project.json(&["pr", "list", "--issue", &issue]);
        assert_eq!(prs["items"][0]["state"], "approved", "issue {number}");
    }
}

/// A loop under way: the process, what it says, and the run at work.
struct Loop {
    child: Child,
    said: BufReader<ChildStderr>,
    run: String,
}

impl Loop {
    /// Starts `run` on an agent that hangs, and waits until it is at work.
    fn start(project: &Project) -> Self {
        let mut child = project
            .command(&["run", "--interval", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        let mut started = Self {
            child,
            said,
            run: String::new(),
        };
        // from its first line on Ctrl-C is listened to
        started.hear("started run");
        started.run = until("the agent to be at work", || {
            let runs = project.json(&["runs", "list", "--live"]);
            let run = &runs["items"][0];
            (run["status"] == "running").then(|| text(&run["id"]))
        });
        started
    }

    /// Reads until something is said.
    fn hear(&mut self, words: &str) {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            assert!(
                self.said.read_line(&mut line).unwrap() > 0,
                "`{words}` was not said"
            );
        }
    }

    fn press(&self) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
    }

    /// Waits for its end; returns the run's id.
    fn end(mut self) -> String {
        std::io::copy(&mut self.said, &mut std::io::sink()).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        self.run
    }
}

#[test]
fn it_ends_when_only_a_human_can_go_on() {
    let block = call(
        "mcp__symphony__update_issue_status",
        json!({ "status": "blocked", "reason": "needs a key" }),
    );
    let project = project([turn(block)]);
    let answer = project.symphony(&["run", "--until-idle", "--json"]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    let events: Vec<Value> = answer
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        events.iter().all(|event| event["version"] == 1),
        "{events:#?}"
    );
    let ended = events
        .iter()
        .find(|event| event["event"] == "run_ended")
        .unwrap();
    assert_eq!(ended["run"]["status"], "succeeded");
    assert_eq!(events.last().unwrap()["event"], "tick");
    assert_eq!(project.issue("SYM-1")["status"], "blocked");
}

#[test]
fn a_pause_that_keeps_an_issue_waiting_ends_the_wait_as_a_failure() {
    let project = project([turn(hang())]);
    project.ok(&["pause"]);
    for waiting in [["run", "--until-idle"], ["tick", "--wait"]] {
        let answer = project.symphony(&waiting);
        assert_eq!(answer.code, 1, "{answer:#?}");
        let paused = "Nothing can run although 1 issue waits: Symphony is paused since 20";
        assert!(answer.stderr.contains(paused), "{answer:#?}");
        assert!(
            answer
                .stderr
                .contains("`symphony resume` starts agents again."),
            "{answer:#?}"
        );
    }
    // with nothing to start a pause keeps nothing back
    project.ok(&["issue", "move", "SYM-1", "backlog"]);
    let answer = project.symphony(&["run", "--until-idle"]);
    assert_eq!(answer.code, 0, "{answer:#?}");
}

#[test]
fn a_tick_with_nothing_to_start_names_what_is_due() {
    let project = idle_project(&json!({}));
    let issue = project.add_issue("One");
    let run = failed_run(&project, &issue);
    let shown = project.ok(&["tick"]);
    assert!(
        shown.contains("Nothing to start") && shown.contains("SYM-1 is tried again in "),
        "{shown}"
    );
    // the list names runs as events do, and that name is enough
    let tail = short_run(&run);
    let listed = project.ok(&["runs", "list"]);
    assert!(
        listed.contains(tail) && !listed.contains(run.as_str()),
        "{listed}"
    );
    project.ok(&["runs", "show", tail]);
    failed_run(&project, &project.add_issue("Two"));
    let begin: String = run.as_str().chars().take(4).collect();
    let answer = project.symphony(&["runs", "show", &begin]);
    assert_eq!(answer.code, 4, "{answer:#?}");
    assert!(answer.stderr.contains(run.as_str()), "{answer:#?}");
}

#[test]
fn what_begins_to_wait_for_a_person_is_shown_once() {
    let block = call(
        "mcp__symphony__update_issue_status",
        json!({ "status": "blocked", "reason": "needs a key" }),
    );
    let project = project([turn(block)]);
    project.add_issue("Two");
    let answer = project.symphony(&["run", "--until-idle"]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    let mut said: Vec<&str> = answer
        .stderr
        .lines()
        .filter(|line| line.contains("Waiting for you: "))
        .collect();
    said.sort_unstable();
    assert_eq!(said.len(), 2, "{answer:#?}");
    for (line, issue) in said.iter().zip(["SYM-1 One", "SYM-2 Two"]) {
        assert!(line.contains(issue), "{line}");
        assert!(line.contains("needs a key"), "{line}");
        assert!(line.contains("(`symphony issue comment"), "{line}");
    }
}

/// Two issues: the gate passes on the first and fails on the second.
fn gated() -> Project {
    gated_with(0)
}

fn gated_with(max_retry_backoff_ms: u64) -> Project {
    let handed_in = |file: &str| [commit(file, "x"), create_pr(&format!("Add {file}"))];
    let of =
        |issue: &str| json!({ "match_system": WORKER, "match_prompt": format!("^# {issue}: ") });
    let project = Project::new(
        "a project",
        &scenarios([
            scenario("good", &of("SYM-1"), handed_in("good.txt")),
            scenario("bad", &of("SYM-2"), handed_in("bad.txt")),
            approving_judge(),
        ]),
        &json!({
            "max_concurrent_agents": 1,
            "max_concurrent_gates": 1,
            "max_retries": 4,
            "max_retry_backoff_ms": max_retry_backoff_ms,
            "gates": [{ "name": "check", "command": "test ! -e bad.txt" }],
        }),
    );
    project.add_issue("Good");
    project.add_issue("Bad");
    project
}

#[test]
fn a_tick_that_waits_says_what_happened_to_pull_requests() {
    let project = gated();
    let said = project.ok(&["tick", "--wait"]);
    let line = "SYM-1: pull request 1 is open; its gates passed\n";
    assert!(said.contains(line), "{said}");
    let said = project.ok(&["tick", "--wait"]);
    let line = "SYM-1: pull request 1 is approved by the judge\n";
    assert!(said.contains(line), "{said}");
    assert!(
        said.contains("Waiting for you: SYM-1 Good: pull request 1 is approved"),
        "{said}"
    );
    let view = project.json(&["tick", "--wait"]);
    let pr = &view["pull_requests"][0];
    assert_eq!(
        pr["text"],
        "SYM-2: pull request 2 goes back to an agent: gate check is red"
    );
    assert_eq!((&pr["id"], &pr["issue"]), (&json!("2"), &json!("SYM-2")));
    assert_eq!(
        (&pr["state"], &pr["gates"]),
        (
            &json!("rejected"),
            &json!({ "state": "red", "gates": ["check"] })
        )
    );
    assert_eq!(view["waiting"][0]["issue"], "SYM-1", "{view:#}");
}

#[test]
fn the_loop_says_what_happened_to_pull_requests() {
    let project = gated();
    let answer = project.symphony(&["run", "--until-idle"]);
    let said: Vec<&str> = answer.stderr.lines().collect();
    let at = |line: &str| {
        let found = said.iter().position(|said| said.starts_with(line));
        found.unwrap_or_else(|| panic!("`{line}` was not said: {said:#?}"))
    };
    let opened = at("SYM-1: pull request 1 is open; its gates ");
    let approved = at("SYM-1: pull request 1 is approved by the judge");
    let asked = at("Waiting for you: SYM-1 Good: pull request 1 is approved");
    at("SYM-2: pull request 2 goes back to an agent: gate check is red");
    assert!(opened < approved && approved < asked, "{said:#?}");
}

#[test]
fn the_loop_says_once_when_a_failed_issue_is_tried_again() {
    let project = gated_with(3_500);
    let answer = project.symphony(&["run", "--until-idle", "--interval", "1"]);
    let said = answer.stderr.lines();
    let waits: Vec<&str> = said.filter(|line| line.contains(" again in ")).collect();
    assert_eq!(waits.len(), 1, "{answer:#?}");
    assert!(
        waits[0].starts_with("SYM-2 is tried again in ")
            && waits[0].ends_with(": the gate `check` failed on its pull request"),
        "{waits:?}"
    );
}

#[test]
fn what_is_due_in_a_moment_is_waited_for_although_a_hold_keeps_it_back() {
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let when = json!({ "match_system": WORKER });
    let plays = scenarios([scenario("worker", &when, turns)]);
    let project = Project::new("a project", &plays, &json!({ "judge_enabled": false }));
    let issue = IssueId::parse(project.add_issue("One")).unwrap();
    let run = claimed_run(&project, RunTarget::Issue(issue), AgentType::Worker);
    end_run_held(&project, &run, ErrorClass::Overloaded, (15, 3_000));
    let answer = project.symphony(&["run", "--until-idle"]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    let said = "No issue is ready for an agent. 1 thing waits for you: `symphony inbox` shows it.";
    assert!(answer.stderr.contains(said), "{answer:#?}");
    assert_eq!(project.json(&["pr", "list"])["items"][0]["state"], "open");
}

#[test]
fn a_tick_that_waits_for_nothing_of_its_own_names_what_is_at_work() {
    let project = project([hang()]);
    let run = project.tick_start();
    let answer = project.ok(&["tick"]);
    assert!(
        answer.starts_with("Nothing to start: agents are working on SYM-1. "),
        "{answer}"
    );
    project.add_issue("Two");
    let red = json!([{ "name": "check", "command": "false" }]);
    project.configure_more(&json!({ "gates": red }));
    assert_eq!(project.symphony(&["doctor", "--gates"]).code, 1);
    let answer = project.symphony(&["tick", "--wait"]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    let said = "Nothing to start: agents are working on SYM-1; 1 more is waiting";
    assert!(answer.stdout.contains(said), "{answer:#?}");
    project.ok(&["runs", "cancel", &run]);
    // nothing is at work any more, and somebody has to answer
    let answer = project.symphony(&["tick", "--wait"]);
    assert_eq!(answer.code, 1, "{answer:#?}");
}

#[test]
fn one_interrupt_leaves_the_agents_at_work() {
    let project = project([hang()]);
    let watched = Loop::start(&project);
    watched.press();
    let run = watched.end();
    assert_eq!(project.run(&run)["status"], "running");
    project.ok(&["runs", "cancel", &run]);
    assert_eq!(agents_of(&run), [""; 0]);
}

#[test]
fn two_interrupts_end_them() {
    let project = project([hang()]);
    let press_twice = || {
        let mut watched = Loop::start(&project);
        watched.press();
        watched.hear("press Ctrl-C again to end them");
        watched.press();
        watched.end()
    };
    let mut run = press_twice();
    for _ in 0..SLOW_PRESSES_MAX {
        if project.run(&run)["status"] != "running" {
            break;
        }
        project.ok(&["runs", "cancel", &run]);
        run = press_twice();
    }
    assert_eq!(project.run(&run)["status"], "cancelled");
    assert_eq!(agents_of(&run), [""; 0]);
    assert_eq!(project.issue("SYM-1")["status"], "todo");
}

#[test]
fn what_was_spent_today_and_what_is_due_is_said_at_the_end_as_status_says_it() {
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let when = json!({ "match_system": WORKER });
    let plays = scenarios([scenario("worker", &when, turns)]);
    let project = Project::new("a project", &plays, &json!({ "judge_enabled": false }));
    project.add_issue("One");
    let waited = project.json(&["tick", "--wait"]);
    let status = project.json(&["status"]);
    assert!(
        status["spent_today"]["tokens"].as_u64().unwrap() > 0,
        "{status:#}"
    );
    assert_eq!(waited["spent_today"], status["spent_today"], "{waited:#}");
    assert!(waited.get("next_due_at").is_some(), "{waited:#}");
    let dry = project.json(&["tick", "--dry-run"]);
    assert_eq!(dry.get("spent_today"), None, "{dry:#}");

    let line = |text: &str| {
        let mut lines = text.lines();
        let line = lines.find(|line| line.trim_start().starts_with("spent today"));
        let line = line
            .unwrap_or_else(|| panic!("{text}"))
            .replace("spent today:", "spent today");
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let said = line(&project.ok(&["status"]));
    assert_eq!(line(&project.ok(&["tick", "--wait"])), said);
    let run = project.symphony(&["run", "--until-idle"]);
    assert_eq!(line(&run.stderr), said, "{run:#?}");
    let run = project.symphony(&["run", "--until-idle", "--json"]);
    let last: Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["spent_today"], status["spent_today"], "{last:#}");
}
