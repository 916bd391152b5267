//! Which red gates run once more, in another checkout, before their result counts: a flaky one would cost an agent's run.

use super::order::with_those_before;
use super::telling::telling_line;
use crate::config::Gate;
use crate::pull_request::{FailedTry, VerifiedGate, is_missing_program};

/// Characters of the line that is kept of a failed try.
const LINE_CHARS_MAX: usize = 200;

/// Says whether a gate runs again on the same files after this result. One that is not required sends nothing back; one that was
/// ended by its time limit would take as long again, and a program that is missing does not come by itself.
fn runs_again(gate: &Gate, result: &VerifiedGate) -> bool {
    let tries = u64::try_from(result.failed_tries.len()).unwrap_or(u64::MAX);
    result.is_red()
        && result.exit_code.is_some()
        && !is_missing_program(result.exit_code)
        && tries < gate.retries
}

/// Returns what runs in another try, in order: the red gates that may, with all before them, each alone. Gates that run at once may
/// have been in each other's way.
pub fn next_try(gates: &[Gate], results: &[VerifiedGate]) -> Vec<Gate> {
    let runs = |index: usize, gate: &Gate| {
        let result = results.get(index);
        result.is_some_and(|result| runs_again(gate, result))
    };
    let mut next = with_those_before(gates, runs);
    for gate in &mut next {
        gate.parallel = false;
    }
    next
}

/// Takes over what the gates of [`next_try`] came to; says whether the try counts. It does not when a gate fails that passed before:
/// what runs after it lacks what it should have built.
pub fn take_over(gates: &[Gate], results: &mut [VerifiedGate], tried: Vec<VerifiedGate>) -> bool {
    let mut tried = tried.into_iter().peekable();
    for (gate, result) in gates.iter().zip(results) {
        let Some(another) = tried.next_if(|another| another.name == gate.name) else {
            continue;
        };
        if runs_again(gate, result) {
            *result = with_another_try(result.clone(), another);
        } else if result.passed && !another.passed {
            return false;
        }
    }
    true
}

/// Adds another try to the result of a gate. One that passed is the result, and the first becomes a failed try. One that failed
/// becomes a failed try itself: the first ran after all other gates, and its output says more.
fn with_another_try(mut first: VerifiedGate, another: VerifiedGate) -> VerifiedGate {
    let mut failed_tries = std::mem::take(&mut first.failed_tries);
    let result = if another.passed {
        failed_tries.insert(0, failed_try(&first));
        another
    } else {
        failed_tries.push(failed_try(&another));
        first
    };
    VerifiedGate {
        failed_tries,
        ..result
    }
}

fn failed_try(result: &VerifiedGate) -> FailedTry {
    let line = telling_line(&result.output);
    FailedTry {
        exit_code: result.exit_code,
        duration_ms: result.duration_ms,
        line: line.map(|line| line.chars().take(LINE_CHARS_MAX).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CommandLine;

    fn result(required: bool, exit_code: Option<i32>, output: &str) -> VerifiedGate {
        VerifiedGate {
            name: "test".into(),
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

    fn gate(retries: u64) -> Gate {
        Gate {
            retries,
            ..Gate::new("test", CommandLine::Shell("t".into()))
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
            let result = result(required, exit_code, "");
            assert_eq!(
                runs_again(&gate(retries), &result),
                expected,
                "{exit_code:?}"
            );
        }
    }

    #[test]
    fn each_try_counts_and_the_first_is_the_result_until_one_passes() {
        let lines = |result: &VerifiedGate| -> Vec<Option<String>> {
            let tries = result.failed_tries.iter();
            tries.map(|failed| failed.line.clone()).collect()
        };
        let first = result(true, Some(1), "one\nboom\n");
        let second = with_another_try(first, result(true, Some(127), "no program\n"));
        assert!(!runs_again(&gate(1), &second));
        assert!(runs_again(&gate(2), &second));
        assert_eq!(second.output, "one\nboom\n");
        assert_eq!(second.how(), "failed with exit code 1 (2 tries)");
        assert_eq!(lines(&second), [Some("no program".to_owned())]);
        let third = with_another_try(second, result(true, Some(0), "fine"));
        assert!(third.is_flaky() && third.output == "fine");
        assert_eq!(third.how(), "passed at try 3");
        let all = ["boom", "no program"].map(|line| Some(line.to_owned()));
        assert_eq!(lines(&third), all);
    }

    #[test]
    fn a_try_runs_what_the_red_gates_need_and_counts_while_that_passes() {
        let gates: Vec<Gate> = ["build", "lint", "test", "docs"]
            .map(|name| Gate {
                name: name.into(),
                parallel: true,
                ..gate(1)
            })
            .into();
        let gates = [
            &[Gate {
                parallel: false,
                ..gates[0].clone()
            }],
            &gates[1..],
        ]
        .concat();
        let named = |name: &str, exit_code| VerifiedGate {
            name: name.into(),
            ..result(true, Some(exit_code), "")
        };
        let first = || -> Vec<VerifiedGate> {
            let codes = [("build", 0), ("lint", 0), ("test", 1), ("docs", 0)];
            codes.map(|(name, code)| named(name, code)).into()
        };
        let next = next_try(&gates, &first());
        let names: Vec<&str> = next.iter().map(|gate| gate.name.as_str()).collect();
        assert_eq!(names, ["build", "test"]);
        assert!(next.iter().all(|gate| !gate.parallel));

        let mut results = first();
        assert!(take_over(
            &gates,
            &mut results,
            vec![named("build", 0), named("test", 0)]
        ));
        assert!(results[2].is_flaky() && !results[0].is_flaky());
        assert_eq!(next_try(&gates, &results), []);
        // a suite without its build may pass since it finds nothing to do
        let mut results = first();
        assert!(!take_over(
            &gates,
            &mut results,
            vec![named("build", 1), named("test", 0)]
        ));
        assert_eq!(results, first());
    }
}
