//! Required checks: seen, run a second time, and red once.

use std::collections::BTreeSet;

use symphony_forge::check::{Checks, SeenCheck, all_passed, note_answer, plan_checks, required};
use symphony_forge::remote::{BranchRules, CheckResult, RemoteCheck, RerunAnswer};

use crate::samples::id;

fn names(text: &str) -> BTreeSet<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn check(name: &str, result: CheckResult, run: Option<&str>) -> RemoteCheck {
    RemoteCheck {
        name: name.to_owned(),
        run: run.map(id),
        is_job: run.is_some(),
        result,
        summary: "2 tests failed".to_owned(),
        url: None,
        at: None,
    }
}

fn results(seen: &[SeenCheck]) -> Vec<(&str, CheckResult)> {
    seen.iter()
        .map(|check| (check.name.as_str(), check.result))
        .collect()
}

#[test]
fn checks_are_required_by_the_branch_and_by_the_configuration() {
    let rules = BranchRules {
        is_protected: true,
        required_checks: Some(names("build")),
    };
    assert_eq!(required(&rules, &["lint".to_owned()]), names("build lint"));
    assert_eq!(required(&BranchRules::default(), &[]), names(""));
}

#[test]
fn one_that_the_forge_does_not_know_yet_is_waited_for() {
    let found = [
        check("build", CheckResult::Passed, None),
        check("optional", CheckResult::Failed, None),
    ];
    let checks = plan_checks(&names("build lint"), &found, &[], true);
    assert_eq!(
        results(&checks.seen),
        [
            ("build", CheckResult::Passed),
            ("lint", CheckResult::Waiting)
        ]
    );
    assert!(checks.red.is_empty() && checks.again.is_empty());
    assert!(!all_passed(&checks.seen));
}

/// Asks for every second run that is wished for.
fn ask(mut checks: Checks, answer: RerunAnswer) -> Checks {
    for again in checks.again.clone() {
        checks.answered(&again, answer);
    }
    checks
}

fn answered(mut seen: Vec<SeenCheck>) -> Vec<SeenCheck> {
    note_answer(&mut seen);
    seen
}

#[test]
fn a_failed_job_runs_a_second_time_before_it_is_red_once() {
    let wanted = names("build");
    let first = [check("build", CheckResult::Failed, Some("1"))];
    let checks = plan_checks(&wanted, &first, &[], true);
    assert_eq!(checks.again[0].job, id("1"));
    let checks = ask(checks, RerunAnswer::Started);
    assert!(checks.red.is_empty());
    assert_eq!(
        results(&checks.seen),
        [("build", CheckResult::Waiting)],
        "a second run is under way"
    );

    // the forge shows the old result for a while
    let later = plan_checks(&wanted, &first, &checks.seen, true);
    assert!(later.red.is_empty() && later.again.is_empty());

    let second = [check("build", CheckResult::Failed, Some("2"))];
    let red = plan_checks(&wanted, &second, &later.seen, true);
    assert_eq!(red.red.len(), 1);
    assert_eq!(red.red[0].job, Some(id("2")));
    assert_eq!(red.seen[0].how(), "failed when it ran again");
    let again = plan_checks(&wanted, &second, &red.seen, true);
    assert_eq!(again.red, red.red, "until it is answered");

    // a person runs it again, and it fails again: that is known
    let known = answered(red.seen);
    let running = [check("build", CheckResult::Waiting, Some("3"))];
    let known = plan_checks(&wanted, &running, &known, true);
    let third = [check("build", CheckResult::Failed, Some("3"))];
    let known = plan_checks(&wanted, &third, &known.seen, true);
    assert!(known.red.is_empty() && known.again.is_empty());

    // one that passed, and fails later, is news
    let fourth = [check("build", CheckResult::Passed, Some("4"))];
    let passed = plan_checks(&wanted, &fourth, &known.seen, true);
    assert!(all_passed(&passed.seen));
    let fifth = [check("build", CheckResult::Failed, Some("5"))];
    let red = plan_checks(&wanted, &fifth, &passed.seen, true);
    assert_eq!(red.red.len(), 1);
}

#[test]
fn a_second_run_that_has_to_wait_is_asked_for_again_and_holds_no_other_back() {
    let wanted = names("build lint");
    let found = [
        check("build", CheckResult::Failed, Some("1")),
        check("lint", CheckResult::Failed, Some("2")),
    ];
    let mut checks = plan_checks(&wanted, &found, &[], true);
    let [build, lint] = checks.again.clone().try_into().unwrap();
    checks.answered(&build, RerunAnswer::Started);
    checks.answered(&lint, RerunAnswer::Busy);
    assert!(checks.red.is_empty());

    let found = [
        check("build", CheckResult::Passed, Some("3")),
        check("lint", CheckResult::Failed, Some("2")),
    ];
    let later = plan_checks(&wanted, &found, &checks.seen, true);
    let jobs: Vec<_> = later.again.iter().map(|again| again.job.clone()).collect();
    assert_eq!(jobs, [id("2")]);
    let later = ask(later, RerunAnswer::Started);
    let found = [
        check("build", CheckResult::Passed, Some("3")),
        check("lint", CheckResult::Failed, Some("4")),
    ];
    let last = plan_checks(&wanted, &found, &later.seen, true);
    assert_eq!(last.red.len(), 1);
    assert!(last.again.is_empty());
}

#[test]
fn a_refused_second_run_makes_that_check_red_and_no_other() {
    let wanted = names("build lint");
    let found = [
        check("build", CheckResult::Failed, Some("1")),
        check("lint", CheckResult::Failed, Some("2")),
    ];
    let mut checks = plan_checks(&wanted, &found, &[], true);
    let [build, lint] = checks.again.clone().try_into().unwrap();
    checks.answered(&build, RerunAnswer::Started);
    checks.answered(&lint, RerunAnswer::Refused);
    assert_eq!(checks.red, [lint.red]);
    assert_eq!(
        results(&checks.seen),
        [
            ("build", CheckResult::Waiting),
            ("lint", CheckResult::Failed)
        ]
    );
    // neither is asked for again once the work was sent back
    let later = plan_checks(&wanted, &found, &answered(checks.seen), true);
    assert!(later.again.is_empty() && later.red.is_empty());
}

#[test]
fn what_cannot_run_again_is_red_at_once() {
    let wanted = names("ci/status");
    let found = [check("ci/status", CheckResult::Failed, None)];
    let checks = plan_checks(&wanted, &found, &[], true);
    assert_eq!(checks.red.len(), 1);
    assert_eq!(checks.red[0].job, None);

    let wanted = names("build");
    let found = [check("build", CheckResult::Failed, Some("1"))];
    let checks = plan_checks(&wanted, &found, &[], false);
    assert_eq!(checks.red.len(), 1, "reruns are switched off");
}
