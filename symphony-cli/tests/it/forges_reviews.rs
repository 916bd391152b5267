//! Reviews at a forge that come late, twice, in great numbers, or are taken back.

use serde_json::{Value, json};
use symphony_fakes::FakeForge;

use crate::forges::{OCTOCAT, head, hello_twice, mirrored, opened, points, state, sync};
use crate::support::{Project, text, until};

fn started(forge: &FakeForge) -> (Project, u64) {
    let project = mirrored(&hello_twice(), forge, &json!({}));
    let number = opened(&project, forge);
    (project, number)
}

/// The points as `severity state: text`.
fn listed(project: &Project) -> Vec<String> {
    let line = |point: &Value| {
        let [severity, state, said] = ["severity", "state", "text"].map(|name| text(&point[name]));
        format!("{severity} {state}: {said}")
    };
    points(project).iter().map(line).collect()
}

#[test]
fn a_request_with_many_comments_sends_the_work_back() {
    let forge = FakeForge::start();
    let (project, number) = started(&forge);
    let many: Vec<(String, u32)> = (0..60).map(|one| (format!("Change {one}."), 1)).collect();
    let comments: Vec<(&str, u32, &str)> = many
        .iter()
        .map(|(said, line)| ("hello.txt", *line, said.as_str()))
        .collect();
    let words = "Do not merge: it deletes data.";
    forge.with(|world| world.add_review(OCTOCAT, number, "CHANGES_REQUESTED", words, &comments));
    sync(&project);
    assert_eq!(state(&project), "rejected");
    let found = listed(&project);
    assert_eq!(found.len(), 50);
    assert_eq!(found[0], format!("must open: {words}"));
    assert!(
        found[49].starts_with("must open: 12 more comments are at http"),
        "{}",
        found[49]
    );
    assert!(found[49].contains("Change 59."), "{}", found[49]);
}

#[test]
fn a_request_that_cannot_be_taken_in_keeps_the_merge_back() {
    let forge = FakeForge::start();
    let (project, number) = started(&forge);
    let remarks: Vec<String> = (0..50).map(|one| format!("Remark {one}.")).collect();
    let mut add = vec!["point", "add", "SYM-1"];
    add.extend(remarks.iter().map(String::as_str));
    project.ok(&add);
    forge
        .with(|world| world.add_review(OCTOCAT, number, "CHANGES_REQUESTED", "Do not merge.", &[]));
    for _ in 0..2 {
        sync(&project);
        let inbox = project.ok(&["inbox"]);
        assert!(inbox.contains("ada requested changes"), "{inbox}");
        let way_out = "run `symphony point close SYM-1 NUMBER` for a settled one";
        assert!(inbox.contains(way_out), "{inbox}");
    }
    project.ok(&["pr", "approve", "SYM-1"]);
    let refused = project.symphony(&["pr", "merge", "SYM-1"]);
    assert_ne!(refused.code, 0, "{refused:#?}");
    assert!(
        refused.stderr.contains("ada requested changes"),
        "{refused:#?}"
    );
    // as soon as there is room, it is taken in
    project.ok(&["point", "close", "SYM-1", "1"]);
    sync(&project);
    assert_eq!(state(&project), "rejected");
    let inbox = project.ok(&["inbox"]);
    assert!(!inbox.contains("ada requested changes"), "{inbox}");
}

#[test]
fn a_dismissed_approval_is_none_here() {
    let forge = FakeForge::start();
    let (project, number) = started(&forge);
    let review = forge.with(|world| world.add_review(OCTOCAT, number, "APPROVED", "", &[]));
    sync(&project);
    assert_eq!(state(&project), "approved");
    forge.with(|world| world.edit_review(review, |one| one.state = "DISMISSED".to_owned()));
    sync(&project);
    let pr = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(pr["state"], "open", "{pr:#}");
    assert_eq!(pr["verdict"], Value::Null, "{pr:#}");
    let history = project.ok(&["issue", "history", "SYM-1"]);
    assert!(history.contains("an approval was dismissed"), "{history}");

    // what a person approves here is not the forge's to take back
    let again = forge.with(|world| world.add_review(OCTOCAT, number, "APPROVED", "", &[]));
    sync(&project);
    assert_eq!(state(&project), "approved");
    project.ok(&["pr", "approve", "SYM-1"]);
    forge.with(|world| world.edit_review(again, |one| one.state = "DISMISSED".to_owned()));
    sync(&project);
    assert_eq!(state(&project), "approved");
    project.assert_sound();
}

#[test]
fn an_approval_that_follows_a_request_in_one_look_counts() {
    let forge = FakeForge::start();
    let (project, number) = started(&forge);
    forge.with(|world| {
        world.add_review(OCTOCAT, number, "CHANGES_REQUESTED", "In French.", &[]);
        world.add_review(OCTOCAT, number, "APPROVED", "Sorry, it is fine.", &[]);
    });
    sync(&project);
    assert_eq!(state(&project), "approved");
    assert_eq!(listed(&project), ["should closed: In French."]);
    project.assert_sound();
}

#[test]
fn an_approval_with_a_remark_is_an_approval() {
    let forge = FakeForge::start();
    let (project, number) = started(&forge);
    forge.with(|world| {
        let comments = [("hello.txt", 1, "nit: nice")];
        world.add_review(OCTOCAT, number, "APPROVED", "Good to go!", &comments)
    });
    sync(&project);
    assert_eq!(state(&project), "approved");
    assert_eq!(listed(&project), ["note open: nit: nice"]);
    project.ok(&["pr", "merge", "SYM-1"]);
    project.assert_sound();
}

#[test]
fn a_dismissed_review_takes_the_point_of_its_text_with_it() {
    let forge = FakeForge::start();
    let (project, number) = started(&forge);
    let review = forge
        .with(|world| world.add_review(OCTOCAT, number, "CHANGES_REQUESTED", "In French.", &[]));
    sync(&project);
    assert_eq!(listed(&project), ["must open: In French."]);
    forge.with(|world| world.edit_review(review, |one| one.state = "DISMISSED".to_owned()));
    sync(&project);
    assert_eq!(listed(&project), ["must closed: In French."]);
}

#[test]
fn a_late_objection_in_a_thread_is_a_point() {
    let forge = FakeForge::start();
    let (project, number) = started(&forge);
    forge.with(|world| {
        let comments = [("hello.txt", 1, "Is this right?")];
        world.add_review(OCTOCAT, number, "COMMENTED", "", &comments)
    });
    sync(&project);
    forge.with(|world| world.add_review(OCTOCAT, number, "APPROVED", "", &[]));
    sync(&project);
    assert_eq!(state(&project), "approved");
    let first = forge.with(|world| {
        let first = world.review_comments(number)[0].id;
        world.reply(OCTOCAT, first, "Wait, this is wrong after all.");
        first
    });
    sync(&project);
    let found = points(&project);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert_eq!(found[1]["severity"], "should");
    assert_eq!(found[1]["file"], "hello.txt");
    let said = text(&found[1]["text"]);
    assert!(said.ends_with("Wait, this is wrong after all."), "{said}");

    // the thread goes on at the new point, and an answer to that is a reply in the thread
    forge.with(|world| world.reply(OCTOCAT, first, "Look at line 1."));
    sync(&project);
    let found = points(&project);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert_eq!(found[1]["answers"][0]["text"], "Look at line 1.");
    project.ok(&["point", "reply", "SYM-1", "2", "I looked."]);
    sync(&project);
    let comments = forge.with(|world| world.review_comments(number));
    let reply = comments.last().unwrap();
    assert!(reply.body.contains("I looked."), "{reply:#?}");
    assert_eq!(reply.reply_to, Some(first));
}

/// A pull request that a review sent back, and whose second attempt answers it.
fn answered(forge: &FakeForge) -> (Project, u64) {
    let (project, number) = started(forge);
    forge.with(|world| {
        let comments = [("hello.txt", 1, "Say it in French, please.")];
        world.add_review(OCTOCAT, number, "CHANGES_REQUESTED", "", &comments)
    });
    sync(&project);
    assert_eq!(state(&project), "rejected");
    project.tick_one("worker", "succeeded");
    (project, number)
}

fn second_attempt_is_there(project: &Project, forge: &FakeForge, number: u64) {
    until("the second attempt at the forge", || {
        project.ok(&["tick", "--wait"]);
        sync(project);
        let there = forge.with(|world| world.pull(number).head);
        (there == head(project)).then_some(())
    });
    sync(project);
}

#[test]
fn a_renamed_repository_keeps_its_conversations() {
    let forge = FakeForge::start();
    let (project, number) = answered(&forge);
    second_attempt_is_there(&project, &forge, number);
    assert_eq!(forge.with(|world| world.review_comments(number)).len(), 2);
    forge.with(|world| world.rename_repository("site"));
    project.git(&["remote", "set-url", "origin", &forge.git_address()]);
    for _ in 0..3 {
        sync(&project);
    }
    let status = project.ok(&["forge", "status"]);
    assert!(status.contains("acme/site"), "{status}");
    assert_eq!(state(&project), "open");
    assert_eq!(points(&project).len(), 1, "{:#?}", points(&project));
    assert_eq!(forge.with(|world| world.review_comments(number)).len(), 2);
    // it is still the same pull request
    forge.with(|world| world.add_review(OCTOCAT, number, "APPROVED", "", &[]));
    sync(&project);
    assert_eq!(state(&project), "approved");
    project.assert_sound();
}

#[test]
fn a_restored_database_does_not_reply_twice() {
    let forge = FakeForge::start();
    let (project, number) = answered(&forge);
    let sql = |statement: &str| {
        let found = rusqlite::Connection::open(project.root.join(".symphony/symphony.db")).unwrap();
        found.execute_batch(statement).unwrap();
    };
    second_attempt_is_there(&project, &forge, number);
    assert_eq!(forge.with(|world| world.review_comments(number)).len(), 2);
    // as it was before the reply was written
    sql("DELETE FROM forge_reply; UPDATE forge_pull SET read_at = NULL");
    for _ in 0..3 {
        sync(&project);
    }
    assert_eq!(forge.with(|world| world.review_comments(number)).len(), 2);
    assert_eq!(points(&project).len(), 1, "{:#?}", points(&project));
    assert_eq!(state(&project), "open");
}

#[test]
fn a_pull_request_that_is_opened_again_is_the_same_conversation() {
    let forge = FakeForge::start();
    let (project, number) = started(&forge);
    forge.with(|world| {
        let comments = [("hello.txt", 1, "Say it in French, please.")];
        world.add_review(OCTOCAT, number, "COMMENTED", "", &comments)
    });
    sync(&project);
    assert_eq!(points(&project).len(), 1);
    forge.with(|world| world.set_open(number, false));
    sync(&project);
    assert_eq!(state(&project), "closed");
    forge.with(|world| world.set_open(number, true));
    project.ok(&["issue", "move", "SYM-1", "todo"]);
    project.tick_one("worker", "succeeded");
    second_attempt_is_there(&project, &forge, number);
    sync(&project);
    assert_eq!(points(&project).len(), 1, "{:#?}", points(&project));
    assert_eq!(forge.with(|world| world.pulls()).len(), 1);
}

#[test]
fn a_review_in_the_second_of_the_last_change_is_read() {
    let forge = FakeForge::start();
    let (project, number) = started(&forge);
    for _ in 0..3 {
        sync(&project);
    }
    forge.with(|world| {
        world.clock.set_step_ms(0);
        world.add_review(OCTOCAT, number, "CHANGES_REQUESTED", "Do not merge.", &[]);
    });
    sync(&project);
    assert_eq!(state(&project), "rejected");

    // once that second is over, nothing is read until something changes
    forge.with(|world| world.clock.advance_ms(5_000));
    for _ in 0..2 {
        sync(&project);
    }
    forge.take_exchanges();
    sync(&project);
    let exchanges = forge.take_exchanges();
    let read: Vec<&str> = exchanges
        .iter()
        .map(|exchange| exchange.target.as_str())
        .filter(|target| target.contains("/reviews"))
        .collect();
    assert!(read.is_empty(), "{read:#?}");
}
