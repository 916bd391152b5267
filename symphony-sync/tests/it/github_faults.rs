//! What GitHub refuses, and how the client waits.

use symphony_core::Timestamp;
use symphony_fakes::{FakeGithub, Fault as Planned, On};
use symphony_sync::Fault;
use symphony_tracker::remote::{Cursor, ExternalId};

use crate::harness::{comment, github, labels, outgoing, wait_of};

fn with_one_issue() -> FakeGithub {
    let fake = FakeGithub::start();
    fake.with(|world| world.add_issue(1, "Issue", "Text"));
    fake
}

#[tokio::test]
async fn a_revoked_token_is_not_accepted() {
    let fake = with_one_issue();
    fake.with(|world| world.revoke(FakeGithub::TOKEN));
    let tracker = github(&fake);
    let detail = "Bad credentials".to_owned();
    let expected = Fault::Unauthorised { detail };
    assert_eq!(tracker.check().await.unwrap_err(), expected);
    assert_eq!(
        tracker.changed(&Cursor::default()).await.unwrap_err(),
        expected
    );
    assert_eq!(
        tracker.issues(&[ExternalId::new("1")]).await.unwrap_err(),
        expected
    );
    assert_eq!(
        tracker
            .apply(&outgoing("1", comment("x")))
            .await
            .unwrap_err(),
        expected
    );
}

#[tokio::test]
async fn a_token_that_only_reads_says_what_it_needs() {
    let fake = with_one_issue();
    fake.with(|world| {
        world.set_token(FakeGithub::TOKEN, 1, None);
        world.set_read_only(FakeGithub::TOKEN);
    });
    let tracker = github(&fake);
    tracker.changed(&Cursor::default()).await.unwrap();
    let fault = tracker
        .apply(&outgoing("1", labels(&["a"], &[])))
        .await
        .unwrap_err();
    let expected = Fault::Forbidden {
        action: "set labels".to_owned(),
        detail:
            "Resource not accessible by personal access token; it needs the permission issues=write"
                .to_owned(),
    };
    assert_eq!(fault, expected);
}

#[tokio::test]
async fn an_empty_quota_is_waited_for_without_further_requests() {
    let fake = with_one_issue();
    let reset = Timestamp::now().as_second() + 600;
    fake.with(|world| world.set_quota(Some(0), reset));
    let tracker = github(&fake);
    let fault = tracker.changed(&Cursor::default()).await.unwrap_err();
    assert!((590..=601).contains(&wait_of(&fault)), "{fault:?}");
    assert_eq!(fake.take_exchanges().len(), 1);
    let fault = tracker
        .apply(&outgoing("1", comment("x")))
        .await
        .unwrap_err();
    assert!((590..=601).contains(&wait_of(&fault)), "{fault:?}");
    assert_eq!(fake.take_exchanges().len(), 0);
}

#[tokio::test]
async fn the_last_request_of_a_quota_is_answered_and_the_next_waits() {
    let fake = with_one_issue();
    let reset = Timestamp::now().as_second() + 600;
    fake.with(|world| world.set_quota(Some(1), reset));
    let tracker = github(&fake);
    let ids = [ExternalId::new("1")];
    assert_eq!(tracker.issues(&ids).await.unwrap().len(), 1);
    wait_of(&tracker.issues(&ids).await.unwrap_err());
    assert_eq!(fake.take_exchanges().len(), 1);
}

#[tokio::test]
async fn secondary_limits_are_waits_and_no_prohibitions() {
    let secondary =
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    let table = [
        (
            Planned::status(403, secondary).with_header("retry-after", "120"),
            118..=120,
        ),
        (Planned::status(403, secondary), 58..=60),
        (
            Planned::status(429, "Too many requests").with_header("retry-after", "30"),
            28..=30,
        ),
        (
            Planned::status(429, "Too many requests").with_header("retry-after", "999999999"),
            7198..=7200,
        ),
        (
            Planned::status(429, "").with_header("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT"),
            58..=60,
        ),
    ];
    for (planned, expected) in table {
        let fake = with_one_issue();
        fake.fail(On::method("POST"), planned);
        let fault = github(&fake)
            .apply(&outgoing("1", comment("x")))
            .await
            .unwrap_err();
        assert!(expected.contains(&wait_of(&fault)), "{fault:?}");
        assert!(fake.with(|world| world.comments(1)).is_empty());
    }
}

#[tokio::test]
async fn failures_of_the_server_are_reported_with_their_status() {
    for status in [500, 502, 503] {
        let fake = with_one_issue();
        fake.fail(On::any().times(1), Planned::status(status, "Server Error"));
        let tracker = github(&fake);
        let detail = "Server Error".to_owned();
        let fault = tracker.changed(&Cursor::default()).await.unwrap_err();
        assert_eq!(fault, Fault::Failed { status, detail });
        // nothing is kept of a failure
        assert_eq!(
            tracker
                .changed(&Cursor::default())
                .await
                .unwrap()
                .issues
                .len(),
            1
        );
    }
}

#[tokio::test]
async fn a_look_that_fails_in_its_middle_repeats_and_loses_nothing() {
    let fake = with_one_issue();
    fake.with(|world| {
        world.add_issue(1, "Second", "");
        world.edit_issue(2, |issue| issue.blocked_by = [1].into());
        world.add_comment(2, 2, "Comment");
    });
    let tracker = github(&fake);
    for part in ["blocked_by", "/comments"] {
        fake.fail(On::any().with(part).times(1), Planned::status(500, "x"));
        tracker.changed(&Cursor::default()).await.unwrap_err();
        fake.heal();
    }
    let page = tracker.changed(&Cursor::default()).await.unwrap();
    assert_eq!(
        (page.issues.len(), page.comments.len(), page.has_more),
        (2, 1, false)
    );
}

#[tokio::test]
async fn answers_that_break_the_promise_are_named_by_their_place() {
    let answers = [
        (Planned::TruncatedJson, "a list of issues or comments"),
        (
            Planned::Answer {
                status: 200,
                headers: vec![],
                body: r#"[{"number": 1, "id": "one"}]"#.to_owned(),
            },
            "a list of issues or comments, at `[0].id`",
        ),
        (
            Planned::Answer {
                status: 200,
                headers: vec![],
                body: "<html>Sign in to your proxy</html>".to_owned(),
            },
            "a list of issues or comments, at `.`",
        ),
        (
            Planned::Answer {
                status: 204,
                headers: vec![],
                body: String::new(),
            },
            "a list of issues or comments",
        ),
    ];
    for (planned, beginning) in answers {
        let fake = with_one_issue();
        fake.fail(On::any(), planned);
        let fault = github(&fake).changed(&Cursor::default()).await.unwrap_err();
        let Fault::Unreadable { detail } = fault else {
            panic!("{fault:?}")
        };
        assert!(detail.starts_with(beginning), "{detail}");
    }
}
