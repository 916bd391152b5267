//! Which failures are the same, and what each does.

use super::*;
use crate::Timestamp;
use crate::id::IssueId;
use crate::issue::{AttemptCounts, BreakerTarget, Issue, IssueState, IssueStatus, samples};
use crate::outcome::FailureLimits;
use crate::pull_request::{SET_UP_GATE, VerifiedGate, VerifiedGates};

const CARGO: &str = "   Compiling tool v0.1.0 (/home/a/.symphony-workspaces/_gates-1)
    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.31s
     Running unittests src/lib.rs (target/debug/deps/tool-0d9f3c2b1a4e5f60)

running 2 tests
test adds ... ok
test divides ... FAILED

---- divides stdout ----

thread 'divides' (48213) panicked at src/lib.rs:12:5:
assertion `left == right` failed
  left: 2
 right: 3

test result: FAILED. 1 passed; 1 failed; finished in 0.02s
";

const PYTEST: &str = "\u{1b}[31mFAILED\u{1b}[0m tests/test_a.py::test_get - assert 404 == 200
E   ConnectionRefusedError: ('127.0.0.1', 48213)
tmp_path = PosixPath('/tmp/pytest-of-ada/pytest-17/test_get0')
2026-11-22 07:26:27,040 INFO begin
============ 1 failed, 3 passed in 0.31 seconds ============
";

fn lines(output: &str, folder: &str) -> Vec<String> {
    normal_lines(output, &[folder]).into_iter().collect()
}

#[test]
fn what_differs_from_run_to_run_is_left_out() {
    let again = CARGO
        .replace("0.31s", "12.9s")
        .replace("0.02s", "118ms")
        .replace("48213", "51877")
        .replace("0d9f3c2b1a4e5f60", "77aa00112233bbcc")
        .replace("_gates-1", "_gates-2")
        .replace(
            "test adds ... ok\ntest divides ... FAILED",
            "test divides ... FAILED\ntest adds ... ok",
        );
    let first = lines(CARGO, "/home/a/.symphony-workspaces/_gates-1");
    assert_eq!(
        first,
        lines(&again, "/home/a/.symphony-workspaces/_gates-2")
    );
    assert!(first.contains(&"left: 2".to_owned()), "{first:?}");
    assert!(
        first.contains(&"thread 'divides' (<id>) panicked at src/lib.rs:12:5:".to_owned()),
        "{first:?}"
    );

    let again = PYTEST
        .replace("0.31 seconds", "1.44 seconds")
        .replace("48213", "33333")
        .replace("pytest-17", "pytest-18")
        .replace("07:26:27,040", "23:59:59,999")
        .replace("2026-11-22", "2027-01-01")
        .replace("\u{1b}[31m", "");
    assert_eq!(lines(PYTEST, ""), lines(&again, ""));
    let plain = lines(PYTEST, "");
    assert!(
        plain.contains(&"FAILED tests/test_a.py::test_get - assert 404 == 200".to_owned()),
        "{plain:?}"
    );
}

#[test]
fn two_runs_of_a_test_runner_that_names_milliseconds_are_alike() {
    let first = "not ok 1 - adds\n  ---\n  duration_ms: 1.592667\n  type: 'test'\n# fail 1\n# duration_ms 122.154197\n";
    let again = first
        .replace("1.592667", "0.9")
        .replace("122.154197", "1152.76");
    assert_eq!(lines(first, ""), lines(&again, ""));
    assert_ne!(
        lines(first, ""),
        lines(&first.replace("adds", "divides"), "")
    );
}

#[test]
fn what_says_something_is_kept() {
    for (from, to) in [
        ("test divides ... FAILED", "test adds ... FAILED"),
        ("left: 2", "left: 4"),
        ("src/lib.rs:12:5", "src/lib.rs:13:5"),
        ("1 passed; 1 failed", "0 passed; 2 failed"),
    ] {
        let other = CARGO.replace(from, to);
        assert_ne!(other, CARGO);
        assert_ne!(lines(CARGO, ""), lines(&other, ""), "{from}");
    }
}

#[test]
fn single_words() {
    for (word, normal) in [
        ("0.31s", "<time>"),
        ("(12ms)", "(<time>)"),
        ("1m 30s", "<time> <time>"),
        ("took 3 seconds", "took <time>"),
        ("12:30:01", "<time>"),
        ("2026-11-22T07:26:27.040Z", "<time>"),
        ("0x7ffe12", "<id>"),
        ("3f2a9c1", "<id>"),
        ("deadbeef", "deadbeef"),
        ("expected 404", "expected 404"),
        ("port 65535", "port <id>"),
        ("v1.2.3", "v1.2.3"),
        // as TAP and JSON reporters name it
        ("duration_ms: 0.630661", "duration_ms: <time>"),
        ("# duration_ms 325.52", "# duration_ms <time>"),
        ("duration_ms=12", "duration_ms=<time>"),
        ("{\"elapsed_s\":1.59,", "{\"elapsed_s\":<time>,"),
        ("Duration 1.23", "Duration <time>"),
        ("exit_code: 3", "exit_code: 3"),
        ("items: 12", "items: 12"),
        ("/tmp/a8f/b/out.txt:3", "<tmp>/out.txt:3"),
        ("50%\r100%", "100%"),
        ("\u{1b}[1;32mok\u{1b}[0m", "ok"),
        ("é 1µs", "é <time>"),
    ] {
        let found: Vec<String> = normal_lines(word, &[]).into_iter().collect();
        assert_eq!(found, [normal], "{word}");
    }
    assert!(normal_lines("\n  \nCompiling x v1\n", &[]).is_empty());
}

fn gate(name: &str, exit_code: Option<i32>, output: &str) -> VerifiedGate {
    VerifiedGate {
        name: name.into(),
        required: true,
        passed: exit_code == Some(0),
        exit_code,
        duration_ms: 1,
        output: output.into(),
        cached: false,
        definition: None,
        failed_tries: Vec::new(),
    }
}

fn gates(results: &[VerifiedGate]) -> VerifiedGates {
    VerifiedGates {
        commit: "c".into(),
        results: results.to_vec(),
        merged_with: None,
    }
}

#[test]
fn a_print_names_the_red_required_gates_only() {
    let print = |results: &[VerifiedGate]| failure_print(&gates(results), &["/x"]);
    let red = gate("test", Some(1), "in /x/a.rs: 3s");
    assert_eq!(print(&[gate("test", Some(0), "")]), None);
    assert_eq!(print(&[]), None);
    let optional = VerifiedGate {
        required: false,
        ..red.clone()
    };
    assert_eq!(print(std::slice::from_ref(&optional)), None);
    let first = print(std::slice::from_ref(&red)).unwrap();
    assert_eq!(Some(&first), print(&[optional, red.clone()]).as_ref());
    let slower = gate("test", Some(1), "in /x/a.rs: 19s");
    assert_eq!(Some(&first), print(&[slower]).as_ref());
    for other in [
        gate("lint", Some(1), "in /x/a.rs: 3s"),
        gate("test", Some(2), "in /x/a.rs: 3s"),
        gate("test", None, "in /x/a.rs: 3s"),
        gate("test", Some(1), "in /x/b.rs: 3s"),
    ] {
        assert_ne!(Some(&first), print(&[other]).as_ref());
    }
    assert_eq!(FailurePrint::stored(first.as_str()), first);
}

#[test]
fn the_base_is_looked_at_when_the_change_may_not_be_at_fault() {
    use BaseRecord::{Passed, Unknown};
    let never = RepeatedFailure::default();
    let seen = RepeatedFailure {
        same_output: 1,
        ..never.clone()
    };
    let once = RepeatedFailure {
        of_one_gate: 1,
        ..never.clone()
    };
    let twice = RepeatedFailure {
        of_one_gate: 2,
        ..never.clone()
    };
    for (gates, repeated, base, expected) in [
        (gates(&[gate("test", Some(0), "")]), &seen, Unknown, false),
        // the first failure, where no one knows of the base, is compared at once
        (gates(&[gate("test", Some(1), "")]), &never, Unknown, true),
        (gates(&[gate("test", None, "")]), &never, Unknown, true),
        (gates(&[gate("test", Some(1), "")]), &never, Passed, false),
        (gates(&[gate("test", Some(1), "")]), &seen, Passed, true),
        // it is not compared each time, but before it stops the issue
        (gates(&[gate("test", Some(1), "")]), &once, Passed, false),
        (gates(&[gate("test", Some(1), "")]), &twice, Passed, true),
        (gates(&[gate("test", Some(127), "")]), &never, Passed, true),
        (gates(&[gate("test", Some(126), "")]), &never, Passed, true),
        (
            gates(&[gate(SET_UP_GATE, Some(1), "")]),
            &never,
            Passed,
            true,
        ),
        (gates(&[gate("test", None, "")]), &never, Passed, false),
    ] {
        assert_eq!(
            needs_base_comparison(&gates, repeated, base),
            expected,
            "{gates:?}"
        );
    }
}

#[test]
fn a_gate_that_is_red_on_the_base_is_so_whatever_it_prints() {
    use BaseComparison::{AllMissing, AllRed, Green, SomeRed};
    let red = |name| gate(name, Some(1), "1 failed: Tk9x");
    // another exit code, other lines, and cut off: red is red
    let other = |name| gate(name, None, "2026 random lines");
    let passed = |name| gate(name, Some(0), "");
    let missing = |name| gate(name, Some(127), "sh: not found");
    for (change, base, expected) in [
        (vec![red("test")], vec![other("test")], AllRed),
        (vec![red("test")], vec![passed("test")], Green),
        (
            vec![red("a"), red("b")],
            vec![other("a"), other("b")],
            AllRed,
        ),
        (
            vec![red("a"), red("b")],
            vec![other("a"), passed("b")],
            SomeRed,
        ),
        // the gate that the change broke is green on the base, whatever else is red there
        (vec![red("a")], vec![passed("a"), other("b")], Green),
        // nothing can pass where the set-up fails
        (vec![red("a")], vec![other(SET_UP_GATE)], AllRed),
        (vec![red(SET_UP_GATE)], vec![other(SET_UP_GATE)], AllRed),
        (vec![red(SET_UP_GATE)], vec![passed("a")], Green),
        // the change broke the set-up, which says nothing of the gates
        (vec![red(SET_UP_GATE)], vec![other("a")], Green),
        (vec![missing("a")], vec![missing("a")], AllMissing),
        (vec![missing("a")], vec![other("a")], AllRed),
        (
            vec![missing("a"), red("b")],
            vec![missing("a"), other("b")],
            AllRed,
        ),
    ] {
        let found = compare_with_base(&gates(&change), &gates(&base));
        assert_eq!(found, expected, "{change:?} on {base:?}");
    }
    let optional = VerifiedGate {
        required: false,
        ..other("test")
    };
    let found = compare_with_base(&gates(&[red("test")]), &gates(&[optional]));
    assert_eq!(found, Green);
}

#[test]
fn failures_of_one_gate_are_counted_whatever_it_prints() {
    let failure = |tree: &str, print: &str, gates: &[&str]| PastFailure {
        passed_since: false,
        tree: tree.into(),
        print: FailurePrint::stored(print),
        gates: gates.iter().map(|&gate| gate.into()).collect(),
    };
    let repeats = |past: &[PastFailure], gates: &[&str]| {
        let repeated = RepeatedFailure::of(past, &failure("t9", "p9", gates));
        assert_eq!((repeated.on_same_files, repeated.same_output), (0, 0));
        (repeated.of_one_gate, repeated.gate.unwrap())
    };
    let random = [failure("t1", "p1", &["a"]), failure("t2", "p2", &["a"])];
    assert_eq!(repeats(&random, &["a"]), (2, "a".into()));
    // progress is another gate, not fewer lines
    assert_eq!(repeats(&random, &["b"]), (0, "b".into()));
    assert_eq!(repeats(&random, &["b", "a"]), (2, "a".into()));
    assert_eq!(repeats(&[], &["b", "a"]), (0, "b".into()));
    // two that take turns end, too
    let turns = [
        failure("t1", "p1", &["a"]),
        failure("t2", "p2", &["b"]),
        failure("t3", "p3", &["a"]),
        failure("t4", "p4", &["b"]),
    ];
    assert_eq!(repeats(&turns, &["a"]), (2, "a".into()));
    let same = RepeatedFailure::of(
        &[failure("t1", "p1", &["a"]), failure("t2", "p1", &["a"])],
        &failure("t2", "p1", &["a"]),
    );
    assert_eq!((same.on_same_files, same.same_output), (1, 2));
}

fn issue(state: IssueState, labels: &[&str], counts: (u32, u32)) -> Issue {
    let counts = AttemptCounts {
        consecutive_failures: counts.0,
        total_runs: counts.1,
    };
    Issue {
        labels: labels.iter().map(|&label| label.into()).collect(),
        ..samples::issue(state, counts)
    }
}

fn route(issue: &Issue, exit_code: i32, base: BaseComparison, repeated: (u32, u32)) -> String {
    route_waived(issue, exit_code, base, repeated, false)
}

fn route_waived(
    issue: &Issue,
    exit_code: i32,
    base: BaseComparison,
    repeated: (u32, u32),
    waived: bool,
) -> String {
    let gates = gates(&[gate("test", Some(exit_code), "no")]);
    let print = failure_print(&gates, &[]);
    let end = GatesEnd {
        issue,
        gates: &gates,
        print: print.as_ref(),
        base,
        repeated: RepeatedFailure {
            on_same_files: repeated.0,
            same_output: repeated.0,
            of_one_gate: repeated.1,
            gate: Some("test".into()),
        },
        waived,
        limits: FailureLimits {
            max_retries: 4,
            max_backoff_ms: 300_000,
            breaker_target: BreakerTarget::Backlog,
        },
    };
    let routing = route_gates_end(&end, Timestamp::UNIX_EPOCH);
    let counts = routing.counts;
    let event = routing.event.map_or("-", |event| event.name());
    let retry = routing.retry.map_or("-".to_owned(), |retry| {
        format!("{}s: {}", retry.due_at.as_second(), retry.reason)
    });
    let comment = if routing.comment.is_some() {
        " | comment"
    } else {
        ""
    };
    format!(
        "{:?} | {event} | {}/{} | {retry}{comment}",
        routing.outcome, counts.consecutive_failures, counts.total_runs
    )
}

#[test]
fn what_a_person_approved_whatever_its_gates_find_is_left_alone() {
    let review = issue(IssueState::Review, &[], (1, 2));
    for base in [
        BaseComparison::NotMade,
        BaseComparison::AllRed,
        BaseComparison::Green,
    ] {
        assert_eq!(
            route_waived(&review, 1, base, (1, 2), true),
            "Recorded | - | 1/2 | -"
        );
    }
    assert_eq!(
        route_waived(&review, 0, BaseComparison::NotMade, (0, 0), true),
        "Passed | - | 0/2 | -"
    );
}

#[test]
fn every_result_has_its_route() {
    use BaseComparison::{AllMissing, AllRed, Green, NotMade, SomeRed};
    let review = issue(IssueState::Review, &[], (1, 2));
    let table = [
        (route(&review, 0, NotMade, (0, 0)), "Passed | - | 0/2 | -"),
        (
            route(&review, 1, NotMade, (0, 0)),
            "Rejected | review_rejected | 2/2 | 18s: the gate `test` failed on its pull request",
        ),
        (route(&review, 1, AllRed, (0, 0)), "Held | - | 1/2 | -"),
        (route(&review, 1, AllRed, (1, 5)), "Held | - | 1/2 | -"),
        (
            route(&review, 1, Green, (0, 1)),
            "Rejected | review_rejected | 2/2 | 18s: the gate `test` failed on its pull request",
        ),
        (
            route(&review, 1, Green, (1, 1)),
            "Stopped | gates_stopped | 2/2 | -",
        ),
        (
            route(&review, 1, Green, (0, 2)),
            "Stopped | gates_stopped | 2/2 | -",
        ),
        // what it broke itself it repairs, once the base is green
        (
            route(&review, 1, SomeRed, (0, 1)),
            "Rejected | review_rejected | 2/2 | 18s: the gate `test` failed on its pull request",
        ),
        // who repairs the gate is not held for it
        (
            route(
                &issue(IssueState::Review, &["fixes-gate:test"], (0, 1)),
                1,
                AllRed,
                (0, 0),
            ),
            "Rejected | review_rejected | 1/1 | 10s: the gate `test` failed on its pull request",
        ),
        (
            route(
                &issue(IssueState::Review, &["fixes-gate:test"], (0, 1)),
                127,
                AllMissing,
                (0, 0),
            ),
            "Stopped | gates_stopped | 1/1 | -",
        ),
        (
            route(&review, 127, AllMissing, (0, 0)),
            "Held | - | 1/2 | -",
        ),
        (
            route(&issue(IssueState::Review, &[], (3, 3)), 1, NotMade, (0, 0)),
            "Rejected | breaker_opened | 4/3 | - | comment",
        ),
        (
            route(&issue(IssueState::Todo, &[], (1, 1)), 1, NotMade, (0, 0)),
            "Recorded | - | 1/1 | -",
        ),
    ];
    for (found, expected) in table {
        assert_eq!(found, expected);
    }
}

#[test]
fn a_red_base_is_told_with_its_gate_and_the_ways_on() {
    let red = |name, exit_code, output| RedOnBase {
        name,
        command: "npm test",
        exit_code,
        output,
    };
    let commit = "0123456789abcdef";
    let text = base_red_text("main", commit, &[red("test", Some(1), "one\n2 failed\n\n")]);
    assert_eq!(
        text,
        "on `main` at 0123456: `test` (`npm test`) failed with exit code 1: 2 failed"
    );
    for (name, named, way) in [
        (
            "test",
            "test",
            "symphony issue add \"Repair the gate\" --fixes-gate test",
        ),
        (
            "all tests",
            "all tests",
            "symphony issue add \"Repair the gate\" --fixes-gate 'all tests'",
        ),
        (
            SET_UP_GATE,
            SET_UP_GATE,
            "symphony config set worktree.setup 'COMMAND'",
        ),
    ] {
        let text = base_red_text("a/b", commit, &[red(name, None, ""), red("z", None, "")]);
        assert!(
            text.ends_with("`z` (`npm test`) did not end on its own"),
            "{text}"
        );
        assert_eq!(named_gate(&text), Some(named), "{text}");
        assert_eq!(ways_on(&text, &KnownGates::default())[1], way);
    }
    assert_eq!(named_gate("the disk is full"), None);
    // no agent installs a program
    let missing = base_red_text(
        "main",
        commit,
        &[red("lint", Some(127), "sh: ruff: not found")],
    );
    assert_eq!(
        missing,
        "on `main` at 0123456: `lint` (`npm test`) failed with exit code 127, because a program is missing or cannot \
         be executed: \
         sh: ruff: not found"
    );
    let ways = ["symphony doctor --gates", "symphony resume"];
    assert_eq!(ways_on(&missing, &KnownGates::default()), ways);
    // who is at work on it is not paid twice
    let repair = |gate: &str| GateRepair {
        gate: gate.into(),
        issue: IssueId::parse("SYM-3").unwrap(),
        status: IssueStatus::Blocked,
    };
    let known = |names: &[&str], repairs: &[&str]| KnownGates {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        repairs: repairs.iter().map(|name| repair(name)).collect(),
        has_moved: false,
    };
    let ways = ways_on(&text, &known(&["lint", "test"], &["lint", "test"]));
    assert_eq!(
        ways[1..3],
        [
            "symphony config set 'gates[1].command' 'COMMAND'",
            "symphony issue show SYM-3"
        ]
    );
    assert_eq!(
        ways_on(&text, &known(&["other"], &["lint"])),
        ways_on(&text, &KnownGates::default())
    );
    // the next tick finds out whether anything is left to repair
    let moved = KnownGates {
        has_moved: true,
        ..KnownGates::default()
    };
    let ways = [
        "symphony tick",
        "symphony doctor --gates",
        "symphony resume",
    ];
    assert_eq!(ways_on(&text, &moved), ways);
    for (text, is_persons) in [
        (&missing, true),
        (&text, false),
        (&missing.replace("npm test", "./lint.sh"), false),
    ] {
        assert_eq!(persons_part(text).is_some(), is_persons, "{text}");
    }
}

#[test]
fn a_red_base_is_told_with_the_line_that_says_why() {
    let npm = "npm error code EUSAGE\nnpm error\nnpm error `npm ci` can only install packages in sync\nnpm error Usage:\n\
               npm error Run \"npm help ci\" for more info\nnpm error A complete log of this run can be found in: /x/1-debug-0.log\n";
    let pytest = "E   assert 1 == 2\n== short test summary info ==\nFAILED tests/a.py::one - assert 1 == 2\n\
                  FAILED tests/a.py::two\n== 2 failed, 613 passed in 79.91s (0:01:19) ==\n";
    for (output, expected) in [
        (npm, "npm error `npm ci` can only install packages in sync"),
        (pytest, "FAILED tests/a.py::one - assert 1 == 2"),
        ("E   no module\n1 error in 0.1s\n", "E   no module"),
        (
            "ERROR: No matching distribution\n\n[notice] A new release of pip is available\n[notice] To update, run: pip\n",
            "ERROR: No matching distribution",
        ),
        ("one\ntwo\n\n", "two"),
        ("3 failed\n", "3 failed"),
        ("[notice] nothing else\n", "[notice] nothing else"),
    ] {
        let red = RedOnBase {
            name: "test",
            command: "",
            exit_code: Some(1),
            output,
        };
        assert_eq!(
            base_red_text("main", "0123456789", &[red]),
            format!("on `main` at 0123456: `test` failed with exit code 1: {expected}")
        );
    }
}

#[test]
fn a_red_set_up_is_told_with_its_log() {
    let text = |name| {
        let red = RedOnBase {
            name,
            command: "make",
            exit_code: Some(2),
            output: "no",
        };
        with_setup_log(base_red_text("main", "0123456789", &[red]), "a/setup.log")
    };
    let set_up = text(SET_UP_GATE);
    assert_eq!(
        set_up,
        "on `main` at 0123456: `set-up` (`make`) failed with exit code 2: no (its whole output is in `a/setup.log`)"
    );
    assert_eq!(named_gate(&set_up), Some(SET_UP_GATE));
    assert!(!text("test").contains("setup.log"));
}

#[test]
fn what_was_not_tried_yet_is_tried_at_once() {
    use crate::hold::{Hold, HoldScope};
    let at = |second| Timestamp::from_second(second).unwrap();
    for (known, until, expected) in [
        (BaseGates::Red, 100, 100),
        (BaseGates::Untried, 100, 50),
        (BaseGates::Untried, 20, 20),
    ] {
        let mut hold = Hold {
            scope: HoldScope::Everything,
            until: at(until),
            placed_at: at(0),
            class: crate::failure::ErrorClass::BaseGatesFailed,
            reason: String::new(),
            probes: 0,
            canary: None,
            tried: None,
            trials: Vec::new(),
        };
        retry_when_changed(&mut hold, &known, at(50));
        assert_eq!(hold.until, at(expected), "{known:?}");
    }
}

#[test]
fn a_set_up_that_fails_on_the_base_is_nobodys_attempt() {
    use crate::id::IssueId;
    use crate::run::RunTarget;
    use SetUpOnBase::{Fails, NotTried, Passes};
    let issue = RunTarget::Issue(IssueId::parse("SYM-1").unwrap());
    let repairs = ["fixes-gate:test".to_owned()];
    for (target, labels, base, expected) in [
        (&issue, &[][..], Fails, SetUpFault::Base),
        (&issue, &[], Passes, SetUpFault::Work),
        (&issue, &[], NotTried, SetUpFault::Work),
        // no hold stops it, so that it would be started for ever
        (&issue, &repairs, Fails, SetUpFault::Work),
        (&RunTarget::Project, &[], Fails, SetUpFault::Work),
    ] {
        let fault = set_up_fault(target, labels, base);
        assert_eq!(fault, expected, "{target:?} {labels:?} {base:?}");
    }
}
