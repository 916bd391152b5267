//! The checkout of gates is removed while they run: what they came to says nothing, and they run again.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Project, approving_judge, commit, create_pr, scenarios, text, worker};

/// A gate that finds a forbidden word; once, while this file exists, something removes its checkout before it looks. It does what
/// `rm -rf .symphony-workspaces` in another terminal does, in its midst.
fn removed_once(flag: &Path, done: &str) -> String {
    format!(
        "if test -e '{0}'; then rm '{0}'; {done}; fi; ! grep -rq BAD --include='*.txt' .",
        flag.display()
    )
}

fn config(command: &str) -> Value {
    json!({
        "gates": [{ "name": "no-bad", "command": command }],
        "max_retry_backoff_ms": 1,
        "judge_cooldown_ms": 0,
    })
}

fn project(content: &str) -> Project {
    let turns = [commit("hello.txt", content), create_pr("Say hello")];
    Project::new(
        "project",
        &scenarios([worker(turns), approving_judge()]),
        &config("true"),
    )
}

fn database(project: &Project) -> rusqlite::Connection {
    rusqlite::Connection::open(project.root.join(".symphony/symphony.db")).unwrap()
}

fn passes(project: &Project, gate: &str) -> i64 {
    let count = "SELECT count(*) FROM gate_pass WHERE gate = ?1";
    let database = database(project);
    database.query_row(count, [gate], |row| row.get(0)).unwrap()
}

#[test]
fn gates_whose_checkout_is_removed_while_they_run_are_tried_again_and_use_no_attempt() {
    for done in [
        "rm -rf \"$PWD\"",
        "rm -rf \"$PWD/../_gates-\"*",
        "d=$PWD; rm -rf \"$d\"; mkdir \"$d\"",
        "rm -rf .git *.txt *.md",
    ] {
        let project = project("BAD");
        let flag = project.beside.join("flag");
        project.configure_more(&config(&removed_once(&flag, done)));
        std::fs::write(&flag, "").unwrap();
        project.add_issue("Say hello");
        project.tick_one("worker", "succeeded");
        assert!(!flag.exists(), "{done}");
        let shown = project.issue("SYM-1");
        assert_eq!(shown["status"], "review", "{done}: {shown:#}");
        assert_eq!(shown["consecutive_failures"], 0, "{done}");
        assert_eq!(passes(&project, "no-bad"), 0, "{done}");
        let explained = project.ok(&["explain", "SYM-1"]);
        assert!(
            explained.contains("was removed or replaced while commands ran in it"),
            "{done}: {explained}"
        );
        // the next try finds what the change has
        let due = "UPDATE pull_request SET gates_due_at = 0";
        assert_eq!(database(&project).execute(due, []).unwrap(), 1);
        let runs = project.tick_wait();
        assert_eq!(text(&runs[0]["profile"]), "gates", "{done}");
        let state = &project.issue("SYM-1")["pull_requests"][0]["state"];
        assert_eq!(state, "rejected", "{done}");
        project.assert_sound();
    }
}

#[test]
fn a_merge_whose_gates_lose_their_checkout_is_not_made() {
    let project = project("hello");
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    let flag = project.beside.join("flag");
    project.configure_more(&config(&removed_once(&flag, "rm -rf \"$PWD\"")));
    std::fs::write(&flag, "").unwrap();
    let refused = project.symphony(&["pr", "merge", "SYM-1"]);
    assert_ne!(refused.code, 0, "{refused:#?}");
    assert!(
        refused
            .stderr
            .contains("was removed or replaced while commands ran in it"),
        "{refused:#?}"
    );
    assert_eq!(project.issue("SYM-1")["status"], "review");
    // nothing was at fault, and the next merge runs them on the change
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.issue("SYM-1")["status"], "done");
    project.assert_sound();
}
