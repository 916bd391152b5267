//! Connections that break, answers that are slow or too large, and redirects.

use std::time::{Duration, Instant};

use symphony_fakes::{FakeGithub, FakeLinear, Fault as Planned, On};
use symphony_sync::limits::Options;
use symphony_sync::{Fault, SyncError, Token, connect};
use symphony_tracker::remote::Cursor;

use crate::harness::{comment, github, github_at, linear, options, outgoing, settings};

/// Short enough for a test, long enough for a busy machine.
const SHORT: Duration = Duration::from_millis(400);

fn short() -> Options {
    Options {
        answer_time_max: SHORT,
        ..options()
    }
}

fn with_one_issue() -> FakeGithub {
    let fake = FakeGithub::start();
    fake.with(|world| world.add_issue(1, "Issue", "Text"));
    fake
}

#[tokio::test]
async fn a_connection_that_is_cut_is_no_answer() {
    for planned in [Planned::CutBefore, Planned::CutAfter, Planned::Half] {
        let fake = with_one_issue();
        fake.fail(On::any(), planned.clone());
        let fault = github(&fake).changed(&Cursor::default()).await.unwrap_err();
        assert!(
            matches!(fault, Fault::Unreachable { .. }),
            "{planned:?}: {fault:?}"
        );
    }
    let fake = FakeLinear::start();
    fake.fail(On::any(), Planned::CutBefore);
    let fault = linear(&fake).changed(&Cursor::default()).await.unwrap_err();
    assert!(matches!(fault, Fault::Unreachable { .. }), "{fault:?}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    let endpoint = with_one_issue().endpoint();
    let tracker = github_at(&endpoint, FakeGithub::TOKEN, &options());
    let fault = tracker.check().await.unwrap_err();
    let Fault::Unreachable { detail } = fault else {
        panic!("{fault:?}")
    };
    assert!(detail.contains("refused"), "{detail}");
}

#[tokio::test]
async fn silence_and_trickling_answers_end_at_the_time_limit() {
    for planned in [
        Planned::Silence,
        Planned::Trickle(Duration::from_millis(50)),
    ] {
        let fake = with_one_issue();
        fake.fail(On::any(), planned);
        let tracker = github_at(&fake.endpoint(), FakeGithub::TOKEN, &short());
        let began = Instant::now();
        let fault = tracker
            .apply(&outgoing("1", comment("x")))
            .await
            .unwrap_err();
        let detail = "no complete answer within the time limit".to_owned();
        assert_eq!(fault, Fault::Unreachable { detail });
        assert!(began.elapsed() >= SHORT && began.elapsed() < SHORT * 20);
    }
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_to_its_end() {
    let fake = with_one_issue();
    // a gigabyte
    fake.fail(On::any(), Planned::Flood(1 << 30));
    let options = Options {
        answer_bytes_max: 1 << 20,
        ..options()
    };
    let tracker = github_at(&fake.endpoint(), FakeGithub::TOKEN, &options);
    let fault = tracker.check().await.unwrap_err();
    let detail = "the answer is larger than 1048576 bytes".to_owned();
    assert_eq!(fault, Fault::Unreadable { detail });
}

#[tokio::test]
async fn a_token_does_not_follow_a_redirect_to_another_server() {
    let fake = with_one_issue();
    let other = FakeGithub::start();
    for status in [301, 302, 307, 308] {
        let location = format!("{}/user", other.endpoint());
        fake.fail(
            On::any().times(1),
            Planned::status(status, "Moved").with_header("location", &location),
        );
        let fault = github(&fake).check().await.unwrap_err();
        let Fault::Unreadable { detail } = fault else {
            panic!("{fault:?}")
        };
        assert!(detail.contains("redirects to 127.0.0.1"), "{detail}");
    }
    assert!(other.take_exchanges().is_empty());
}

#[tokio::test]
async fn a_circle_of_redirects_ends() {
    let fake = with_one_issue();
    fake.fail(
        On::any(),
        Planned::status(301, "Moved").with_header("location", "/user"),
    );
    let fault = github(&fake).check().await.unwrap_err();
    let Fault::Unreadable { detail } = fault else {
        panic!("{fault:?}")
    };
    assert!(detail.contains("circle"), "{detail}");
    assert_eq!(fake.take_exchanges().len(), 4);
}

#[tokio::test]
async fn every_request_has_the_token_and_none_is_repeated() {
    let fake = with_one_issue();
    fake.fail(On::method("POST").times(1), Planned::CutAfter);
    github(&fake)
        .apply(&outgoing("1", comment("x")))
        .await
        .unwrap_err();
    let exchanges = fake.take_exchanges();
    assert_eq!(exchanges.len(), 1);
    assert!(exchanges[0].has_token);
    assert_eq!(fake.with(|world| world.comments(1)).len(), 1);
}

#[test]
fn an_address_that_is_none_is_refused_before_anything_is_asked() {
    let place = symphony_core::config::TrackerPlace::Github {
        owner: "acme".to_owned(),
        name: "web".to_owned(),
    };
    let token = Token::first_line(FakeGithub::TOKEN).unwrap();
    let error = connect(&settings(place, "api.github.com"), token, &options()).unwrap_err();
    assert!(matches!(error, SyncError::Endpoint { .. }), "{error}");
}
