//! Gates of a pull request that end the supervisor which runs them.

use serde_json::{Value, json};

use crate::plan_support::{any_phase, plan_of};
use crate::support::{Project, commit, create_pr, scenarios, text, until, worker};

/// A gate that passes on the base, and ends its supervisor on a change, as tests that use up the memory do.
const DEADLY: &str = "test -e hello.txt || exit 0; p=$$; while [ $p -gt 1 ]; do p=$(cut -d' ' -f4 /proc/$p/stat); \
     if tr '\\0' ' ' </proc/$p/cmdline | grep -q ' supervise '; then kill -9 $p; sleep 30; fi; done";

fn project() -> Project {
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let gates = json!([
        { "name": "lint", "command": "true" },
        { "name": "test", "command": DEADLY },
    ]);
    Project::new(
        "project",
        &scenarios([worker(turns)]),
        &json!({ "gates": gates, "judge_enabled": false }),
    )
}

/// Ticks until nothing is at work; returns the profiles that ticks started.
fn settle(project: &Project) -> Vec<String> {
    let mut started = Vec::new();
    loop {
        let runs = project.tick_wait();
        started.extend(runs.iter().map(|run| text(&run["profile"])));
        if project.json(&["runs", "list", "--live"])["items"] == json!([]) {
            return started;
        }
    }
}

/// Lets the time pass after which the gates are tried again.
fn pass_delay(project: &Project) {
    let database = rusqlite::Connection::open(project.root.join(".symphony/symphony.db")).unwrap();
    let due = "UPDATE pull_request SET gates_due_at = 0";
    assert_eq!(database.execute(due, []).unwrap(), 1);
}

fn blocked(project: &Project) -> Option<Value> {
    project.waiting("blocked").into_iter().next()
}

#[test]
fn gates_that_end_their_supervisor_three_times_stop_the_issue_and_are_named() {
    let project = project();
    project.add_issue("Say hello");
    settle(&project);
    for tries in 1..3 {
        let issue = project.issue("SYM-1");
        assert_eq!(issue["status"], "review", "after {tries}");
        assert_eq!(blocked(&project), None, "after {tries}");
        pass_delay(&project);
        assert_eq!(settle(&project), ["gates"], "after {tries}");
    }
    assert_eq!(project.issue("SYM-1")["status"], "blocked");
    let entry = blocked(&project).unwrap();
    let said = text(&entry["text"]);
    let why =
        "the supervisor of its gates died 3 times in a row, the last time while `test` was running";
    assert!(said.contains(why), "{said}");
    assert_eq!(
        entry["answers"],
        json!([
            "symphony pr show SYM-1",
            "symphony pr check SYM-1",
            "symphony issue retry SYM-1",
            "symphony pr merge SYM-1 --force",
        ])
    );
    assert_eq!(settle(&project), [""; 0]);
    assert_eq!(project.issue("SYM-1")["consecutive_failures"], 0);
    project.assert_sound();
    // it was the machine, or the gate was changed: a person asks for them again
    let gates = json!([{ "name": "test", "command": "true" }]);
    project.configure_more(&json!({ "gates": gates, "judge_enabled": false }));
    project.ok(&["pr", "check", "SYM-1"]);
    settle(&project);
    let issue = project.issue("SYM-1");
    assert_eq!(issue["status"], "review");
    assert_eq!(issue["pull_requests"][0]["state"], "open");
    assert_eq!(blocked(&project), None);
    project.assert_sound();
}

#[test]
fn gates_that_died_in_a_checkout_that_cannot_be_removed_end_all_the_same() {
    let away =
        "test -e hello.txt || exit 0; mv \"$PWD\" \"$PWD.moved\"; ln -s \"$PWD.moved\" \"$PWD\"";
    let project = Project::new(
        "project",
        &scenarios([worker([
            commit("hello.txt", "hello"),
            create_pr("Say hello"),
        ])]),
        &json!({
            "gates": [{ "name": "test", "command": format!("{away}; {DEADLY}") }],
            "judge_enabled": false,
        }),
    );
    project.add_issue("Say hello");
    let is_over = |runs: &Value| {
        let is_ended = |run: &Value| !run["ended_at"].is_null();
        let of_gates = |run: &&Value| run["profile"] == "gates";
        let items = runs["items"].as_array().unwrap();
        items.iter().filter(of_gates).count() > 0 && items.iter().all(is_ended)
    };
    until("its gates have ended", || {
        project.tick_wait();
        is_over(&project.json(&["runs", "list"])).then_some(())
    });
    assert_eq!(project.issue("SYM-1")["status"], "review");
    // what is left of them is for a person to remove
    let workspaces = project.root.join(".symphony-workspaces");
    for left in std::fs::read_dir(workspaces).unwrap() {
        let path = left.unwrap().path();
        if path.is_symlink() {
            std::fs::remove_file(path).unwrap();
        } else if path.extension().is_some_and(|end| end == "moved") {
            std::fs::remove_dir_all(path).unwrap();
        }
    }
    project.assert_sound();
}

#[test]
fn gates_of_a_plan_that_end_their_supervisor_three_times_wait_for_a_person_who_goes_on() {
    for answer in [
        &["pr", "check", "1"][..],
        &["pr", "merge", "1", "--force"],
        &["plan", "retry", "a", "--plan", "plan"],
        &["plan", "abort", "--plan", "plan"],
    ] {
        let deadly = DEADLY.replace("hello.txt", "a.txt");
        let gates =
            json!([{ "name": "lint", "command": "true" }, { "name": "test", "command": deadly }]);
        let project = Project::new(
            "project",
            &scenarios([any_phase()]),
            &json!({ "gates": gates, "judge_enabled": false }),
        );
        std::fs::write(project.root.join("plan.md"), plan_of(&[("a", &[])])).unwrap();
        project.ok(&["plan", "run", "plan.md"]);
        settle(&project);
        for tries in 1..3 {
            assert_eq!(project.waiting("gates"), [json!(null); 0], "after {tries}");
            pass_delay(&project);
            assert_eq!(settle(&project), ["gates"], "after {tries}");
        }
        let [entry] = project.waiting("gates").try_into().unwrap();
        let said = text(&entry["text"]);
        let why = "are red: `test` (the supervisor of its gates died 3 times in a row, the last time while `test` was running";
        assert!(said.contains(why), "{said}");
        let offered = entry["answers"].to_string();
        let words = answer.join(" ").replace("retry a", "retry PHASE");
        assert!(offered.contains(&words), "{offered}");
        // neither the time nor a judge goes on with it
        assert_eq!(settle(&project), [""; 0]);
        project.assert_sound();
        let green = json!([{ "name": "test", "command": "true" }]);
        project.configure_more(&json!({ "gates": green, "judge_enabled": false }));
        project.ok(answer);
        settle(&project);
        assert_eq!(project.waiting("gates"), [json!(null); 0], "{answer:?}");
        project.assert_sound();
    }
}

#[test]
fn what_a_person_offers_for_a_deadly_gate_works() {
    for answer in [
        &["issue", "retry", "SYM-1"][..],
        &["pr", "merge", "SYM-1", "--force"],
    ] {
        let project = project();
        project.add_issue("Say hello");
        settle(&project);
        for _ in 1..3 {
            pass_delay(&project);
            settle(&project);
        }
        assert_eq!(project.issue("SYM-1")["status"], "blocked");
        let gates = json!([{ "name": "test", "command": "true" }]);
        project.configure_more(&json!({ "gates": gates, "judge_enabled": false }));
        project.ok(answer);
        assert_ne!(project.issue("SYM-1")["status"], "blocked", "{answer:?}");
        project.assert_sound();
    }
}
