//! Long waits that are nobody's failure, and two projects that share the slots.

use symphony_core::failure::ErrorClass;
use symphony_core::issue::IssueStatus;
use symphony_core::tick::SlotLimits;
use symphony_store::{IssueFilter, RunFilter, Store};

use super::course::Course;
use super::stage::{Stage, Trouble};

/// Minutes of the outage.
const OUTAGE: i64 = 12 * 60;
/// Minutes in which a probe that reaches its provider has ended, and the tick after it has come.
const PROBE_TAKES: i64 = 10;
/// Longest wait between two probes, in minutes (spec: orchestrator, "backoff up to 15 minutes").
const PROBE_MINUTES_MAX: i64 = 15;

fn four_slots() -> SlotLimits {
    SlotLimits {
        total: 4,
        gates: 2,
        ..SlotLimits::default()
    }
}

fn statuses(course: &Course) -> Vec<IssueStatus> {
    let page = course.store.list_issues(&IssueFilter::default()).unwrap();
    page.items
        .iter()
        .map(|issue| issue.state.status())
        .collect()
}

#[test]
fn twelve_hours_without_a_provider_cost_no_attempt() {
    let mut store = Store::open_in_memory().unwrap();
    let mut stage = Stage::new(&mut store, "a", "claude-cli");
    stage.config.max_retries = 3;
    let mut course = Course::on(store, vec![stage], four_slots(), 1, Trouble::Calm);
    for _ in 0..50 {
        course.file(0).unwrap();
    }
    for _ in 0..20 {
        course.step();
    }
    course.down.insert("claude-cli".into());
    for _ in 0..OUTAGE {
        course.step();
        assert!(
            !statuses(&course).contains(&IssueStatus::Backlog),
            "{:#?}",
            course.history()
        );
    }
    let left = statuses(&course)
        .iter()
        .filter(|status| !status.is_terminal())
        .count();
    assert!(left > 25, "the outage came when the work was done: {left}");
    let runs = course.store.runs(&RunFilter::default()).unwrap().len();
    course.down.clear();
    // L4: one probe, and dispatch goes on
    for _ in 0..PROBE_MINUTES_MAX + PROBE_TAKES {
        course.step();
    }
    let after = course.store.runs(&RunFilter::default()).unwrap();
    assert!(
        after.len() > runs + 4,
        "{} runs, {} before",
        after.len(),
        runs
    );
    let held: Vec<_> = after
        .iter()
        .filter(|run| {
            run.error
                .as_ref()
                .is_some_and(|error| error.class.is_hold())
        })
        .collect();
    let probes_max = usize::try_from(OUTAGE / PROBE_MINUTES_MAX).unwrap() + 10;
    assert!(
        (20..=probes_max).contains(&held.len()),
        "{} runs met the outage",
        held.len()
    );
    course.drain(2_000);
    course.full_audit();
    assert!(
        statuses(&course)
            .iter()
            .all(|status| *status == IssueStatus::Done)
    );
    let ended = course.store.runs(&RunFilter::default()).unwrap();
    let failed: Vec<_> = ended
        .iter()
        .filter_map(|run| run.error.as_ref())
        // a person merges what a judge has just approved, and ends its run
        .filter(|error| !error.class.is_hold() && error.class != ErrorClass::Cancelled)
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn two_projects_share_the_slots_over_time() {
    let mut store = Store::open_in_memory().unwrap();
    let mut stages = vec![
        Stage::new(&mut store, "a", "claude-cli"),
        Stage::new(&mut store, "b", "codex-cli"),
    ];
    for stage in &mut stages {
        stage.config.judge_enabled = false;
    }
    let slots = SlotLimits {
        total: 5,
        gates: 2,
        ..SlotLimits::default()
    };
    let mut course = Course::on(store, stages, slots, 3, Trouble::Calm);
    // the first project has ten times as much to do, and older
    for number in 0..330 {
        course.file(usize::from(number >= 300)).unwrap();
    }
    let mut shares = [0_i64; 2];
    let mut minutes = 0;
    loop {
        course.step();
        let todo = |name: &str| {
            let project = Some(symphony_core::id::ProjectId::parse(name).unwrap());
            let counts = course
                .store
                .issue_counts(project.as_ref().unwrap())
                .unwrap();
            counts.get(&IssueStatus::Todo).copied().unwrap_or(0)
        };
        if todo("a") < 5 || todo("b") < 5 {
            break;
        }
        minutes += 1;
        let mut now = [0_i64; 2];
        for run in course.store.live_runs().unwrap() {
            now[usize::from(run.project.as_str() == "b")] += 1;
        }
        assert!((now[0] - now[1]).abs() <= 1, "{now:?} in minute {minutes}");
        shares[0] += now[0];
        shares[1] += now[1];
    }
    assert!(minutes > 10, "{minutes}");
    assert!(
        (shares[0] - shares[1]).abs() <= minutes,
        "{shares:?} in {minutes} minutes"
    );
}
