//! Nothing is stranded: each row is what a moment shows, and what follows from it.

use symphony_core::agent::AgentType;
use symphony_core::exit_handling::PutOff;
use symphony_core::gates::KnownGates;
use symphony_core::id::{PlanId, PlanPhaseId, PrId};
use symphony_core::inbox::{
    InboxItem, WaitingIssue, WaitsFor, hold_item, pause_item, project_item, waiting_plan_item,
};
use symphony_core::issue::{Block, BlockedBy};
use symphony_core::plan::state::{PhaseState, PlanStatus};
use symphony_core::publication::PublicationState;
use symphony_core::standing::{
    Item, Observed, OpenIssue, OpenItems, OpenPullRequest, OpenState, Parked, Standing,
    UnpublishedPr, standings,
};
use symphony_core::tick::{
    Candidate, DueRetry, GatesState, HoldScope, OpenPhase, OpenPlan, PlanDriver, Snapshot,
    SplitIssue, SubtasksOutcome, plan_tick,
};

use crate::tick::support::{
    NOW, at, candidate, counts, hold, issue, live, no_base, project, review, run_id, snapshot,
};

/// What a moment shows.
#[derive(Default)]
struct Moment {
    snapshot: Snapshot,
    open: OpenItems,
    inbox: Vec<InboxItem>,
}

impl Moment {
    fn new() -> Self {
        Self {
            snapshot: snapshot(),
            ..Self::default()
        }
    }

    fn with(mut self, number: u64, state: OpenState) -> Self {
        self.open.issues.push(OpenIssue {
            issue: issue(number),
            project: project("a"),
            state,
        });
        self
    }

    /// An issue in `todo`; a tick reads it when it could start.
    fn todo(mut self, candidate: Candidate) -> Self {
        let is_due = candidate.retry.as_ref().is_none_or(|r| r.due_at <= at(NOW));
        if candidate.waits_for.is_empty() && is_due {
            self.snapshot.candidates.push(candidate.clone());
        }
        let number = candidate.issue.number();
        self.with(number, OpenState::Todo(Box::new(candidate)))
    }

    fn seen(mut self, change: impl FnOnce(&mut Snapshot)) -> Self {
        change(&mut self.snapshot);
        self
    }

    fn entry(mut self, number: u64, why: WaitsFor) -> Self {
        self.inbox.push(InboxItem::from(WaitingIssue {
            issue: issue(number),
            project: project("a"),
            title: "t".into(),
            since: at(1),
            why,
        }));
        self
    }

    fn other_entry(mut self, item: InboxItem) -> Self {
        self.inbox.push(item);
        self
    }

    fn lines(&self) -> Vec<String> {
        let schedule = plan_tick(&self.snapshot, at(NOW));
        let observed = Observed {
            snapshot: &self.snapshot,
            schedule: &schedule,
            inbox: &self.inbox,
            open: &self.open,
            now: at(NOW),
        };
        standings(&observed)
            .iter()
            .map(|(item, standing)| line(item, standing))
            .collect()
    }
}

fn line(item: &Item, standing: &Standing) -> String {
    match standing {
        Standing::WaitsForPerson { entry } => format!("{item}: inbox {entry}"),
        Standing::Stranded { why } => format!("{item}: STRANDED {why}"),
        other => format!("{item}: {other}"),
    }
}

fn waits(number: u64, on: &[u64]) -> Candidate {
    Candidate {
        waits_for: on.iter().copied().map(issue).collect(),
        ..candidate(number)
    }
}

fn blocked(by: BlockedBy, open_subtasks: &[u64]) -> OpenState {
    OpenState::Blocked {
        by,
        open_subtasks: open_subtasks.iter().copied().map(issue).collect(),
    }
}

fn block(by: BlockedBy) -> WaitsFor {
    WaitsFor::Blocked(Block {
        by,
        reason: "why".into(),
    })
}

#[track_caller]
fn assert_lines(rows: &[(&str, Moment, &[&str])]) {
    for (name, moment, expected) in rows {
        assert_eq!(moment.lines(), *expected, "{name}");
    }
}

#[test]
fn an_issue_that_goes_on_by_itself_is_not_stuck() {
    let retry = |due| Candidate {
        retry: Some(DueRetry {
            kind: symphony_core::retry::RetryKind::Backoff,
            due_at: at(due),
            attempt: 1,
        }),
        ..candidate(1)
    };
    let full = |snapshot: &mut Snapshot| {
        snapshot.slots.total = 1;
        snapshot.live = vec![live("r9", Some(9), AgentType::Worker)];
    };
    let put_off = |snapshot: &mut Snapshot| {
        let mut run = live("r1", Some(1), AgentType::Worker);
        run.put_off = Some(PutOff {
            tries: 1,
            due_at: at(NOW + 60),
            problem: "git died".into(),
        });
        snapshot.live = vec![run];
    };
    assert_lines(&[
        (
            "could start",
            Moment::new().todo(candidate(1)),
            &["SYM-1: the next tick continues it"],
        ),
        (
            "backs off",
            Moment::new().todo(retry(NOW + 60)),
            &["SYM-1: a tick continues it at 1970-01-01T02:47:40.000Z"],
        ),
        (
            "no slot",
            Moment::new().todo(candidate(1)).seen(full),
            &["SYM-1: it waits for a free slot"],
        ),
        (
            "a run is live",
            Moment::new()
                .with(1, OpenState::InProgress)
                .seen(|s| s.live = vec![live("r1", Some(1), AgentType::Worker)]),
            &["SYM-1: run r1 is live on it"],
        ),
        (
            "exit handling is postponed",
            Moment::new().with(1, OpenState::InProgress).seen(put_off),
            &["SYM-1: a tick continues it at 1970-01-01T02:47:40.000Z"],
        ),
        (
            "gates run",
            Moment::new().with(1, OpenState::Review).seen(|s| {
                s.reviews = vec![symphony_core::tick::ReviewCandidate {
                    gates: GatesState::due(),
                    ..review(1)
                }];
            }),
            &["SYM-1: the next tick continues it"],
        ),
        (
            "breaker opens",
            Moment::new().todo(Candidate {
                counts: counts(15, 15),
                ..candidate(1)
            }),
            &["SYM-1: the next tick continues it"],
        ),
        (
            "sub-tasks have ended",
            Moment::new()
                .with(1, blocked(BlockedBy::Subtasks, &[]))
                .seen(|s| {
                    s.split = vec![SplitIssue {
                        issue: issue(1),
                        project: project("a"),
                        outcome: SubtasksOutcome::SomeDone,
                    }];
                }),
            &["SYM-1: the next tick continues it"],
        ),
        (
            "a person keeps it",
            Moment::new().with(1, OpenState::Backlog(Parked::ByPerson)),
            &["SYM-1: it has not been asked for yet"],
        ),
    ]);
}

#[test]
fn what_no_tick_goes_on_with_and_no_inbox_has_is_stranded() {
    let rejected = |number| OpenItems {
        pull_requests: vec![OpenPullRequest {
            pr: PrId::new(number),
            of: issue(1).into(),
        }],
        ..OpenItems::default()
    };
    let unseen = Moment {
        open: OpenItems {
            unpublished: vec![UnpublishedPr {
                pr: PrId::new(4),
                of: issue(1).into(),
                state: PublicationState::Running,
                started_at: at(NOW - 3_600),
            }],
            ..OpenItems::default()
        },
        ..Moment::new()
    };
    assert_lines(&[
        (
            "its run ended and nobody noticed",
            Moment::new().with(1, OpenState::InProgress),
            &["SYM-1: STRANDED it is in_progress, but no run is live on it"],
        ),
        (
            "review without anything open",
            Moment::new().with(1, OpenState::Review),
            &["SYM-1: STRANDED it is in review, but nothing reviews it"],
        ),
        (
            "judged, not in the inbox",
            Moment::new().with(1, OpenState::Review).seen(|s| {
                s.reviews = vec![symphony_core::tick::ReviewCandidate {
                    has_verdict: true,
                    ..review(1)
                }];
            }),
            &[
                "SYM-1: STRANDED it is approved and waits for a person to merge it, but it is not in the inbox",
            ],
        ),
        (
            "blocked, not in the inbox",
            Moment::new().with(1, blocked(BlockedBy::Gates, &[])),
            &["SYM-1: STRANDED it is blocked (gates), but not in the inbox"],
        ),
        (
            "waits for sub-tasks and has none",
            Moment::new().with(1, blocked(BlockedBy::Subtasks, &[])),
            &["SYM-1: STRANDED it is blocked (subtasks), but not in the inbox"],
        ),
        (
            "the breaker's limit was raised",
            Moment::new().with(1, OpenState::Backlog(Parked::ByBreaker)),
            &["SYM-1: STRANDED its circuit breaker opened, but it is not in the inbox"],
        ),
        (
            "a proposal nobody sees",
            Moment::new().with(1, OpenState::Backlog(Parked::Proposed)),
            &["SYM-1: STRANDED an agent proposed it, but it is not in the inbox"],
        ),
        (
            "counts that do not fit what is waited for keep it from every tick",
            Moment::new()
                .todo(candidate(1))
                .seen(|s| s.candidates.clear()),
            &["SYM-1: STRANDED nothing prevents it from starting, but no tick starts it"],
        ),
        (
            "an open pull request of an issue that has ended",
            Moment {
                open: rejected(7),
                ..Moment::new()
            },
            &["pull request 7: STRANDED it waits for SYM-1, which has ended or does not exist"],
        ),
        (
            "a publication that nobody saw the end of",
            unseen,
            &[
                "the publication of pull request 4: STRANDED it did not succeed, but is not in the inbox",
            ],
        ),
        (
            "slots of a machine on which nothing runs",
            Moment::new().todo(candidate(1)).seen(|s| s.slots.total = 0),
            &[
                "SYM-1: STRANDED all 0 slots are taken (max_concurrent_agents), but it is not in the inbox",
            ],
        ),
    ]);
}

#[test]
fn a_dependency_counts_only_when_it_is_not_stuck_itself() {
    assert_lines(&[
        (
            "a chain that ends at work",
            Moment::new()
                .todo(candidate(1))
                .todo(waits(2, &[1]))
                .todo(waits(3, &[2])),
            &[
                "SYM-1: the next tick continues it",
                "SYM-2: it waits for SYM-1",
                "SYM-3: it waits for SYM-2",
            ],
        ),
        (
            "a chain that ends at something stranded",
            Moment::new()
                .with(1, OpenState::InProgress)
                .todo(waits(2, &[1]))
                .todo(waits(3, &[2])),
            &[
                "SYM-1: STRANDED it is in_progress, but no run is live on it",
                "SYM-2: STRANDED it waits for SYM-1: it is in_progress, but no run is live on it",
                "SYM-3: STRANDED it waits for SYM-2: it waits for SYM-1: it is in_progress, but no run is live on it",
            ],
        ),
        (
            "a sub-task that waits for its parent, and what waits for both",
            Moment::new()
                .with(1, blocked(BlockedBy::Subtasks, &[2]))
                .todo(waits(2, &[1]))
                .todo(waits(3, &[2])),
            &[
                "SYM-1: STRANDED it waits in a circle: SYM-1 → SYM-2 → SYM-1",
                "SYM-2: STRANDED it waits in a circle: SYM-2 → SYM-1 → SYM-2",
                "SYM-3: STRANDED it waits in a circle: SYM-3 → SYM-2 → SYM-1 → SYM-2",
            ],
        ),
        (
            "what waits for the backlog, where the inbox does not say so",
            Moment::new()
                .with(1, OpenState::Backlog(Parked::ByPerson))
                .todo(waits(2, &[1])),
            &[
                "SYM-1: it has not been asked for yet",
                "SYM-2: STRANDED it waits for SYM-1, which is in the backlog, but the inbox does not show this",
            ],
        ),
        (
            "what waits for the backlog, where a person is told",
            Moment::new()
                .with(1, OpenState::Backlog(Parked::ByPerson))
                .todo(waits(2, &[1]))
                .entry(1, WaitsFor::Needed(vec![issue(2)])),
            &[
                "SYM-1: inbox needed:SYM-1:1000",
                "SYM-2: it waits for SYM-1",
            ],
        ),
        (
            "what waits for something that is blocked",
            Moment::new()
                .with(1, blocked(BlockedBy::Agent, &[]))
                .todo(waits(2, &[1]))
                .entry(1, block(BlockedBy::Agent)),
            &[
                "SYM-1: inbox blocked:SYM-1:1000",
                "SYM-2: it waits for SYM-1",
            ],
        ),
    ]);
}

/// What is different in a snapshot.
type Change = Box<dyn Fn(&mut Snapshot)>;

/// Project-wide conditions: a person must find each, or everything that waits for it is stranded.
#[test]
fn a_hold_counts_only_when_it_is_in_the_inbox() {
    let provider = HoldScope::Provider("claude-cli".into());
    let gates = HoldScope::Gates(project("a"));
    let rows: Vec<(&str, Change, InboxItem)> = vec![
        ("pause", Box::new(|s| s.paused = true), pause_item(at(1))),
        (
            "broken configuration",
            Box::new(|s| {
                s.projects.get_mut(&project("a")).unwrap().broken = Some("a comma".into());
            }),
            project_item(&project("a"), "broken", "symphony config check", at(1)),
        ),
        (
            "no base branch",
            Box::new(|s| {
                s.projects.get_mut(&project("a")).unwrap().no_base = Some(no_base("gone"));
            }),
            project_item(&project("a"), "gone", "symphony doctor", at(1)),
        ),
        (
            "no provider",
            Box::new(|s| s.projects.get_mut(&project("a")).unwrap().provider = Err("none".into())),
            project_item(&project("a"), "none", "symphony doctor", at(1)),
        ),
        (
            "provider on hold",
            Box::new({
                let provider = provider.clone();
                move |s| s.holds = vec![hold(provider.clone(), NOW + 60)]
            }),
            hold_item(
                &hold(provider, NOW + 60),
                at(1),
                &KnownGates::default(),
                None,
            ),
        ),
        (
            "red base",
            Box::new({
                let gates = gates.clone();
                move |s| s.holds = vec![hold(gates.clone(), NOW + 60)]
            }),
            hold_item(&hold(gates, NOW + 60), at(1), &KnownGates::default(), None),
        ),
        (
            "full disk",
            Box::new(|s| s.holds = vec![hold(HoldScope::Everything, NOW + 60)]),
            hold_item(
                &hold(HoldScope::Everything, NOW + 60),
                at(1),
                &KnownGates::default(),
                None,
            ),
        ),
        (
            "spending cap",
            Box::new(|s| s.holds = vec![hold(HoldScope::Project(project("a")), NOW + 60)]),
            hold_item(
                &hold(HoldScope::Project(project("a")), NOW + 60),
                at(1),
                &KnownGates::default(),
                None,
            ),
        ),
    ];
    for (name, change, item) in rows {
        let silent = Moment::new().todo(candidate(1)).seen(&change).lines();
        assert!(
            silent[0].starts_with("SYM-1: STRANDED"),
            "{name}: {silent:?}"
        );
        let key = item.key.clone();
        let told = Moment::new()
            .todo(candidate(1))
            .seen(&change)
            .other_entry(item);
        assert_eq!(told.lines(), [format!("SYM-1: inbox {key}")], "{name}");
    }
}

#[test]
fn a_plan_is_carried_on_or_a_person_is_told() {
    use PlanDriver::{Command, Tick};
    use PlanStatus::{AwaitingUserDecision, Paused, Running};
    let ready = PhaseState::Ready;
    let running = PhaseState::Running {
        run: Some(run_id("r1")),
        since: at(1),
    };
    let retrying = PhaseState::Retrying {
        due_at: at(NOW + 60),
    };
    let asks = PhaseState::AwaitingDecision { asked_at: at(1) };
    let plan = |status, driver, state: &PhaseState| OpenPlan {
        completion: symphony_core::plan::state::Completion::Ends,
        plan: PlanId::parse("p1").unwrap(),
        project: project("a"),
        path: "PLAN.md".into(),
        status,
        started_at: at(1),
        phases: vec![OpenPhase {
            phase: PlanPhaseId::parse("build").unwrap(),
            state: state.clone(),
        }],
        driver,
    };
    let at_work = vec![live("r1", None, AgentType::Worker)];
    let rows = [
        (
            plan(Running, Command, &ready),
            &[][..],
            "it waits for the command that continues it",
        ),
        (
            plan(Running, Tick, &ready),
            &[],
            "the next tick continues it",
        ),
        (
            plan(Running, Tick, &retrying),
            &[],
            "a tick continues it at 1970-01-01T02:47:40.000Z",
        ),
        (
            plan(Running, PlanDriver::None, &running),
            &at_work,
            "run r1 is live on it",
        ),
        (
            plan(Running, PlanDriver::None, &ready),
            &[],
            "inbox plan:p1:left",
        ),
        (plan(Paused, Tick, &ready), &[], "inbox plan:p1:paused"),
        (
            plan(Running, Tick, &running),
            &[],
            "STRANDED its phase build is running in run r1, which has ended",
        ),
        (
            plan(AwaitingUserDecision, Tick, &asks),
            &[],
            "STRANDED it is waiting for your decision, but not in the inbox",
        ),
    ];
    for (plan, live, expected) in rows {
        let moment = Moment {
            inbox: waiting_plan_item(&plan, live).into_iter().collect(),
            ..Moment::new()
        };
        let moment = moment.seen(|s| {
            s.plans = vec![plan.clone()];
            s.live = live.to_vec();
        });
        assert_eq!(moment.lines(), [format!("plan p1: {expected}")]);
    }
}
