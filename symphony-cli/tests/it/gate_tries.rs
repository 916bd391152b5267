//! Which gates run again, and with which others: flaky ones, and those that need what others built.

use serde_json::{Value, json};

use crate::support::{Project, approving_judge, commit, create_pr, scenarios, worker};

fn gate(name: &str, command: &str) -> Value {
    json!({ "name": name, "command": command })
}

fn statuses(project: &Project, issue: &str) -> (Value, Value) {
    let shown = project.issue(issue);
    let pr = shown["pull_requests"][0]["state"].clone();
    (shown["status"].clone(), pr)
}

/// Fails at the first of each two tries, wherever it runs.
const EVERY_OTHER_TIME: &str = "echo x >> \"$HOME/tries\"; test $(($(wc -l < \"$HOME/tries\") % 2)) = 0 || { echo The service was slow; exit 1; }";

#[test]
fn a_flaky_gate_runs_again_and_costs_no_agent() {
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let flaky =
        |retries: u64| json!([{ "name": "test", "command": EVERY_OTHER_TIME, "retries": retries }]);
    let project = Project::new(
        "project",
        &scenarios([worker(turns), approving_judge()]),
        &json!({ "gates": flaky(1) }),
    );
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let shown = project.json(&["pr", "show", "1"]);
    let result = &shown["gates"][0];
    assert_eq!(result["passed"], true, "{shown:#}");
    assert_eq!(result["failed_tries"][0]["line"], "The service was slow");
    let page = project.ok(&["pr", "show", "1"]);
    for part in [
        "passed at try 2",
        "Try 1 of test failed: The service was slow",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    let log = project.ok(&["events", "--issue", "SYM-1"]);
    assert!(log.contains("; test only when it ran again"), "{log}");
    project.tick_one("judge", "succeeded");
    assert_eq!(
        statuses(&project, "SYM-1"),
        (json!("review"), json!("approved"))
    );
    project.assert_sound();
}

#[test]
fn a_gate_without_retries_is_red_at_once() {
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    // red where the change is
    let command = format!("test ! -e hello.txt || {{ {EVERY_OTHER_TIME} }}");
    let project = Project::new(
        "project",
        &scenarios([worker(turns)]),
        &json!({ "gates": [{ "name": "test", "command": command, "retries": 0 }] }),
    );
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    assert_eq!(
        statuses(&project, "SYM-1"),
        (json!("todo"), json!("rejected"))
    );
    let result = &project.json(&["pr", "show", "1"])["gates"][0];
    assert_eq!(result["failed_tries"], Value::Null, "{result:#}");
}

#[test]
fn what_a_failed_try_left_makes_no_gate_green() {
    // as `make` does: the target of a recipe that failed stays, and is up to date the second time
    let command =
        "test -e build/report || { mkdir -p build; touch build/report; ! grep -q bad state.txt; }";
    let turns = [
        commit(".gitignore", "build/"),
        commit("state.txt", "bad"),
        create_pr("Break it"),
    ];
    let project = Project::new(
        "project",
        &scenarios([worker(turns)]),
        &json!({ "gates": [gate("report", command)] }),
    );
    project.add_issue("Break it");
    project.tick_one("worker", "succeeded");
    let found = statuses(&project, "SYM-1");
    assert_eq!(found, (json!("todo"), json!("rejected")));
    let result = &project.json(&["pr", "show", "1"])["gates"][0];
    assert_eq!(result["failed_tries"][0]["exit_code"], 1, "{result:#}");
    project.assert_sound();
}

/// Copies the sources into a folder that git ignores.
const BUILD: &str = "mkdir -p build && cp *.txt build/";

/// A project whose suite tests what an earlier gate built, with one issue whose worker hands in these files.
fn built_project(
    test: &str,
    files: impl IntoIterator<Item = (&'static str, &'static str)>,
) -> Project {
    let mut turns: Vec<Value> = files
        .into_iter()
        .map(|(name, text)| commit(name, text))
        .collect();
    turns.push(create_pr("Change it"));
    let project = Project::new(
        "project",
        &scenarios([worker(turns), approving_judge()]),
        &json!({ "gates": [gate("build", BUILD), gate("test", test)], "max_retry_backoff_ms": 1 }),
    );
    std::fs::write(project.root.join("state.txt"), "good").unwrap();
    std::fs::write(project.root.join(".gitignore"), "build/\n").unwrap();
    project.git(&["add", "state.txt", ".gitignore"]);
    project.git(&["commit", "-qm", "Begin"]);
    project.add_issue("Change it");
    project
}

#[test]
fn a_suite_that_needs_an_earlier_gates_build_is_red_on_the_change_alone() {
    let project = built_project(
        "test -d build && ! grep -rq bad build",
        [("state.txt", "bad")],
    );
    project.tick_one("worker", "succeeded");
    // the base was tried in the same order, where the suite passes: the change is at fault, and nothing is held
    assert_eq!(
        statuses(&project, "SYM-1"),
        (json!("todo"), json!("rejected"))
    );
    assert_eq!(project.json(&["status"])["holds"], json!([]));
    project.assert_sound();
}

#[test]
fn a_suite_without_its_build_does_not_pass_since_there_is_nothing_to_test() {
    // as `find … | xargs` does
    let project = built_project(
        "for f in build/*.txt; do ! grep -q bad \"$f\" 2>/dev/null || exit 1; done",
        [("state.txt", "bad")],
    );
    project.tick_one("worker", "succeeded");
    assert_eq!(
        statuses(&project, "SYM-1"),
        (json!("todo"), json!("rejected"))
    );
    let result = &project.json(&["pr", "show", "1"])["gates"][1];
    assert_eq!(result["failed_tries"][0]["exit_code"], 1, "{result:#}");
    project.assert_sound();
}

#[test]
fn a_build_that_passed_before_runs_again_for_the_suite_that_is_due() {
    let project = built_project("test -d build", [("hello.txt", "hello")]);
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    // another suite: the build alone passed with these files before
    let gates = json!([
        gate("build", BUILD),
        gate("test", "test -e build/hello.txt")
    ]);
    project.configure_more(&json!({ "gates": gates }));
    project.ok(&["pr", "merge", "SYM-1"]);
    let gates = &project.json(&["pr", "show", "1"])["gates"];
    for gate in gates.as_array().unwrap() {
        assert_eq!(gate["passed"], true, "{gates:#}");
        assert_eq!(gate["cached"], Value::Null, "{gates:#}");
    }
    project.assert_sound();
}

#[test]
fn what_ran_on_a_failed_build_runs_again_when_the_build_does() {
    // the suite finds nothing to test until the build passes, at its second try
    let build = "test -e \"$HOME/up\" || { touch \"$HOME/up\"; exit 1; }; mkdir -p build && cp *.txt build/";
    let test = "for f in build/*.txt; do ! grep -q bad \"$f\" 2>/dev/null || exit 1; done";
    let project = built_project(test, [("state.txt", "bad")]);
    project.configure_more(&json!({ "gates": [gate("build", build), gate("test", test)] }));
    project.tick_one("worker", "succeeded");
    let gates = &project.json(&["pr", "show", "1"])["gates"];
    assert_eq!(gates[0]["passed"], true, "{gates:#}");
    assert_eq!(gates[1]["passed"], false, "{gates:#}");
    assert_eq!(
        statuses(&project, "SYM-1"),
        (json!("todo"), json!("rejected"))
    );
    project.assert_sound();
}

#[test]
fn a_pass_on_a_failed_build_is_not_remembered() {
    let build = "test -e \"$HOME/up\" && mkdir -p build && cp *.txt build/";
    let test = "for f in build/*.txt; do ! grep -q bad \"$f\" 2>/dev/null || exit 1; done";
    let project = built_project(test, [("state.txt", "bad")]);
    project.configure_more(&json!({ "gates": [gate("build", build), gate("test", test)] }));
    project.tick_one("worker", "succeeded");
    // held, since the base fails as well; then what was missing is there
    assert_eq!(
        statuses(&project, "SYM-1"),
        (json!("review"), json!("open"))
    );
    std::fs::write(project.beside.join("home/up"), "").unwrap();
    project.ok(&["resume"]);
    project.tick_wait();
    let gates = &project.json(&["pr", "show", "1"])["gates"];
    assert_eq!(gates[0]["passed"], true, "{gates:#}");
    assert_eq!(gates[1]["passed"], false, "{gates:#}");
    project.assert_sound();
}

#[test]
fn a_pass_counts_no_more_when_a_gate_before_it_was_changed() {
    let test = "for f in build/*.txt; do ! grep -q bad \"$f\" 2>/dev/null || exit 1; done";
    let project = built_project(test, [("state.txt", "bad")]);
    let nothing = gate("build", "mkdir -p build");
    project.configure_more(&json!({ "gates": [nothing, gate("test", test)] }));
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    project.configure_more(&json!({ "gates": [gate("build", BUILD), gate("test", test)] }));
    let refused = project.symphony(&["pr", "merge", "SYM-1"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    assert!(
        refused.stderr.contains("required gates are red"),
        "{refused:#?}"
    );
}
