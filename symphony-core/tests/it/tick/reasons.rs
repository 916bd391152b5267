//! A row for each reason: what makes it, and how it reads.

use std::collections::BTreeMap;

use symphony_core::agent::AgentType;
use symphony_core::id::{DeliveryId, PrId};
use symphony_core::issue::Size;
use symphony_core::judges_ended::JudgesEnded;
use symphony_core::outside::{HeadFound, LostHead, MergeConflict};
use symphony_core::pull_request::PullRequestOf;
use symphony_core::retry::RetryKind;
use symphony_core::review_point::PointNumber;
use symphony_core::run::RunTarget;
use symphony_core::tick::{
    Action, Candidate, DueRetry, GatesState, HoldScope, ReviewCandidate, Snapshot, obstacles,
    plan_tick, review_obstacles, wanted_agent,
};

use super::support::{
    NOW, at, candidate, counts, delivery_review, hold, issue, lines, live, no_base, phase, plan,
    project, review, snapshot, view, with_due,
};

fn judges(by_themselves: u32, killed: u32) -> JudgesEnded {
    JudgesEnded {
        by_themselves,
        killed,
    }
}

fn texts(snapshot: &Snapshot, candidate: &Candidate) -> Vec<String> {
    obstacles(candidate, snapshot, at(NOW))
        .iter()
        .map(with_due)
        .collect()
}

fn review_texts(snapshot: &Snapshot, review: &ReviewCandidate) -> Vec<String> {
    review_obstacles(review, snapshot, at(NOW))
        .iter()
        .map(with_due)
        .collect()
}

fn retry(kind: RetryKind, due_at: i64) -> DueRetry {
    DueRetry {
        kind,
        due_at: at(due_at),
        attempt: 1,
    }
}

type Change<T> = fn(&mut Snapshot, &mut T);

#[test]
fn every_reason_of_an_issue_has_its_row() {
    let table: &[(Change<Candidate>, &[&str])] = &[
        (|_, _| (), &[]),
        (
            |s, _| s.paused = true,
            &["Symphony is paused (`symphony resume` ends the pause)"],
        ),
        (
            |s, _| s.live.push(live("r7", Some(1), AgentType::Worker)),
            &["run r7 is working on it"],
        ),
        (
            |s, _| s.live.push(live("r7", Some(2), AgentType::Worker)),
            &[],
        ),
        (
            |s, _| s.projects.clear(),
            &["the project's configuration is broken: the project is not configured"],
        ),
        (
            |s, _| a(s).broken = Some("line 3: expected `}`".into()),
            &["the project's configuration is broken: line 3: expected `}`"],
        ),
        (
            |s, _| a(s).no_base = Some(no_base("its base branch `x` does not exist")),
            &["its project is on hold: its base branch `x` does not exist"],
        ),
        (
            |s, _| a(s).provider = Err("install `claude`".into()),
            &["no provider can be used: install `claude`"],
        ),
        (
            |s, _| s.holds = vec![hold(HoldScope::Provider("claude-cli".into()), NOW + 1)],
            &["provider claude-cli is on hold: 529; next try at 1970-01-01T02:46:41.000Z"],
        ),
        (
            |s, _| s.holds = vec![hold(HoldScope::Project(project("a")), NOW + 1)],
            &["project a is on hold: 529; next try at 1970-01-01T02:46:41.000Z"],
        ),
        (
            |s, _| s.holds = vec![hold(HoldScope::Everything, NOW + 1)],
            &["everything is on hold: 529; next try at 1970-01-01T02:46:41.000Z"],
        ),
        (
            |_, c| c.waits_for = vec![issue(8), issue(9)],
            &["waits for SYM-8, SYM-9"],
        ),
        (
            |_, c| c.retry = Some(retry(RetryKind::Backoff, NOW + 20)),
            &["it failed; next try at 1970-01-01T02:47:00.000Z"],
        ),
        (
            |_, c| c.retry = Some(retry(RetryKind::Continuation, NOW + 1)),
            &["its last run ended before its work did; continues at 1970-01-01T02:46:41.000Z"],
        ),
        (|_, c| c.retry = Some(retry(RetryKind::Backoff, NOW)), &[]),
        (
            |_, c| c.counts = counts(0, 15),
            &["used 15 of 15 runs without progress (`symphony issue retry` clears the count)"],
        ),
        (|_, c| c.counts = counts(14, 14), &[]),
        (
            |s, _| a(s).migration_mode = false,
            &["has no `phase:` label, and migration_mode is off"],
        ),
        (
            |_, c| c.phase = Some(phase("deploy")),
            &["the project has no phase `deploy` (`symphony phase list` lists its phases)"],
        ),
        (
            |s, c| {
                a(s).planner_enabled = false;
                c.needs_planning = true;
            },
            &["waits for a planner, but planner_enabled is off"],
        ),
        (
            |s, c| {
                a(s).researcher_enabled = false;
                c.phase = Some(phase("architecture"));
            },
            &["its phase needs a researcher, but researcher_enabled is off"],
        ),
        (
            |s, _| {
                a(s).max_open_reviews = Some(3);
                a(s).open_reviews = 3;
            },
            &["3 reviews wait for a person (max_open_reviews is 3)"],
        ),
        (
            |s, _| {
                a(s).max_open_reviews = Some(3);
                a(s).open_reviews = 2;
            },
            &[],
        ),
        (
            |s, c| {
                a(s).max_open_reviews = Some(3);
                a(s).open_reviews = 3;
                c.phase = Some(phase("research"));
            },
            &[],
        ),
    ];
    for (row, (change, expected)) in table.iter().enumerate() {
        let (mut snapshot, mut candidate) = (snapshot(), candidate(1));
        change(&mut snapshot, &mut candidate);
        assert_eq!(texts(&snapshot, &candidate), *expected, "row {row}");
    }
}

fn a(snapshot: &mut Snapshot) -> &mut symphony_core::tick::ProjectView {
    snapshot.projects.get_mut(&project("a")).unwrap()
}

fn conflict(pr: i64) -> MergeConflict {
    MergeConflict {
        pr: PrId::new(pr),
        base: "main".to_owned(),
        files: vec!["a.txt".to_owned(), "b.txt".to_owned()],
    }
}

fn moved(pr: i64) -> LostHead {
    LostHead {
        pr: PrId::new(pr),
        of: PullRequestOf::from(issue(1)),
        found: HeadFound::Moved {
            branch: "symphony/A-1".to_owned(),
            now: "b".repeat(10),
            back: "git reset".to_owned(),
        },
    }
}

#[test]
fn every_reason_of_a_review_has_its_row() {
    let table: &[(Change<ReviewCandidate>, &[&str])] = &[
        (|_, _| (), &[]),
        (
            |s, _| s.live.push(live("r7", Some(1), AgentType::Judge)),
            &["run r7 is working on it"],
        ),
        (
            |_, r| r.has_verdict = true,
            &["it is approved and waits for a person to merge it"],
        ),
        (
            |s, _| a(s).judge_enabled = false,
            &["it waits for a person's verdict (judge_enabled is off)"],
        ),
        (
            |_, r| r.gates = GatesState::due(),
            &["its gates have not run yet"],
        ),
        (
            |_, r| r.last_judged_at = Some(at(NOW - 299)),
            &["it was judged a moment ago; again at 1970-01-01T02:46:41.000Z"],
        ),
        (|_, r| r.last_judged_at = Some(at(NOW - 300)), &[]),
        // the clock was set back by a day: the pause does not last until tomorrow
        (|_, r| r.last_judged_at = Some(at(NOW + 86_400)), &[]),
        (
            |s, _| s.base.conflicting.push(conflict(1)),
            &["it waits for a person: it conflicts with main in a.txt, b.txt"],
        ),
        (|s, _| s.base.conflicting.push(conflict(2)), &[]),
        (
            |s, _| s.base.lost.push(moved(1)),
            &[
                "it waits for a person: its branch symphony/A-1 is now at bbbbbbbbbb, which was not reviewed",
            ],
        ),
        (|s, _| s.base.lost.push(moved(2)), &[]),
        // a judge can still send it back
        (|_, r| r.persons_points = vec![PointNumber::new(2)], &[]),
        (
            |_, r| (r.persons_points, r.judges) = (vec![PointNumber::new(2)], judges(0, 1)),
            &[],
        ),
        (
            |_, r| (r.persons_points, r.judges) = (vec![PointNumber::new(2)], judges(1, 0)),
            &[
                "it waits for a person to close review point 2: only people can close points raised by people",
            ],
        ),
        (
            |_, r| (r.persons_points, r.has_verdict) = (vec![PointNumber::new(2)], true),
            &[
                "it waits for a person to close review point 2: only people can close points raised by people",
                "it is approved and waits for a person to merge it",
            ],
        ),
        (
            |s, r| {
                a(s).judge_enabled = false;
                r.persons_points = vec![PointNumber::new(2), PointNumber::new(4)];
            },
            &[
                "it waits for a person to close review points 2 and 4: only people can close points raised by people",
                "it waits for a person's verdict (judge_enabled is off)",
            ],
        ),
        // what the last attempt handed in is judged, too
        (|_, r| r.counts = counts(15, 15), &[]),
    ];
    for (row, (change, expected)) in table.iter().enumerate() {
        let (mut snapshot, mut review) = (snapshot(), review(1));
        change(&mut snapshot, &mut review);
        assert_eq!(review_texts(&snapshot, &review), *expected, "row {row}");
    }
}

#[test]
fn a_claim_goes_to_a_judge_as_a_pull_request_does() {
    let judged = |change: Change<ReviewCandidate>| {
        let (mut snapshot, mut claim) = (snapshot(), delivery_review(1));
        change(&mut snapshot, &mut claim);
        snapshot.reviews = vec![claim];
        plan_tick(&snapshot, at(NOW))
    };
    let schedule = judged(|_, _| ());
    let [Action::StartRun(start)] = schedule.actions.as_slice() else {
        panic!("{schedule:?}");
    };
    assert_eq!(start.agent, AgentType::Judge);
    assert_eq!(
        start.target,
        RunTarget::Delivery(issue(1), DeliveryId::new(1))
    );
    assert_eq!(start.phase, Some(phase("architecture")));
    let table: &[(Change<ReviewCandidate>, &str)] = &[
        (
            |s, _| a(s).judge_enabled = false,
            "wait SYM-1: it waits for a person's verdict (judge_enabled is off)",
        ),
        (
            |_, c| c.last_judged_at = Some(at(NOW - 299)),
            "wait SYM-1: it was judged a moment ago; again at 1970-01-01T02:46:41.000Z",
        ),
        (
            |s, _| s.live.push(live("r7", Some(1), AgentType::Judge)),
            "wait SYM-1: run r7 is working on it",
        ),
        (
            |_, c| c.judges = judges(3, 0),
            "wait SYM-1: it waits for a person's verdict: 3 judges ended without one",
        ),
        // the breaker takes nothing from a review that a person can end
        (
            |s, c| {
                a(s).max_retries = 1;
                c.judges = judges(1, 0);
                c.counts = counts(1, 1);
            },
            "wait SYM-1: it waits for a person's verdict: 1 judge ended without one",
        ),
        (|_, c| c.judges = judges(2, 0), "start judge SYM-1 #1"),
        // what killed them says nothing about the review; a bound there is all the same
        (|_, c| c.judges = judges(0, 14), "start judge SYM-1 #1"),
        (
            |_, c| c.judges = judges(1, 14),
            "wait SYM-1: it waits for a person's verdict: 15 judges ended without one",
        ),
    ];
    for (row, (change, expected)) in table.iter().enumerate() {
        assert_eq!(lines(&judged(*change)), [*expected], "row {row}");
    }
}

#[test]
fn all_reasons_are_told_at_once() {
    let mut snapshot = snapshot();
    snapshot.paused = true;
    a(&mut snapshot).provider = Err("install `claude`".into());
    let mut candidate = candidate(1);
    candidate.waits_for = vec![issue(9)];
    candidate.retry = Some(retry(RetryKind::Continuation, NOW + 1));
    assert_eq!(
        texts(&snapshot, &candidate),
        [
            "Symphony is paused (`symphony resume` ends the pause)",
            "no provider can be used: install `claude`",
            "waits for SYM-9",
            "its last run ended before its work did; continues at 1970-01-01T02:46:41.000Z",
        ]
    );
}

#[test]
fn an_appointment_made_before_the_clock_was_set_back_is_due() {
    let mut candidate = candidate(1);
    for (due_at, waits) in [(NOW + 300, true), (NOW + 301, false), (NOW + 86_400, false)] {
        candidate.retry = Some(retry(RetryKind::Backoff, due_at));
        assert_eq!(texts(&snapshot(), &candidate).len() == 1, waits, "{due_at}");
    }
    // a continuation takes a second even where no backoff is wanted
    let mut snapshot = snapshot();
    a(&mut snapshot).max_backoff_ms = 0;
    candidate.retry = Some(retry(RetryKind::Continuation, NOW + 1));
    assert_eq!(
        texts(&snapshot, &candidate),
        ["its last run ended before its work did; continues at 1970-01-01T02:46:41.000Z"]
    );
}

#[test]
fn the_agent_follows_from_phase_size_and_switches() {
    struct Row {
        phase: Option<&'static str>,
        size: Option<Size>,
        needs_planning: bool,
        has_subtasks: bool,
        planner_enabled: bool,
        agent: &'static str,
    }
    let row = |phase, agent| Row {
        phase,
        size: None,
        needs_planning: false,
        has_subtasks: false,
        planner_enabled: true,
        agent,
    };
    let large = |row: Row| Row {
        size: Some(Size::Large),
        ..row
    };
    let labelled = |row: Row| Row {
        needs_planning: true,
        ..row
    };
    let split = |row: Row| Row {
        has_subtasks: true,
        ..row
    };
    let unplanned = |row: Row| Row {
        planner_enabled: false,
        ..row
    };
    for (number, row) in [
        row(None, "worker"),
        row(Some("ready"), "worker"),
        row(Some("research"), "researcher"),
        row(Some("architecture"), "architect"),
        row(Some("grooming"), "planner"),
        row(Some("spike"), "worker"),
        large(row(Some("ready"), "planner")),
        labelled(row(Some("ready"), "planner")),
        large(row(Some("research"), "researcher")),
        split(large(row(Some("ready"), "worker"))),
        split(labelled(row(None, "worker"))),
        unplanned(large(row(Some("ready"), "worker"))),
        unplanned(labelled(row(Some("ready"), "-"))),
        unplanned(split(labelled(row(Some("ready"), "worker")))),
        unplanned(row(Some("grooming"), "planner")),
    ]
    .into_iter()
    .enumerate()
    {
        let mut candidate = candidate(1);
        candidate.phase = row.phase.map(phase);
        candidate.size = row.size;
        candidate.needs_planning = row.needs_planning;
        candidate.has_subtasks = row.has_subtasks;
        let mut view = view();
        view.planner_enabled = row.planner_enabled;
        let found = wanted_agent(&candidate, &view);
        let found = found.as_ref().map_or("-", AgentType::name);
        assert_eq!(found, row.agent, "row {number}");
    }
}

#[test]
fn what_keeps_a_slot_taken_is_named() {
    let mut snapshot = snapshot();
    snapshot.candidates = vec![candidate(1)];
    snapshot.live = vec![live("r7", Some(7), AgentType::Worker)];
    snapshot.slots.total = 1;
    assert_eq!(
        plan(&snapshot),
        ["wait SYM-1: the only slot is taken (max_concurrent_agents)"]
    );
    snapshot.slots.total = 2;
    snapshot.reviews = vec![review(2)];
    assert_eq!(
        plan(&snapshot),
        [
            "start judge SYM-2 #1",
            "wait SYM-1: all 2 slots are taken (max_concurrent_agents)"
        ]
    );
    snapshot.reviews = Vec::new();
    a(&mut snapshot).max_concurrency = Some(1);
    assert_eq!(
        plan(&snapshot),
        ["wait SYM-1: the only slot of the project is taken (max_concurrency)"]
    );
    a(&mut snapshot).max_concurrency = None;
    snapshot.slots.by_agent = BTreeMap::from([(AgentType::Worker, 1)]);
    assert_eq!(
        plan(&snapshot),
        ["wait SYM-1: the only slot for worker is taken"]
    );
}
