//! Tries of gates on the same files: a red one runs again before its failure counts, since a flaky one would cost an
//! agent's run.
//!
//! Each try is a run in a checkout of its own. A gate counts as passed when it passed in a try in which all required
//! gates before it passed, too: without what they build, a suite may pass since it finds nothing to test.

use super::order::{groups, with_those_before};
use super::telling::telling_line;
use crate::config::Gate;
use crate::pull_request::{FailedTry, VerifiedGate, is_missing_program};

/// Most characters of the line that is kept of a failed try.
const LINE_CHARS_MAX: usize = 200;

/// The results of gates, try after try.
#[derive(Debug, Clone)]
pub struct Tries<'a> {
    gates: &'a [Gate],
    results: Vec<GateResult>,
    /// How many tries were made.
    made: u64,
}

/// The result of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateResult {
    /// The result.
    pub result: VerifiedGate,
    /// Whether it ran in a try in which all required gates before it passed. Its result after a red gate does not count.
    is_judged: bool,
}

impl GateResult {
    /// Returns whether it passed after all required gates before it had passed in the same try.
    pub const fn is_proven(&self) -> bool {
        self.is_judged && self.result.passed
    }
}

impl<'a> Tries<'a> {
    /// Begins with the results of the first try, in the order of the gates.
    pub fn of(gates: &'a [Gate], first: Vec<VerifiedGate>) -> Self {
        let blocked = blocked_by(gates, first.iter().map(VerifiedGate::is_red));
        let results = first.into_iter().zip(blocked);
        let results = results.map(|(result, blocked)| GateResult {
            is_judged: blocked.is_none(),
            result,
        });
        Self {
            gates,
            results: results.collect(),
            made: 1,
        }
    }

    /// Returns the number of the next try; the first has number 1.
    pub const fn next_number(&self) -> u64 {
        self.made + 1
    }

    /// Returns what runs in another try, in order, each gate alone, since gates that run concurrently may have
    /// interfered: the red ones that may pass, what ran after a red one, and everything before. Empty if another try
    /// cannot change anything.
    pub fn next(&self) -> Vec<Gate> {
        let wanted = self.wanted();
        let mut next = with_those_before(self.gates, |index, _| wanted.get(index) == Some(&true));
        let failed_for_good = |gate: &Gate| {
            let mut results = self.results.iter().map(|known| &known.result);
            // the others did without it
            results.any(|result| result.name == gate.name && !result.required && !result.passed)
        };
        next.retain(|gate| !failed_for_good(gate));
        for gate in &mut next {
            gate.parallel = false;
        }
        next
    }

    /// Returns for each gate whether another try is for its sake.
    fn wanted(&self) -> Vec<bool> {
        let retries_max = self.gates.iter().map(|gate| gate.retries).max();
        let mut results = self.results.iter();
        let mut wanted = Vec::with_capacity(self.results.len());
        let (mut is_over, mut is_worth_it) = (false, false);
        for group in groups(self.gates) {
            let was_over = is_over;
            for (gate, known) in group.iter().zip(results.by_ref()) {
                let result = &known.result;
                let may = if known.is_judged {
                    can_pass_again(result) && self.made <= gate.retries
                } else {
                    Some(self.made) <= retries_max
                };
                let is_wanted = may && !was_over;
                is_worth_it |= is_wanted && result.required;
                is_over |= result.is_red() && !is_wanted;
                wanted.push(is_wanted);
            }
        }
        if !is_worth_it {
            wanted.fill(false);
        }
        wanted
    }

    /// Adds the results of the gates of [`Tries::next`]; `tried` is empty if they could not run.
    pub fn take(&mut self, tried: Vec<VerifiedGate>) {
        self.made += 1;
        let mut tried = tried.into_iter().peekable();
        let of_gate = |gate: &Gate| tried.next_if(|another| another.name == gate.name);
        let all: Vec<Option<VerifiedGate>> = self.gates.iter().map(of_gate).collect();
        let is_red =
            |another: &Option<VerifiedGate>| another.as_ref().is_some_and(VerifiedGate::is_red);
        let blocked = blocked_by(self.gates, all.iter().map(is_red));
        for ((known, another), blocked) in self.results.iter_mut().zip(all).zip(blocked) {
            let Some(another) = another.filter(|_| !known.is_proven()) else {
                continue;
            };
            match blocked {
                Some(before) if known.is_judged => {
                    known.result.failed_tries.push(FailedTry {
                        line: Some(format!("`{before}` failed before it")),
                        ..failed_try(&another)
                    });
                }
                Some(_) => {}
                None => {
                    known.result = if known.is_judged {
                        with_another_try(known.result.clone(), another)
                    } else {
                        another
                    };
                    known.is_judged = true;
                }
            }
        }
    }

    /// Returns the results of the gates. A required one that never passed in a try in which those before it passed is
    /// red: its pass may be worth nothing.
    pub fn into_results(self) -> Vec<GateResult> {
        let blocked = blocked_by(
            self.gates,
            self.results.iter().map(|known| known.result.is_red()),
        );
        let results = self.results.into_iter().zip(blocked);
        let results = results.map(|(known, blocked)| {
            let passed = known.result.required && known.result.passed;
            if !passed || known.is_judged || blocked.is_some() {
                return known;
            }
            let remark =
                "[Symphony: it passed only in tries in which a required gate before it failed]";
            GateResult {
                result: VerifiedGate {
                    passed: false,
                    exit_code: None,
                    output: format!("{remark}\n{}", known.result.output),
                    ..known.result
                },
                ..known
            }
        });
        results.collect()
    }
}

/// Names for each gate the first red one in a group before its own, if any.
fn blocked_by(gates: &[Gate], red: impl IntoIterator<Item = bool>) -> Vec<Option<&str>> {
    let mut red = red.into_iter();
    let mut blocked = Vec::with_capacity(gates.len());
    let mut first_red = None;
    for group in groups(gates) {
        let before = first_red;
        for (gate, is_red) in group.iter().zip(red.by_ref()) {
            blocked.push(before);
            if is_red && first_red.is_none() {
                first_red = Some(gate.name.as_str());
            }
        }
    }
    blocked
}

/// Returns whether a failed gate may pass on the same files. An optional one sends nothing back; one that exceeded its
/// time limit would take as long again, and a missing program stays missing.
fn can_pass_again(result: &VerifiedGate) -> bool {
    result.is_red() && result.exit_code.is_some() && !is_missing_program(result.exit_code)
}

/// Adds another try to the result of a gate. One that passed is the result, and the first becomes a failed try. One
/// that failed becomes a failed try itself: the first ran after all other gates, and its output says more.
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
mod tests;
