//! One row for every agent, end and count.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::hand_in::RefusalKind;
use crate::id::{DeliveryId, IssueId, PhaseName, PrId, ProjectId, RunId};
use crate::idle::{LimitRow, RunLimit};
use crate::issue::{Block, BlockedBy, BreakerTarget, IssueState, NextPhase, apply, samples};
use crate::run::{Fence, ProtectionLevel, RunTarget, Usage};
use crate::spending::CapAmount;
use crate::tools::Tool;
use crate::unit::Tokens;

mod phases;

/// Counts that are not the default.
const COUNTS: AttemptCounts = AttemptCounts {
    consecutive_failures: 1,
    total_runs: 2,
};

fn route_session(
    run: &Run,
    state: IssueState,
    status: RunStatus,
    error: Option<RunError>,
) -> Routing {
    let issue = samples::issue(state, COUNTS);
    let end = RunEnd {
        run,
        issue: &issue,
        status,
        error,
        evidence: Evidence::None,
        accepted: None,
        awaits_gates: false,
        cap: None,
        unprepared_before: 0,
        hosts_lost_before: 0,
        rejected_before: None,
        refused: None,
        idle: None,
        limited: None,
        limits: LIMITS,
    };
    route_run_end(&end, Timestamp::UNIX_EPOCH)
}

#[test]
fn a_persons_session_leaves_the_issue_theirs_and_uses_no_attempt() {
    let failed = |class| RunError {
        class,
        message: "why".to_owned(),
    };
    let person = "a person has taken it over";
    for (status, error, expected) in [
        (RunStatus::Succeeded, None, person.to_owned()),
        (
            RunStatus::Cancelled,
            Some(failed(ErrorClass::Cancelled)),
            person.to_owned(),
        ),
        (
            RunStatus::Crashed,
            Some(failed(ErrorClass::Crashed)),
            format!("{person}; its last session ended early: why"),
        ),
        (
            RunStatus::Failed,
            Some(failed(ErrorClass::NotPrepared)),
            format!("{person}; its last session ended early: why"),
        ),
    ] {
        let mut run = run(AgentType::Worker, false);
        run.metadata = serde_json::json!({ crate::run::INTERACTIVE: true });
        let routing = route_session(&run, IssueState::InProgress, status, error);
        let by = IssueEvent::TakenOver { reason: expected };
        assert_eq!(routing.event, Some(by), "{status}");
        assert_eq!(routing.counts, COUNTS, "{status}");
        assert_eq!((routing.retry, routing.comment), (None, None));
    }
    let mut run = run(AgentType::Worker, true);
    run.metadata = serde_json::json!({ crate::run::INTERACTIVE: true });
    let routing = route_session(&run, IssueState::Review, RunStatus::Succeeded, None);
    assert_eq!(routing.event, None, "what its agent handed in is judged");
    let routing = route_session(&run, IssueState::InProgress, RunStatus::Tampered, None);
    assert!(matches!(routing.event, Some(IssueEvent::Tampered { .. })));
}

pub(super) fn run(agent: AgentType, moved_issue: bool) -> Run {
    let id = IssueId::parse("SYM-1").unwrap();
    let target = if agent == AgentType::Judge {
        RunTarget::PullRequest(id.into(), PrId::new(1))
    } else {
        RunTarget::Issue(id)
    };
    Run {
        id: RunId::parse("r1").unwrap(),
        project: ProjectId::parse("p").unwrap(),
        target,
        agent,
        phase: None,
        attempt: 1,
        provider: "scripted".into(),
        model: None,
        status: RunStatus::Running,
        started_at: Timestamp::UNIX_EPOCH,
        ended_at: None,
        exit_code: None,
        error: None,
        output_tail: "one\ntwo".into(),
        worktree: None,
        branch: None,
        usage: Usage::default(),
        metadata: serde_json::Value::Null,
        protection: ProtectionLevel::None,
        fence: Fence::new(1),
        sandbox: None,
        prompt_set: None,
        moved_issue,
        cancel_requested_at: None,
        pool: None,
        host: None,
    }
}

const LIMITS: FailureLimits = FailureLimits {
    max_retries: 3,
    max_backoff_ms: 300_000,
    breaker_target: BreakerTarget::Backlog,
};

fn cap(scope: CapScope) -> CapReached {
    let (limit, spent) = (Tokens::new(10), Tokens::new(12));
    CapReached {
        scope,
        amount: CapAmount::Tokens { limit, spent },
    }
}

fn idle_row(end: IdleEnd, before: usize) -> IdleRow {
    IdleRow {
        end,
        before: vec![end; before],
    }
}

struct Row {
    agent: AgentType,
    state: IssueState,
    moved: bool,
    status: RunStatus,
    class: Option<ErrorClass>,
    evidence: Evidence,
    accepted: Option<NextPhase>,
    phase: Option<&'static str>,
    awaits_gates: bool,
    counts: (u32, u32),
    cap: Option<CapScope>,
}

fn route(row: Row) -> String {
    let counts = AttemptCounts {
        consecutive_failures: row.counts.0,
        total_runs: row.counts.1,
    };
    let (issue, mut run) = (samples::issue(row.state, counts), run(row.agent, row.moved));
    run.phase = row.phase.map(|name| PhaseName::parse(name).unwrap());
    if run.phase.is_some() && run.target.is_review() {
        run.target = RunTarget::Delivery(issue.id.clone(), DeliveryId::new(1));
    }
    let error = row.class.map(|class| RunError {
        class,
        message: "m".into(),
    });
    let end = RunEnd {
        run: &run,
        issue: &issue,
        status: row.status,
        error,
        evidence: row.evidence,
        accepted: row.accepted,
        awaits_gates: row.awaits_gates,
        cap: row.cap.map(cap),
        unprepared_before: 0,
        hosts_lost_before: 0,
        rejected_before: None,
        refused: None,
        idle: None,
        limited: None,
        limits: LIMITS,
    };
    let routing = route_run_end(&end, Timestamp::UNIX_EPOCH);
    format!(
        "{}{} | {} | {}/{} | {}{}",
        routing.status,
        routing
            .error
            .map_or_else(String::new, |e| format!(":{}", e.class)),
        match (routing.advance, routing.event) {
            (None, event) => event.map_or("-".to_owned(), |e| e.name().to_owned()),
            (Some(next), None) => format!("advance:{next:?}"),
            (Some(next), Some(e)) => format!("advance:{next:?}+{}", e.name()),
        },
        routing.counts.consecutive_failures,
        routing.counts.total_runs,
        routing.retry.map_or_else(
            || "-".to_owned(),
            |r| { format!("{} {}s", r.kind, r.due_at.as_second()) }
        ),
        routing
            .comment
            .map_or_else(String::new, |text| match text.split_once("Last: ") {
                Some((_, last)) => format!(" | last: {}", last.lines().next().unwrap_or_default()),
                None => " | comment".to_owned(),
            }),
    )
}

fn row(agent: AgentType, state: IssueState, status: RunStatus, class: Option<ErrorClass>) -> Row {
    let (moved, evidence) = (false, Evidence::None);
    Row {
        agent,
        state,
        moved,
        status,
        class,
        evidence,
        accepted: None,
        phase: None,
        awaits_gates: false,
        counts: (1, 1),
        cap: None,
    }
}

#[test]
fn every_end_has_its_route() {
    use AgentType::{Intake, Judge, Planner, Worker};
    use IssueState::{InProgress, Review};
    use RunStatus::{Cancelled, Crashed, Failed, Stalled, Succeeded, Tampered, TimedOut};
    let r = row;
    let moved = |mut row: Row| {
        row.moved = true;
        row
    };
    let found = |mut row: Row| {
        row.evidence = Evidence::Found;
        row
    };
    let denied = |mut row: Row| {
        row.evidence = Evidence::NoneAfterDenials;
        row
    };
    let waits = |mut row: Row| {
        row.moved = true;
        row.awaits_gates = true;
        row
    };
    let last = |mut row: Row| {
        row.counts = (2, 2);
        row
    };
    let capped = |scope, mut row: Row| {
        row.cap = Some(scope);
        row
    };
    let budget = Some(ErrorClass::BudgetExhausted);
    let table = [
        (
            "worker reached the run's cap",
            capped(CapScope::Run, r(Worker, InProgress, Failed, budget)),
            "failed:budget_exhausted | run_returned | 2/2 | backoff 20s",
        ),
        (
            "worker reached the issue's cap",
            capped(CapScope::Issue, r(Worker, InProgress, Failed, budget)),
            "failed:budget_exhausted | cap_reached | 1/1 | - | comment",
        ),
        (
            "worker opened a pr, its issue's cap is reached",
            capped(CapScope::Issue, moved(r(Worker, Review, Succeeded, None))),
            "succeeded | cap_reached | 1/1 | - | comment",
        ),
        (
            "worker blocked its issue, whose cap is reached",
            capped(
                CapScope::Issue,
                moved(r(Worker, IssueState::Backlog, Succeeded, None)),
            ),
            "succeeded | - | 0/2 | -",
        ),
        (
            "worker tampered, its issue's cap is reached",
            capped(
                CapScope::Issue,
                r(Worker, InProgress, Tampered, Some(ErrorClass::Tampered)),
            ),
            "tampered:tampered | tampered | 2/2 | -",
        ),
        (
            "worker reached the project's cap",
            capped(CapScope::Project, r(Worker, InProgress, Failed, budget)),
            "failed:budget_exhausted | run_returned | 1/1 | -",
        ),
        (
            "worker ended without an outcome after tools were refused to it",
            denied(r(Worker, InProgress, Succeeded, None)),
            "failed:permission_denied | run_returned | 2/2 | backoff 20s",
        ),
        (
            "judge ended without a verdict after tools were refused to it",
            denied(r(Judge, Review, Succeeded, None)),
            "failed:permission_denied | - | 2/2 | -",
        ),
        (
            "worker opened a pr although tools were refused to it",
            denied(moved(r(Worker, Review, Succeeded, None))),
            "succeeded | - | 0/2 | -",
        ),
        (
            "judge reached the day's cap",
            capped(CapScope::Day, r(Judge, Review, Failed, budget)),
            "failed:budget_exhausted | - | 1/1 | -",
        ),
        (
            "worker ends clean, still in progress",
            r(Worker, InProgress, Succeeded, None),
            "succeeded | run_returned | 0/2 | continuation 1s",
        ),
        (
            "worker opened a pr",
            moved(r(Worker, Review, Succeeded, None)),
            "succeeded | - | 0/2 | -",
        ),
        (
            "worker opened a pr, its gates are still to run",
            waits(r(Worker, Review, Succeeded, None)),
            "succeeded | - | 1/2 | -",
        ),
        (
            "worker opened a pr, then timed out",
            moved(r(Worker, Review, TimedOut, Some(ErrorClass::TimedOut))),
            "timed_out:timed_out | - | 2/2 | -",
        ),
        (
            "worker failed",
            r(Worker, InProgress, Failed, Some(ErrorClass::AgentFailed)),
            "failed:agent_failed | run_returned | 2/2 | backoff 20s",
        ),
        (
            "worker timed out",
            r(Worker, InProgress, TimedOut, Some(ErrorClass::TimedOut)),
            "timed_out:timed_out | run_returned | 2/2 | backoff 20s",
        ),
        (
            "worker stalled",
            r(Worker, InProgress, Stalled, Some(ErrorClass::Stalled)),
            "stalled:stalled | run_returned | 2/2 | backoff 20s",
        ),
        (
            "worker crashed",
            r(Worker, InProgress, Crashed, Some(ErrorClass::Crashed)),
            "crashed:crashed | run_returned | 2/2 | backoff 20s",
        ),
        (
            "worker rate limited",
            r(Worker, InProgress, Failed, Some(ErrorClass::RateLimited)),
            "failed:rate_limited | run_returned | 1/1 | -",
        ),
        (
            "worker cancelled",
            r(Worker, InProgress, Cancelled, Some(ErrorClass::Cancelled)),
            "cancelled:cancelled | run_returned | 1/1 | -",
        ),
        (
            "worker tampered",
            r(Worker, InProgress, Tampered, Some(ErrorClass::Tampered)),
            "tampered:tampered | tampered | 2/2 | -",
        ),
        (
            "worker failed for the last time",
            last(r(Worker, InProgress, Failed, Some(ErrorClass::AgentFailed))),
            "failed:agent_failed | breaker_opened | 3/3 | - | last: agent failed: m",
        ),
        (
            "worker continued for the last time",
            last(r(Worker, InProgress, Succeeded, None)),
            "succeeded | breaker_opened | 0/3 | - | last: it ended well, without a pull request",
        ),
        (
            "judge gave a verdict",
            found(r(Judge, Review, Succeeded, None)),
            "succeeded | - | 0/2 | -",
        ),
        (
            "judge rejected",
            moved(r(Judge, IssueState::Todo, Succeeded, None)),
            "succeeded | - | 0/2 | -",
        ),
        (
            "judge without verdict",
            r(Judge, Review, Succeeded, None),
            "failed:no_outcome | - | 2/2 | -",
        ),
        (
            "intake ended: its issue stays as it is",
            r(Intake, IssueState::Backlog, Succeeded, None),
            "succeeded | - | 1/1 | -",
        ),
        (
            "intake failed for the last time, a human had moved its issue on",
            last(r(
                Intake,
                IssueState::Todo,
                Failed,
                Some(ErrorClass::AgentFailed),
            )),
            "failed:agent_failed | - | 2/2 | -",
        ),
        (
            "intake crashed",
            r(
                Intake,
                IssueState::Backlog,
                Crashed,
                Some(ErrorClass::Crashed),
            ),
            "crashed:crashed | - | 1/1 | -",
        ),
        (
            "judge failed",
            r(Judge, Review, Failed, Some(ErrorClass::AgentFailed)),
            "failed:agent_failed | - | 2/2 | -",
        ),
        (
            "judge overloaded",
            r(Judge, Review, Failed, Some(ErrorClass::Overloaded)),
            "failed:overloaded | - | 1/1 | -",
        ),
        (
            "judge failed for the last time",
            last(r(Judge, Review, Failed, Some(ErrorClass::AgentFailed))),
            "failed:agent_failed | - | 3/3 | -",
        ),
        (
            "worker opened a pr, then the provider was overloaded",
            waits(r(Worker, Review, Failed, Some(ErrorClass::Overloaded))),
            "failed:overloaded | - | 1/1 | -",
        ),
        (
            "worker opened a pr, a human shelved it meanwhile",
            waits(r(Worker, IssueState::Backlog, Succeeded, None)),
            "succeeded | - | 1/2 | -",
        ),
        (
            "worker opened a pr with its last attempt",
            last(moved(r(Worker, Review, Succeeded, None))),
            "succeeded | - | 0/3 | -",
        ),
        (
            "worker gave it back with its last attempt",
            last(moved(r(Worker, IssueState::Todo, Succeeded, None))),
            "succeeded | breaker_opened | 0/3 | - | last: the agent gave the issue back",
        ),
        (
            "judge failed for the last time, but a human merged meanwhile",
            last(r(
                Judge,
                IssueState::Done,
                Failed,
                Some(ErrorClass::AgentFailed),
            )),
            "failed:agent_failed | - | 3/3 | -",
        ),
        (
            "planner without sub-tasks",
            r(Planner, InProgress, Succeeded, None),
            "failed:no_outcome | run_returned | 2/2 | backoff 20s",
        ),
    ];
    for (name, row, expected) in table {
        // jitter moves the second by at most a tenth; the table names the plain delay
        let found = route(row);
        let plain = |text: &str| text.split("backoff").next().unwrap_or_default().to_owned();
        assert_eq!(plain(&found), plain(expected), "{name}");
        assert_eq!(
            found.contains("backoff"),
            expected.contains("backoff"),
            "{name}: {found}"
        );
    }
}

fn agents() -> impl Strategy<Value = AgentType> {
    let mut agents = AgentType::SHIPPED.to_vec();
    agents.push(AgentType::Wizard);
    select(agents)
}

proptest! {
    /// Whatever a human did to the issue meanwhile, the end of its run can be written; and the counts move by the
    /// rules.
    #[test]
    fn every_end_can_be_written(
        state in select(samples::states()),
        agent in agents(),
        status in select(RunStatus::ALL.iter().copied().filter(|s| !s.is_live()).collect::<Vec<_>>()),
        class in proptest::option::of(select(ErrorClass::ALL.to_vec())),
        flags in any::<[bool; 5]>(),
        scope in proptest::option::of(select(CapScope::ALL.to_vec())),
        failures in 0_u32..4,
        more_runs in 0_u32..4,
        accepted in proptest::option::of(select(vec![NextPhase::Follows, NextPhase::None])),
        idle in proptest::option::of((select(vec![IdleEnd::Silent, IdleEnd::HandedBack]), 0_usize..4)),
    ) {
        let [moved, found, awaits_gates, to_todo, denied] = flags;
        let counts = AttemptCounts {
            consecutive_failures: failures,
            total_runs: failures + more_runs,
        };
        let intake = agent == AgentType::Intake;
        let (issue, run) = (samples::issue(state, counts), run(agent, moved));
        let limits = FailureLimits {
            breaker_target: if to_todo { BreakerTarget::Todo } else { BreakerTarget::Backlog },
            ..LIMITS
        };
        let end = RunEnd {
            run: &run,
            issue: &issue,
            status,
            error: class.map(|class| RunError { class, message: "m".into() }),
            evidence: match (found, denied) {
                (true, _) => Evidence::Found,
                (false, true) => Evidence::NoneAfterDenials,
                (false, false) => Evidence::None,
            },
            accepted,
            awaits_gates,
            cap: scope.map(cap),
            unprepared_before: 0,
            hosts_lost_before: 0,
            rejected_before: None,
            refused: None,
            idle: idle.map(|(end, before)| idle_row(end, before)),
            limited: None,
            limits,
        };
        let routing = route_run_end(&end, Timestamp::UNIX_EPOCH);
        let advanced = match routing.advance {
            // back in `todo` already, only its label goes on
            Some(_) if issue.state == IssueState::Todo => issue.state.clone(),
            None => issue.state.clone(),
            Some(next) => apply(&issue.state, &IssueEvent::PhaseAccepted { next }).unwrap(),
        };
        let after = match &routing.event {
            None => advanced,
            Some(event) => apply(&advanced, event).unwrap(),
        };
        prop_assert_ne!(after.status(), IssueStatus::InProgress, "a run has ended, nobody is at work");
        if routing.advance.is_some() {
            prop_assert_eq!(routing.counts, AttemptCounts::default(), "I4: an advanced phase starts anew");
            return Ok(());
        }
        // I4 and I5
        let blocked_for_cap = matches!(routing.event, Some(IssueEvent::CapReached { .. }));
        let project_held = class == Some(ErrorClass::BudgetExhausted)
            && matches!(scope, Some(CapScope::Project | CapScope::Day));
        let waited = intake
            || class.is_some_and(ErrorClass::uses_no_attempt)
            || status == RunStatus::Cancelled
            || project_held
            || blocked_for_cap;
        prop_assert!(!blocked_for_cap || scope == Some(CapScope::Issue));
        let runs = routing.counts.total_runs - counts.total_runs;
        prop_assert_eq!(runs, u32::from(!waited));
        prop_assert!(routing.counts.consecutive_failures <= counts.consecutive_failures + 1);
        if routing.counts.consecutive_failures < counts.consecutive_failures {
            prop_assert_eq!(routing.status, RunStatus::Succeeded);
        }
        // I6 and I7
        if let Some(retry) = &routing.retry {
            prop_assert!(retry.due_at <= crate::retry::after(Timestamp::UNIX_EPOCH, limits.max_backoff_ms));
            prop_assert_eq!(after.status(), IssueStatus::Todo);
        }
        let opened = matches!(routing.event, Some(IssueEvent::BreakerOpened { .. }));
        prop_assert_eq!(opened || blocked_for_cap, routing.comment.is_some());
        if after.status() == IssueStatus::Todo && !waited && issue.state.status() != IssueStatus::Todo {
            prop_assert!(opened || !breaker_opens(routing.counts, limits.max_retries));
        }
    }
}

#[test]
fn runs_that_come_to_nothing_continue_once_fail_once_and_stop() {
    let outcome = |agent: AgentType, idle_before: usize, counts: (u32, u32)| {
        let counts = AttemptCounts {
            consecutive_failures: counts.0,
            total_runs: counts.1,
        };
        let (issue, run) = (
            samples::issue(IssueState::InProgress, counts),
            run(agent, false),
        );
        let end = RunEnd {
            run: &run,
            issue: &issue,
            status: RunStatus::Succeeded,
            error: None,
            evidence: Evidence::None,
            accepted: None,
            awaits_gates: false,
            cap: None,
            unprepared_before: 0,
            hosts_lost_before: 0,
            rejected_before: None,
            refused: None,
            idle: Some(idle_row(IdleEnd::Silent, idle_before)),
            limited: None,
            limits: LIMITS,
        };
        let routing = route_run_end(&end, Timestamp::UNIX_EPOCH);
        let what = match (&routing.event, &routing.retry) {
            (Some(IssueEvent::BreakerOpened { .. }), None) => "stops",
            (_, Some(retry)) if retry.kind == RetryKind::Continuation => "continues",
            (_, Some(_)) => "backs off",
            _ => "something else",
        };
        (what, routing.error.map(|error| error.message))
    };
    let ended = |runs| {
        format!(
            "{runs} runs in a row ended without a commit and without calling `create_pr` or `propose_done`"
        )
    };
    let worker = |before, counts| outcome(AgentType::Worker, before, counts);
    assert_eq!(worker(0, (0, 0)), ("continues", None));
    assert_eq!(worker(1, (0, 1)), ("backs off", Some(ended(2))));
    assert_eq!(worker(2, (1, 2)), ("stops", Some(ended(3))));
    // those before a person cleared the attempts, or before the phase advanced, do not count
    assert_eq!(worker(2, (0, 0)), ("continues", None));
    assert_eq!(worker(3, (0, 1)), ("backs off", Some(ended(4))));
    // a planner that files nothing has failed at once, and stops as early
    for (before, counts, expected) in [
        (0, (0, 0), "backs off"),
        (1, (1, 1), "backs off"),
        (2, (2, 2), "stops"),
    ] {
        assert_eq!(outcome(AgentType::Planner, before, counts).0, expected);
    }
}

/// Routes the end of a worker's run that is the last of a row, after as many runs as the row has.
fn route_row(
    (state, class, moved): (IssueState, Option<ErrorClass>, bool),
    idle: Option<IdleRow>,
    limited: Option<LimitRow>,
    limits: FailureLimits,
) -> Routing {
    let before = idle.as_ref().map_or(0, |row| row.before.len());
    let before = limited.as_ref().map_or(before, |row| row.before.len());
    let counts = AttemptCounts {
        consecutive_failures: 0,
        total_runs: u32::try_from(before).unwrap(),
    };
    let (issue, run) = (samples::issue(state, counts), run(AgentType::Worker, moved));
    let error = class.map(|class| RunError {
        class,
        message: "m".into(),
    });
    let end = RunEnd {
        run: &run,
        issue: &issue,
        status: if class.is_some() {
            RunStatus::Failed
        } else {
            RunStatus::Succeeded
        },
        error,
        evidence: Evidence::None,
        accepted: None,
        awaits_gates: false,
        cap: None,
        unprepared_before: 0,
        hosts_lost_before: 0,
        refused: None,
        idle,
        limited,
        rejected_before: None,
        limits,
    };
    route_run_end(&end, Timestamp::UNIX_EPOCH)
}

fn what_follows(routing: &Routing) -> &'static str {
    match (&routing.event, &routing.retry) {
        (Some(IssueEvent::BreakerOpened { reason: None, .. }), _) => "is spent",
        (Some(IssueEvent::BreakerOpened { to, .. }), None) => match to {
            BreakerTarget::Backlog => "stops",
            BreakerTarget::Todo => "stops in todo",
        },
        (_, Some(retry)) => match retry.kind {
            RetryKind::Continuation => "continues",
            RetryKind::Backoff => "backs off",
        },
        (None, None) => "starts again",
        _ => "something else",
    }
}

#[test]
fn three_runs_that_bring_nothing_stop_their_issue_however_they_end() {
    let roomy = FailureLimits {
        max_retries: 15,
        breaker_target: BreakerTarget::Todo,
        ..LIMITS
    };
    let limit = |class| RunLimit::of(class).map(IdleEnd::Limit);
    let back = (IssueState::Todo, None, true);
    let clean = (IssueState::InProgress, None, false);
    let mut ends = vec![
        (
            back.clone(),
            IdleEnd::HandedBack,
            ["starts again", "backs off", "stops"],
        ),
        (clean, IdleEnd::Silent, ["continues", "backs off", "stops"]),
    ];
    ends.extend(ErrorClass::ALL.iter().filter_map(|class| {
        let facts = (IssueState::InProgress, Some(*class), false);
        Some((facts, limit(*class)?, ["backs off", "backs off", "stops"]))
    }));
    assert_eq!(ends.len(), 9);
    for (facts, end, expected) in ends {
        let found = [0, 1, 2].map(|before| {
            let row = Some(idle_row(end, before));
            what_follows(&route_row(facts.clone(), row, None, roomy))
        });
        assert_eq!(found, expected, "{end:?}");
    }
    // the kinds count together, and the reason is in the event and in the comment
    let capped = limit(ErrorClass::BudgetExhausted).unwrap();
    let row = IdleRow {
        end: IdleEnd::HandedBack,
        before: vec![capped, IdleEnd::HandedBack],
    };
    let routing = route_row(back, Some(row), None, roomy);
    let comment = routing.comment.unwrap();
    let Some(IssueEvent::BreakerOpened {
        reason: Some(reason),
        ..
    }) = routing.event
    else {
        panic!("{comment}")
    };
    assert!(
        reason.contains("2 gave the issue back, 1 reached"),
        "{reason}"
    );
    assert!(comment.contains(&reason), "{comment}");
}

#[test]
fn runs_that_end_at_a_limit_with_commits_go_on_to_half_of_the_attempts() {
    let roomy = FailureLimits {
        max_retries: 15,
        ..LIMITS
    };
    let limit = RunLimit::of(ErrorClass::TimedOut).unwrap();
    let found: Vec<&str> = (0..9)
        .map(|before| {
            let row = LimitRow {
                limit,
                before: vec![limit; before],
            };
            let facts = (IssueState::InProgress, Some(ErrorClass::TimedOut), false);
            what_follows(&route_row(facts, None, Some(row), roomy))
        })
        .collect();
    assert_eq!(found[..7], ["backs off"; 7]);
    assert_eq!(found[7..], ["stops"; 2]);
}

#[test]
fn a_missing_outcome_names_the_call_that_was_refused() {
    let why = "invalid arguments: unknown field `comment`, expected `feedback`";
    let refused = RefusedCall::new(Tool::RejectPr, RefusalKind::Other, why);
    let message = |refused: Option<&RefusedCall>| {
        let judge = run(AgentType::Judge, false);
        let (status, error) =
            route_plan_review_end(&judge, RunStatus::Succeeded, None, Evidence::None, refused);
        assert_eq!(status, RunStatus::Failed);
        error.unwrap().message
    };
    assert_eq!(
        message(Some(&refused)),
        format!(
            "the judge ended without a verdict: its last call of `reject_pr` was refused: {why} \
             (`symphony runs logs r1` shows the run)"
        )
    );
    assert_eq!(
        message(None),
        "the judge ended without a verdict (approve_pr or reject_pr)"
    );
}

#[test]
fn rejected_proposals_in_a_row_count_like_runs_that_come_to_nothing() {
    let judge = run(AgentType::Judge, true);
    let mut lines = Vec::new();
    for (total_runs, before) in [(2, 0), (4, 1), (6, 2), (0, 2)] {
        let counts = AttemptCounts {
            consecutive_failures: 0,
            total_runs,
        };
        let issue = samples::issue(IssueState::Todo, counts);
        let end = RunEnd {
            run: &judge,
            issue: &issue,
            status: RunStatus::Succeeded,
            error: None,
            evidence: Evidence::Found,
            accepted: None,
            awaits_gates: false,
            cap: None,
            unprepared_before: 0,
            hosts_lost_before: 0,
            refused: None,
            idle: None,
            limited: None,
            rejected_before: Some(before),
            limits: FailureLimits {
                max_retries: 15,
                ..LIMITS
            },
        };
        let routing = route_run_end(&end, Timestamp::UNIX_EPOCH);
        lines.push(format!(
            "{total_runs} runs, {before} before: {:?}, {} failures, retry {:?}",
            routing.event.map(|event| event.name()),
            routing.counts.consecutive_failures,
            routing.retry.map(|retry| retry.reason)
        ));
    }
    insta::assert_snapshot!("rejected_proposals", lines.join("\n"));
}
