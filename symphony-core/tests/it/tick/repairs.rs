//! What a tick puts right: dead supervisors, spent attempts, worktrees nobody needs.

use symphony_core::agent::AgentType;
use symphony_core::exit_handling::PutOff;
use symphony_core::issue::BreakerTarget;
use symphony_core::tick::{
    AcceptedPhase, Action, CleanUp, LEFTOVER_GRACE_MS, Leftover, LeftoverOwner, LiveRun, LockState,
    Reason, SplitIssue, SubtasksOutcome, plan_tick,
};

use symphony_core::watchdog::{Moment, Step, Stuck, Suspicion, Watch};

use super::support::{
    NOW, at, candidate, counts, issue, live, no_base, plan, project, review, run_id, snapshot,
};

#[test]
fn a_live_run_with_a_free_lock_is_finished_and_keeps_its_slot() {
    let mut snapshot = snapshot();
    snapshot.slots.total = 2;
    snapshot.live = vec![
        LiveRun {
            lock: LockState::Free,
            ..live("r1", Some(1), AgentType::Worker)
        },
        LiveRun {
            lock: LockState::Free,
            ..live("r2", None, AgentType::Scanner)
        },
    ];
    snapshot.candidates = vec![candidate(3)];
    let schedule = plan_tick(&snapshot, at(NOW));
    let finish = |run, on| Action::FinishCrashed {
        run: run_id(run),
        issue: on,
    };
    assert_eq!(
        schedule.actions,
        [finish("r1", Some(issue(1))), finish("r2", None)]
    );
    assert_eq!(schedule.decisions.len(), 1);
}

#[test]
fn a_supervisor_past_its_limit_is_suspected_and_then_ended_unless_its_lock_is_free() {
    let suspicion = Suspicion {
        record: None,
        since: Moment {
            boot: "this".to_owned(),
            at_ms: 1,
        },
    };
    let stuck = Watch::Stuck(Stuck {
        pid: Some(42),
        start_time: Some(1),
        step: Some(Step::Settle),
        for_ms: 90_000,
    });
    let suspect = Watch::Suspect(suspicion);
    let table = [
        (LockState::Held, Watch::InTime, None),
        (LockState::Held, suspect.clone(), Some("suspect r1")),
        (
            LockState::Held,
            stuck.clone(),
            Some("end r1, which did not get past the exit handling for 90 s"),
        ),
        (LockState::Free, suspect, Some("finish r1")),
        (LockState::Missing, stuck, Some("finish r1")),
    ];
    for (lock, seen, expected) in table {
        let mut snapshot = snapshot();
        snapshot.live = vec![LiveRun {
            lock,
            ..live("r1", Some(1), AgentType::Worker)
        }];
        snapshot.watched = [(run_id("r1"), seen.clone())].into();
        let expected: Vec<&str> = expected.into_iter().collect();
        assert_eq!(plan(&snapshot), expected, "{lock} {seen:?}");
    }
}

#[test]
fn exit_handling_that_was_put_off_waits_for_its_time_and_holds_no_slot() {
    let put_off = |due| PutOff {
        tries: 2,
        due_at: at(due),
        problem: "git was killed".into(),
    };
    let mut snapshot = snapshot();
    snapshot.slots.total = 1;
    snapshot.candidates = vec![candidate(1), candidate(3)];
    let mut run = LiveRun {
        lock: LockState::Free,
        put_off: Some(put_off(NOW + 1)),
        ..live("r1", Some(1), AgentType::Worker)
    };
    for (due, finished) in [(NOW + 1, false), (NOW, true), (NOW + 100_000, true)] {
        run.put_off = Some(put_off(due));
        snapshot.live = vec![run.clone()];
        let schedule = plan_tick(&snapshot, at(NOW));
        let finish = Action::FinishCrashed {
            run: run_id("r1"),
            issue: Some(issue(1)),
        };
        assert_eq!(schedule.actions.contains(&finish), finished, "{due}");
        assert!(
            matches!(schedule.actions.last(), Some(Action::StartRun(start)) if start.target.issue() == Some(&issue(3))),
            "{:?}",
            schedule.actions
        );
        let decision = schedule
            .decisions
            .iter()
            .find(|d| d.issue == issue(1))
            .unwrap();
        assert!(
            matches!(&decision.reasons[..], [Reason::ExitPutOff { put_off, .. }] if put_off.tries == 2),
            "{decision:?}"
        );
    }
    // somebody is at work with it
    run.put_off = Some(put_off(NOW));
    run.lock = LockState::Held;
    snapshot.live = vec![run];
    let schedule = plan_tick(&snapshot, at(NOW));
    assert!(
        matches!(schedule.actions[..], [Action::StartRun(_)]),
        "{schedule:?}"
    );
}

#[test]
fn a_persons_session_takes_no_slot_and_keeps_its_issue() {
    let mut snapshot = snapshot();
    snapshot.slots.total = 1;
    snapshot.candidates = vec![candidate(1), candidate(2)];
    snapshot.live = vec![LiveRun {
        interactive: true,
        ..live("r1", Some(1), AgentType::Worker)
    }];
    let schedule = plan_tick(&snapshot, at(NOW));
    assert!(
        matches!(&schedule.actions[..], [Action::StartRun(start)] if start.target.issue() == Some(&issue(2))),
        "{schedule:?}"
    );
    let reasons: Vec<String> = schedule.decisions[0]
        .reasons
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        reasons,
        ["a person has taken it over and works in its session (run r1)"]
    );
    snapshot.live[0].lock = LockState::Free;
    assert!(plan(&snapshot).contains(&"finish r1".to_owned()));
}

#[test]
fn a_held_lock_needs_no_repair() {
    let mut snapshot = snapshot();
    snapshot.live = vec![live("r1", Some(1), AgentType::Worker)];
    assert_eq!(plan(&snapshot), Vec::<String>::new());
}

#[test]
fn the_breaker_opens_once_and_only_when_nothing_else_stands_in_the_way() {
    let spent = |paused, target, in_review| {
        let mut snapshot = snapshot();
        snapshot.paused = paused;
        snapshot
            .projects
            .get_mut(&project("a"))
            .unwrap()
            .breaker_target = target;
        if in_review {
            snapshot.reviews = vec![review(1)];
            snapshot.reviews[0].counts = counts(15, 15);
        } else {
            snapshot.candidates = vec![candidate(1)];
            snapshot.candidates[0].counts = counts(0, 15);
        }
        plan(&snapshot)
    };
    let told = "used 15 of 15 runs without progress (`symphony issue retry` clears the count)";
    let opened = [
        "open breaker SYM-1".to_owned(),
        format!("wait SYM-1: {told}"),
    ];
    assert_eq!(spent(false, BreakerTarget::Backlog, false), opened);
    // what the last attempt handed in is judged all the same
    let judged = ["start judge SYM-1 #16"].map(str::to_owned);
    assert_eq!(spent(false, BreakerTarget::Backlog, true), judged);
    assert_eq!(spent(false, BreakerTarget::Todo, true), judged);
    // already where an open breaker puts it: it waits there for `issue retry`
    assert_eq!(
        spent(false, BreakerTarget::Todo, false),
        [format!("wait SYM-1: {told}")]
    );
    assert_eq!(
        spent(true, BreakerTarget::Backlog, false),
        [format!(
            "wait SYM-1: Symphony is paused (`symphony resume` ends the pause); {told}"
        )]
    );
}

#[test]
fn worktrees_are_cleaned_up_last_and_never_under_a_run() {
    let mut snapshot = snapshot();
    let ended = |number| CleanUp {
        issue: issue(number),
        project: project("a"),
        put_off: None,
        since: None,
    };
    snapshot.clean_ups = vec![ended(7), ended(8)];
    snapshot.live = vec![live("r8", Some(8), AgentType::Worker)];
    snapshot.candidates = vec![candidate(1)];
    assert_eq!(
        plan(&snapshot),
        [
            "start worker SYM-1 #1",
            "clean up SYM-7",
            "wait SYM-8: run r8 is working on it",
        ]
    );
}

#[test]
fn an_issue_goes_on_when_its_subtasks_have_ended_and_one_is_done() {
    let mut snapshot = snapshot();
    let split = |number, outcome| SplitIssue {
        issue: issue(number),
        project: project("a"),
        outcome,
    };
    snapshot.split = vec![
        split(5, SubtasksOutcome::SomeDone),
        split(6, SubtasksOutcome::AllCancelled),
        split(7, SubtasksOutcome::SomeDone),
        split(8, SubtasksOutcome::AllCancelled),
    ];
    // their planners are still at work
    snapshot.live = vec![
        live("r7", Some(7), AgentType::Planner),
        live("r8", Some(8), AgentType::Planner),
    ];
    snapshot.candidates = vec![candidate(1)];
    let cancelled = "all its sub-tasks were cancelled: waits for a person (`symphony issue move` to `todo` continues without them)";
    let told = [
        format!("wait SYM-6: {cancelled}"),
        "wait SYM-7: run r7 is working on it".to_owned(),
        "wait SYM-8: run r8 is working on it".to_owned(),
    ];
    let lines = |first: &[&str]| -> Vec<String> {
        first
            .iter()
            .map(|line| (*line).to_owned())
            .chain(told.clone())
            .collect()
    };
    assert_eq!(
        plan(&snapshot),
        lines(&["unblock SYM-5", "start worker SYM-1 #1"])
    );
    // bookkeeping, not dispatch: neither a pause nor a broken configuration holds it
    snapshot.candidates.clear();
    snapshot.paused = true;
    snapshot.projects.get_mut(&project("a")).unwrap().broken = Some("bad".into());
    assert_eq!(plan(&snapshot), lines(&["unblock SYM-5"]));
}

#[test]
fn a_paused_installation_still_repairs_and_cleans_up() {
    let mut snapshot = snapshot();
    snapshot.paused = true;
    snapshot.live = vec![LiveRun {
        lock: LockState::Free,
        ..live("r1", Some(1), AgentType::Worker)
    }];
    snapshot.clean_ups = vec![CleanUp {
        issue: issue(7),
        project: project("a"),
        put_off: None,
        since: None,
    }];
    assert_eq!(plan(&snapshot), ["finish r1", "clean up SYM-7"]);
}

#[test]
fn the_attempt_counts_on() {
    let mut snapshot = snapshot();
    snapshot.candidates = vec![candidate(1)];
    snapshot.candidates[0].counts = counts(2, 4);
    assert_eq!(plan(&snapshot), ["start worker SYM-1 #5"]);
}

#[test]
fn an_accepted_phase_advances_but_never_under_a_run() {
    let mut snapshot = snapshot();
    let accepted = |number| AcceptedPhase {
        issue: issue(number),
        project: project("a"),
    };
    snapshot.accepted = vec![accepted(1), accepted(2)];
    snapshot.live = vec![live("r1", Some(2), AgentType::Judge)];
    snapshot.split = vec![SplitIssue {
        issue: issue(3),
        project: project("a"),
        outcome: SubtasksOutcome::SomeDone,
    }];
    assert_eq!(
        plan(&snapshot),
        [
            "advance SYM-1",
            "unblock SYM-3",
            "wait SYM-2: run r1 is working on it",
        ]
    );
}

#[test]
fn a_base_is_needed_while_a_run_is_live() {
    let mut snapshot = snapshot();
    assert!(!snapshot.needs_base(&project("a")));
    snapshot.live = vec![live("r1", Some(1), AgentType::Worker)];
    assert!(snapshot.needs_base(&project("a")) && !snapshot.needs_base(&project("b")));
}

#[test]
fn worktrees_stay_while_their_project_has_no_base() {
    let mut snapshot = snapshot();
    snapshot.clean_ups = vec![CleanUp {
        issue: issue(1),
        project: project("a"),
        put_off: None,
        since: None,
    }];
    assert!(snapshot.needs_base(&project("a")) && !snapshot.needs_base(&project("b")));
    let view = snapshot.projects.get_mut(&project("a")).unwrap();
    view.no_base = Some(no_base("it is gone"));
    assert_eq!(
        plan(&snapshot),
        ["wait SYM-1: its project is on hold: it is gone"]
    );
    snapshot.projects.get_mut(&project("a")).unwrap().no_base = None;
    assert_eq!(plan(&snapshot), ["clean up SYM-1"]);
}

#[test]
fn files_that_nobody_comes_back_to_are_put_in_order() {
    use LeftoverOwner::{Ended, Kept, Unclaimed};
    use LockState::{Free, Held, Missing};
    let grace = i64::try_from(LEFTOVER_GRACE_MS / 1000).unwrap();
    // whose files, what their lock tells, how many seconds old, whether they are put in order
    let table = [
        // whoever has the lock is at work, be it for days
        (Ended, Held, 0, false),
        (Ended, Held, 1_000_000, false),
        (Kept, Held, 1_000_000, false),
        (Unclaimed, Held, 1_000_000, false),
        // the lock is there before the delivery, and until the files are in order
        (Ended, Free, 0, true),
        (Kept, Free, 0, true),
        (Unclaimed, Free, 0, true),
        (Ended, Missing, 0, true),
        (Kept, Missing, 0, true),
        // somebody may be about to make the lock
        (Unclaimed, Missing, 0, false),
        (Unclaimed, Missing, grace - 1, false),
        (Unclaimed, Missing, grace, true),
        // from before the clock was set back
        (Unclaimed, Missing, -1, true),
    ];
    for (owner, lock, age, expected) in table {
        let mut snapshot = snapshot();
        snapshot.leftovers = vec![Leftover {
            run: run_id("r1"),
            project: project("a"),
            owner,
            lock,
            since: at(NOW - age),
        }];
        let line = format!("tidy r1 ({owner})");
        let expected = if expected { vec![line] } else { Vec::new() };
        assert_eq!(plan(&snapshot), expected, "{owner} {lock} {age}");
    }
}

#[test]
fn a_live_run_without_a_lock_file_is_finished_too() {
    let mut snapshot = snapshot();
    snapshot.live = vec![LiveRun {
        lock: LockState::Missing,
        ..live("r1", None, AgentType::Scanner)
    }];
    assert_eq!(plan(&snapshot), ["finish r1"]);
}
