//! Who gets a slot first, and how many there are.

use std::collections::BTreeMap;

use symphony_core::agent::AgentType;
use symphony_core::issue::Priority;
use symphony_core::tick::{Candidate, HoldScope};

use super::support::{
    NOW, at, candidate, hold, live, phase, plan, project, review, snapshot, started,
};

fn of(number: u64, project_name: &str) -> Candidate {
    Candidate {
        project: project(project_name),
        ..candidate(number)
    }
}

fn in_phase(number: u64, name: &str) -> Candidate {
    Candidate {
        phase: Some(phase(name)),
        ..candidate(number)
    }
}

#[test]
fn judges_come_before_phase_agents_before_workers() {
    let mut snapshot = snapshot();
    let mut planner = candidate(3);
    planner.needs_planning = true;
    let mut urgent = candidate(4);
    urgent.priority = Priority::Urgent;
    snapshot.candidates = vec![
        candidate(1),
        in_phase(2, "ready"),
        planner,
        urgent,
        in_phase(5, "research"),
        in_phase(6, "grooming"),
        in_phase(7, "spike"),
    ];
    snapshot.reviews = vec![review(8)];
    assert_eq!(
        plan(&snapshot),
        [
            "start judge SYM-8 #1",
            "start researcher SYM-5 #1",
            "start planner SYM-6 #1",
            "start worker SYM-7 #1",
            "start worker SYM-4 #1",
            "start worker SYM-1 #1",
            "start worker SYM-2 #1",
            "start planner SYM-3 #1",
        ]
    );
}

#[test]
fn within_a_tier_priority_decides_then_load_then_age_then_identifier() {
    let mut snapshot = snapshot();
    let high = |candidate: Candidate| Candidate {
        priority: Priority::High,
        ..candidate
    };
    let born = |candidate: Candidate, second| Candidate {
        created_at: at(second),
        ..candidate
    };
    snapshot.live = vec![live("r1", Some(90), AgentType::Worker)];
    snapshot.candidates = vec![
        born(of(10, "a"), 5),
        born(of(9, "a"), 5),
        born(of(8, "a"), 4),
        born(of(3, "b"), 9),
        born(of(4, "b"), 8),
        high(born(of(2, "a"), 9)),
    ];
    // `a` has a live run, and gets another with SYM-2: so `b` is served until it has as many
    assert_eq!(
        started(&snapshot),
        ["SYM-2", "SYM-4", "SYM-3", "SYM-8", "SYM-9", "SYM-10"]
    );
}

#[test]
fn projects_with_equal_load_take_turns() {
    let mut snapshot = snapshot();
    snapshot.slots.total = 4;
    snapshot.candidates = (1..=5)
        .map(|n| of(n, "a"))
        .chain((6..=9).map(|n| of(n, "b")))
        .collect();
    assert_eq!(started(&snapshot), ["SYM-1", "SYM-6", "SYM-2", "SYM-7"]);
}

#[test]
fn one_slot_is_kept_for_judges_while_a_review_can_be_judged() {
    let mut snapshot = snapshot();
    snapshot.slots.total = 3;
    snapshot.candidates = (1..=4).map(candidate).collect();
    let mut cooling = review(9);
    cooling.last_judged_at = Some(at(NOW - 10));
    for (reviews, total, expected) in [
        // no review: all slots
        (vec![], 3, vec!["SYM-1", "SYM-2", "SYM-3"]),
        // a judge takes the kept slot
        (vec![review(9)], 3, vec!["SYM-9", "SYM-1", "SYM-2"]),
        // cooling down it cannot be judged, and the slot would be idle
        (vec![cooling], 3, vec!["SYM-1", "SYM-2", "SYM-3"]),
    ] {
        snapshot.reviews = reviews;
        snapshot.slots.total = total;
        assert_eq!(started(&snapshot), expected);
    }
    // what waits for a human keeps no slot
    let mut judged = review(9);
    judged.has_verdict = true;
    snapshot.reviews = vec![judged];
    snapshot.slots.total = 3;
    assert_eq!(started(&snapshot).len(), 3);
}

#[test]
fn the_kept_slot_is_kept_from_a_probe_too_unless_no_judge_can_take_it() {
    let mut snapshot = snapshot();
    snapshot.projects.get_mut(&project("b")).unwrap().provider = Ok("codex-cli".into());
    snapshot.slots.total = 2;
    snapshot.live = vec![live("r8", Some(8), AgentType::Worker)];
    snapshot.holds = vec![hold(HoldScope::Provider("codex-cli".into()), NOW)];
    snapshot.candidates = vec![of(1, "b")];
    snapshot.reviews = vec![review(9)];
    assert_eq!(
        plan(&snapshot),
        [
            "start judge SYM-9 #1",
            "wait SYM-1: the last of 2 slots is kept for a judge, because a review is ready for one",
        ]
    );
    // the kept slot counts judges that are at work
    snapshot.live = vec![live("r8", Some(8), AgentType::Judge)];
    assert_eq!(started(&snapshot), ["SYM-1"]);
    // there are no more judges than the project has slots
    snapshot.live = vec![live("r8", Some(8), AgentType::Worker)];
    let view = snapshot.projects.get_mut(&project("a")).unwrap();
    view.max_concurrency = Some(1);
    assert_eq!(started(&snapshot), ["SYM-1"]);
}

#[test]
fn limits_of_projects_and_agents_hold_apart_from_the_total() {
    let mut snapshot = snapshot();
    snapshot
        .projects
        .get_mut(&project("a"))
        .unwrap()
        .max_concurrency = Some(2);
    snapshot.slots.by_agent = BTreeMap::from([(AgentType::Researcher, 1)]);
    snapshot.live = vec![live("r1", Some(90), AgentType::Worker)];
    let research = |number, name| Candidate {
        project: project(name),
        ..in_phase(number, "research")
    };
    snapshot.candidates = vec![
        candidate(1),
        research(2, "b"),
        research(3, "b"),
        candidate(4),
    ];
    assert_eq!(
        plan(&snapshot),
        [
            "start researcher SYM-2 #1",
            "start worker SYM-1 #1",
            "wait SYM-3: the only slot for researcher is taken",
            "wait SYM-4: all 2 slots of the project are taken (max_concurrency)",
        ]
    );
}
