//! What the result of its gates does to a pull request and its issue.

use super::failure::FailurePrint;
use super::repair::fixes_gate;
use crate::Timestamp;
use crate::issue::{AttemptCounts, Issue, IssueEvent, IssueStatus};
use crate::outcome::{FailureLimits, breaker_notice, breaker_opens};
use crate::pull_request::{SET_UP_GATE, VerifiedGate, VerifiedGates, is_missing_program};
use crate::retry::{RetryKind, RetryPlan, after, backoff_ms};

/// How many failures on the same files, including this one, stop the issue: the same files fail in the same way a
/// second time, so another try would only cost time.
const SAME_FILES_MAX: u32 = 2;
/// How many runs in which one gate was red, including this one, stop the issue: three agents have seen its output and
/// none of them made it pass.
const ONE_GATE_MAX: u32 = 3;
/// How many failures with the same output, including this one, stop the issue, whatever was green in between: each pass
/// was followed by a change that brought the failure back.
const SAME_OUTPUT_MAX: u32 = 3;

/// The results of a pull request's red gates on its base, whatever they printed there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseComparison {
    /// The gates did not run on the base.
    NotMade,
    /// Each of them is red on the base: no change could pass, so that this one is not at fault.
    AllRed,
    /// As `AllRed`, and each lacks a program in both places.
    AllMissing,
    /// Some are red on the base, and the change broke others.
    SomeRed,
    /// The base passes all of them: the change is at fault.
    Green,
}

impl BaseComparison {
    /// Returns whether no change could pass.
    pub const fn is_all_red(self) -> bool {
        matches!(self, Self::AllRed | Self::AllMissing)
    }
}

/// Compares the red gates of a change with the same gates on its base, by their names alone: test runners print random
/// lines, and a gate that is red on the base stays red there whatever it prints. Where the set-up failed on the base,
/// no gate can pass there.
pub fn compare_with_base(change: &VerifiedGates, base: &VerifiedGates) -> BaseComparison {
    let is_red = |name: &str| {
        let mut red = base.red();
        red.any(|gate| gate.name == name || gate.name == SET_UP_GATE)
    };
    let is_missing = |gate: &&VerifiedGate| {
        let there = base.results.iter().find(|there| there.name == gate.name);
        is_missing_program(gate.exit_code)
            && there.is_some_and(|there| is_missing_program(there.exit_code))
    };
    let red = change.red();
    let (both, own): (Vec<_>, Vec<_>) = red.partition(|gate| is_red(&gate.name));
    match (both.is_empty(), own.is_empty()) {
        (true, _) => BaseComparison::Green,
        (false, true) if both.iter().all(is_missing) => BaseComparison::AllMissing,
        (false, true) => BaseComparison::AllRed,
        (false, false) => BaseComparison::SomeRed,
    }
}

/// A red result of an issue's gates, as it is remembered until they pass on the same files or a person starts the issue
/// again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastFailure {
    /// The tree they ran on.
    pub tree: String,
    /// Which failure it was.
    pub print: FailurePrint,
    /// The gates that were red.
    pub gates: Vec<String>,
    /// Whether they have passed since, on other files.
    pub passed_since: bool,
}

impl PastFailure {
    /// Makes it of a result that is red.
    pub fn of(gates: &VerifiedGates, tree: impl Into<String>, print: FailurePrint) -> Self {
        let red = gates.red();
        Self {
            tree: tree.into(),
            print,
            gates: red.map(|gate| gate.name.clone()).collect(),
            passed_since: false,
        }
    }
}

/// How a red result repeats earlier ones of the same issue, since a person last started it again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepeatedFailure {
    /// Failures with the same output on the same files.
    pub on_same_files: u32,
    /// Failures with the same output, whatever the files, and whatever was green in between.
    pub same_output: u32,
    /// Earlier failures since the gates last passed in which the most stubborn of the gates that are red now was red,
    /// too.
    pub of_one_gate: u32,
    /// That gate.
    pub gate: Option<String>,
}

impl RepeatedFailure {
    /// Finds out how a failure repeats earlier ones.
    pub fn of(past: &[PastFailure], now: &PastFailure) -> Self {
        let count = |same: &dyn Fn(&PastFailure) -> bool| {
            let count = past.iter().filter(|past| same(past)).count();
            u32::try_from(count).unwrap_or(u32::MAX)
        };
        let times = |gate: &String| count(&|past| !past.passed_since && past.gates.contains(gate));
        let stubborn = now.gates.iter().map(|gate| (times(gate), gate));
        // If there are several, the first in the configuration.
        let stubborn = stubborn.rev().max_by_key(|(times, _)| *times);
        Self {
            on_same_files: count(&|past| past.print == now.print && past.tree == now.tree),
            same_output: count(&|past| past.print == now.print),
            of_one_gate: stubborn.map_or(0, |(times, _)| times),
            gate: stubborn.map(|(_, gate)| gate.clone()),
        }
    }

    /// Returns whether another try would most likely fail as well.
    const fn is_hopeless(&self) -> bool {
        self.on_same_files + 1 >= SAME_FILES_MAX
            || self.of_one_gate + 1 >= ONE_GATE_MAX
            || self.same_output + 1 >= SAME_OUTPUT_MAX
    }
}

/// Everything that decides what happens to a pull request after its gates have run.
#[derive(Debug, Clone)]
pub struct GatesEnd<'a> {
    /// Its issue, as it is now.
    pub issue: &'a Issue,
    /// The results.
    pub gates: &'a VerifiedGates,
    /// Which failure it is; `None` if every required gate passed.
    pub print: Option<&'a FailurePrint>,
    /// How it compares with the base.
    pub base: BaseComparison,
    /// How it repeats earlier ones.
    pub repeated: RepeatedFailure,
    /// Whether a person has approved their commit whatever they find.
    pub waived: bool,
    /// The limits that decide about another attempt.
    pub limits: FailureLimits,
}

/// What happens to the pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatesOutcome {
    /// Every required gate passed: it waits for its review.
    Passed,
    /// It goes back to a worker.
    Rejected,
    /// It stays open and its issue is blocked: a person decides.
    Stopped,
    /// Its red gates are red on the base, too: the project is on hold, and the gates run again afterwards.
    Held,
    /// Its issue has left the review meanwhile, or a person approved it whatever they find: the results are only
    /// recorded.
    Recorded,
}

/// What has to be written after gates have run, in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatesRouting {
    /// What happens to the pull request.
    pub outcome: GatesOutcome,
    /// What happened to the issue.
    pub event: Option<IssueEvent>,
    /// The issue's counts afterwards.
    pub counts: AttemptCounts,
    /// The next appointment.
    pub retry: Option<RetryPlan>,
    /// A comment by the system.
    pub comment: Option<String>,
}

/// What is recorded of the red gates on the base commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseRecord {
    /// All of them passed there, with the same set-up and tools.
    Passed,
    /// They were not tried there, or did not pass.
    Unknown,
}

/// Returns whether the gates should run on the base, too, before a failure counts against the change: unless they are
/// known to pass there. A gate that passed there may still fail because of the machine: check again if a program is
/// missing, if the set-up failed, if the same output was seen before, and if the failure would stop the issue.
pub fn needs_base_comparison(
    gates: &VerifiedGates,
    repeated: &RepeatedFailure,
    base: BaseRecord,
) -> bool {
    let is_environment =
        |gate: &VerifiedGate| gate.name == SET_UP_GATE || is_missing_program(gate.exit_code);
    let mut red = gates.red().peekable();
    red.peek().is_some()
        && (base == BaseRecord::Unknown
            || repeated.same_output > 0
            || repeated.is_hopeless()
            || red.any(is_environment))
}

/// Decides what happens to a pull request after its gates have run.
pub fn route_gates_end(end: &GatesEnd<'_>, now: Timestamp) -> GatesRouting {
    let mut routing = GatesRouting {
        outcome: GatesOutcome::Passed,
        event: None,
        counts: end.issue.counts,
        retry: None,
        comment: None,
    };
    if end.issue.state.status() != IssueStatus::Review {
        routing.outcome = GatesOutcome::Recorded;
        return routing;
    }
    if end.print.is_none() {
        routing.counts.consecutive_failures = 0;
        return routing;
    }
    if end.waived {
        routing.outcome = GatesOutcome::Recorded;
        return routing;
    }
    if end.base.is_all_red() && !fixes_gate(&end.issue.labels) {
        routing.outcome = GatesOutcome::Held;
        return routing;
    }
    routing.counts.consecutive_failures = routing.counts.consecutive_failures.saturating_add(1);
    let reason = end_of_repair(end).or_else(|| stops(end));
    if let Some(reason) = reason {
        routing.outcome = GatesOutcome::Stopped;
        routing.event = Some(IssueEvent::GatesStopped { reason });
        return routing;
    }
    routing.outcome = GatesOutcome::Rejected;
    if breaker_opens(routing.counts, end.limits.max_retries) {
        routing.event = Some(IssueEvent::BreakerOpened {
            to: end.limits.breaker_target,
            reason: None,
        });
        routing.comment = Some(breaker_comment(end, routing.counts));
        return routing;
    }
    routing.event = Some(IssueEvent::ReviewRejected);
    let failures = routing.counts.consecutive_failures;
    let delay = backoff_ms(&end.issue.id, failures, end.limits.max_backoff_ms);
    routing.retry = Some(RetryPlan {
        kind: RetryKind::Backoff,
        due_at: after(now, delay),
        reason: format!("the {} failed on its pull request", names(end.gates)),
    });
    routing
}

/// Decides what happens to a plan's pull request after its gates have run. No agent repairs it unasked, so red gates
/// stop it at once, after they have been compared with the base.
pub fn route_plan_gates_end(print: Option<&FailurePrint>, base: BaseComparison) -> GatesOutcome {
    match (print, base) {
        (None, _) => GatesOutcome::Passed,
        (Some(_), BaseComparison::AllRed | BaseComparison::AllMissing) => GatesOutcome::Held,
        (Some(_), BaseComparison::SomeRed | BaseComparison::Green | BaseComparison::NotMade) => {
            GatesOutcome::Stopped
        }
    }
}

/// Returns why an issue that was to repair a gate stops at once: what the gate needs is missing on this machine, with
/// its change as well.
fn end_of_repair(end: &GatesEnd<'_>) -> Option<String> {
    (end.base == BaseComparison::AllMissing).then(|| {
        format!(
            "the {} needs a program that is missing or cannot be executed, on the base as well: install it, or change the command",
            names(end.gates)
        )
    })
}

/// Returns why the issue stops, in a sentence; `None` while another try may help.
fn stops(end: &GatesEnd<'_>) -> Option<String> {
    let repeated = &end.repeated;
    if !repeated.is_hopeless() {
        return None;
    }
    if repeated.on_same_files + 1 >= SAME_FILES_MAX {
        let names = names(end.gates);
        return Some(format!(
            "the {names} failed twice in the same way on the same files"
        ));
    }
    if repeated.of_one_gate + 1 < ONE_GATE_MAX {
        let (names, times) = (names(end.gates), repeated.same_output + 1);
        return Some(format!(
            "the {names} failed {times} times with the same output, and passed in between"
        ));
    }
    let name = match repeated.gate.as_deref() {
        Some(SET_UP_GATE) => "set-up command".to_owned(),
        Some(gate) => format!("gate `{gate}`"),
        None => names(end.gates),
    };
    let times = repeated.of_one_gate + 1;
    Some(format!(
        "the {name} failed {times} times, and the gates did not pass in between"
    ))
}

/// Names the red gates, each in backticks: "gate X", "gates X and Y".
fn names(gates: &VerifiedGates) -> String {
    let red: Vec<String> = gates.red().map(|gate| format!("`{}`", gate.name)).collect();
    match red.as_slice() {
        [one] if *one == format!("`{SET_UP_GATE}`") => "set-up command".to_owned(),
        [one] => format!("gate {one}"),
        [most @ .., last] => format!("gates {} and {last}", most.join(", ")),
        [] => "gates".to_owned(),
    }
}

fn breaker_comment(end: &GatesEnd<'_>, counts: AttemptCounts) -> String {
    let (names, commit) = (names(end.gates), &end.gates.commit);
    let last = format!("the {names} failed on commit {commit}.");
    breaker_notice(counts, end.limits.max_retries, &last)
}
