//! What goes wrong around trackers, and what a person reads and does then.

use std::process::Stdio;

use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};
use symphony_core::Timestamp;
use symphony_fakes::{FakeGithub, Fault, On};

use crate::support::{call, scenarios, turn, until, worker};
use crate::trackers::{MALLORY, OCTOCAT, bodies, hello_worker, labelled, mirrored};

#[test]
fn a_token_that_may_only_read_is_reported_and_keeps_reading() {
    let github = FakeGithub::start();
    let number = labelled(&github, "Say hello", "");
    let project = mirrored(&scenarios([hello_worker()]), &github, &json!({}));
    let check = project.ok(&["tracker", "check"]);
    assert!(check.contains("may read and write"), "{check}");
    assert_eq!(
        github.with(|world| world.issues().len()),
        1,
        "a check makes nothing"
    );
    project.ok(&["tracker", "sync"]);
    github.with(|world| world.set_read_only(FakeGithub::TOKEN));
    let check = project.symphony(&["tracker", "check"]);
    assert_eq!(check.code, 1, "{check:#?}");
    assert!(check.stdout.contains("may only read"), "{check:#?}");
    project.ok(&["issue", "edit", "SYM-1", "--description", "In hello.txt"]);
    for title in ["Say it", "Say it twice"] {
        github.with(|world| {
            world.edit_issue(number, |issue| issue.title = title.to_owned());
        });
        // A tick looks too: the hold is of the writing alone.
        let held = project.symphony(&["tracker", "sync"]);
        assert!(
            held.stdout.contains("what is new there is still read"),
            "{held:#?}"
        );
        assert_eq!(project.issue("SYM-1")["title"], title);
    }
    let inbox = project.ok(&["inbox"]);
    assert!(inbox.contains("the token may not change issues"), "{inbox}");
    github.with(|world| {
        world.edit_issue(number, |issue| issue.title = "By a tick".to_owned());
    });
    until("a tick that reads", || {
        project.ok(&["tick"]);
        (project.issue("SYM-1")["title"] == "By a tick").then_some(())
    });
    assert_eq!(github.with(|world| world.issue(number).body), None);
}

#[test]
fn a_second_sync_says_what_it_waits_for() {
    let github = FakeGithub::start();
    labelled(&github, "Say hello", "");
    let project = mirrored(&scenarios([hello_worker()]), &github, &json!({}));
    project.ok(&["tracker", "sync"]);
    let lock = std::fs::File::options()
        .read(true)
        .write(true)
        .open(project.root.join(".symphony/sync.lock"))
        .unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let mut second = project
        .command(&["tracker", "sync"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut read = String::new();
    let mut stderr = std::io::BufReader::new(second.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut stderr, &mut read).unwrap();
    assert!(
        read.contains("Another process is exchanging changes"),
        "{read}"
    );
    drop(lock);
    assert!(second.wait().unwrap().success());
}

#[test]
fn an_issue_that_was_moved_elsewhere_is_mirrored_no_longer() {
    let github = FakeGithub::start();
    let (first, second) = (
        labelled(&github, "First", ""),
        labelled(&github, "Second", ""),
    );
    let project = mirrored(&scenarios([hello_worker()]), &github, &json!({}));
    project.ok(&["tracker", "sync"]);
    github.with(|world| {
        world.transfer_issue(first);
        world.transfer_issue(second);
    });
    // One is found by a change, the other one by a reading of everything.
    project.ok(&["issue", "edit", "SYM-1", "--title", "Ours"]);
    let synced = project.ok(&["tracker", "sync"]);
    assert!(synced.contains("#1 no longer exists there"), "{synced}");
    assert_eq!(project.issue("SYM-1")["trackers"], json!([]));
    assert_eq!(project.issue("SYM-1")["title"], "Ours");
    assert_eq!(
        project.issue("SYM-2")["trackers"].as_array().unwrap().len(),
        1
    );
    project.ok(&["tracker", "sync", "--all"]);
    assert_eq!(project.issue("SYM-2")["trackers"], json!([]));
    let history = project.ok(&["issue", "history", "SYM-2"]);
    assert!(history.contains("no longer mirrored"), "{history}");
    let status = project.json(&["tracker", "status"]);
    assert_eq!(status["items"][0]["waiting"], json!([]), "{status:#}");
    assert_eq!(status["items"][0]["refused"], json!([]), "{status:#}");
    project.assert_sound();
}

#[test]
fn changes_for_a_tracker_that_was_taken_out_are_not_forgotten() {
    let github = FakeGithub::start();
    labelled(&github, "Say hello", "");
    let project = mirrored(&scenarios([hello_worker()]), &github, &json!({}));
    project.ok(&["tracker", "sync"]);
    project.ok(&["issue", "edit", "SYM-1", "--title", "Ours"]);
    github.fail(On::method("PATCH"), Fault::status(502, "Bad Gateway"));
    project.symphony(&["tracker", "sync"]);
    let text = std::fs::read_to_string(project.root.join("symphony.config.json")).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    config.as_object_mut().unwrap().remove("trackers");
    project.configure(&config);
    let status = project.ok(&["tracker", "status"]);
    assert!(status.contains("not in the configuration"), "{status}");
    assert!(status.contains("1 change cannot be sent"), "{status}");
    let doctor = project.symphony(&["doctor"]);
    assert!(
        doctor.stdout.contains("1 change cannot be sent"),
        "{doctor:#?}"
    );
}

/// A first reading of a repository has the comments of all issues on its own pages.
#[test]
fn a_first_import_asks_for_no_issues_comments_one_by_one() {
    const ISSUES: usize = 150;
    let github = FakeGithub::start();
    for number in 0..ISSUES {
        let issue = labelled(&github, &format!("Issue {number}"), "");
        github.with(|world| world.add_comment(MALLORY, issue, &format!("Remark {number}")));
    }
    let project = mirrored(&scenarios([hello_worker()]), &github, &json!({}));
    project.ok(&["tracker", "sync"]);
    let requests = github.take_exchanges().len();
    assert!(requests < 15, "{requests} requests for {ISSUES} issues");
    let status = project.json(&["tracker", "status"]);
    assert_eq!(status["items"][0]["issues"], ISSUES, "{status:#}");
    for (issue, comment) in [("SYM-1", "Remark 0"), ("SYM-150", "Remark 149")] {
        assert_eq!(project.issue(issue)["comments"][0]["content"], comment);
    }
    // One that is let in later brings what was said about it before.
    let late = github.with(|world| world.add_issue(OCTOCAT, "Late", ""));
    github.with(|world| world.add_comment(MALLORY, late, "Early"));
    project.ok(&["tracker", "sync"]);
    github.with(|world| {
        world.edit_issue(late, |issue| {
            issue.labels.insert("symphony".to_owned());
        });
    });
    project.ok(&["tracker", "sync"]);
    assert_eq!(project.issue("SYM-151")["comments"][0]["content"], "Early");
}

#[test]
fn a_filter_that_lets_everyone_in_is_called_a_risk() {
    let github = FakeGithub::start();
    let open = json!({ "filter": { "labels": [] } });
    let project = mirrored(&scenarios([hello_worker()]), &github, &open);
    let check = project.ok(&["tracker", "check"]);
    assert!(check.contains("every issue there comes in"), "{check}");
    let doctor = project.symphony(&["doctor"]);
    assert!(
        doctor.stdout.contains("every issue there comes in"),
        "{doctor:#?}"
    );
}

/// Whatever the tracker's clock says, an answer after the question counts.
#[test]
fn an_answer_counts_whatever_the_clocks_say() {
    for ahead_ms in [-5_400_000_i64, 5_400_000] {
        let github = FakeGithub::start();
        let now = Timestamp::now().as_millisecond() + ahead_ms;
        github.with(|world| world.clock.set(Timestamp::from_millisecond(now).unwrap()));
        let number = labelled(&github, "Say hello", "");
        github.with(|world| world.add_comment(OCTOCAT, number, "/symphony cancel"));
        let ask = turn(call(
            "mcp__symphony__update_issue_status",
            json!({ "status": "blocked", "reason": "Which language?" }),
        ));
        let project = mirrored(&scenarios([worker([ask])]), &github, &json!({}));
        // Some seconds pass between the comment and the link: it was meant for someone else.
        github.with(|world| world.clock.advance_ms(5_000));
        project.ok(&["tracker", "sync"]);
        assert_eq!(project.issue("SYM-1")["status"], "todo", "{ahead_ms}");
        project.tick_one("worker", "succeeded");
        project.ok(&["tracker", "sync"]);
        assert!(
            bodies(&github, number)
                .last()
                .unwrap()
                .contains("Which language?")
        );
        assert_eq!(project.issue("SYM-1")["status"], "blocked");
        github.with(|world| world.clock.advance_ms(5_000));
        github.with(|world| world.add_comment(OCTOCAT, number, "English."));
        project.ok(&["tracker", "sync"]);
        assert_eq!(project.issue("SYM-1")["status"], "todo", "{ahead_ms}");
    }
}
