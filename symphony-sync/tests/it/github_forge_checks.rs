//! Checks, logs, second runs, and rules.

use std::collections::BTreeSet;

use symphony_fakes::{FakeForge, FakeGithub, Fault as Planned, On, Protection};
use symphony_forge::remote::{CheckResult, RemoteCheck, RerunAnswer};
use symphony_sync::Fault;
use symphony_tracker::remote::ExternalId;

use crate::forge_harness::{forge, with_pull};

fn shown(checks: &[RemoteCheck]) -> Vec<(&str, CheckResult, bool)> {
    let shown = checks
        .iter()
        .map(|check| (check.name.as_str(), check.result, check.is_job));
    shown.collect()
}

#[tokio::test]
async fn runs_and_statuses_are_read_by_name() {
    let (fake, _, head) = with_pull();
    let red = fake.with(|world| {
        world.add_check(&head, "lint", Some("failure"));
        world.add_check(&head, "lint", None);
        let red = world.add_check(&head, "test", Some("failure"));
        world.edit_check(red, |run| {
            run.title = Some("2 failed".to_owned());
            run.summary = Some("See below".to_owned());
            run.annotations = vec![("src/a.txt".to_owned(), 3, "expected 1".to_owned())];
        });
        let other = world.add_check(&head, "scan", Some("neutral"));
        world.edit_check(other, |run| run.is_job = false);
        world.add_status(&head, "ci/old", "failure");
        world.add_status(&head, "ci/old", "success");
        world.add_status(&head, "ci/slow", "pending");
        red
    });
    let checks = forge(&fake).checks(&head).await.unwrap();
    let expected = [
        ("ci/old", CheckResult::Passed, false),
        ("ci/slow", CheckResult::Waiting, false),
        ("lint", CheckResult::Waiting, true),
        ("scan", CheckResult::Passed, false),
        ("test", CheckResult::Failed, true),
    ];
    assert_eq!(shown(&checks), expected);
    let test = &checks[4];
    assert_eq!(test.run, Some(ExternalId::new(red.to_string())));
    assert_eq!(
        test.summary,
        "src/a.txt:3: failure: expected 1\n2 failed\n\nSee below"
    );
    assert_eq!(checks[0].summary, "ci/old is success");
    assert!(test.url.as_deref().unwrap().contains("/actions/runs/"));
}

#[tokio::test]
async fn all_pages_of_checks_are_read() {
    let (fake, _, head) = with_pull();
    fake.with(|world| {
        for n in 0..230 {
            world.add_check(&head, &format!("job {n:03}"), Some("success"));
            world.add_status(&head, &format!("status {n:03}"), "success");
        }
        world.add_check(&head, "job last", Some("failure"));
    });
    let checks = forge(&fake).checks(&head).await.unwrap();
    assert_eq!(checks.len(), 461);
    let failed: Vec<_> = checks
        .iter()
        .filter(|check| check.result == CheckResult::Failed)
        .collect();
    assert_eq!(failed.len(), 1);
}

#[tokio::test]
async fn a_commit_without_checks_has_none_and_an_unknown_one_is_a_fault() {
    let (fake, _, head) = with_pull();
    let forge = forge(&fake);
    assert_eq!(forge.checks(&head).await.unwrap(), []);
    let fault = forge.checks(&"0".repeat(40)).await.unwrap_err();
    assert!(matches!(fault, Fault::Refused { .. }), "{fault:?}");
    fake.fail(
        On::any().with("check-runs"),
        Planned::status(403, "Resource not accessible"),
    );
    let fault = forge.checks(&head).await.unwrap_err();
    assert!(
        fault
            .to_string()
            .starts_with("the token may not read checks"),
        "{fault}"
    );
}

#[tokio::test]
async fn the_end_of_a_log_is_read_without_the_token() {
    let (fake, _, head) = with_pull();
    let job = fake.with(|world| {
        let job = world.add_check(&head, "test", Some("failure"));
        let lines: Vec<String> = (0..20_000).map(|n| format!("line {n}")).collect();
        let log = lines.join("\n") + "\n";
        world.set_log(job, Some(&log));
        job
    });
    let forge = forge(&fake);
    let id = ExternalId::new(job.to_string());
    fake.take_exchanges();
    let end = forge.log_end(&id, 1000).await.unwrap().unwrap();
    assert!(end.ends_with("line 19998\nline 19999\n"));
    assert!(
        end.starts_with("line 19") && (980..=1000).contains(&end.len()),
        "{}",
        end.len()
    );
    let whole = forge.log_end(&id, 1_000_000).await.unwrap().unwrap();
    assert!(whole.starts_with("line 0\nline 1\n"));
    let exchanges = fake.take_exchanges();
    let tokens: Vec<bool> = exchanges.iter().map(|one| one.has_token).collect();
    assert_eq!(tokens, [true, false, true, false]);
    fake.with(|world| world.set_log(job, None));
    assert_eq!(forge.log_end(&id, 1000).await.unwrap(), None);
    assert_eq!(
        forge.log_end(&ExternalId::new("x"), 1000).await.unwrap(),
        None
    );
}

#[tokio::test]
async fn an_expired_log_is_none_and_a_failing_server_a_fault() {
    let (fake, _, head) = with_pull();
    let job = fake.with(|world| {
        let job = world.add_check(&head, "test", Some("failure"));
        world.set_log(job, Some("text"));
        job
    });
    let forge = forge(&fake);
    let id = ExternalId::new(job.to_string());
    for status in [403, 404, 410] {
        fake.fail(On::any().with("/_logs"), Planned::status(status, "no"));
        assert_eq!(forge.log_end(&id, 1000).await.unwrap(), None);
        fake.heal();
    }
    for planned in [
        Planned::status(503, "no"),
        Planned::CutBefore,
        Planned::Half,
    ] {
        fake.fail(On::any().with("/_logs"), planned);
        let fault = forge.log_end(&id, 1000).await.unwrap_err();
        assert!(!fault.to_string().contains("fake-signature"), "{fault}");
        fake.heal();
    }
    let elsewhere = Planned::status(302, "").with_header("location", "ftp://elsewhere.invalid/x");
    fake.fail(On::any().with("/logs"), elsewhere);
    let fault = forge.log_end(&id, 1000).await.unwrap_err();
    assert!(matches!(fault, Fault::Unreadable { .. }), "{fault:?}");
}

#[tokio::test]
async fn a_job_is_run_again() {
    let (fake, _, head) = with_pull();
    let job = fake.with(|world| world.add_check(&head, "test", Some("failure")));
    let forge = forge(&fake);
    let id = ExternalId::new(job.to_string());
    assert_eq!(forge.run_again(&id).await.unwrap(), RerunAnswer::Started);
    assert_eq!(fake.with(|world| world.reruns()), [job]);
    let checks = forge.checks(&head).await.unwrap();
    assert_eq!(checks[0].result, CheckResult::Waiting);
    assert_ne!(checks[0].run, Some(id));
    for wrong in ["999999", "x"] {
        let fault = forge.run_again(&ExternalId::new(wrong)).await.unwrap_err();
        assert!(matches!(fault, Fault::NotFound { .. }), "{fault:?}");
    }
    let running = checks[0].run.clone().unwrap();
    assert_eq!(forge.run_again(&running).await.unwrap(), RerunAnswer::Busy);
    // a job that has ended waits for the others of its workflow
    let other = fake.with(|world| world.add_check(&head, "lint", Some("failure")));
    let other = ExternalId::new(other.to_string());
    assert_eq!(forge.run_again(&other).await.unwrap(), RerunAnswer::Busy);
    fake.with(|world| {
        let id = running.as_str().parse().unwrap();
        world.edit_check(id, |run| run.conclusion = Some("success".to_owned()));
    });
    assert_eq!(forge.run_again(&other).await.unwrap(), RerunAnswer::Started);
}

#[tokio::test]
async fn rules_of_both_kinds_are_read() {
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|&name| name.to_owned())
            .collect::<BTreeSet<_>>()
    };
    let fake = FakeForge::start();
    let forge = forge(&fake);
    let open = forge.rules("main").await.unwrap();
    assert_eq!(
        (open.is_protected, open.required_checks),
        (false, Some(names(&[])))
    );
    for is_ruleset in [false, true] {
        let protection = Protection {
            checks: names(&["lint", "test"]),
            approvals: 1,
            is_ruleset,
        };
        fake.with(|world| world.protect("main", Some(protection)));
        let rules = forge.rules("main").await.unwrap();
        let found = (rules.is_protected, rules.required_checks);
        assert_eq!(
            found,
            (true, Some(names(&["lint", "test"]))),
            "{is_ruleset}"
        );
    }
    fake.with(|world| world.push_file(1, "release/1.0", "a", "a"));
    assert!(!forge.rules("release/1.0").await.unwrap().is_protected);
    let fault = forge.rules("missing").await.unwrap_err();
    assert!(matches!(fault, Fault::NotFound { .. }), "{fault:?}");
}

#[tokio::test]
async fn rules_that_the_token_may_not_see_are_missing() {
    let fake = FakeForge::start();
    fake.with(|world| world.protect("main", Some(Protection::default())));
    let forge = forge(&fake);
    fake.fail(
        On::any().with("/rules/"),
        Planned::status(403, "Upgrade to Pro"),
    );
    let rules = forge.rules("main").await.unwrap();
    assert_eq!((rules.is_protected, rules.required_checks), (true, None));
    fake.heal();
    // older hosts know no rulesets
    fake.fail(On::any().with("/rules/"), Planned::status(404, "Not Found"));
    let rules = forge.rules("main").await.unwrap();
    assert_eq!(
        (rules.is_protected, rules.required_checks),
        (true, Some(BTreeSet::new()))
    );
    fake.heal();
    fake.fail(On::any().with("/branches/"), Planned::status(403, "no"));
    let rules = forge.rules("main").await.unwrap();
    assert_eq!(rules.required_checks, None);
    fake.heal();
    fake.fail(On::any().with("/rules/"), Planned::status(500, "no"));
    forge.rules("main").await.unwrap_err();
}

#[tokio::test]
async fn a_token_without_a_permission_is_found_by_the_check() {
    let fake = FakeForge::start();
    fake.with(|world| world.set_token(FakeGithub::TOKEN, 1, None));
    fake.fail(
        On::any().with("check-runs"),
        Planned::status(403, "Resource not accessible"),
    );
    let access = forge(&fake).check().await.unwrap();
    assert_eq!(
        access.problem_texts(),
        ["the token may not read checks: it needs the permission Checks"]
    );
    fake.heal();
    fake.with(|world| world.set_role(1, Some(symphony_fakes::Role::Read)));
    let access = forge(&fake).check().await.unwrap();
    assert_eq!(
        access.problem_texts(),
        ["the token may not push branches: its user needs the role Write"]
    );
    assert_eq!(access.can_write, Some(false));
}
