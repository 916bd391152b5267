//! A base on which gates or the set-up are red: known before an agent is paid, told with the ways on, tried anew when something
//! changed.

use serde_json::{Value, json};

use crate::support::{Project, commit, create_pr, scenarios, text, until, worker};

fn gate(name: &str, command: &str) -> Value {
    json!({ "name": name, "command": command })
}

fn project(config: &Value) -> Project {
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    Project::new("project", &scenarios([worker(turns)]), config)
}

fn config(gates: &[Value]) -> Value {
    json!({ "gates": gates, "judge_enabled": false, "max_retry_backoff_ms": 1 })
}

/// The inbox's item of the hold: its text and its answers.
fn hold(project: &Project) -> (String, Vec<String>) {
    let inbox = project.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap();
    let hold = items.iter().find(|item| item["kind"] == "hold");
    let hold = hold.unwrap_or_else(|| panic!("{inbox:#}"));
    let answers = hold["answers"].as_array().unwrap();
    (text(&hold["text"]), answers.iter().map(text).collect())
}

fn profiles(runs: &[Value]) -> Vec<String> {
    runs.iter().map(|run| text(&run["profile"])).collect()
}

fn counts(project: &Project, issue: &str) -> Value {
    let issue = project.issue(issue);
    assert!(issue["total_runs"].is_u64(), "{issue:#}");
    json!([issue["total_runs"], issue["consecutive_failures"]])
}

#[test]
fn a_gate_that_a_trial_found_red_holds_the_project_before_the_first_worker() {
    let project = project(&config(&[gate("hello", "echo no hello; test -e said.txt")]));
    let trial = project.symphony(&["doctor", "--gates"]);
    assert_eq!(trial.code, 1, "{trial:#?}");
    assert!(
        trial.stdout.contains("the project is on hold"),
        "{trial:#?}"
    );
    project.add_issue("Say hello");
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    let (why, answers) = hold(&project);
    for part in ["`hello`", "`main`", "exit code 1: no hello"] {
        assert!(why.contains(part), "{part} is not in {why}");
    }
    assert_eq!(
        answers[2],
        "symphony issue add \"Repair the gate\" --fixes-gate hello"
    );
    let doctor = project.symphony(&["doctor"]).stdout;
    assert!(
        doctor.contains("red, so the project is on hold"),
        "{doctor}"
    );
    // who repairs it is worked on all the same
    let repair = |gate| project.symphony(&["issue", "add", "Repair it", "--fixes-gate", gate]);
    let no_gate = repair("helo");
    assert_eq!(no_gate.code, 3, "{no_gate:#?}");
    assert!(
        no_gate.stderr.contains("did you mean `hello`?"),
        "{no_gate:#?}"
    );
    assert_eq!(repair("hello").code, 0);
    let second = repair("hello");
    assert_eq!(second.code, 4, "{second:#?}");
    assert!(
        second
            .stderr
            .contains("SYM-2 (`todo`) is already there to repair the gate `hello`"),
        "{second:#?}"
    );
    let labelled = ["issue", "add", "Repair it", "--label", "fixes-gate:hello"];
    assert_eq!(project.symphony(&labelled).code, 4);
    for (label, code) in [("fixes-gate:hello", 4), ("fixes-gate:helo", 3)] {
        let edited = project.symphony(&["issue", "edit", "SYM-1", "--add-label", label]);
        assert_eq!(edited.code, code, "{edited:#?}");
    }
    // its own label is not a second repair
    project.ok(&["issue", "edit", "SYM-2", "--add-label", "soon"]);
    let trial = project.symphony(&["doctor", "--gates"]).stdout;
    assert!(
        trial.contains("There is an issue to repair it: symphony issue show SYM-2"),
        "{trial}"
    );
    let (why, answers) = hold(&project);
    assert!(
        why.ends_with("; SYM-2 (`todo`) is meant to fix it"),
        "{why}"
    );
    assert_eq!(answers[2], "symphony issue show SYM-2");
    let runs = project.tick_wait();
    assert_eq!(profiles(&runs)[..1], ["worker"]);
    let prompt = project.run_file(&text(&runs[0]["id"]), "user-prompt.md");
    assert!(
        prompt.contains("failed with exit code 1: no hello"),
        "{prompt}"
    );
    // a person repairs it: the base has moved, so that it is tried at once, and what was held goes on
    std::fs::write(project.root.join("said.txt"), "hello\n").unwrap();
    project.git(&["add", "said.txt"]);
    project.git(&["commit", "-qm", "Say it"]);
    let mut ran = Vec::new();
    for _ in 0..4 {
        ran.extend(profiles(&project.tick_wait()));
    }
    assert!(ran.contains(&"worker".to_owned()), "{ran:?}");
    assert_eq!(project.json(&["status"])["holds"], json!([]));
    project.assert_sound();
}

#[test]
fn what_is_red_is_tried_anew_when_its_gates_were_changed_and_a_green_trial_ends_the_hold() {
    let red = config(&[gate("hello", "false")]);
    let project = project(&red);
    assert_eq!(project.symphony(&["doctor", "--gates"]).code, 1);
    project.add_issue("Say hello");
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    project.configure_more(&json!({ "gates": [gate("hello", "true")] }));
    assert_eq!(profiles(&project.tick_wait()), ["gates"]);
    assert_eq!(project.json(&["status"])["holds"], json!([]));
    // red and green by the same command
    project.configure_more(&red);
    assert_eq!(project.symphony(&["doctor", "--gates"]).code, 1);
    assert!(hold(&project).0.contains("`hello`"));
    project.configure_more(&json!({ "gates": [gate("hello", "true")] }));
    project.ok(&["doctor", "--gates"]);
    assert_eq!(project.json(&["status"])["holds"], json!([]));
    project.assert_sound();
}

#[test]
fn the_first_red_gate_is_compared_with_the_base_before_it_counts() {
    let project = project(&config(&[gate("hello", "echo 'not yet'; exit 3")]));
    project.add_issue("Say hello");
    let before = counts(&project, "SYM-1");
    project.tick_one("worker", "succeeded");
    let issue = project.issue("SYM-1");
    assert_eq!(issue["status"], "review", "{issue:#}");
    assert_eq!(issue["pull_requests"][0]["state"], "open", "{issue:#}");
    // the worker's run counts, its gate does not
    assert_eq!(before, json!([0, 0]));
    assert_eq!(counts(&project, "SYM-1"), json!([1, 0]));
    assert!(hold(&project).0.contains("exit code 3: not yet"));
    project.assert_sound();
}

#[test]
fn an_honest_red_gate_costs_the_comparison_once_for_a_base() {
    let project = project(&config(&[]));
    let count = project.beside.join("count");
    // red wherever there is work, and never with the same words
    let command = format!(
        "echo ran >> '{}'; test ! -e hello.txt || {{ tr -dc a-z < /dev/urandom | head -c 20; false; }}",
        count.display()
    );
    let gate = json!({ "name": "none", "command": command, "retries": 0 });
    project.configure_more(&json!({ "gates": [gate] }));
    let ran = || std::fs::read_to_string(&count).unwrap().lines().count();
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    assert_eq!(ran(), 2, "on the change, then on the base");
    assert_eq!(
        project.issue("SYM-1")["pull_requests"][0]["state"],
        "rejected"
    );
    project.tick_one("worker", "succeeded");
    assert_eq!(ran(), 3, "the base is known to pass");
    // a third time would stop the issue: the base is asked once more, then a person
    project.tick_one("worker", "succeeded");
    assert_eq!(ran(), 5);
    let issue = project.issue("SYM-1");
    assert_eq!(issue["status"], "blocked", "{issue:#}");
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    project.assert_sound();
}

#[test]
fn a_red_base_holds_the_project_whatever_its_gate_prints() {
    // never the same lines, never the same exit code
    let command =
        "tr -dc 'a-z\\n' < /dev/urandom | head -c 300; exit $(($(date +%N) / 1000 % 100 + 1))";
    let project = project(&config(&[
        gate("random", command),
        gate("own", "test ! -e broken.txt"),
    ]));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let issue = project.issue("SYM-1");
    assert_eq!(issue["status"], "review", "{issue:#}");
    assert_eq!(issue["consecutive_failures"], 0, "{issue:#}");
    let (why, _) = hold(&project);
    assert!(why.contains("`random`") && !why.contains("`own`"), "{why}");
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    let explained = project.ok(&["explain", "SYM-1"]);
    let once = "as they do on the base: red: random";
    assert!(explained.contains(once), "{explained}");
    assert!(!explained.contains("have not run yet"), "{explained}");
    project.assert_sound();
}

#[test]
fn a_held_pull_request_is_gated_together_with_what_repaired_the_base() {
    let project = project(&config(&[
        gate("tool", "date +%N; test -e tool.txt"),
        gate("hello", "test ! -e hello.txt || grep -q hello hello.txt"),
    ]));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    assert!(hold(&project).0.contains("`tool`"));
    let head = text(&project.issue("SYM-1")["pull_requests"][0]["head_commit"]);
    // a person repairs the base; the pull request's own commit still lacks the repair
    std::fs::write(project.root.join("tool.txt"), "here\n").unwrap();
    project.git(&["add", "tool.txt"]);
    project.git(&["commit", "-qm", "Add the tool"]);
    let repaired = project.git(&["rev-parse", "main"]);
    let mut ran = Vec::new();
    for _ in 0..3 {
        ran.extend(profiles(&project.tick_wait()));
    }
    assert!(!ran.contains(&"worker".to_owned()), "{ran:?}");
    let pr = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(pr["gates_commit"], json!(head), "{pr:#}");
    assert_eq!(pr["gates_merged_with"], json!(repaired.trim()), "{pr:#}");
    assert_eq!(pr["state"], "open", "{pr:#}");
    let shown = project.ok(&["pr", "show", "SYM-1"]);
    assert!(shown.contains("merged with main at"), "{shown}");
    // the base goes back to where it was: the commit by itself was never green
    project.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let refused = project.symphony(&["pr", "merge", "SYM-1"]);
    assert_ne!(refused.code, 0, "{refused:#?}");
    assert!(refused.stderr.contains("tool"), "{refused:#?}");
    project.git(&["reset", "-q", "--hard", repaired.trim()]);
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.issue("SYM-1")["status"], "done");
    project.assert_sound();
}

#[test]
fn what_a_change_broke_itself_counts_on_a_red_base_which_holds_the_project_all_the_same() {
    let turns = [commit("broken.txt", "oh"), create_pr("Break it")];
    let project = Project::new(
        "project",
        &scenarios([worker(turns)]),
        &config(&[
            gate("old", "date +%N; false"),
            gate("own", "test ! -e broken.txt"),
        ]),
    );
    project.add_issue("Break it");
    project.tick_one("worker", "succeeded");
    let issue = project.issue("SYM-1");
    assert_eq!(issue["pull_requests"][0]["state"], "rejected", "{issue:#}");
    let (why, _) = hold(&project);
    assert!(why.contains("`old`") && !why.contains("`own`"), "{why}");
    // no worker is paid for what could not pass: not even for its own failure
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    project.assert_sound();
}

#[test]
fn a_set_up_that_fails_on_the_base_uses_no_attempt_and_is_in_the_inbox() {
    let mut whole = config(&[gate("hello", "true")]);
    whole["worktree"] = json!({ "setup": "no-such-npm ci" });
    let project = project(&whole);
    project.add_issue("Say hello");
    let before = counts(&project, "SYM-1");
    project.tick_wait();
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    let issue = project.issue("SYM-1");
    assert_eq!(issue["status"], "todo", "{issue:#}");
    assert_eq!(counts(&project, "SYM-1"), before);
    let (why, answers) = hold(&project);
    for part in [
        "`set-up`",
        "no-such-npm ci",
        "exit code 127",
        "not found",
        "(its whole output is in `.symphony/runs/",
    ] {
        assert!(why.contains(part), "{part} is not in {why}");
    }
    let log = why.split(" is in `").nth(1).unwrap();
    let log = project.root.join(log.split('`').next().unwrap());
    assert!(std::fs::read_to_string(log).unwrap().contains("not found"));
    let trial = project.symphony(&["doctor", "--gates"]).stdout;
    assert!(trial.contains("set-up is red on main"), "{trial}");
    assert!(
        hold(&project)
            .0
            .contains("is in `.symphony/trial/setup.log`")
    );
    assert_eq!(answers[1], "symphony config set worktree.setup 'COMMAND'");
    let explained = project.ok(&["explain", "SYM-1"]);
    assert!(
        explained.contains("until its gates pass on the base"),
        "{explained}"
    );
    // put right, it is tried at once, and the issue goes on
    project.configure_more(&json!({ "worktree": { "setup": "true" } }));
    let mut ran = Vec::new();
    for _ in 0..3 {
        ran.extend(profiles(&project.tick_wait()));
    }
    assert!(ran.contains(&"worker".to_owned()), "{ran:?}");
    assert_eq!(project.issue("SYM-1")["status"], "review");
    project.assert_sound();
}

#[test]
fn a_set_up_that_cannot_pass_on_the_base_holds_the_project_from_a_worktree_with_commits_too() {
    let project = Project::new(
        "project",
        &scenarios([worker([commit("hello.txt", "hello")])]),
        &config(&[gate("hello", "true")]),
    );
    project.add_issue("Say hello");
    // a commit and no pull request: the issue goes on in the same worktree
    project.tick_one("worker", "succeeded");
    let before = counts(&project, "SYM-1");
    project.configure_more(&json!({ "worktree": { "setup": "no-such-npm ci" } }));
    until("the next run", || {
        Some(project.tick_wait()).filter(|runs| !runs.is_empty())
    });
    assert_eq!(counts(&project, "SYM-1"), before);
    let (why, _) = hold(&project);
    for part in ["`set-up`", "no-such-npm ci", "exit code 127", "not found"] {
        assert!(why.contains(part), "{part} is not in {why}");
    }
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    project.assert_sound();
    // what the work itself broke is its own fault: the same command passes on the base
    project.configure_more(&json!({ "worktree": { "setup": "test ! -e hello.txt" } }));
    let failed = until("the next run", || {
        let runs = project.tick_wait();
        runs.into_iter().find(|run| run["profile"] == "worker")
    });
    assert_eq!(failed["error"]["class"], "setup_failed", "{failed:#}");
    assert_eq!(project.json(&["status"])["holds"], json!([]));
    assert_ne!(counts(&project, "SYM-1"), before);
    project.assert_sound();
}

#[test]
fn a_second_init_says_whether_the_project_is_still_on_hold() {
    let project = project(&config(&[gate("hello", "false")]));
    let on_hold = "Until then the project is on hold";
    let trial = project.symphony(&["doctor", "--gates"]);
    assert!(trial.stdout.contains(on_hold), "{trial:#?}");
    let again = project.ok(&["init"]);
    assert!(again.contains(on_hold), "{again}");
    assert_eq!(project.json(&["init"])["base_hold"], "on_hold");

    project.ok(&["resume"]);
    let again = project.ok(&["init"]);
    assert!(
        again.contains("hello is red on main, so no change can pass"),
        "{again}"
    );
    assert!(!again.contains(on_hold), "{again}");
    assert!(again.contains("The project is not on hold"), "{again}");
    assert_eq!(project.json(&["init"])["base_hold"], "none");
    project.assert_sound();
}

#[test]
fn a_worktree_that_a_set_up_left_half_done_is_made_anew_and_holds_nothing() {
    let project = project(&config(&[gate("hello", "true")]));
    let offline = project.beside.join("offline");
    std::fs::write(&offline, "").unwrap();
    let setup = format!(
        "mkdir pack && touch pack/one && test ! -e '{}'",
        offline.display()
    );
    let gates = [gate("hello", "true")];
    project.configure_more(&json!({ "gates": gates, "worktree": { "setup": setup } }));
    project.add_issue("Say hello");
    let before = counts(&project, "SYM-1");
    project.tick_wait();
    assert!(hold(&project).0.contains("`set-up`"));
    // put right on the base; the issue's worktree still has what the first set-up left there
    std::fs::remove_file(&offline).unwrap();
    project.ok(&["doctor", "--gates"]);
    assert!(project.worktree("SYM-1").join("pack/one").exists());
    assert_eq!(counts(&project, "SYM-1"), before);
    project.tick_one("worker", "succeeded");
    assert_eq!(project.json(&["status"])["holds"], json!([]));
    assert_eq!(project.issue("SYM-1")["status"], "review");
    project.assert_sound();
}

#[test]
fn a_set_up_that_fails_in_the_agents_folder_only_counts_and_names_itself() {
    let mut whole = config(&[gate("hello", "true")]);
    whole["worktree"] = json!({ "setup": "case $PWD in *SYM-*) echo wrong place; exit 3;; esac" });
    let project = project(&whole);
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "failed");
    assert_eq!(run["error"]["class"], "setup_failed", "{run:#}");
    let message = text(&run["error"]["message"]);
    for part in [
        "case $PWD",
        "exit code 3",
        "wrong place",
        "It passes in a fresh checkout",
    ] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
    assert_eq!(project.json(&["status"])["holds"], json!([]));
    assert_ne!(counts(&project, "SYM-1"), json!([0, 0]));
    project.assert_sound();
}

#[test]
fn a_project_on_hold_is_called_so_by_each_screen_and_explained_once() {
    let red = json!([{ "name": "format", "command": "echo 'Run it with --write to fix.'; false" }]);
    let config = json!({ "gates": red, "judge_enabled": false });
    let project = Project::new("project", &scenarios([]), &config);
    assert_eq!(project.symphony(&["doctor", "--gates"]).code, 1);
    let held = "is on hold until its gates pass on the base";
    let tick = project.ok(&["tick"]);
    assert!(tick.contains("Nothing to start: project "), "{tick}");
    assert!(tick.contains(held), "{tick}");
    project.add_issue("One");
    project.add_issue("Two");
    project.ok(&["issue", "add", "Repair it", "--fixes-gate", "format"]);
    project.ok(&["issue", "move", "SYM-3", "backlog"]);
    let run = project.symphony(&["run", "--until-idle"]);
    let screens = [
        project.ok(&["status"]),
        project.ok(&["tick", "--dry-run"]),
        project.ok(&["inbox"]),
        run.stderr,
    ];
    for screen in screens {
        let whole = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(whole.contains(held), "{screen}");
        let times = whole.matches(": Run it with --write").count();
        assert!(times <= 1, "{times}: {screen}");
        assert!(!whole.contains("fix.."), "{screen}");
        assert!(!whole.contains("fix.;"), "{screen}");
    }
}
