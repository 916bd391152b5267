//! What the result of its gates does to a pull request and its issue.

use super::failure::FailurePrint;
use crate::Timestamp;
use crate::issue::{AttemptCounts, Issue, IssueEvent, IssueStatus};
use crate::outcome::{FailureLimits, breaker_opens};
use crate::pull_request::{SET_UP_GATE, VerifiedGate, VerifiedGates};
use crate::retry::{RetryKind, RetryPlan, after, backoff_ms};
use crate::wording::counted;

/// Beginning of the label of an issue that repairs a gate which is red on the base: it is worked on
/// while the project is on hold for that gate.
pub const FIXES_GATE_LABEL: &str = "fixes-gate:";

/// Failures on one set of files, this one included, at which the issue stops: the same files fail in
/// the same way a second time, so another try would only cost time.
const SAME_FILES_MAX: u32 = 2;
/// Runs in a row with one failure, this one included, at which the issue stops: three agents have
/// seen the output and none of them changed it.
const IN_A_ROW_MAX: u32 = 3;

/// Exit codes of a shell for a program that cannot be executed, or is not there.
const NOT_A_VERDICT: [i32; 2] = [126, 127];

/// Says whether an issue with these labels repairs a gate.
pub fn fixes_gate(labels: &[String]) -> bool {
    labels
        .iter()
        .any(|label| label.starts_with(FIXES_GATE_LABEL))
}

/// How the failure of a pull request's gates compares with the same gates on its base commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseComparison {
    /// The gates did not run on the base.
    NotMade,
    /// The base fails in the same way: the change is not at fault.
    SameFailure,
    /// The base passes, or fails differently.
    Different,
}

/// How often an issue failed like this before, since a person last started it again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RepeatedFailure {
    /// On the same files.
    pub on_same_files: u32,
    /// In a row, whatever the files.
    pub in_a_row: u32,
}

/// Everything that decides what becomes of a pull request whose gates have run.
#[derive(Debug, Clone)]
pub struct GatesEnd<'a> {
    /// Its issue, as it is now.
    pub issue: &'a Issue,
    /// The results.
    pub gates: &'a VerifiedGates,
    /// Which failure it is; none when every required gate passed.
    pub print: Option<&'a FailurePrint>,
    /// How it compares with the base.
    pub base: BaseComparison,
    /// How often it came before.
    pub repeated: RepeatedFailure,
    /// The limits that decide about another attempt.
    pub limits: FailureLimits,
}

/// What becomes of the pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatesOutcome {
    /// Every required gate passed: it waits for its review.
    Passed,
    /// It goes back to a worker.
    Rejected,
    /// It stays open and its issue is blocked: a person decides.
    Stopped,
    /// Its base fails in the same way: the project is on hold, and the gates run again afterwards.
    Held,
    /// Its issue has left the review meanwhile: the results are only recorded.
    Recorded,
}

/// What is to be written when gates have run, in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatesRouting {
    /// What becomes of the pull request.
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

/// Says whether the gates should run on the base, too, before a failure is held against the change: unless they are known to
/// pass there. What passed there may still be the machine's fault now: when a program is missing, when the set-up failed, and
/// when the failure has come before.
pub fn needs_base_comparison(
    gates: &VerifiedGates,
    repeated: RepeatedFailure,
    base: BaseRecord,
) -> bool {
    let is_environment = |gate: &VerifiedGate| {
        gate.name == SET_UP_GATE
            || gate
                .exit_code
                .is_some_and(|code| NOT_A_VERDICT.contains(&code))
    };
    let mut red = gates.results.iter().filter(|gate| gate.is_red()).peekable();
    red.peek().is_some()
        && (base == BaseRecord::Unknown || repeated.in_a_row > 0 || red.any(is_environment))
}

/// Decides what becomes of a pull request whose gates have run.
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
    if end.base == BaseComparison::SameFailure && !fixes_gate(&end.issue.labels) {
        routing.outcome = GatesOutcome::Held;
        return routing;
    }
    routing.counts.consecutive_failures = routing.counts.consecutive_failures.saturating_add(1);
    if let Some(reason) = stops(end) {
        routing.outcome = GatesOutcome::Stopped;
        routing.event = Some(IssueEvent::GatesStopped { reason });
        return routing;
    }
    routing.outcome = GatesOutcome::Rejected;
    if breaker_opens(routing.counts, end.limits.max_retries) {
        routing.event = Some(IssueEvent::BreakerOpened {
            to: end.limits.breaker_target,
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

/// Decides what happens to a plan's pull request after its gates have run. No agent repairs it unasked, so red gates stop it at
/// once, after they have been compared with the base.
pub fn route_plan_gates_end(print: Option<&FailurePrint>, base: BaseComparison) -> GatesOutcome {
    match (print, base) {
        (None, _) => GatesOutcome::Passed,
        (Some(_), BaseComparison::SameFailure) => GatesOutcome::Held,
        (Some(_), BaseComparison::Different | BaseComparison::NotMade) => GatesOutcome::Stopped,
    }
}

/// Returns why the issue stops, in a sentence; none while another try may help.
fn stops(end: &GatesEnd<'_>) -> Option<String> {
    let names = names(end.gates);
    if end.repeated.on_same_files + 1 >= SAME_FILES_MAX {
        return Some(format!(
            "the {names} failed twice in the same way on the same files"
        ));
    }
    let in_a_row = end.repeated.in_a_row + 1;
    (in_a_row >= IN_A_ROW_MAX)
        .then(|| format!("the {names} failed {in_a_row} times in a row with the same output"))
}

/// Names the red gates: `gate "test"`, `gates "lint" and "test"`.
fn names(gates: &VerifiedGates) -> String {
    let red: Vec<String> = gates
        .results
        .iter()
        .filter(|gate| gate.is_red())
        .map(|gate| format!("`{}`", gate.name))
        .collect();
    match red.as_slice() {
        [one] if *one == format!("`{SET_UP_GATE}`") => "set-up command".to_owned(),
        [one] => format!("gate {one}"),
        [most @ .., last] => format!("gates {} and {last}", most.join(", ")),
        [] => "gates".to_owned(),
    }
}

fn breaker_comment(end: &GatesEnd<'_>, counts: AttemptCounts) -> String {
    format!(
        "Circuit breaker: {} in a row, {} since the last progress (limit {}). Last: the {} failed on \
         commit {}.",
        counted(counts.consecutive_failures.into(), "failure"),
        counted(counts.total_runs.into(), "run"),
        end.limits.max_retries,
        names(end.gates),
        end.gates.commit,
    )
}
