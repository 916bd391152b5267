//! Phases of plans beside issues: the same slots, the same holds.

use std::collections::BTreeMap;

use symphony_core::agent::AgentType;
use symphony_core::project::WizardState;
use symphony_core::tick::{
    HoldScope, LiveRun, LockState, ProjectAgents, ReviewCandidate, Snapshot, free_worker_slots,
    pass_holds,
};

use super::support::{NOW, at, hold, live, project, review, run_id, snapshot, view};

fn free(snapshot: &Snapshot) -> u32 {
    free_worker_slots(snapshot, &project("a"), at(NOW))
}

fn of(name: &str, run: LiveRun) -> LiveRun {
    LiveRun {
        project: project(name),
        ..run
    }
}

/// A snapshot with so many slots, and runs at work.
fn slots(total: u32, live: Vec<LiveRun>) -> Snapshot {
    let mut snapshot = snapshot();
    snapshot.slots.total = total;
    snapshot.live = live;
    snapshot
}

#[test]
fn every_live_run_has_a_slot() {
    let worker = |name| live(name, Some(1), AgentType::Worker);
    let phase = |name| live(name, None, AgentType::Worker);
    let judge = |name| live(name, Some(9), AgentType::Judge);
    // its exit handling is still to come
    let dead = LiveRun {
        lock: LockState::Free,
        ..phase("dead")
    };
    for (total, live, expected) in [
        (0, vec![], 0),
        (1, vec![], 1),
        (8, vec![], 8),
        (2, vec![worker("r1")], 1),
        (2, vec![worker("r1"), phase("r2")], 0),
        (2, vec![of("b", worker("r1")), judge("r2")], 0),
        (2, vec![worker("r1"), dead], 0),
        // the limit was lowered while they were at work
        (1, vec![worker("r1"), phase("r2"), judge("r3")], 0),
    ] {
        let told = format!("{total} {live:?}");
        assert_eq!(free(&slots(total, live)), expected, "{told}");
    }
}

#[test]
fn the_slot_of_a_judge_is_kept_while_a_review_waits() {
    let worker = |name| live(name, Some(1), AgentType::Worker);
    let judge = || live("judge", Some(9), AgentType::Judge);
    let cooling = ReviewCandidate {
        last_judged_at: Some(at(NOW - 1)),
        ..review(9)
    };
    let judged = ReviewCandidate {
        has_verdict: true,
        ..review(9)
    };
    for (total, live, waiting, expected) in [
        (2, vec![], vec![review(9)], 1),
        (2, vec![worker("r1")], vec![review(9)], 0),
        (3, vec![worker("r1")], vec![review(9)], 1),
        // the judge has it
        (2, vec![judge()], vec![review(9)], 1),
        (3, vec![judge(), worker("r1")], vec![review(9)], 1),
        // there is no second one to give away
        (1, vec![], vec![review(9)], 1),
        // it is judged again only after its pause
        (2, vec![], vec![cooling], 2),
        // it does not wait for a judge
        (2, vec![], vec![judged], 2),
        (2, vec![], vec![], 2),
    ] {
        let told = format!("{total} {live:?} {waiting:?}");
        let mut snapshot = slots(total, live);
        snapshot.reviews = waiting;
        assert_eq!(free(&snapshot), expected, "{told}");
    }
}

#[test]
fn limits_of_a_project_and_of_workers_count() {
    let runs = || {
        vec![
            live("r1", Some(1), AgentType::Worker),
            of("b", live("r2", Some(2), AgentType::Worker)),
            live("r3", Some(3), AgentType::Planner),
        ]
    };
    for (of_project, of_workers, expected) in [
        (None, None, 5),
        (Some(3), None, 1),
        (Some(2), None, 0),
        (Some(1), None, 0),
        (None, Some(3), 1),
        (None, Some(2), 0),
        (Some(4), Some(3), 1),
    ] {
        let mut snapshot = slots(8, runs());
        snapshot
            .projects
            .get_mut(&project("a"))
            .unwrap()
            .max_concurrency = of_project;
        if let Some(max) = of_workers {
            snapshot.slots.by_agent = BTreeMap::from([(AgentType::Worker, max)]);
        }
        let told = format!("{of_project:?} {of_workers:?}");
        assert_eq!(free(&snapshot), expected, "{told}");
    }
}

#[test]
fn nothing_starts_in_a_pause_or_before_the_wizard() {
    let paused = Snapshot {
        paused: true,
        ..snapshot()
    };
    assert_eq!(free(&paused), 0);
    let agents = |wizard_enabled, wizard| ProjectAgents {
        wizard_enabled,
        wizard,
        ..ProjectAgents::default()
    };
    for (agents, expected) in [
        (agents(true, WizardState::Pending), 0),
        (agents(false, WizardState::Pending), 8),
    ] {
        let mut snapshot = snapshot();
        let told = format!("{agents:?}");
        let a = symphony_core::tick::ProjectView { agents, ..view() };
        snapshot.projects.insert(project("a"), a);
        assert_eq!(free(&snapshot), expected, "{told}");
        let other = free_worker_slots(&snapshot, &project("b"), at(NOW));
        assert_eq!(other, 8, "another project does not wait for it");
    }
}

#[test]
fn a_phase_passes_what_an_issue_passes() {
    let provider = HoldScope::Provider("claude-cli".into());
    let mut probed = hold(provider.clone(), NOW - 60);
    probed.canary = Some(run_id("r9"));
    let day = 24 * 60 * 60;
    let mut ahead = hold(provider.clone(), NOW + 900);
    ahead.placed_at = at(NOW + 3600);
    let own = HoldScope::Project(project("a"));
    let passes = |probes: &[&HoldScope]| Ok(probes.iter().map(|scope| (*scope).clone()).collect());
    for (holds, expected) in [
        (vec![], passes(&[])),
        (vec![hold(provider.clone(), NOW + 1)], Err(provider.clone())),
        // over: who starts now is the probe
        (vec![hold(provider.clone(), NOW)], passes(&[&provider])),
        (vec![probed], Err(provider.clone())),
        // from before the clock was set back
        (
            vec![hold(provider.clone(), NOW + 9 * day)],
            passes(&[&provider]),
        ),
        (vec![ahead], passes(&[&provider])),
        // of others
        (
            vec![
                hold(HoldScope::Provider("codex-cli".into()), NOW + 60),
                hold(HoldScope::Project(project("b")), NOW + 60),
            ],
            passes(&[]),
        ),
        (vec![hold(own.clone(), NOW + 60)], Err(own.clone())),
        (
            vec![hold(HoldScope::Everything, NOW + 60)],
            Err(HoldScope::Everything),
        ),
        // all that are over are probed by one run
        (
            vec![hold(own.clone(), NOW - 1), hold(provider.clone(), NOW - 1)],
            passes(&[&own, &provider]),
        ),
        (
            vec![hold(own.clone(), NOW - 1), hold(provider.clone(), NOW + 1)],
            Err(provider.clone()),
        ),
    ] {
        let mut snapshot = snapshot();
        snapshot.holds = holds;
        snapshot.live = vec![live("r9", Some(9), AgentType::Worker)];
        let passed = pass_holds(&snapshot, &project("a"), "claude-cli", None, at(NOW));
        let found: Result<Vec<HoldScope>, HoldScope> = passed.map_err(|hold| hold.scope.clone());
        assert_eq!(found, expected, "{:?}", snapshot.holds);
    }
}
