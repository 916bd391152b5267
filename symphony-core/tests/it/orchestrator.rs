//! The tables of the specification's page "orchestrator", row by row: what is dispatched when, what becomes of an issue when
//! a run ends, what a failure does. The names of the rows are the page's own words.

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::id::{IssueId, PrId, ProjectId, RunId};
use symphony_core::issue::{
    AttemptCounts, Block, BlockedBy, BreakerTarget, Issue, IssueState, Priority, Size,
};
use symphony_core::outcome::{Evidence, FailureLimits, Routing, RunEnd, route_run_end};
use symphony_core::profile::AgentChoice;
use symphony_core::run::{Fence, ProtectionLevel, Run, RunError, RunStatus, RunTarget, Usage};
use symphony_core::tick::{Candidate, GatesState, Snapshot};

use crate::tick::support::{
    candidate, counts, issue, phase, plan, project, review, snapshot, view,
};

fn a(snapshot: &mut Snapshot) -> &mut symphony_core::tick::ProjectView {
    snapshot.projects.get_mut(&project("a")).unwrap()
}

type Dispatch = (&'static str, fn(&mut Snapshot), &'static str);

/// Adds an issue in `todo`.
fn todo(snapshot: &mut Snapshot, change: fn(&mut Candidate)) {
    let mut one = candidate(1);
    change(&mut one);
    snapshot.candidates.push(one);
}

const DISPATCH: &[Dispatch] = &[
    (
        "judge: issue in review with an open PR whose gates are verified",
        |s| s.reviews = vec![review(1)],
        "start judge SYM-1 #1",
    ),
    (
        "judge: judge_enabled",
        |s| {
            s.reviews = vec![review(1)];
            a(s).judge_enabled = false;
        },
        "wait SYM-1: it waits for a person's verdict (judge_enabled is off)",
    ),
    (
        "judge: gates are not verified",
        |s| {
            s.reviews = vec![review(1)];
            s.reviews[0].gates = GatesState::due();
        },
        "start gates SYM-1 #1",
    ),
    (
        "judge: at least 5 minutes since the last judge run on the same PR",
        |s| {
            s.reviews = vec![review(1)];
            s.reviews[0].last_judged_at = Some(crate::tick::support::at(9_701));
        },
        "wait SYM-1: it was judged a moment ago; again at 1970-01-01T02:46:41.000Z",
    ),
    (
        "judge: 5 minutes have passed",
        |s| {
            s.reviews = vec![review(1)];
            s.reviews[0].last_judged_at = Some(crate::tick::support::at(9_700));
        },
        "start judge SYM-1 #1",
    ),
    (
        "phase agent: todo with a phase: label other than ready",
        |s| todo(s, |c| c.phase = Some(phase("grooming"))),
        "start planner SYM-1 #1",
    ),
    (
        "phase agent: dependencies resolved",
        |s| {
            todo(s, |c| {
                c.phase = Some(phase("research"));
                c.waits_for = vec![issue(9)];
            });
        },
        "wait SYM-1: waits for SYM-9",
    ),
    (
        "phase agent: researcher_enabled governs research and architecture",
        |s| {
            todo(s, |c| c.phase = Some(phase("architecture")));
            a(s).researcher_enabled = false;
        },
        "wait SYM-1: its phase needs a researcher, but researcher_enabled is off",
    ),
    (
        "phase agent: other phases have no toggle",
        |s| {
            todo(s, |c| c.phase = Some(phase("grooming")));
            a(s).researcher_enabled = false;
            a(s).planner_enabled = false;
        },
        "start planner SYM-1 #1",
    ),
    (
        "planner: todo with label needs-planning",
        |s| todo(s, |c| c.needs_planning = true),
        "start planner SYM-1 #1",
    ),
    (
        "planner: or size large",
        |s| todo(s, |c| c.size = Some(Size::Large)),
        "start planner SYM-1 #1",
    ),
    (
        "planner: not once it has sub-tasks (then it goes to a worker for integration)",
        |s| {
            todo(s, |c| {
                c.needs_planning = true;
                c.has_subtasks = true;
            });
        },
        "start worker SYM-1 #1",
    ),
    (
        "planner: with planning off, needs-planning waits and explain says so",
        |s| {
            todo(s, |c| c.needs_planning = true);
            a(s).planner_enabled = false;
        },
        "wait SYM-1: waits for a planner, but planner_enabled is off",
    ),
    (
        "planner: with planning off, size large goes to a worker",
        |s| {
            todo(s, |c| c.size = Some(Size::Large));
            a(s).planner_enabled = false;
        },
        "start worker SYM-1 #1",
    ),
    (
        "worker: todo with phase:ready",
        |s| {
            todo(s, |c| c.phase = Some(phase("ready")));
            a(s).migration_mode = false;
        },
        "start worker SYM-1 #1",
    ),
    (
        "worker: or no phase label in migration mode",
        |s| todo(s, |_| ()),
        "start worker SYM-1 #1",
    ),
    (
        "worker: no phase label, migration mode off",
        |s| {
            todo(s, |_| ());
            a(s).migration_mode = false;
        },
        "wait SYM-1: has no `phase:` label, and migration_mode is off",
    ),
    (
        "worker: dependencies done",
        |s| todo(s, |c| c.waits_for = vec![issue(9)]),
        "wait SYM-1: waits for SYM-9",
    ),
    (
        "review is the bottleneck: while more wait for a human, no new worker is dispatched",
        |s| {
            todo(s, |_| ());
            a(s).max_open_reviews = Some(2);
            a(s).open_reviews = 2;
        },
        "wait SYM-1: 2 reviews wait for a person (max_open_reviews is 2)",
    ),
    (
        "before every dispatch total runs are checked against max_retries",
        |s| todo(s, |c| c.counts = counts(0, 15)),
        "open breaker SYM-1",
    ),
    (
        "what the last attempt hands in is judged, too",
        |s| {
            s.reviews = vec![review(1)];
            s.reviews[0].counts = counts(0, 15);
        },
        "start judge SYM-1 #16",
    ),
];

#[test]
fn an_agent_is_dispatched_when_its_row_says_so() {
    assert!(
        view().judge_enabled && view().researcher_enabled,
        "on by default"
    );
    let mut wrong = Vec::new();
    for (row, change, expected) in DISPATCH {
        let mut snapshot = snapshot();
        change(&mut snapshot);
        let lines = plan(&snapshot);
        if lines[0] != *expected {
            wrong.push(format!(
                "{row}\n    expected {expected}\n    found    {lines:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const LIMITS: FailureLimits = FailureLimits {
    max_retries: 15,
    max_backoff_ms: 300_000,
    breaker_target: BreakerTarget::Backlog,
};

/// A run that ended, and its issue.
struct End {
    agent: AgentType,
    state: IssueState,
    status: RunStatus,
    class: Option<ErrorClass>,
    moved: bool,
    found: bool,
    awaits_gates: bool,
    counts: (u32, u32),
}

impl End {
    fn of(agent: AgentType, state: IssueState) -> Self {
        Self {
            agent,
            state,
            status: RunStatus::Succeeded,
            class: None,
            moved: false,
            found: false,
            awaits_gates: false,
            counts: (0, 0),
        }
    }

    fn failed(self, class: ErrorClass) -> Self {
        Self {
            status: RunStatus::Failed,
            class: Some(class),
            ..self
        }
    }

    fn route(self, limits: FailureLimits) -> Routing {
        let id = IssueId::parse("SYM-1").unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let issue = Issue {
            id: id.clone(),
            project: ProjectId::parse("a").unwrap(),
            title: "t".into(),
            description: String::new(),
            state: self.state,
            priority: Priority::None,
            size: None,
            labels: vec![],
            parent: None,
            depends_on: vec![],
            external_id: None,
            choice: AgentChoice::default(),
            created_at: now,
            updated_at: now,
            counts: AttemptCounts {
                consecutive_failures: self.counts.0,
                total_runs: self.counts.1,
            },
        };
        let target = match self.agent {
            AgentType::Judge => RunTarget::PullRequest(id.into(), PrId::new(1)),
            _ => RunTarget::Issue(id),
        };
        let run = Run {
            id: RunId::parse("r1").unwrap(),
            project: ProjectId::parse("a").unwrap(),
            target,
            agent: self.agent,
            phase: None,
            attempt: 1,
            provider: "scripted".into(),
            model: None,
            status: RunStatus::Running,
            started_at: now,
            ended_at: None,
            exit_code: None,
            error: None,
            output_tail: "last words".into(),
            worktree: None,
            branch: None,
            usage: Usage::default(),
            metadata: serde_json::Value::Null,
            protection: ProtectionLevel::None,
            fence: Fence::new(1),
            sandbox: None,
            prompt_set: None,
            moved_issue: self.moved,
            cancel_requested_at: None,
            pool: None,
            host: None,
        };
        let end = RunEnd {
            run: &run,
            issue: &issue,
            status: self.status,
            error: self.class.map(|class| RunError {
                class,
                message: "m".into(),
            }),
            evidence: if self.found {
                Evidence::Found
            } else {
                Evidence::None
            },
            accepted: None,
            awaits_gates: self.awaits_gates,
            cap: None,
            unprepared_before: 0,
            hosts_lost_before: 0,
            rejected_before: None,
            refused: None,
            idle: None,
            limited: None,
            limits,
        };
        route_run_end(&end, now)
    }
}

/// Status, what happens to the issue, its counts, its appointment.
fn told(routing: &Routing) -> String {
    let event = routing.event.as_ref().map_or("stays", |event| event.name());
    let retry = routing
        .retry
        .as_ref()
        .map_or("no retry", |retry| retry.kind.name());
    let counts = routing.counts;
    let (failures, runs) = (counts.consecutive_failures, counts.total_runs);
    format!("{}, {event}, {failures}/{runs}, {retry}", routing.status)
}

#[test]
fn a_run_ends_as_its_row_says() {
    use AgentType::{Architect, Intake, Judge, Planner, Worker};
    use IssueState::{Backlog, InProgress, Review, Todo};
    let moved = |end: End| End { moved: true, ..end };
    let blocked = || {
        IssueState::Blocked(Block {
            by: BlockedBy::Agent,
            reason: "r".into(),
        })
    };
    let rows = [
        (
            "any: status changed by a tool call during the run: honoured, no retry",
            moved(End::of(Worker, blocked())),
            "succeeded, stays, 0/1, no retry",
        ),
        (
            "any: a failure is still counted",
            moved(End::of(Worker, Review)).failed(ErrorClass::AgentFailed),
            "failed, stays, 1/1, no retry",
        ),
        (
            "judge on a PR: no verdict: stays review; again after the cool-down",
            End::of(Judge, Review),
            "failed, stays, 1/1, no retry",
        ),
        (
            "judge on a PR: a verdict",
            End {
                found: true,
                ..End::of(Judge, Review)
            },
            "succeeded, stays, 0/1, no retry",
        ),
        (
            "worker: still in_progress: continuation retry in 1 s",
            End::of(Worker, InProgress),
            "succeeded, run_returned, 0/1, continuation",
        ),
        (
            "planner (not grooming): no sub-task: failure planner-no-subtasks, retry",
            End::of(Planner, InProgress),
            "failed, run_returned, 1/1, backoff",
        ),
        (
            "phase agent: no accepted delivery: continuation retry",
            End::of(Architect, InProgress),
            "succeeded, run_returned, 0/1, continuation",
        ),
        (
            "intake: its issue's status never changes by dispatch or failure",
            End::of(Intake, Backlog).failed(ErrorClass::AgentFailed),
            "failed, stays, 0/0, no retry",
        ),
        (
            "failure: others go to todo, and a retry is due",
            End::of(Worker, InProgress).failed(ErrorClass::TimedOut),
            "failed, run_returned, 1/1, backoff",
        ),
        (
            "failure: judges stay in review",
            End::of(Judge, Review).failed(ErrorClass::AgentFailed),
            "failed, stays, 1/1, no retry",
        ),
        (
            "failure: if consecutive failures reach max_retries the circuit breaker opens",
            End {
                counts: (14, 14),
                ..End::of(Worker, InProgress)
            }
            .failed(ErrorClass::Stalled),
            "failed, breaker_opened, 15/15, no retry",
        ),
        (
            "failure: if total runs reach max_retries the circuit breaker opens",
            End {
                counts: (0, 14),
                ..End::of(Worker, InProgress)
            },
            "succeeded, breaker_opened, 0/15, no retry",
        ),
        (
            "failure: one below max_retries it stays closed",
            End {
                counts: (13, 13),
                ..End::of(Worker, InProgress)
            }
            .failed(ErrorClass::Looping),
            "failed, run_returned, 14/14, backoff",
        ),
        (
            "waiting is not failing: its issue goes back to where it was (todo)",
            End::of(Worker, InProgress).failed(ErrorClass::RateLimited),
            "failed, run_returned, 0/0, no retry",
        ),
        (
            "waiting is not failing: judge: stays review",
            End::of(Judge, Review).failed(ErrorClass::UsageLimit),
            "failed, stays, 0/0, no retry",
        ),
        (
            "verified, not reported: while its gates are to run, a pull request clears no failure",
            End {
                awaits_gates: true,
                ..moved(End::of(Worker, Review))
            },
            "succeeded, stays, 0/1, no retry",
        ),
        (
            "human actions on an issue with a live run end the run first",
            End {
                status: RunStatus::Cancelled,
                ..End::of(Worker, InProgress)
            },
            "cancelled, run_returned, 0/0, no retry",
        ),
        (
            "a tampered run: blocked",
            End {
                status: RunStatus::Tampered,
                ..End::of(Worker, InProgress)
            },
            "tampered, tampered, 1/1, no retry",
        ),
        (
            "a judge that rejected: the issue is in todo already",
            moved(End::of(Judge, Todo)),
            "succeeded, stays, 0/1, no retry",
        ),
    ];
    for (row, end, expected) in rows {
        assert_eq!(told(&end.route(LIMITS)), expected, "{row}");
    }
}

/// The page's "hold classes": they put the provider on hold.
const HOLDS: [&str; 11] = [
    "rate_limited",
    "overloaded",
    "usage_limit",
    "credit_exhausted",
    "provider_error",
    "auth_failed",
    "network",
    "provider_missing",
    "disk_full",
    "sandbox_unavailable",
    "base_gates_failed",
];

#[test]
fn every_error_class_is_a_hold_or_a_failure() {
    for class in ErrorClass::ALL {
        let routing = End::of(AgentType::Worker, IssueState::InProgress)
            .failed(*class)
            .route(LIMITS);
        let is_nobodys = HOLDS.contains(&class.name())
            || matches!(class, ErrorClass::Moved | ErrorClass::HostLost);
        let expected = if is_nobodys {
            "failed, run_returned, 0/0, no retry"
        } else if *class == ErrorClass::NotPrepared {
            "failed, run_returned, 0/0, backoff"
        } else {
            "failed, run_returned, 1/1, backoff"
        };
        assert_eq!(told(&routing), expected, "{class}");
    }
}

#[test]
fn a_retry_is_due_after_ten_seconds_doubled_with_ten_percent_of_jitter() {
    for failures in 0..14 {
        let end = End {
            counts: (failures, failures),
            ..End::of(AgentType::Worker, IssueState::InProgress)
        };
        let routing = end.failed(ErrorClass::AgentFailed).route(LIMITS);
        let due = routing.retry.unwrap().due_at.as_millisecond();
        let plain = (10_000_i64 << failures).min(300_000);
        assert!(
            due <= 300_000 && due * 10 >= plain * 9 && due * 10 <= plain * 11,
            "{failures}: {due}"
        );
    }
}

#[test]
fn an_open_breaker_says_so_once_and_goes_where_it_is_configured() {
    for target in BreakerTarget::ALL {
        let end = End {
            counts: (14, 14),
            ..End::of(AgentType::Worker, IssueState::InProgress)
        };
        let limits = FailureLimits {
            breaker_target: *target,
            ..LIMITS
        };
        let routing = end.failed(ErrorClass::AgentFailed).route(limits);
        let expected = symphony_core::issue::IssueEvent::BreakerOpened {
            to: *target,
            reason: None,
        };
        assert_eq!(routing.event, Some(expected));
        let comment = routing.comment.unwrap();
        assert!(
            comment.contains("agent failed: m") && comment.contains("last words"),
            "{comment}"
        );
    }
}
