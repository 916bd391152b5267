//! Waiting is not failing: holds, and the one probe that is let through when they are over.

use symphony_core::agent::AgentType;
use symphony_core::tick::{Action, Candidate, HoldScope, plan_tick};

use super::support::{
    NOW, at, candidate, hold, live, plan, project, review, run_id, snapshot, started, with_due,
};

fn provider() -> HoldScope {
    HoldScope::Provider("claude-cli".into())
}

#[test]
fn until_its_end_a_hold_lets_nothing_through() {
    let mut snapshot = snapshot();
    snapshot.candidates = vec![candidate(1), candidate(2)];
    snapshot.reviews = vec![review(3)];
    snapshot.holds = vec![hold(provider(), NOW + 1)];
    let schedule = plan_tick(&snapshot, at(NOW));
    assert_eq!((schedule.actions.len(), schedule.decisions.len()), (0, 3));
    assert_eq!(plan_tick(&snapshot, at(NOW + 1)).actions.len(), 1);
}

#[test]
fn after_its_end_exactly_one_run_probes() {
    let mut snapshot = snapshot();
    snapshot.candidates = vec![candidate(1), candidate(2)];
    snapshot.reviews = vec![review(3)];
    snapshot.holds = vec![hold(provider(), NOW)];
    let held = "provider claude-cli is on hold: 529 (a probe is under way); next try at 1970-01-01T02:46:40.000Z";
    assert_eq!(
        plan(&snapshot),
        [
            "start judge SYM-3 #1 as probe".to_owned(),
            format!("wait SYM-1: {held}"),
            format!("wait SYM-2: {held}"),
        ]
    );
}

#[test]
fn while_a_probe_lives_the_others_wait() {
    let mut snapshot = snapshot();
    snapshot.candidates = vec![candidate(1)];
    let mut over = hold(provider(), NOW - 60);
    over.canary = Some(run_id("r9"));
    snapshot.holds = vec![over];
    snapshot.live = vec![live("r9", Some(9), AgentType::Worker)];
    assert_eq!(
        plan(&snapshot),
        ["wait SYM-1: provider claude-cli is on hold: 529; next try at 1970-01-01T02:45:40.000Z"]
    );
    // a probe that vanished without a word does not hold the provider for ever
    snapshot.live.clear();
    assert_eq!(plan(&snapshot), ["start worker SYM-1 #1 as probe"]);
}

#[test]
fn a_hold_from_before_the_clock_was_set_back_is_probed() {
    let day = 24 * 60 * 60;
    let mut snapshot = snapshot();
    snapshot.candidates = vec![candidate(1)];
    snapshot.holds = vec![hold(provider(), NOW + 8 * day)];
    assert_eq!(started(&snapshot), [""; 0]);
    snapshot.holds = vec![hold(provider(), NOW + 8 * day + 1)];
    assert_eq!(plan(&snapshot), ["start worker SYM-1 #1 as probe"]);
    // an end that could be: what tells is that it was placed in the future
    let mut early = hold(provider(), NOW + 900);
    for (placed_at, expected) in [(NOW, 0), (NOW + 60, 0), (NOW + 61, 1)] {
        early.placed_at = at(placed_at);
        snapshot.holds = vec![early.clone()];
        assert_eq!(started(&snapshot).len(), expected, "{placed_at}");
    }
    // a cap without an end waits for a human, however long
    let mut capped = hold(HoldScope::Project(project("a")), NOW);
    capped.until = symphony_core::Timestamp::MAX;
    snapshot.holds = vec![capped];
    assert_eq!(plan(&snapshot), ["wait SYM-1: project a is on hold: 529"]);
}

#[test]
fn a_hold_of_one_provider_or_project_leaves_the_others_alone() {
    let mut snapshot = snapshot();
    snapshot.projects.get_mut(&project("b")).unwrap().provider = Ok("codex-cli".into());
    let other = |number| Candidate {
        project: project("b"),
        ..candidate(number)
    };
    snapshot.candidates = vec![candidate(1), candidate(2), other(3), other(4)];
    for (scope, expected) in [
        (provider(), vec!["SYM-3", "SYM-4"]),
        (
            HoldScope::Provider("codex-cli".into()),
            vec!["SYM-1", "SYM-2"],
        ),
        (HoldScope::Project(project("a")), vec!["SYM-3", "SYM-4"]),
        (HoldScope::Everything, vec![]),
    ] {
        snapshot.holds = vec![hold(scope.clone(), NOW + 60)];
        assert_eq!(started(&snapshot), expected, "{scope:?}");
    }
}

#[test]
fn a_run_probes_all_holds_that_cover_it_and_the_right_one_is_named() {
    let mut snapshot = snapshot();
    let other = Candidate {
        project: project("b"),
        ..candidate(2)
    };
    snapshot.candidates = vec![candidate(1), other];
    snapshot.holds = vec![
        hold(HoldScope::Project(project("b")), NOW),
        hold(provider(), NOW),
    ];
    let schedule = plan_tick(&snapshot, at(NOW));
    let [Action::StartRun(start)] = schedule.actions.as_slice() else {
        panic!("{schedule:?}");
    };
    assert_eq!(start.probes, [provider()]);
    assert_eq!(
        with_due(&schedule.decisions[0].reasons[0]),
        "provider claude-cli is on hold: 529 (a probe is under way); next try at 1970-01-01T02:46:40.000Z"
    );
    // alone, the second probes both
    snapshot.candidates.remove(0);
    let schedule = plan_tick(&snapshot, at(NOW));
    let [Action::StartRun(start)] = schedule.actions.as_slice() else {
        panic!("{schedule:?}");
    };
    assert_eq!(start.probes, [HoldScope::Project(project("b")), provider()]);
}

#[test]
fn a_probe_that_finds_no_slot_leaves_the_place_to_another() {
    let mut snapshot = snapshot();
    snapshot
        .projects
        .get_mut(&project("a"))
        .unwrap()
        .max_concurrency = Some(0);
    let other = Candidate {
        project: project("b"),
        ..candidate(2)
    };
    snapshot.candidates = vec![candidate(1), other];
    snapshot.holds = vec![hold(provider(), NOW)];
    assert_eq!(started(&snapshot), ["SYM-2"]);
}
