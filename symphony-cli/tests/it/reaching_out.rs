//! Commands that reach out of Symphony: people are told once of what waits, pull requests are published once.

use serde_json::{Value, json};
use symphony_core::tick::LockState;

use crate::records::{open_pr, record_gates};
use crate::support::{
    Project, WORKER, commit, create_pr, lock_is, scenario, scenarios, text, until,
};

/// What a command wrote down of its standard input, one object a line.
fn told(project: &Project) -> Vec<Value> {
    let text = std::fs::read_to_string(project.beside.join("told.jsonl")).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A command that writes down what it is told, and then does something more.
fn writes_down(project: &Project, more: &str) -> String {
    format!("cat >> '{}/told.jsonl'; {more}", project.beside.display())
}

/// Waits until a command has been told so much and its process has recorded it.
fn until_told(project: &Project, count: usize) -> Vec<Value> {
    let lock = project.root.join(".symphony/notify.lock");
    until("the notifications", || {
        let told = told(project);
        (told.len() >= count && lock_is(LockState::Free, &lock)).then_some(told)
    })
}

#[test]
fn each_item_of_the_inbox_is_told_once_and_a_failure_stops_nothing() {
    let project = Project::new("place", &scenarios([]), &json!({}));
    let notify = writes_down(
        &project,
        "head -c 5000 /dev/zero | tr '\\0' x; echo it broke; exit 3",
    );
    project.configure_more(&json!({ "judge_enabled": false, "notify": notify }));
    for issue in ["SYM-1", "SYM-2"] {
        project.add_issue("Change it");
        let pr = open_pr(&project, issue, "A change");
        record_gates(&project, pr, true);
    }
    project.ok(&["tick"]);
    let first = until_told(&project, 2);
    let shown: Vec<Value> = first
        .iter()
        .map(|told| {
            json!([
                told["version"],
                told["event"],
                told["kind"],
                told["issue"],
                told["project"]
            ])
        })
        .collect();
    assert_eq!(
        shown,
        [
            json!([1, "review_waits", "review", "SYM-1", "place"]),
            json!([1, "review_waits", "review", "SYM-2", "place"]),
        ]
    );
    assert_eq!(first[0]["answers"][0], "symphony pr show SYM-1");

    // told once, though the command failed; only what is new is told
    project.ok(&["tick"]);
    project.add_issue("Needs what is given up");
    project.ok(&["issue", "edit", "SYM-3", "--add-label", "needs-planning"]);
    project.ok(&["tick"]);
    let all = until_told(&project, 3);
    assert_eq!(all.len(), 3, "{all:#?}");
    assert_eq!(all[2]["kind"], "undispatched");
    let log = std::fs::read_to_string(project.root.join(".symphony/notify.log")).unwrap();
    let told = |length| format!("exit code 3: {}it broke", "x".repeat(length));
    assert!(
        log.contains(&told(292)) && !log.contains(&told(293)),
        "{log}"
    );
    let doctor = project.ok(&["doctor"]);
    assert!(
        doctor.contains("\nwarning  notify: the last notification failed "),
        "{doctor}"
    );
}

/// The failed publications of the inbox: what they say, and the usual answer.
fn unpublished(project: &Project) -> Value {
    let inbox = project.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap().iter();
    items
        .filter(|item| item["kind"] == "publication")
        .map(|item| json!([item["text"], item["answers"][0]]))
        .collect()
}

#[test]
fn a_pull_request_is_published_once_and_again_when_a_human_asks() {
    let when = json!({ "match_system": WORKER });
    let work = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let project = Project::new(
        "place",
        &scenarios([scenario("works", &when, work)]),
        &json!({}),
    );
    let publish = writes_down(&project, "echo pushed; echo https://forge.example/pr/1");
    project.configure_more(&json!({ "judge_enabled": false, "publish": publish }));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    until("the publication", || {
        (told(&project).len() == 1).then_some(())
    });
    let pr = until("its outcome", || {
        let pr = project.json(&["pr", "show", "SYM-1"]);
        (pr["publication"]["state"] == "published").then_some(pr)
    });
    let told_first = &told(&project)[0];
    assert_eq!(
        json!([
            told_first["event"],
            told_first["issue"],
            told_first["branch"],
            told_first["head_commit"],
            told_first["url"]
        ]),
        json!([
            "publish",
            "SYM-1",
            "symphony/SYM-1",
            pr["head_commit"],
            null
        ])
    );
    assert_eq!(pr["publication"]["url"], "https://forge.example/pr/1");
    let shown = project.ok(&["pr", "show", "SYM-1"]);
    assert!(shown.contains("https://forge.example/pr/1"), "{shown}");

    let said = project.ok(&["pr", "publish", "SYM-1"]);
    assert_eq!(
        said,
        "Published pull request 1: https://forge.example/pr/1\n"
    );
    let all = told(&project);
    assert_eq!(
        (all.len(), text(&all[1]["url"])),
        (2, "https://forge.example/pr/1".to_owned())
    );

    // a failure is recorded, and keeps the address
    project.configure_more(
        &json!({ "judge_enabled": false, "publish": "echo no network >&2; exit 7" }),
    );
    let failed = project.symphony(&["pr", "publish", "SYM-1"]);
    assert_eq!(
        (failed.code, failed.stdout.as_str(), failed.stderr.as_str()),
        (
            1,
            "",
            "warning: Pull request 1 was not published: no network [exit code 7]\n"
        )
    );
    let pr = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(
        json!([
            pr["publication"]["state"],
            pr["publication"]["exit_code"],
            pr["publication"]["output"]
        ]),
        json!(["failed", 7, "no network\n[exit code 7]\n"])
    );
    assert_eq!(
        unpublished(&project),
        json!([[
            "pull request 1 was not published: exit code 7: no network",
            "symphony pr publish SYM-1"
        ]])
    );
    // it waits for the verdict, published or not
    let explained = project.ok(&["explain", "SYM-1"]);
    assert!(!explained.contains("not published"), "{explained}");
    assert!(explained.contains("waits for your verdict"), "{explained}");
    project.configure_more(&json!({ "judge_enabled": false, "publish": "true" }));
    project.ok(&["pr", "publish", "SYM-1"]);
    assert_eq!(unpublished(&project), json!([]));
    project.ok(&["pr", "merge", "SYM-1"]);
    let merged = project.symphony(&["pr", "publish", "SYM-1"]);
    assert_eq!(merged.code, 4, "{merged:?}");
}

/// The commands that reach out have the user's tokens. The supervisor whose run made the pull request ready has not, so a tick
/// starts the helper that publishes.
#[test]
fn a_tick_publishes_what_is_ready_with_the_environment_of_the_user() {
    let when = json!({ "match_system": WORKER });
    let work = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let mut project = Project::new(
        "place",
        &scenarios([scenario("works", &when, work)]),
        &json!({}),
    );
    project.set_variable("GITHUB_TOKEN", "ghp-0123456789abcdef");
    project.set_variable("SSH_AUTH_SOCK", "/run/agent.sock");
    let seen = project.beside.join("seen");
    let publish = writes_down(
        &project,
        &format!(
            "echo \"$GITHUB_TOKEN $SSH_AUTH_SOCK ${{SYMPHONY_RUN_ID-none}}\" > '{}'; echo pushed with $GITHUB_TOKEN",
            seen.display()
        ),
    );
    // what a gate sees is what its supervisor can give away
    let gate = format!("env > '{}/gate'", project.beside.display());
    project.configure_more(&json!({
        "judge_enabled": false,
        "publish": publish,
        "gates": [{ "name": "tests", "command": gate }]
    }));
    project.add_issue("Say hello");
    project.ok(&["tick"]);
    until("the gates", || {
        let runs = project.json(&["runs", "list"]);
        let runs = runs["items"].as_array().unwrap();
        let is_over = runs.iter().all(|run| run["status"] == "succeeded");
        (runs.len() == 2 && is_over).then_some(())
    });
    assert_eq!(told(&project).len(), 0);
    // two at once publish once
    let ticks: Vec<_> = (0..2).map(|_| project.symphony(&["tick"])).collect();
    assert!(ticks.iter().all(|tick| tick.code == 0), "{ticks:?}");
    let pr = until("the publication", || {
        let pr = project.json(&["pr", "show", "SYM-1"]);
        (pr["publication"]["state"] == "published").then_some(pr)
    });
    assert_eq!(told(&project).len(), 1);
    assert_eq!(
        std::fs::read_to_string(seen).unwrap(),
        "ghp-0123456789abcdef /run/agent.sock none\n"
    );
    assert_eq!(
        pr["publication"]["output"],
        "pushed with [redacted: GITHUB_TOKEN]\n"
    );
    let gate = std::fs::read_to_string(project.beside.join("gate")).unwrap();
    assert!(
        !gate.contains("ghp-") && !gate.contains("SSH_AUTH_SOCK"),
        "{gate}"
    );
    project.ok(&["tick"]);
    let lock = project.root.join(".symphony/publish.lock");
    until("the helper's end", || {
        lock_is(LockState::Free, &lock).then_some(())
    });
    assert_eq!(told(&project).len(), 1);
}

#[test]
fn without_a_command_nothing_is_published() {
    let project = Project::new("place", &scenarios([]), &json!({}));
    project.add_issue("Change it");
    open_pr(&project, "SYM-1", "A change");
    let answer = project.symphony(&["pr", "publish", "SYM-1"]);
    assert_eq!(answer.code, 4, "{answer:?}");
    assert!(
        answer.stderr.contains("set `publish` in the configuration"),
        "{answer:?}"
    );
}
