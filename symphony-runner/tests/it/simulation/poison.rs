//! An item whose requests the provider always answers with an error, among others and alone.

use symphony_core::hold::{LONE_PROBES_MAX, lone_item};
use symphony_core::id::IssueId;
use symphony_core::issue::IssueStatus;
use symphony_core::tick::SlotLimits;
use symphony_store::Store;

use super::course::Course;
use super::stage::{Stage, Trouble};

/// One issue after another: the poisonous one is the oldest, and so the first to be dispatched.
fn course(issues: u64, slots: u32) -> (Course, Vec<IssueId>) {
    let mut store = Store::open_in_memory().unwrap();
    let mut stage = Stage::new(&mut store, "a", "claude-cli");
    stage.config.max_retries = 3;
    let slots = SlotLimits {
        total: slots,
        gates: 2,
        ..SlotLimits::default()
    };
    let mut course = Course::on(store, vec![stage], slots, 5, Trouble::Calm);
    let issues = (0..issues).map(|_| course.file(0).unwrap()).collect();
    (course, issues)
}

fn status(course: &Course, issue: &IssueId) -> IssueStatus {
    course.store.issue(issue).unwrap().state.status()
}

#[test]
fn poisonous_items_end_at_their_breakers_and_all_others_are_done() {
    for (poisonous, slots) in [(1, 1), (1, 4), (2, 1), (2, 4), (3, 2)] {
        let (mut course, issues) = course(12, slots);
        let (poison, good) = issues.split_at(poisonous);
        course.poisonous.extend(poison.iter().cloned());
        for _ in 0..600 {
            course.step();
        }
        for issue in good {
            assert_eq!(
                status(&course, issue),
                IssueStatus::Done,
                "{issue} beside {poisonous}, {slots} slots"
            );
        }
        for issue in poison {
            let counts = course.store.issue(issue).unwrap().counts;
            assert_eq!(
                (status(&course, issue), counts.consecutive_failures),
                (IssueStatus::Backlog, 3),
                "{issue} beside {poisonous}, {slots} slots"
            );
        }
        assert_eq!(course.store.holds().unwrap(), []);
        course.full_audit();
    }
}

#[test]
fn a_lone_poisonous_item_is_for_a_person_after_five_failed_probes() {
    let (mut course, issues) = course(1, 2);
    course.poisonous.insert(issues[0].clone());
    let mut probes = 0;
    while probes < LONE_PROBES_MAX {
        let holds = course.store.holds().unwrap();
        assert!(
            holds.iter().all(|hold| lone_item(hold).is_none()),
            "{holds:#?}"
        );
        course.step();
        probes = course
            .store
            .holds()
            .unwrap()
            .first()
            .map_or(0, |hold| hold.probes);
    }
    let holds = course.store.holds().unwrap();
    let lone = lone_item(&holds[0]).map(|trial| trial.item.to_string());
    assert_eq!(lone.as_deref(), Some(issues[0].as_str()));
    let counts = course.store.issue(&issues[0]).unwrap().counts;
    assert_eq!(counts.total_runs, 0, "nobody knows whether it is at fault");
    // the provider was at fault after all: it goes on by itself
    course.poisonous.clear();
    course.drain(200);
    assert_eq!(course.store.holds().unwrap(), []);
    course.full_audit();
}

#[test]
fn one_that_comes_later_tells_who_is_at_fault() {
    let (mut course, issues) = course(1, 2);
    course.poisonous.insert(issues[0].clone());
    for _ in 0..90 {
        course.step();
    }
    // people merge at once, and end some of their runs before those succeed
    let others: Vec<IssueId> = (0..4).map(|_| course.file(0).unwrap()).collect();
    for _ in 0..200 {
        course.step();
    }
    for other in &others {
        assert_eq!(status(&course, other), IssueStatus::Done);
    }
    assert_eq!(status(&course, &issues[0]), IssueStatus::Backlog);
    assert_eq!(course.store.holds().unwrap(), []);
}
