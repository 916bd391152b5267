//! What a pull request at a forge says: Symphony's part follows, and what people wrote stays.

use proptest::prelude::*;
use symphony_forge::remote::{RemotePull, RemoteState};
use symphony_forge::text::{GateLine, Said, Written, plan_text};

use crate::samples::{HEAD, pull};

fn written(title: &str, body: &str, verdict: Option<&str>) -> Written {
    let gates = [GateLine {
        name: "test".to_owned(),
        how: "passed".to_owned(),
        passed: true,
        required: true,
    }];
    Written::of(&Said {
        of: "SYM-1",
        title,
        body,
        head: HEAD,
        gates: &gates,
        verdict,
        points: &[],
    })
}

fn theirs(title: &str, body: &str) -> RemotePull {
    RemotePull {
        title: title.to_owned(),
        body: body.to_owned(),
        ..pull(RemoteState::Open)
    }
}

#[test]
fn it_names_the_commit_the_gates_and_the_verdict() {
    let body = written("Greet", "Says hello.", Some("approved by judge")).body();
    assert_eq!(
        body,
        "Says hello.\n\n<!-- symphony:begin -->\n**SYM-1** at `1111111111`\n\nGates: ✅ test passed\n\n\
         Review: approved by judge\n\n_Symphony keeps this part up to date. The rest of this text is yours to edit._\n\
         <!-- symphony:end -->"
    );
}

#[test]
fn an_agents_text_closes_no_issue_and_calls_no_one() {
    let body = written(
        "Fix #12 for @ada",
        "Closes #12. @ada <!-- symphony:end -->",
        None,
    );
    for text in [&body.title, &body.text] {
        assert!(!text.contains("#12") && !text.contains("@ada"), "{text}");
    }
    assert_eq!(body.body().matches("<!-- symphony:end -->").count(), 1);
}

#[test]
fn what_is_as_it_should_be_is_not_sent() {
    let now = written("Greet", "Says hello.", None);
    let change = plan_text(
        std::slice::from_ref(&now),
        &now,
        &theirs("Greet", &now.body()),
    );
    assert!(change.is_empty(), "{change:?}");
}

#[test]
fn a_new_attempt_replaces_what_symphony_wrote() {
    let before = written("Greet", "Says hello.", None);
    let after = written(
        "Greet in French",
        "Says bonjour.",
        Some("rejected by judge"),
    );
    let change = plan_text(
        std::slice::from_ref(&before),
        &after,
        &theirs("Greet", &before.body()),
    );
    assert_eq!(change.title.as_deref(), Some("Greet in French"));
    assert_eq!(change.body, Some(after.body()));
}

#[test]
fn what_people_wrote_stays() {
    let before = written("Greet", "Says hello.", None);
    let after = written("Greet in French", "Says bonjour.", Some("approved by ada"));
    let edited = before
        .body()
        .replace("Says hello.", "Says hello, and more.")
        + "\n\nSee the wiki.";
    let change = plan_text(
        std::slice::from_ref(&before),
        &after,
        &theirs("A better title", &edited),
    );
    assert_eq!(change.title, None);
    let body = change.body.unwrap();
    assert!(body.starts_with("Says hello, and more."), "{body}");
    assert!(body.ends_with("See the wiki."), "{body}");
    assert!(body.contains("approved by ada"), "{body}");
    // whoever removes the part, or writes a second one, does not get it back
    for text in ["My own words.", &format!("{0}\n{0}", before.body())] {
        let change = plan_text(
            std::slice::from_ref(&before),
            &after,
            &theirs("Greet", text),
        );
        assert_eq!(change.body, None, "{text}");
    }
}

#[test]
fn a_text_that_was_about_to_be_written_is_ours_too() {
    let before = written("Greet", "Says hello.", None);
    let between = written("Greet all", "Says hello to all.", None);
    let after = written("Greet in French", "Says bonjour.", None);
    let change = plan_text(
        &[before, between.clone()],
        &after,
        &theirs("Greet all", &between.body()),
    );
    assert_eq!(change.title.as_deref(), Some("Greet in French"));
    assert_eq!(change.body, Some(after.body()));
}

proptest! {
    #[test]
    fn once_written_it_is_as_it_should_be(
        title in ".{0,40}",
        body in "(.|\n){0,200}",
        people in "(.|\n){0,80}",
        verdict in proptest::option::of("[a-z ]{1,20}"),
    ) {
        let wanted = written(&title, &body, verdict.as_deref());
        let now = theirs(&wanted.title, &(wanted.body() + &people));
        let before = written("Greet", "Says hello.", None);
        let first = plan_text(&[before, wanted.clone()], &wanted, &now);
        let now = theirs(
            first.title.as_deref().unwrap_or(&now.title),
            first.body.as_deref().unwrap_or(&now.body),
        );
        let second = plan_text(std::slice::from_ref(&wanted), &wanted, &now);
        prop_assert!(second.is_empty(), "{second:?}");
    }
}
