//! What a person sees on a terminal: the status as it changes, long answers in a pager, colours.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use symphony_core::agent::AgentType;
use symphony_core::id::IssueId;
use symphony_core::run::RunTarget;

use crate::records::{claimed_run, open_pr, record_gates};
use crate::support::{Project, Terminal, commit, create_pr, scenarios, text, until, worker};

/// A pager that leaves a trace on each line.
const PAGER: &str = "sed 's/^/| /'";

fn project() -> Project {
    Project::new("project", &scenarios([]), &json!({}))
}

/// Files so many issues that their list is longer than the terminal.
fn file_issues(project: &Project) {
    let titles = (1..=60).map(|n| json!({ "title": format!("Issue {n}") }).to_string());
    let file = project.beside.join("issues.jsonl");
    std::fs::write(&file, titles.collect::<Vec<_>>().join("\n")).unwrap();
    project.ok(&["issue", "import", &file.display().to_string()]);
}

#[test]
fn a_watched_status_is_drawn_again_and_leaves_the_terminal_as_it_was() {
    let project = project();
    let arguments = ["status", "--watch", "--interval", "1"];
    let mut terminal = Terminal::start(&project, 80, &arguments);
    let has = |lines: &[String], text: &str| lines.iter().any(|line| line.contains(text));
    terminal.until_seen("the status", |lines| {
        has(lines, "No agent is running.") && has(lines, "Every 1s; Ctrl-C ends it.")
    });
    project.add_issue("Filed meanwhile");
    let seen = terminal.until_seen("what changed", |lines| has(lines, "Filed meanwhile"));
    let heads = seen.iter().filter(|line| line.starts_with("Project "));
    assert_eq!(heads.count(), 1, "it is drawn in place: {seen:#?}");
    terminal.press("\u{3}");
    let (code, left) = terminal.end();
    assert_eq!(code, 0, "{left:#?}");
    assert!(!has(&left, "Project "), "{left:#?}");
}

#[test]
fn a_watched_status_in_a_pipe_is_one_block_after_the_other() {
    let project = project();
    let mut arguments = vec!["status", "--watch", "--interval", "1"];
    for is_json in [false, true] {
        if is_json {
            arguments.push("--json");
        }
        let mut child = project
            .command(&arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let heads = lines.map(Result::unwrap).filter(|line| {
            assert!(!line.contains('\u{1b}'), "{line:?}");
            if is_json {
                let status: Value = serde_json::from_str(line).unwrap();
                status["version"] == 1
            } else {
                line.starts_with("--- 2")
            }
        });
        // the third is never waited for in vain: the reader that goes away ends the watch
        assert_eq!(heads.take(3).count(), 3);
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    assert_eq!(project.symphony(&["status", "--interval", "1"]).code, 2);
}

#[test]
fn a_long_answer_goes_through_the_pager_on_a_terminal_only() {
    let mut project = project();
    file_issues(&project);
    project.set_variable("PAGER", PAGER);
    let last = |project: &Project, arguments: &[&str]| {
        let (code, seen) = Terminal::start(project, 80, arguments).end();
        assert_eq!(code, 0, "{seen:#?}");
        seen.last().cloned().unwrap_or_default()
    };
    let list = ["issue", "list"];
    assert!(last(&project, &list).starts_with("| SYM-60 "));
    assert!(!last(&project, &["issue", "list", "-n", "9"]).starts_with("| "));
    assert!(last(&project, &["issue", "list", "--no-pager"]).starts_with("SYM-60 "));
    assert!(!last(&project, &["issue", "list", "--json"]).starts_with("| "));
    assert!(!project.ok(&list).contains("| "));
    // a pager that does not exist, and none at all
    for none in ["no-such-pager --flag", "", "cat"] {
        project.set_variable("PAGER", none);
        assert!(last(&project, &list).starts_with("SYM-60 "), "{none}");
    }
}

#[test]
fn the_words_of_a_state_have_colours_where_they_are_wanted() {
    let mut project = project();
    let issue = project.add_issue("One");
    open_pr(&project, &issue, "One");
    let is_coloured =
        |project: &Project, arguments: &[&str]| project.ok(arguments).contains("\u{1b}[33mreview");
    assert!(!is_coloured(&project, &["issue", "list"]));
    assert!(is_coloured(
        &project,
        &["issue", "list", "--color", "always"]
    ));
    project.set_variable("CLICOLOR_FORCE", "1");
    assert!(is_coloured(&project, &["issue", "list"]));
    assert!(!is_coloured(&project, &["issue", "list", "--no-color"]));
    assert!(project.ok(&["pr", "diff", &issue]).contains("\u{1b}[32m+"));
    let raw = project.ok(&["pr", "diff", &issue, "--raw"]);
    assert!(!raw.contains('\u{1b}'), "{raw:?}");
    project.set_variable("NO_COLOR", "1");
    assert!(!is_coloured(&project, &["issue", "list"]));
}

#[test]
fn the_status_shows_gates_verdicts_and_what_waits_for_a_person() {
    let project = project();
    let issue = project.add_issue("One");
    let pr = open_pr(&project, &issue, "Say one");
    let shown = || {
        let status = project.json(&["status"]);
        (status["pull_requests"][0].clone(), project.ok(&["status"]))
    };
    let (view, text) = shown();
    assert_eq!(view["gates"]["state"], "waiting", "{view:#}");
    assert!(text.contains("none yet"), "{text}");
    record_gates(&project, pr, true);
    let (view, text) = shown();
    assert_eq!(view["gates"]["state"], "green", "{view:#}");
    assert!(text.contains("Pull requests\nPR  FOR    GATES"), "{text}");
    // a judge at work, as a tick claims it
    let id = IssueId::parse(issue.clone()).unwrap();
    let run = claimed_run(
        &project,
        RunTarget::PullRequest(id.into(), pr),
        AgentType::Judge,
    );
    let (view, text) = shown();
    assert_eq!(view["judge"], run.as_str(), "{view:#}");
    assert!(text.contains("running: a judge"), "{text}");
}

#[test]
fn what_waits_for_a_person_is_in_the_status_with_its_answer() {
    let project = project();
    let issue = project.add_issue("One");
    let pr = open_pr(&project, &issue, "Say one");
    record_gates(&project, pr, true);
    project.ok(&["pr", "approve", &issue]);
    let text = project.ok(&["status"]);
    assert!(text.contains("Waiting for you\nSINCE"), "{text}");
    assert!(
        text.contains(&format!("`symphony pr show {issue}`")),
        "{text}"
    );
    let status = project.json(&["status"]);
    assert_eq!(status["waiting"][0]["issue"], issue, "{status:#}");
    assert_eq!(status["pull_requests"][0]["verdict"]["kind"], "approved");
}

#[test]
fn each_screen_says_what_gates_do_while_they_run_or_wait_for_a_slot() {
    let (begun, go) = ("begun", "go");
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let project = Project::new(
        "project",
        &scenarios([worker(turns)]),
        &json!({ "judge_enabled": false, "max_concurrent_gates": 1, "gates": [{ "name": "test", "command": "true" }] }),
    );
    let place = |name: &str| project.beside.join(name);
    let (begun, go) = (place(begun), place(go));
    let wait = format!(
        "case $PWD in */_gates-*) touch '{}'; until test -e '{}'; do sleep 0.05; done;; esac",
        begun.display(),
        go.display()
    );
    project.ok(&["config", "set", "worktree.setup", &wait]);
    project.add_issue("One");
    project.add_issue("Two");
    project.ok(&["tick"]);
    let run = until("both workers to end and the first set-up to begin", || {
        let runs = project.json(&["runs", "list"])["items"].clone();
        let live = runs.as_array().unwrap().iter();
        let live: Vec<&Value> = live.filter(|run| run["status"] == "running").collect();
        let is_there = begun.exists() && runs.as_array().unwrap().len() == 3 && live.len() == 1;
        is_there.then(|| live[0].clone())
    });
    assert_eq!(run["profile"], "gates", "{run:#}");
    let first = text(&run["issue"]);
    let second = if first == "SYM-1" { "SYM-2" } else { "SYM-1" };
    let status = project.ok(&["status"]);
    for expected in [
        "running set-up (",
        "running: set-up (",
        "waiting: the only slot for gates is taken (max_concurrent_gates)",
    ] {
        assert!(status.contains(expected), "{expected}: {status}");
    }
    let tick = project.ok(&["tick"]);
    let expected = format!("Nothing to start: the gates of {first} are running; 1 more is waiting");
    assert!(tick.contains(&expected), "{tick}");
    let shown = project.ok(&["pr", "show", &first]);
    assert!(shown.contains("gates         running\n"), "{shown}");
    let shown = project.ok(&["pr", "show", second]);
    assert!(shown.contains("gates         not run\n"), "{shown}");
    let explained = project.ok(&["explain", &first]);
    assert!(explained.contains("Its gates are running"), "{explained}");
    assert!(!explained.contains("have not run yet"), "{explained}");
    let log = project.ok(&["runs", "logs", &text(&run["id"])]);
    assert!(log.contains("[set-up] started"), "{log}");
    std::fs::write(&go, "").unwrap();
    until("the gates to end", || {
        let live = project.json(&["runs", "list", "--live"]);
        live["items"].as_array().unwrap().is_empty().then_some(())
    });
}
