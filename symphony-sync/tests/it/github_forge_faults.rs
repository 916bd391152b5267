//! What GitHub refuses, for every method of a forge.

use symphony_core::Timestamp;
use symphony_fakes::{FakeForge, FakeGithub, Fault as Planned, On};
use symphony_forge::change::PullChange;
use symphony_forge::remote::{MergeMethod, PullNumber};
use symphony_sync::{Fault, Forge};
use symphony_tracker::remote::ExternalId;

use crate::forge_harness::{forge, new_pull, wish, with_pull};
use crate::harness::wait_of;

/// Calls every method, and returns what went wrong in each.
async fn all(forge: &dyn Forge, head: &str) -> Vec<(&'static str, Option<Fault>)> {
    let number = PullNumber::new(1);
    let id = ExternalId::new("1");
    let change = PullChange {
        title: Some("New".to_owned()),
        ..PullChange::default()
    };
    vec![
        ("check", forge.check().await.err()),
        ("rules", forge.rules("main").await.err()),
        ("find", forge.find("topic", "main").await.err()),
        ("pull", forge.pull(number).await.err()),
        ("open", forge.open(&new_pull("topic")).await.err()),
        ("update", forge.update(number, &change).await.err()),
        ("reviews", forge.reviews(number).await.err()),
        ("review_comments", forge.review_comments(number).await.err()),
        ("comments", forge.comments(number).await.err()),
        ("add_comment", forge.add_comment(number, "x").await.err()),
        ("reply", forge.reply(number, &id, "x").await.err()),
        ("checks", forge.checks(head).await.err()),
        ("log_end", forge.log_end(&id, 100).await.err()),
        ("run_again", forge.run_again(&id).await.err()),
        (
            "merge",
            forge
                .merge(number, &wish(head, MergeMethod::Merge))
                .await
                .err(),
        ),
    ]
}

#[tokio::test]
async fn every_method_reports_a_revoked_token() {
    let (fake, _, head) = with_pull();
    fake.with(|world| world.revoke(FakeGithub::TOKEN));
    for (name, fault) in all(&*forge(&fake), &head).await {
        assert!(
            matches!(fault, Some(Fault::Unauthorised { .. })),
            "{name}: {fault:?}"
        );
    }
}

#[tokio::test]
async fn every_method_reports_a_failed_server_and_a_cut_connection() {
    for status in [500, 502, 503] {
        let (fake, _, head) = with_pull();
        fake.fail(On::any(), Planned::status(status, "Server Error"));
        for (name, fault) in all(&*forge(&fake), &head).await {
            let detail = "Server Error".to_owned();
            assert_eq!(fault, Some(Fault::Failed { status, detail }), "{name}");
        }
    }
    let (fake, _, head) = with_pull();
    fake.fail(On::any(), Planned::CutBefore);
    for (name, fault) in all(&*forge(&fake), &head).await {
        assert!(
            matches!(fault, Some(Fault::Unreachable { .. })),
            "{name}: {fault:?}"
        );
    }
}

#[tokio::test]
async fn a_limit_is_a_wait_for_every_method_and_asked_once() {
    for planned in [
        Planned::status(429, "Too many").with_header("retry-after", "60"),
        Planned::status(403, "You have exceeded a secondary rate limit."),
    ] {
        let (fake, _, head) = with_pull();
        fake.fail(On::any(), planned);
        fake.take_exchanges();
        for (name, fault) in all(&*forge(&fake), &head).await {
            let wait = wait_of(&fault.unwrap());
            assert!((50..=60).contains(&wait), "{name}: {wait}");
        }
        assert_eq!(fake.take_exchanges().len(), 1);
    }
}

#[tokio::test]
async fn the_quota_is_waited_for() {
    let (fake, number, _) = with_pull();
    let reset = Timestamp::now().as_second() + 600;
    fake.with(|world| world.set_quota(Some(1), reset));
    let forge = forge(&fake);
    forge.pull(PullNumber::new(number)).await.unwrap();
    let fault = forge.reviews(PullNumber::new(number)).await.unwrap_err();
    assert!((590..=601).contains(&wait_of(&fault)), "{fault:?}");
}

#[tokio::test]
async fn answers_that_break_the_promise_are_unreadable() {
    let readers = [
        "find",
        "pull",
        "reviews",
        "review_comments",
        "comments",
        "checks",
    ];
    for body in [
        "<html>Sign in</html>",
        "[{\"id\": \"x\"}]",
        "{\"number\": \"x\"}",
        "",
    ] {
        let (fake, _, head) = with_pull();
        fake.fail(
            On::any(),
            Planned::Answer {
                status: 200,
                headers: vec![],
                body: body.to_owned(),
            },
        );
        for (name, fault) in all(&*forge(&fake), &head).await {
            if readers.contains(&name) {
                assert!(
                    matches!(fault, Some(Fault::Unreadable { .. })),
                    "{name} {body}: {fault:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_token_that_only_reads_says_what_it_needs() {
    let (fake, number, head) = with_pull();
    fake.with(|world| {
        world.set_token(FakeGithub::TOKEN, 1, None);
        world.set_read_only(FakeGithub::TOKEN);
    });
    let forge = forge(&fake);
    forge.pull(PullNumber::new(number)).await.unwrap();
    let writers = ["open", "update", "reply", "run_again", "merge"];
    for (name, fault) in all(&*forge, &head).await {
        if writers.contains(&name) {
            let text = fault.unwrap().to_string();
            assert!(
                text.ends_with("it needs the permission pull_requests=write"),
                "{name}: {text}"
            );
        }
    }
    assert_eq!(fake.with(|world| world.issue(number).title), "Change a");
}

#[tokio::test]
async fn a_redirect_to_another_server_gets_no_token() {
    let other = FakeForge::start();
    let (fake, _, head) = with_pull();
    let target = format!("{}/_elsewhere", other.endpoint());
    for status in [301, 302, 307, 308] {
        fake.fail(
            On::any(),
            Planned::status(status, "").with_header("location", &target),
        );
        for (name, fault) in all(&*forge(&fake), &head).await {
            // a log is elsewhere on purpose
            assert!(fault.is_some() || name == "log_end", "{name}");
        }
        fake.heal();
    }
    let exchanges = other.take_exchanges();
    assert!(!exchanges.is_empty());
    assert!(exchanges.iter().all(|exchange| !exchange.has_token));
}

#[tokio::test]
async fn a_token_that_github_repeats_is_in_no_text() {
    let token = FakeGithub::TOKEN;
    let texts = [
        format!("{token} {} {token}", "x".repeat(290)),
        format!("[{{\"id\": \"{token}\"}}]"),
    ];
    let mut count = 0;
    for text in texts {
        for status in [200, 201, 400, 401, 403, 404, 405, 409, 422, 500] {
            let (fake, _, head) = with_pull();
            let planned = Planned::status(status, &text);
            fake.fail(On::any(), planned);
            let forge = forge(&fake);
            for (_, fault) in all(&*forge, &head).await {
                let shown = format!(
                    "{fault:?} {}",
                    fault.as_ref().map(ToString::to_string).unwrap_or_default()
                );
                assert!(!shown.contains("fakefakefake"), "{shown}");
                count += usize::from(fault.is_some());
            }
            if let Ok(answer) = forge
                .merge(PullNumber::new(1), &wish(&head, MergeMethod::Merge))
                .await
            {
                assert!(
                    !format!("{answer:?}").contains("fakefakefake"),
                    "{answer:?}"
                );
            }
            assert!(!format!("{forge:?}").contains("fakefakefake"));
        }
    }
    assert!(count > 150, "{count} faults were looked at");
}
