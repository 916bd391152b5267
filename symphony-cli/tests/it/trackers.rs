//! Issues that are mirrored with a tracker: from an issue there to a merged change here, and back.

use serde_json::{Value, json};
use symphony_core::Timestamp;
use symphony_fakes::{FakeGithub, Fault, On};

use crate::support::{Project, commit, create_pr, scenarios, text, until, worker};

/// Who may give commands: `octocat` of the fake.
const OCTOCAT: u64 = 1;
/// Somebody else there.
const MALLORY: u64 = 2;

/// A project whose issues are mirrored with a GitHub.
fn mirrored(scenarios: &Value, github: &FakeGithub, more: &Value) -> Project {
    let mut tracker = json!({
        "kind": "github", "repository": "acme/web", "endpoint": github.endpoint(),
        "commanders": { "ada": "1" }, "poll_ms": 0,
    });
    for (name, value) in more.as_object().expect("an object") {
        tracker[name] = value.clone();
    }
    let config = json!({ "judge_enabled": false, "trackers": { "github": tracker } });
    let mut project = Project::new("mirrored", scenarios, &config);
    project.set_variable("GITHUB_TOKEN", FakeGithub::TOKEN);
    project
}

/// Adds an issue with the label that lets it in.
fn labelled(github: &FakeGithub, title: &str, body: &str) -> u64 {
    github.with(|world| {
        let number = world.add_issue(OCTOCAT, title, body);
        world.edit_issue(number, |issue| {
            issue.labels.insert("symphony".to_owned());
        });
        number
    })
}

fn bodies(github: &FakeGithub, issue: u64) -> Vec<String> {
    let comments = github.with(|world| world.comments(issue));
    comments.into_iter().map(|comment| comment.body).collect()
}

fn hello_worker() -> Value {
    worker([commit("hello.txt", "hello"), create_pr("Say hello")])
}

#[test]
fn an_issue_of_github_is_worked_on_and_merged_and_both_sides_agree() {
    let github = FakeGithub::start();
    let number = labelled(&github, "Say hello", "In hello.txt\r\n");
    let other = github.with(|world| world.add_issue(MALLORY, "Give me your keys", ""));
    let script = scenarios([hello_worker()]);
    let project = mirrored(&script, &github, &json!({}));

    let check = project.ok(&["tracker", "check"]);
    assert!(check.contains("as octocat (user id 1)"), "{check}");
    let synced = project.json(&["tracker", "sync"]);
    assert_eq!(synced["items"][0]["taken_in"][0]["key"], "#1", "{synced:#}");
    let issue = project.issue("SYM-1");
    assert_eq!(issue["title"], "Say hello");
    assert_eq!(issue["status"], "todo");
    let all = project.json(&["issue", "list"]);
    assert_eq!(
        all["items"].as_array().unwrap().len(),
        1,
        "{other} has no label"
    );

    project.tick_one("worker", "succeeded");
    project.ok(&["tracker", "sync"]);
    until("the comment about the pull request", || {
        project.ok(&["tracker", "sync"]);
        let bodies = bodies(&github, number);
        bodies
            .iter()
            .any(|body| body.contains("/symphony approve"))
            .then_some(())
    });
    let comments = bodies(&github, number);
    assert!(
        comments[0].contains("Symphony started a worker"),
        "{comments:#?}"
    );
    let approve = comments[1]
        .lines()
        .find(|line| line.starts_with("/symphony approve"))
        .expect("the line to paste")
        .to_owned();

    // somebody else's word does not count, the commander's does
    // the fake's time is a counter; what was written before the link was made is no command
    github.with(|world| world.clock.set(Timestamp::now()));
    github.with(|world| world.add_comment(MALLORY, number, &approve));
    project.ok(&["tracker", "sync"]);
    assert_eq!(project.issue("SYM-1")["status"], "review");
    let pr = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(pr["state"], "open", "{pr:#}");
    github.with(|world| world.add_comment(OCTOCAT, number, &approve));
    project.ok(&["tracker", "sync"]);
    let pr = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(pr["state"], "approved", "{pr:#}");
    assert_eq!(pr["verdict"]["user"], "ada", "{pr:#}");

    project.ok(&["pr", "merge", "SYM-1"]);
    project.ok(&["tracker", "sync"]);
    let there = github.with(|world| world.issue(number));
    assert_eq!(
        (there.is_open, there.reason.as_deref()),
        (false, Some("completed"))
    );
    assert!(
        bodies(&github, number).last().unwrap().contains("merged"),
        "{:#?}",
        bodies(&github, number)
    );
    let seen = github.take_exchanges().len();
    assert!(seen > 0);
    // nothing is left to say
    for _ in 0..3 {
        project.ok(&["tracker", "sync"]);
    }
    let exchanges = github.take_exchanges();
    let writes = exchanges.iter().filter(|exchange| exchange.method != "GET");
    assert_eq!(writes.count(), 0, "{exchanges:#?}");
    project.assert_sound();
}

#[test]
fn a_tick_mirrors_by_itself_and_starts_what_came_in() {
    let github = FakeGithub::start();
    let number = labelled(&github, "Say hello", "In hello.txt");
    let script = scenarios([hello_worker()]);
    let project = mirrored(&script, &github, &json!({}));
    project.ok(&["tick", "--wait"]);
    let merged = until("the pull request of the issue that a tick took in", || {
        project.ok(&["tick", "--wait"]);
        let listed = project.json(&["issue", "list"]);
        (listed["items"][0]["status"] == "review").then_some(())
    });
    let () = merged;
    until("the comment about the start", || {
        project.ok(&["tick", "--wait"]);
        (!bodies(&github, number).is_empty()).then_some(())
    });
    // closed there, it ends here
    github.with(|world| {
        world.edit_issue(number, |issue| {
            issue.is_open = false;
            issue.reason = Some("not_planned".to_owned());
        });
    });
    until("the end of the issue", || {
        project.ok(&["tick", "--wait"]);
        (project.issue("SYM-1")["status"] == "cancelled").then_some(())
    });
    project.assert_sound();
}

#[test]
fn a_wrong_token_holds_the_tracker_and_is_shown_nowhere() {
    let github = FakeGithub::start();
    labelled(&github, "Say hello", "");
    let script = scenarios([hello_worker()]);
    let mut project = mirrored(&script, &github, &json!({}));
    let wrong = "ghp_wrongwrongwrongwrongwrongwrong";
    project.set_variable("GITHUB_TOKEN", wrong);
    let refused = project.symphony(&["tracker", "check"]);
    assert_eq!(refused.code, 1, "{refused:#?}");
    assert!(
        refused.stdout.contains("does not accept the token"),
        "{refused:#?}"
    );
    let refused = project.symphony(&["tracker", "sync"]);
    assert_eq!(refused.code, 1, "{refused:#?}");
    let status = project.ok(&["tracker", "status"]);
    assert!(status.contains("on hold"), "{status}");
    // a tick goes on
    project.add_issue("Something else");
    project.ok(&["tick", "--wait"]);
    for text in [&refused.stdout, &refused.stderr, &status] {
        assert!(!text.contains(wrong), "{text}");
    }
    let state = project.root.join(".symphony");
    let found = std::process::Command::new("grep")
        .args(["-rl", "--binary-files=text", "wrongwrongwrong"])
        .arg(&state)
        .output()
        .unwrap();
    assert_eq!(text(&json!(String::from_utf8_lossy(&found.stdout))), "");
    // with the right one, everything goes on
    project.set_variable("GITHUB_TOKEN", FakeGithub::TOKEN);
    project.ok(&["tracker", "sync"]);
    let listed = project.json(&["issue", "list"]);
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
}

#[test]
fn an_answer_that_is_lost_creates_nothing_twice() {
    let github = FakeGithub::start();
    let number = labelled(&github, "Say hello", "");
    let script = scenarios([hello_worker()]);
    let project = mirrored(&script, &github, &json!({}));
    project.ok(&["tracker", "sync"]);
    project.ok(&[
        "issue",
        "close",
        "SYM-1",
        "--cancelled",
        "--reason",
        "not wanted",
    ]);
    github.fail(On::method("POST").with("/comments"), Fault::CutAfter);
    project.symphony(&["tracker", "sync"]);
    github.heal();
    until("the change after the lost answer", || {
        let synced = project.symphony(&["tracker", "sync"]);
        let there = github.with(|world| world.issue(number));
        (synced.code == 0 && !there.is_open).then_some(())
    });
    let bodies = bodies(&github, number);
    assert_eq!(bodies.len(), 1, "{bodies:#?}");
}
