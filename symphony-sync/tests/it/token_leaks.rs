//! No text that leaves the client has the token, even when the tracker repeats it.

use symphony_fakes::{FakeGithub, FakeLinear, Fault as Planned, On};
use symphony_sync::{Token, Tracker};
use symphony_tracker::remote::{Cursor, ExternalId};

use crate::harness::{comment, github, github_at, labels, linear, options, outgoing};

/// Answers that repeat the token wherever a server can.
fn echoes(token: &str) -> Vec<Planned> {
    let long = "x".repeat(280);
    let mut planned: Vec<Planned> = [400, 401, 403, 404, 409, 410, 422, 429, 500, 502, 503]
        .map(|status| {
            Planned::status(
                status,
                &format!("{long} your token {token} is no good {token}"),
            )
        })
        .into();
    let texts = [
        format!("<html>Authorization: Bearer {token}</html>"),
        format!(r#"[{{"number": "{token}"}}]"#),
        format!(r#"{{"{token}": 1, "data": "{token}"}}"#),
        format!(
            r#"{{"errors": [{{"message": "{token}", "extensions": {{"code": "{token}", "userPresentableMessage": "{token}!"}}}}]}}"#
        ),
        format!(r#"{{"message": "{token}", "errors": [{{"code": "{token}"}}, "{token}"]}}"#),
    ];
    for status in [200, 400, 422] {
        planned.extend(texts.iter().map(|body| Planned::Answer {
            status,
            headers: vec![],
            body: body.clone(),
        }));
    }
    let location = format!("http://{token}.example/{token}");
    planned.push(Planned::status(301, token).with_header("location", &location));
    planned.push(Planned::status(403, "no").with_header("x-accepted-oauth-scopes", token));
    planned.push(Planned::CutBefore);
    planned
}

async fn texts_of(tracker: &dyn Tracker) -> Vec<String> {
    let ids = [ExternalId::new("1")];
    let mut texts = vec![format!("{tracker:?}")];
    let mut add = |fault: Option<symphony_sync::Fault>| {
        let Some(fault) = fault else { return };
        texts.push(fault.to_string());
        texts.push(format!("{fault:?}"));
    };
    add(tracker.check().await.err());
    add(tracker.changed(&Cursor::default()).await.err());
    add(tracker.issues(&ids).await.err());
    for change in [comment("x"), labels(&["a"], &["b"])] {
        add(tracker.apply(&outgoing("1", change)).await.err());
    }
    texts
}

#[tokio::test]
async fn a_token_that_the_tracker_repeats_is_in_no_text() {
    let mut count = 0;
    for planned in echoes(FakeGithub::TOKEN) {
        let fake = FakeGithub::start();
        fake.fail(On::any(), planned);
        let texts = texts_of(&*github(&fake)).await;
        count += texts.len();
        for text in texts {
            assert!(!text.to_lowercase().contains("fakefakefake"), "{text}");
        }
    }
    for planned in echoes(FakeLinear::TOKEN) {
        let fake = FakeLinear::start();
        fake.fail(On::any(), planned);
        let texts = texts_of(&*linear(&fake)).await;
        count += texts.len();
        for text in texts {
            assert!(!text.to_lowercase().contains("fakefakefake"), "{text}");
        }
    }
    assert!(count > 300, "{count} texts were looked at");
}

#[tokio::test]
async fn a_client_shows_no_token() {
    let tracker = github_at("https://api.github.com", FakeGithub::TOKEN, &options());
    let shown = format!("{tracker:?} {tracker:#?}");
    assert!(!shown.contains("fakefake"), "{shown}");
    assert!(shown.contains("api.github.com"), "{shown}");
    let token = Token::first_line(FakeGithub::TOKEN).unwrap();
    assert_eq!(
        format!("{token:?} {:?}", Some(&token)),
        "Token(..) Some(Token(..))"
    );
}
