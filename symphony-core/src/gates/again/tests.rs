//! Tables and properties of tries.

use proptest::prelude::*;

use super::*;
use crate::config::CommandLine;

fn result(name: &str, required: bool, exit_code: Option<i32>, output: &str) -> VerifiedGate {
    VerifiedGate {
        name: name.into(),
        required,
        passed: exit_code == Some(0),
        exit_code,
        duration_ms: 7,
        output: output.into(),
        cached: false,
        definition: None,
        failed_tries: Vec::new(),
    }
}

fn gate(name: &str, retries: u64) -> Gate {
    Gate {
        retries,
        ..Gate::new(name, CommandLine::Shell("t".into()))
    }
}

fn names(gates: &[Gate]) -> Vec<&str> {
    gates.iter().map(|gate| gate.name.as_str()).collect()
}

/// Plays tries of gates by exit codes: those of a gate, try after try, the last one for all further tries.
fn play(gates: &[Gate], codes: &[&[i32]]) -> (Vec<Vec<String>>, Vec<GateResult>) {
    let came_to = |gate: &Gate, number: u64| {
        let at = gates
            .iter()
            .position(|other| other.name == gate.name)
            .unwrap();
        let number = usize::try_from(number).unwrap();
        let code = codes[at][number.min(codes[at].len()) - 1];
        result(
            &gate.name,
            gate.required,
            Some(code),
            &format!("try {number}"),
        )
    };
    let mut tries = Tries::of(gates, gates.iter().map(|gate| came_to(gate, 1)).collect());
    let mut ran = Vec::new();
    loop {
        let next = tries.next();
        if next.is_empty() {
            return (ran, tries.into_results());
        }
        ran.push(next.iter().map(|gate| gate.name.clone()).collect());
        let number = tries.next_number();
        tries.take(next.iter().map(|gate| came_to(gate, number)).collect());
    }
}

#[test]
fn a_required_gate_that_failed_by_itself_runs_again() {
    for (required, exit_code, retries, expected) in [
        (true, Some(1), 1, true),
        (true, Some(137), 1, true),
        (true, Some(1), 0, false),
        (true, Some(0), 1, false),
        (false, Some(1), 1, false),
        (true, None, 1, false),
        (true, Some(126), 1, false),
        (true, Some(127), 1, false),
    ] {
        let gates = [Gate {
            required,
            ..gate("test", retries)
        }];
        let tries = Tries::of(&gates, vec![result("test", required, exit_code, "")]);
        assert_eq!(!tries.next().is_empty(), expected, "{exit_code:?}");
    }
}

#[test]
fn each_try_counts_and_the_first_is_the_result_until_one_passes() {
    let lines = |result: &VerifiedGate| -> Vec<Option<String>> {
        let tries = result.failed_tries.iter();
        tries.map(|failed| failed.line.clone()).collect()
    };
    let first = result("test", true, Some(1), "one\nboom\n");
    let second = with_another_try(first, result("test", true, Some(127), "no program\n"));
    assert_eq!(second.output, "one\nboom\n");
    assert_eq!(second.how(), "failed with exit code 1 (2 tries)");
    assert_eq!(lines(&second), [Some("no program".to_owned())]);
    let third = with_another_try(second, result("test", true, Some(0), "fine"));
    assert!(third.is_flaky() && third.output == "fine");
    assert_eq!(third.how(), "passed at try 3");
    let all = ["boom", "no program"].map(|line| Some(line.to_owned()));
    assert_eq!(lines(&third), all);
}

#[test]
fn a_try_runs_what_the_red_gates_need_each_gate_alone() {
    let mut gates = ["build", "lint", "test", "docs"].map(|name| gate(name, 1));
    for gate in &mut gates[1..] {
        gate.parallel = true;
    }
    let first = [("build", 0), ("lint", 0), ("test", 1), ("docs", 0)];
    let first = first.map(|(name, code)| result(name, true, Some(code), ""));
    let next = Tries::of(&gates, first.into()).next();
    assert_eq!(names(&next), ["build", "test"]);
    assert!(next.iter().all(|gate| !gate.parallel));
}

#[test]
fn what_ran_after_a_red_gate_runs_again_with_it() {
    // the suite passed since there was no build to test
    let gates = [gate("build", 1), gate("test", 1)];
    let (ran, results) = play(&gates, &[&[1, 0], &[0, 1]]);
    assert_eq!(ran, [["build", "test"]]);
    assert_eq!(results[0].result.how(), "passed at try 2");
    assert_eq!(results[1].result.how(), "failed with exit code 1");
    let (_, results) = play(&gates, &[&[1, 0], &[0]]);
    assert!(results.iter().all(GateResult::is_proven));
    // a build that stays red leaves the suite as it is, and its pass is worth nothing
    let (ran, results) = play(&gates, &[&[1], &[0]]);
    assert_eq!(ran.len(), 1);
    assert!(results[1].result.passed && !results[1].is_proven());
}

#[test]
fn a_failure_before_it_costs_a_gate_one_try_and_not_all() {
    let five = [gate("build", 5), gate("test", 5)];
    let (ran, results) = play(&five, &[&[0, 1, 0], &[1, 0]]);
    assert_eq!(ran.len(), 2);
    assert!(results.iter().all(GateResult::is_proven), "{results:#?}");
    assert_eq!(results[1].result.how(), "passed at try 3");
    let tries = &results[1].result.failed_tries;
    assert_eq!(tries[1].line.as_deref(), Some("`build` failed before it"));
    let one = [gate("build", 1), gate("test", 1)];
    let (ran, results) = play(&one, &[&[0, 1], &[1, 0]]);
    assert_eq!(ran.len(), 1);
    assert_eq!(results[1].result.how(), "failed with exit code 1 (2 tries)");
}

#[test]
fn no_try_is_made_behind_a_gate_that_stays_red_and_optional_ones_block_nothing() {
    let stays = [gate("build", 0), gate("test", 5)];
    let (ran, _) = play(&stays, &[&[1], &[1]]);
    assert_eq!(ran, [[""; 0]; 0]);
    let optional = [
        Gate {
            required: false,
            ..gate("lint", 5)
        },
        gate("test", 1),
    ];
    let (ran, results) = play(&optional, &[&[1], &[1, 0]]);
    assert_eq!(ran, [["test"]]);
    assert!(results[1].is_proven());
    let (ran, results) = play(&optional, &[&[0, 1], &[1, 0]]);
    assert_eq!(ran, [["lint", "test"]]);
    assert!(results[1].is_proven());
}

#[test]
fn what_failed_behind_a_red_gate_is_no_verdict() {
    // the program that the build makes was missing, and the suite may not even run again by itself
    let gates = [gate("build", 1), gate("e2e", 0)];
    let (ran, results) = play(&gates, &[&[1, 0], &[127, 0]]);
    assert_eq!(ran, [["build", "e2e"]]);
    assert!(results.iter().all(GateResult::is_proven), "{results:#?}");
    assert_eq!(results[1].result.how(), "passed");
}

#[test]
fn a_pass_that_no_try_proves_is_red() {
    // `a` fails first, then `b` does: `test` never ran after both
    let gates = [gate("a", 1), gate("b", 1), gate("test", 1)];
    let (_, results) = play(&gates, &[&[1, 0], &[0, 1], &[0]]);
    let last = &results[2].result;
    assert!(results[1].result.is_red() || last.is_red(), "{results:#?}");
}

proptest! {
    #[test]
    fn tries_end_and_green_gates_are_proven(
        gates in prop::collection::vec((0_u64..4, any::<bool>(), any::<bool>()), 1..6),
        codes in prop::collection::vec(prop::collection::vec(0..2, 6), 6),
    ) {
        let gates: Vec<Gate> = gates
            .into_iter()
            .enumerate()
            .map(|(at, (retries, parallel, required))| Gate {
                required,
                parallel,
                ..gate(&at.to_string(), retries)
            })
            .collect();
        let codes: Vec<&[i32]> = codes.iter().map(Vec::as_slice).collect();
        let (ran, results) = play(&gates, &codes[..gates.len()]);
        let most = gates.iter().map(|gate| gate.retries).max().unwrap_or_default();
        prop_assert!(ran.len() as u64 <= most);
        if results.iter().all(|known| !known.result.is_red()) {
            for known in results.iter().filter(|known| known.result.required) {
                prop_assert!(known.is_proven(), "{known:#?}");
            }
        }
        // each try runs, before each gate, all required ones of the groups before
        for tried in &ran {
            let mut before: Vec<&str> = Vec::new();
            for group in groups(&gates) {
                if group.iter().any(|gate| tried.contains(&gate.name)) {
                    prop_assert!(before.iter().all(|name| tried.iter().any(|ran| ran == name)));
                }
                let required = group.iter().filter(|gate| gate.required);
                before.extend(required.map(|gate| gate.name.as_str()));
            }
        }
    }
}
