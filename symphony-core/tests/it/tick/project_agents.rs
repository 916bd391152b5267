//! Setup wizard, intake, scanner and background research: a row for every line of the table of agents.

use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::issue::Priority;
use symphony_core::project::WizardState;
use symphony_core::tick::{
    AcceptedPhase, Action, Hold, HoldScope, IDLE_BACKLOG_MAX, IntakeCandidate, LiveRun,
    ProjectAgents, Snapshot, SplitIssue, SubtasksOutcome, plan_tick,
};

use super::support::{NOW, at, candidate, hold, issue, live, plan, project, review, snapshot};

fn with(change: impl FnOnce(&mut ProjectAgents)) -> Snapshot {
    let mut snapshot = snapshot();
    change(&mut snapshot.projects.get_mut(&project("a")).unwrap().agents);
    snapshot
}

fn with_wizard(state: WizardState) -> Snapshot {
    with(|agents| {
        agents.wizard_enabled = true;
        agents.wizard = state;
    })
}

fn untriaged(number: u64) -> IntakeCandidate {
    IntakeCandidate {
        issue: issue(number),
        project: project("a"),
        priority: Priority::None,
        created_at: at(i64::try_from(number).unwrap()),
    }
}

fn idle(change: impl FnOnce(&mut ProjectAgents)) -> Snapshot {
    with(|agents| {
        agents.scanner_enabled = true;
        agents.idle_interval_ms = 600_000;
        change(agents);
    })
}

#[test]
fn the_wizard_comes_before_everything_else_of_its_project() {
    let mut snapshot = with_wizard(WizardState::Pending);
    snapshot.candidates = vec![candidate(1)];
    snapshot.candidates[0].priority = Priority::Urgent;
    let mut of_b = candidate(2);
    of_b.project = project("b");
    snapshot.candidates.push(of_b);
    snapshot.reviews = vec![review(3)];
    snapshot.intake = vec![untriaged(4)];
    let agents = &mut snapshot.projects.get_mut(&project("a")).unwrap().agents;
    agents.scanner_enabled = true;
    agents.intake_enabled = true;
    assert_eq!(
        plan(&snapshot),
        [
            "start wizard project a #1",
            "start worker SYM-2 #1",
            "wait SYM-3: its project's setup wizard runs first",
            "wait SYM-1: its project's setup wizard runs first",
            "wait SYM-4: its project's setup wizard runs first",
            "wait scanner project a: its project's setup wizard runs first",
        ]
    );
    // with one slot it gets that one, before another project's judge
    snapshot.slots.total = 1;
    snapshot.reviews[0].project = project("b");
    assert_eq!(plan(&snapshot)[0], "start wizard project a #1");
}

#[test]
fn the_wizard_is_dispatched_once() {
    let worker = "start worker SYM-1 #1".to_owned();
    for (state, enabled, expected) in [
        (WizardState::Pending, false, worker.clone()),
        (WizardState::Completed, true, worker.clone()),
        (WizardState::Failed, true, worker),
        (
            WizardState::Pending,
            true,
            "start wizard project a #1".to_owned(),
        ),
    ] {
        let mut snapshot = with_wizard(state);
        snapshot
            .projects
            .get_mut(&project("a"))
            .unwrap()
            .agents
            .wizard_enabled = enabled;
        snapshot.candidates = vec![candidate(1)];
        assert_eq!(plan(&snapshot)[0], expected, "{state} {enabled}");
    }
}

#[test]
fn nothing_of_the_project_starts_before_the_wizard_has_ended() {
    // it may have configured the project already: it is still at work
    for state in WizardState::ALL {
        let mut snapshot = with_wizard(*state);
        snapshot.live = vec![live("r1", None, AgentType::Wizard)];
        snapshot.candidates = vec![candidate(1)];
        let mut lines = vec!["wait SYM-1: its project's setup wizard runs first"];
        if *state == WizardState::Pending {
            lines.push("wait wizard project a: run r1 is working on it");
        }
        assert_eq!(plan(&snapshot), lines, "{state}");
    }
}

#[test]
fn intake_takes_untriaged_issues_in_the_order_of_workers() {
    let mut snapshot = with(|agents| agents.intake_enabled = true);
    snapshot.intake = vec![untriaged(3), untriaged(1), untriaged(5)];
    snapshot.intake[2].priority = Priority::High;
    snapshot.candidates = vec![candidate(2)];
    snapshot.reviews = vec![review(9)];
    assert_eq!(
        plan(&snapshot),
        [
            "start judge SYM-9 #1",
            "start intake SYM-5 #1",
            "start intake SYM-1 #1",
            "start worker SYM-2 #1",
            "start intake SYM-3 #1",
        ]
    );
    snapshot.live = vec![live("r1", Some(5), AgentType::Intake)];
    snapshot.slots.by_agent.insert(AgentType::Intake, 2);
    assert_eq!(
        plan(&snapshot),
        [
            "start judge SYM-9 #1",
            "start intake SYM-1 #1",
            "start worker SYM-2 #1",
            "wait SYM-5: run r1 is working on it",
            "wait SYM-3: all 2 slots for intake are taken",
        ]
    );
}

#[test]
fn intake_is_no_attempt_at_the_issue() {
    let mut snapshot = with(|agents| agents.intake_enabled = true);
    snapshot.intake = vec![untriaged(1)];
    let schedule = plan_tick(&snapshot, at(NOW));
    let [Action::StartRun(start)] = schedule.actions.as_slice() else {
        panic!("{schedule:?}")
    };
    assert_eq!((start.attempt, &start.phase), (1, &None));
}

#[test]
fn the_scanner_works_when_there_is_nothing_else_and_not_too_often() {
    let wait = |what: &str| vec![format!("wait scanner project a: {what}")];
    let start = vec!["start scanner project a #1".to_owned()];
    let recently = at(NOW - 599);
    for (name, snapshot, expected) in [
        ("off by default", snapshot(), vec![]),
        ("idle", idle(|_| {}), start.clone()),
        (
            "something in todo",
            idle(|agents| agents.has_todo = true),
            wait("issues wait in `todo`: it runs when there are none"),
        ),
        (
            "nine in the backlog",
            idle(|agents| agents.backlog = IDLE_BACKLOG_MAX - 1),
            start.clone(),
        ),
        (
            "ten in the backlog",
            idle(|agents| agents.backlog = IDLE_BACKLOG_MAX),
            wait("the backlog has 10 issues or more: it runs when there are fewer"),
        ),
        (
            "ten minutes ago",
            idle(|agents| agents.last_scan = Some(at(NOW - 600))),
            start.clone(),
        ),
        (
            "less than ten minutes ago",
            idle(|agents| agents.last_scan = Some(recently)),
            wait("ran a moment ago; again at 1970-01-01T02:46:41.000Z"),
        ),
        (
            "a moment ago, without a least time, and nothing else has run since",
            idle(|agents| {
                agents.idle_interval_ms = 0;
                agents.last_scan = Some(recently);
                agents.idle_since = Some(at(NOW - 600));
            }),
            wait("ran a moment ago; again at 1970-01-01T02:46:41.000Z"),
        ),
        (
            "a moment ago, without a least time, before something else ran",
            idle(|agents| {
                agents.idle_interval_ms = 0;
                agents.last_scan = Some(recently);
                agents.idle_since = Some(at(NOW));
            }),
            start.clone(),
        ),
        (
            "in the future: the clock was set back",
            idle(|agents| agents.last_scan = Some(at(NOW + 90_000))),
            start.clone(),
        ),
        (
            "background research a moment ago",
            idle(|agents| agents.last_research = Some(recently)),
            start,
        ),
    ] {
        assert_eq!(plan(&snapshot), expected, "{name}");
    }
}

#[test]
fn background_research_is_dispatched_as_the_scanner() {
    let mut snapshot = idle(|agents| {
        agents.background_research = true;
        agents.last_scan = Some(at(5));
    });
    // the one that ran longest ago comes first
    assert_eq!(
        plan(&snapshot),
        [
            "start researcher project a #1",
            "start scanner project a #1"
        ]
    );
    snapshot.slots.total = 1;
    assert_eq!(
        plan(&snapshot),
        [
            "start researcher project a #1",
            "wait scanner project a: the only slot is taken (max_concurrent_agents)"
        ]
    );
    snapshot.slots.total = 8;
    // a researcher in a phase of an issue is somebody else
    let on_an_issue = live("r1", Some(7), AgentType::Researcher);
    let in_background = LiveRun {
        project: project("b"),
        ..live("r2", None, AgentType::Researcher)
    };
    snapshot.live = vec![on_an_issue, in_background];
    assert_eq!(plan(&snapshot).len(), 2);
    snapshot.live[1].project = project("a");
    assert_eq!(
        plan(&snapshot),
        [
            "start scanner project a #1",
            "wait researcher project a: run r2 is working on it"
        ]
    );
}

#[test]
fn idle_work_gets_what_is_left_of_the_slots() {
    let mut snapshot = idle(|_| {});
    let mut of_b = candidate(1);
    of_b.project = project("b");
    snapshot.candidates = vec![of_b];
    snapshot.slots.total = 2;
    assert_eq!(
        plan(&snapshot),
        ["start worker SYM-1 #1", "start scanner project a #1"]
    );
    // a review that cannot be judged yet keeps no slot from it
    let mut cooling = review(2);
    cooling.last_judged_at = Some(at(NOW - 1));
    snapshot.reviews = vec![cooling];
    let lines = plan(&snapshot);
    assert_eq!(
        lines[..2],
        ["start worker SYM-1 #1", "start scanner project a #1"]
    );
}

#[test]
fn an_issue_that_goes_on_in_this_tick_is_work() {
    let mut snapshot = idle(|_| {});
    snapshot.split = vec![SplitIssue {
        issue: issue(1),
        project: project("a"),
        outcome: SubtasksOutcome::SomeDone,
    }];
    assert_eq!(
        plan(&snapshot),
        [
            "unblock SYM-1",
            "wait scanner project a: issues wait in `todo`: it runs when there are none"
        ]
    );
    snapshot.split[0].outcome = SubtasksOutcome::AllCancelled;
    assert_eq!(plan(&snapshot)[0], "start scanner project a #1");
    let waits = "wait scanner project a: issues wait in `todo`: it runs when there are none";
    for (of, expected) in [("a", waits), ("b", "start scanner project a #1")] {
        let mut snapshot = idle(|_| {});
        snapshot.accepted = vec![AcceptedPhase {
            issue: issue(1),
            project: project(of),
        }];
        let lines = plan(&snapshot);
        assert!(lines.iter().any(|line| line == expected), "{lines:?}");
    }
}

#[test]
fn pause_hold_and_broken_configuration_stop_them_too() {
    let text = |snapshot: &Snapshot| plan(snapshot).join("\n");
    let paused = Snapshot {
        paused: true,
        ..idle(|_| {})
    };
    assert_eq!(
        text(&paused),
        "wait scanner project a: Symphony is paused (`symphony resume` ends the pause)"
    );
    let mut held = with_wizard(WizardState::Pending);
    held.holds = vec![Hold {
        tried: None,
        class: ErrorClass::RateLimited,
        ..hold(HoldScope::Provider("claude-cli".into()), NOW + 60)
    }];
    assert_eq!(
        text(&held),
        "wait wizard project a: provider claude-cli is on hold: 529; next try at 1970-01-01T02:47:40.000Z"
    );
    // the hold is over: the wizard is as good a probe as any
    held.holds[0].until = at(NOW);
    assert_eq!(text(&held), "start wizard project a #1 as probe");
    let mut broken = idle(|_| {});
    let view = broken.projects.get_mut(&project("a")).unwrap();
    view.broken = Some("no".into());
    view.provider = Err("none".into());
    assert_eq!(
        text(&broken),
        "wait scanner project a: the project's configuration is broken: no; no provider can be used: none"
    );
}
