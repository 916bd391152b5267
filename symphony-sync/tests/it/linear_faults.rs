//! What Linear refuses, and how the client waits.

use symphony_core::Timestamp;
use symphony_fakes::{FakeLinear, Fault as Planned, On};
use symphony_sync::Fault;
use symphony_tracker::remote::{Cursor, ExternalId};

use crate::harness::{comment, linear, linear_with, outgoing, wait_of};

fn errors(status: u16, code: &str, message: &str) -> Planned {
    let body = format!(
        r#"{{"errors": [{{"message": "{message}", "extensions": {{"code": "{code}"}}}}]}}"#
    );
    Planned::Answer {
        status,
        headers: vec![],
        body,
    }
}

#[tokio::test]
async fn a_revoked_key_is_not_accepted() {
    let fake = FakeLinear::start();
    fake.with(|world| world.revoke(FakeLinear::TOKEN));
    let tracker = linear(&fake);
    let detail = "Authentication required, not authenticated".to_owned();
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
async fn a_token_of_an_app_is_sent_as_a_bearer() {
    let fake = FakeLinear::start();
    let token = "lin_oauth_0123456789abcdef";
    fake.with(|world| world.set_token(token, "ada"));
    linear_with(&fake, None, token).check().await.unwrap();
}

#[tokio::test]
async fn a_key_that_only_reads_may_not_write() {
    let fake = FakeLinear::start();
    let id = fake.with(|world| {
        world.is_read_only = true;
        world.add_issue("ada", "ENG", "Issue", "")
    });
    let tracker = linear(&fake);
    tracker.changed(&Cursor::default()).await.unwrap();
    let expected = Fault::Forbidden {
        action: "write comments".to_owned(),
        detail: "Your API key is read only.".to_owned(),
    };
    assert_eq!(
        tracker
            .apply(&outgoing(&id, comment("x")))
            .await
            .unwrap_err(),
        expected
    );
}

#[tokio::test]
async fn an_empty_quota_is_waited_for_without_further_requests() {
    let fake = FakeLinear::start();
    let reset = Timestamp::now().saturating_add_ms(600_000);
    fake.with(|world| world.quota = Some((0, reset)));
    let tracker = linear(&fake);
    let fault = tracker.changed(&Cursor::default()).await.unwrap_err();
    assert!((590..=600).contains(&wait_of(&fault)), "{fault:?}");
    assert_eq!(fake.take_exchanges().len(), 1);
    wait_of(&tracker.check().await.unwrap_err());
    assert_eq!(fake.take_exchanges().len(), 0);
}

#[tokio::test]
async fn the_last_request_of_a_quota_is_answered_and_the_next_waits() {
    let fake = FakeLinear::start();
    let reset = Timestamp::now().saturating_add_ms(600_000);
    fake.with(|world| world.quota = Some((1, reset)));
    let tracker = linear(&fake);
    tracker.check().await.unwrap();
    wait_of(&tracker.check().await.unwrap_err());
    assert_eq!(fake.take_exchanges().len(), 1);
}

#[tokio::test]
async fn limits_without_an_end_are_waits_of_a_minute() {
    let table = [
        (errors(400, "RATELIMITED", "slow down"), 58..=60),
        (Planned::status(429, "slow down"), 58..=60),
        (
            Planned::status(429, "slow down").with_header("retry-after", "7"),
            5..=7,
        ),
    ];
    for (planned, expected) in table {
        let fake = FakeLinear::start();
        fake.fail(On::any(), planned);
        let fault = linear(&fake).check().await.unwrap_err();
        assert!(expected.contains(&wait_of(&fault)), "{fault:?}");
    }
}

#[tokio::test]
async fn other_refusals_say_what_the_caller_can_do() {
    let text = |text: &str| text.to_owned();
    let table = [
        (
            errors(500, "INTERNAL_SERVER_ERROR", "oops"),
            Fault::Failed {
                status: 500,
                detail: text("oops"),
            },
        ),
        (
            errors(200, "INTERNAL_SERVER_ERROR", "oops"),
            Fault::Failed {
                status: 200,
                detail: text("oops"),
            },
        ),
        (
            Planned::status(502, "bad gateway"),
            Fault::Failed {
                status: 502,
                detail: text(r#"{"message":"bad gateway"}"#),
            },
        ),
        (
            errors(400, "GRAPHQL_VALIDATION_FAILED", "no field"),
            Fault::Unreadable {
                detail: text("the API does not know a query of Symphony: no field"),
            },
        ),
    ];
    for (planned, expected) in table {
        let fake = FakeLinear::start();
        fake.fail(On::any(), planned);
        assert_eq!(linear(&fake).check().await.unwrap_err(), expected);
    }
}

#[tokio::test]
async fn answers_that_break_the_promise_are_named_by_their_place() {
    let answer = |body: &str| Planned::Answer {
        status: 200,
        headers: vec![],
        body: body.to_owned(),
    };
    let table = [
        (
            answer(r#"{"data": {"issues": null}}"#),
            "the answer to a query, at `data.issues`",
        ),
        (
            answer(r#"{"data": {"issues": {"nodes": [{"id": 7}]}}}"#),
            "the answer to a query, at `data.issues.nodes[0].id`",
        ),
        (answer("{}"), "the answer to a query, at `.`"),
        (Planned::TruncatedJson, "the answer to a query"),
    ];
    for (planned, beginning) in table {
        let fake = FakeLinear::start();
        fake.with(|world| world.add_issue("ada", "ENG", "Issue", ""));
        fake.fail(On::any(), planned);
        let fault = linear(&fake).changed(&Cursor::default()).await.unwrap_err();
        let Fault::Unreadable { detail } = fault else {
            panic!("{fault:?}")
        };
        assert!(detail.starts_with(beginning), "{detail}");
    }
}
