//! The client of GitHub against npm's `emulate` 0.9.0, an imitation of the API by others.
//!
//! It has no list of a repository's comments, no sub-issues, no dependencies, no tags and no 304, no scopes and no redirects
//! after a rename, and it takes every token. For those only [`symphony_fakes`] was asked, whose answers are compared with
//! GitHub's description.

use serde_json::json;
use symphony_core::config::TrackerPlace;
use symphony_core::issue::Priority;
use symphony_sync::{Fault, Token, Tracker, connect};
use symphony_tracker::change::{Change, Created};
use symphony_tracker::remote::{Cursor, ExternalId, RemoteIssue, RemoteState, StateGroup};

use crate::harness::{again, comment, labels, options, outgoing, part, settings};
use crate::raw::post;

/// The address that `.ci/run` starts it at, with this token and the repository octocat/web.
const VARIABLE: &str = "SYMPHONY_TEST_EMULATE";
const TOKEN: &str = "ghp_emulate0123456789";

fn endpoint() -> String {
    std::env::var(VARIABLE)
        .expect("SYMPHONY_TEST_EMULATE has the address; `bash .ci/run trackers` starts the server")
}

fn tracker(name: &str, token: &str) -> Box<dyn Tracker> {
    let place = TrackerPlace::Github {
        owner: "octocat".to_owned(),
        name: name.to_owned(),
    };
    let token = Token::first_line(token).unwrap();
    connect(&settings(place, &endpoint()), token, &options()).unwrap()
}

/// Adds an issue as another program would.
fn add_issue(title: &str) -> String {
    let address = format!("{}/repos/octocat/web/issues", endpoint());
    let (status, answer) = post(
        &address,
        &format!("Bearer {TOKEN}"),
        &json!({ "title": title }),
    );
    assert_eq!(status, 201, "{answer}");
    answer["number"].to_string()
}

async fn read(tracker: &dyn Tracker, number: &str) -> RemoteIssue {
    let found = tracker.issues(&[ExternalId::new(number)]).await.unwrap();
    found.into_iter().next().expect("the issue exists")
}

#[tokio::test]
async fn the_token_is_checked() {
    let access = tracker("web", TOKEN).check().await.unwrap();
    assert_eq!(access.user.unwrap().login, "octocat");
    assert_eq!(access.place, "octocat/web");
    let fault = tracker("gone", TOKEN).check().await.unwrap_err();
    assert!(matches!(fault, Fault::NotFound { .. }), "{fault:?}");
}

#[tokio::test]
async fn texts_states_and_labels_are_changed() {
    let tracker = tracker("web", TOKEN);
    let number = add_issue("One");
    let apply = |change| {
        let outgoing = outgoing(&number, change);
        let tracker = &tracker;
        async move { tracker.apply(&outgoing).await.unwrap() }
    };
    let title = "Büro 🚀".to_owned();
    apply(Change::SetTitle {
        title: title.clone(),
    })
    .await;
    apply(Change::SetBody {
        body: "New\ntext".to_owned(),
    })
    .await;
    let names = ["a/b", "100%", "two words", "🚀"];
    apply(labels(&names, &[])).await;
    apply(labels(&[], &["a/b", "not there"])).await;
    let issue = read(&*tracker, &number).await;
    assert_eq!((issue.title, issue.body.as_str()), (title, "New\ntext"));
    assert_eq!(
        issue.labels,
        ["100%", "two words", "🚀"].map(str::to_owned).into()
    );
    for group in [
        StateGroup::NotPlanned,
        StateGroup::Open,
        StateGroup::Completed,
    ] {
        let name = String::new();
        let applied = apply(Change::SetState {
            state: RemoteState { name, group },
        })
        .await;
        assert_eq!(applied.issue.unwrap().state.group, group);
    }
    let priority = Change::SetPriority {
        priority: Priority::Low,
    };
    let fault = tracker
        .apply(&outgoing(&number, priority))
        .await
        .unwrap_err();
    assert!(matches!(fault, Fault::Refused { .. }), "{fault:?}");
}

#[tokio::test]
async fn comments_and_parts_are_made_once() {
    let tracker = tracker("web", TOKEN);
    let number = add_issue("Two");
    for change in [comment("Started."), part("Part", &["area/web"])] {
        let first = outgoing(&number, change);
        let made = tracker.apply(&first).await.unwrap().created.unwrap();
        let found = tracker
            .apply(&again(&first))
            .await
            .unwrap()
            .created
            .unwrap();
        match (made, found) {
            (Created::Comment(made), Created::Comment(found)) => assert_eq!(made, found),
            (Created::Issue(made), Created::Issue(found)) => assert_eq!(made.id, found.id),
            other => panic!("{other:?}"),
        }
    }
    let fault = tracker
        .apply(&outgoing("9999", comment("x")))
        .await
        .unwrap_err();
    assert!(matches!(fault, Fault::NotFound { .. }), "{fault:?}");
}

#[tokio::test]
async fn a_full_page_of_issues_is_read_and_the_comments_are_not_known() {
    let tracker = tracker("web", TOKEN);
    for number in 1..=105 {
        add_issue(&format!("Many {number}"));
    }
    let page = tracker.changed(&Cursor::default()).await.unwrap();
    assert_eq!((page.issues.len(), page.has_more), (100, true));
    let fault = tracker.changed(&page.next).await.unwrap_err();
    assert!(matches!(fault, Fault::NotFound { .. }), "{fault:?}");
}
