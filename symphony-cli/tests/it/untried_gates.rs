//! Gates that were added or changed: a tick tries them on the base before it pays an agent, once a change.

use serde_json::{Value, json};

use crate::support::{Project, commit, create_pr, scenarios, text, worker};

fn gate(name: &str, command: &str) -> Value {
    json!({ "name": name, "command": command })
}

fn config(gates: &[Value]) -> Value {
    json!({ "gates": gates, "judge_enabled": false, "try_changed_gates": true })
}

fn project(gates: &[Value]) -> Project {
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    Project::new("project", &scenarios([worker(turns)]), &config(gates))
}

fn profiles(project: &Project) -> Vec<String> {
    let runs = project.tick_wait();
    runs.iter().map(|run| text(&run["profile"])).collect()
}

fn held(project: &Project) -> bool {
    project.json(&["status"])["holds"] != json!([])
}

#[test]
fn a_gate_that_cannot_run_is_found_before_a_worker_is_paid() {
    let project = project(&[gate("test", "true")]);
    project.ok(&["doctor", "--gates"]);
    let set = project.symphony(&[
        "config",
        "set",
        "gates[0].command",
        "mkae-of-this-test test",
    ]);
    assert!(
        set.stderr
            .contains("`mkae-of-this-test` of test is not in the PATH that gates get"),
        "{set:#?}"
    );
    project.add_issue("Say hello");
    let explained = project.ok(&["explain", "SYM-1"]);
    assert!(
        explained.contains("gate test has not passed on the base with the current configuration"),
        "{explained}"
    );
    assert_eq!(profiles(&project), ["gates"]);
    assert!(held(&project));
    assert_eq!(profiles(&project), Vec::<String>::new());
    assert_eq!(project.issue("SYM-1")["total_runs"], 0);
    // put right, it is tried once more, and the issue goes on
    project.configure_more(&config(&[gate("test", "true")]));
    assert_eq!(profiles(&project), ["gates"]);
    assert_eq!(profiles(&project)[..1], ["worker"]);
    project.assert_sound();
}

#[test]
fn gates_that_were_never_tried_are_tried_once_and_merges_need_no_other_trial() {
    let project = project(&[]);
    let counted = project.beside.join("count");
    let count = format!("echo ran >> '{}'", counted.display());
    project.configure_more(&config(&[gate("test", &count)]));
    let ran = || std::fs::read_to_string(&counted).map_or(0, |text| text.lines().count());
    project.add_issue("Say hello");
    project.add_issue("Say hello again");
    assert_eq!(profiles(&project), ["gates"]);
    assert_eq!(ran(), 1, "on the base");
    assert!(profiles(&project).contains(&"worker".to_owned()));
    project.ok(&["pr", "merge", "SYM-1"]);
    project.add_issue("Say hello once more");
    // the base has moved, and its gates ran on the merged files
    assert!(profiles(&project).contains(&"worker".to_owned()));
    let runs = project.json(&["runs", "list"]);
    let runs = runs["items"].as_array().unwrap();
    let trials = runs
        .iter()
        .filter(|run| run["profile"] == "gates" && run["issue"].is_null());
    assert_eq!(trials.count(), 1, "{runs:#?}");
    project.assert_sound();
}

#[test]
fn another_gate_is_tried_and_one_that_is_taken_out_is_not() {
    let project = project(&[gate("test", "true"), gate("lint", "true")]);
    project.ok(&["doctor", "--gates"]);
    project.add_issue("Say hello");
    project.configure_more(&config(&[gate("test", "true")]));
    assert_eq!(profiles(&project)[..1], ["worker"]);
    project.ok(&["pr", "merge", "SYM-1"]);
    project.add_issue("Say hello again");
    project.configure_more(&config(&[gate("test", "true"), gate("style", "false")]));
    assert_eq!(profiles(&project), ["gates"]);
    assert!(held(&project));
    project.assert_sound();
}

#[test]
fn who_wants_agents_on_a_red_base_all_the_same_gets_them() {
    let project = project(&[gate("hello", "test -e hello.txt")]);
    project.add_issue("Say hello");
    assert_eq!(profiles(&project), ["gates"]);
    assert!(held(&project));
    project.ok(&["resume"]);
    assert_eq!(profiles(&project)[..1], ["worker"]);
    project.assert_sound();
}

#[test]
fn a_red_base_that_is_returned_to_pays_nobody() {
    let project = project(&[gate("hello", "test -e said.txt")]);
    project.git(&["checkout", "-q", "-b", "fine"]);
    project.commit_files(&[("said.txt", "hello\n")]);
    project.git(&["checkout", "-q", "main"]);
    let base = |branch: &str| project.ok(&["config", "set", "base_branch", branch]);
    base("main");
    project.add_issue("Say hello");
    assert_eq!(profiles(&project), ["gates"]);
    assert!(held(&project));
    base("fine");
    assert_eq!(profiles(&project), ["gates"]);
    assert!(!held(&project));
    base("main");
    assert_eq!(profiles(&project), ["gates"]);
    assert!(held(&project));
    assert_eq!(project.issue("SYM-1")["total_runs"], 0);
    project.assert_sound();
}

/// A gate that ends its supervisor, as the system does when memory runs out, but only while this file exists.
fn deadly(flag: &std::path::Path) -> String {
    format!(
        "test -e '{}' || exit 0; p=$$; while [ $p -gt 1 ]; do p=$(cut -d' ' -f4 /proc/$p/stat); \
         if tr '\\0' ' ' </proc/$p/cmdline | grep -q ' supervise '; then kill -9 $p; sleep 30; fi; done",
        flag.display()
    )
}

fn hold(project: &Project) -> Value {
    let inbox = project.json(&["inbox"]);
    let mut items = inbox["items"].as_array().unwrap().iter();
    items
        .find(|item| item["kind"] == "hold")
        .cloned()
        .unwrap_or_default()
}

/// Lets the time pass after which the hold is probed.
fn pass_hold(project: &Project) {
    let database = rusqlite::Connection::open(project.root.join(".symphony/symphony.db")).unwrap();
    assert_eq!(
        database.execute("UPDATE hold SET until = 0", []).unwrap(),
        1
    );
}

#[test]
fn a_gate_that_ends_whoever_runs_it_holds_the_project_and_is_named() {
    let project = project(&[]);
    let flag = project.beside.join("deadly");
    std::fs::write(&flag, "").unwrap();
    project.configure_more(&config(&[
        gate("lint", "true"),
        gate("test", &deadly(&flag)),
    ]));
    project.add_issue("Say hello");
    project.add_issue("Say hello again");
    let settle = || {
        let mut started = profiles(&project);
        while project.json(&["runs", "list", "--live"])["items"] != json!([]) {
            started.extend(profiles(&project));
        }
        started
    };
    assert_eq!(settle(), ["gates"]);
    let told = hold(&project);
    let words = text(&told["text"]);
    assert!(words.contains("`test` (`test -e "), "{words}");
    assert!(
        words.contains(" came to no result: the supervisor of run "),
        "{words}"
    );
    assert_eq!(told["answers"][0], "symphony doctor --gates", "{told:#}");
    assert_eq!(settle(), [""; 0]);
    // a probe that ends alike makes the wait longer
    pass_hold(&project);
    assert_eq!(settle(), ["gates"]);
    assert_eq!(settle(), [""; 0]);
    assert_eq!(project.json(&["status"])["holds"][0]["probes"], 1);
    assert_eq!(project.issue("SYM-1")["total_runs"], 0);
    project.assert_sound();
    // it was the machine: the next probe ends the hold
    std::fs::remove_file(&flag).unwrap();
    pass_hold(&project);
    assert_eq!(settle(), ["gates"]);
    assert!(!held(&project));
    assert_eq!(profiles(&project)[..1], ["worker"]);
    project.assert_sound();
}
