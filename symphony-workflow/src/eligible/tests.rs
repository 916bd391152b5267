//! Tables of tickets and runs, and properties of plans.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use symphony_core::Timestamp;

use super::*;
use crate::config::{Config, Place, StateName};
use crate::source::Source;
use crate::ticket::{Blocker, Ticket};

fn rules(matter: &str) -> Rules {
    let source = Source::parse(&format!("---\n{matter}\n---\n")).unwrap();
    let reading = Config::read(
        &source,
        &Place {
            variable: &|_| None,
            home: None,
            temporary: Path::new("/tmp"),
            current: Path::new("/"),
        },
    );
    assert_eq!(reading.problems, []);
    Rules::of(&reading.config)
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn ticket(id: &str, state: &str) -> Ticket {
    Ticket {
        id: id.to_owned(),
        identifier: format!("MT-{id}"),
        title: "Title".to_owned(),
        state: state.to_owned(),
        ..Ticket::default()
    }
}

fn blocked(id: &str, state: &str, blockers: &[Option<&str>]) -> Ticket {
    let blocker = |state: Option<&str>| Blocker {
        id: Some("b".to_owned()),
        identifier: Some("MT-b".to_owned()),
        state: state.map(str::to_owned),
    };
    Ticket {
        blocked_by: blockers.iter().copied().map(blocker).collect(),
        ..ticket(id, state)
    }
}

fn run(ticket: Ticket, attempt: Option<u32>) -> Running {
    Running {
        ticket,
        attempt,
        started_at: at(1_000),
        last_event_at: None,
    }
}

fn running(tickets: &[Ticket]) -> State {
    let runs = tickets
        .iter()
        .map(|ticket| (ticket.id.clone(), run(ticket.clone(), None)));
    State {
        running: runs.collect(),
        retries: BTreeMap::new(),
    }
}

fn ids(tickets: &[Ticket]) -> Vec<&str> {
    tickets.iter().map(|ticket| ticket.id.as_str()).collect()
}

#[test]
fn dispatch_order_is_priority_then_age_then_identifier() {
    let make = |id: &str, priority: Option<i64>, created: Option<i64>| Ticket {
        priority,
        created_at: created.map(at),
        ..ticket(id, "Todo")
    };
    let tickets = [
        make("none-new", None, Some(9)),
        make("low", Some(4), Some(1)),
        make("urgent-new", Some(1), Some(5)),
        make("zero", Some(0), Some(1)),
        make("urgent-b", Some(1), Some(2)),
        make("urgent-a", Some(1), Some(2)),
        make("urgent-undated", Some(1), None),
        make("five", Some(5), Some(2)),
        make("negative", Some(-1), Some(3)),
        make("high", Some(2), Some(0)),
        make("none-undated", None, None),
    ];
    let expected = [
        "urgent-a",
        "urgent-b",
        "urgent-new",
        "urgent-undated",
        "high",
        "low",
        "zero",
        "five",
        "negative",
        "none-new",
        "none-undated",
    ];
    let rules = rules("agent: {max_concurrent_agents: 99}");
    let found = plan_dispatch(&tickets, &State::default(), &rules);
    assert_eq!(ids(&found.start), expected);
    let reversed: Vec<Ticket> = tickets.iter().rev().cloned().collect();
    assert_eq!(plan_dispatch(&reversed, &State::default(), &rules), found);
}

#[test]
fn only_tickets_in_active_states_are_chosen() {
    let rules =
        rules("tracker: {active_states: 'Todo, In Progress, Both', terminal_states: [Done, Both]}");
    for (ticket, expected) in [
        (ticket("1", "Todo"), None),
        (ticket("1", " in  progress "), Some(Waiting::NotActive)),
        (ticket("1", " IN PROGRESS\n"), None),
        (ticket("1", "Backlog"), Some(Waiting::NotActive)),
        (ticket("1", "Done"), Some(Waiting::Ended)),
        (ticket("1", "both"), Some(Waiting::Ended)),
        (ticket("1", ""), Some(Waiting::Incomplete)),
        (ticket(" ", "Todo"), Some(Waiting::Incomplete)),
        (
            Ticket {
                title: "\t".to_owned(),
                ..ticket("1", "Todo")
            },
            Some(Waiting::Incomplete),
        ),
        (
            Ticket {
                identifier: String::new(),
                ..ticket("1", "Todo")
            },
            Some(Waiting::Incomplete),
        ),
    ] {
        let found = plan_dispatch(std::slice::from_ref(&ticket), &State::default(), &rules);
        let reason = found.waiting.first().map(|(_, reason)| reason.clone());
        assert_eq!(reason, expected, "{ticket:?}");
        assert_eq!(
            found.start.len(),
            usize::from(expected.is_none()),
            "{ticket:?}"
        );
    }
}

#[test]
fn todo_waits_for_blockers_that_have_not_ended() {
    let rules = rules("");
    let by = || {
        Some(Waiting::Blocked {
            by: Some("MT-b".to_owned()),
        })
    };
    for (state, blockers, expected) in [
        ("Todo", &[][..], None),
        ("Todo", &[Some("Closed")][..], None),
        ("Todo", &[Some(" done "), Some("CANCELLED")], None),
        ("Todo", &[Some("In Progress")], by()),
        ("Todo", &[Some("Done"), Some("Backlog")], by()),
        ("Todo", &[None], by()),
        ("Todo", &[Some("")], by()),
        (" TODO ", &[Some("In Progress")], by()),
        ("In Progress", &[Some("In Progress")], None),
    ] {
        let tickets = [blocked("1", state, blockers)];
        let found = plan_dispatch(&tickets, &State::default(), &rules);
        let reason = found.waiting.first().map(|(_, reason)| reason.clone());
        assert_eq!(reason, expected, "{state} {blockers:?}");
    }
}

#[test]
fn claimed_tickets_are_not_started_again() {
    let rules = rules("");
    let mut state = running(&[ticket("1", "Todo")]);
    let retry = after_exit(
        &run(ticket("2", "Todo"), None),
        &Exit::Normal,
        at(0),
        &rules,
    );
    state.retries.insert("2".to_owned(), retry);
    let tickets = [
        ticket("1", "Todo"),
        ticket("2", "Todo"),
        ticket("3", "Todo"),
        ticket("3", "Todo"),
    ];
    let found = plan_dispatch(&tickets, &state, &rules);
    assert_eq!(ids(&found.start), ["3"]);
    let reasons: Vec<&Waiting> = found.waiting.iter().map(|(_, reason)| reason).collect();
    assert_eq!(
        reasons,
        [&Waiting::Runs, &Waiting::WaitsForRetry, &Waiting::Runs]
    );
}

#[test]
fn slots_limit_all_runs_and_those_of_a_state() {
    let rules = rules(
        "tracker: {active_states: [Todo, In Progress, Rework]}\n\
         agent: {max_concurrent_agents: 3, max_concurrent_agents_by_state: {' TODO ': 1, Rework: 9}}",
    );
    let tickets = [
        ticket("1", "Todo"),
        ticket("2", "todo"),
        ticket("3", "In Progress"),
        ticket("4", "Rework"),
        ticket("5", "Rework"),
    ];
    let found = plan_dispatch(&tickets, &State::default(), &rules);
    assert_eq!(ids(&found.start), ["1", "3", "4"]);
    let todo = StateName::new("todo");
    assert_eq!(
        found.waiting,
        [
            (tickets[1].clone(), Waiting::NoSlotInState { state: todo }),
            (tickets[4].clone(), Waiting::NoSlot)
        ]
    );
    // a run counts in the state that its ticket has now
    let moved = running(&[ticket("9", "In Progress")]);
    assert_eq!(
        ids(&plan_dispatch(&tickets[..2], &moved, &rules).start),
        ["1"]
    );
    let same = running(&[ticket("9", "TODO")]);
    assert_eq!(
        ids(&plan_dispatch(&tickets[..2], &same, &rules).start),
        [""; 0]
    );
    // a limit that was lowered stops nothing that runs, and starts nothing
    let many: Vec<Ticket> = (10..15)
        .map(|id| ticket(&id.to_string(), "Rework"))
        .collect();
    assert_eq!(plan_dispatch(&tickets, &running(&many), &rules).start, []);
}

#[test]
fn backoff_doubles_up_to_its_limit() {
    let max = Duration::from_mins(5);
    for (attempt, seconds) in [
        (0, 10),
        (1, 10),
        (2, 20),
        (3, 40),
        (4, 80),
        (5, 160),
        (6, 300),
        (33, 300),
        (u32::MAX, 300),
    ] {
        assert_eq!(backoff(attempt, max).as_secs(), seconds, "{attempt}");
    }
    assert_eq!(
        backoff(1, Duration::from_millis(500)),
        Duration::from_millis(500)
    );
}

#[test]
fn a_normal_exit_schedules_a_short_continuation() {
    let rules = rules("");
    for attempt in [None, Some(1), Some(7)] {
        let retry = after_exit(
            &run(ticket("1", "Todo"), attempt),
            &Exit::Normal,
            at(50),
            &rules,
        );
        let expected = Retry {
            identifier: "MT-1".to_owned(),
            attempt: 1,
            due: at(51),
            error: None,
        };
        assert_eq!(retry, expected);
    }
}

#[test]
fn a_failed_exit_increments_the_attempt_with_exponential_backoff() {
    let exit = Exit::Failed {
        error: "turn failed".to_owned(),
    };
    let default = rules("");
    for (attempt, next, wait) in [
        (None, 1, 10),
        (Some(1), 2, 20),
        (Some(2), 3, 40),
        (Some(9), 10, 300),
    ] {
        let retry = after_exit(&run(ticket("1", "Todo"), attempt), &exit, at(50), &default);
        let expected = Retry {
            identifier: "MT-1".to_owned(),
            attempt: next,
            due: at(50 + wait),
            error: Some("turn failed".to_owned()),
        };
        assert_eq!(retry, expected);
    }
    let capped = rules("agent: {max_retry_backoff_ms: 15000}");
    assert_eq!(
        after_exit(&run(ticket("1", "Todo"), Some(5)), &exit, at(0), &capped).due,
        at(15)
    );
}

fn due(attempt: u32) -> Retry {
    Retry {
        identifier: "MT-1".to_owned(),
        attempt,
        due: at(10),
        error: Some("turn failed".to_owned()),
    }
}

#[test]
fn a_due_retry_starts_waits_or_releases_its_ticket() {
    let rules = rules("agent: {max_concurrent_agents: 1}");
    let later = |attempt, wait: i64, error: &str| {
        RetryStep::Later(Retry {
            identifier: "MT-1".to_owned(),
            attempt,
            due: at(100 + wait),
            error: Some(error.to_owned()),
        })
    };
    let free = State::default();
    let full = running(&[ticket("9", "Todo")]);
    let own = running(&[ticket("1", "Todo")]);
    let todo = ticket("1", "Todo");
    let waits = blocked("1", "Todo", &[Some("Todo")]);
    let (backlog, ended) = (ticket("1", "Backlog"), ticket("1", "Done"));
    for (found, state, expected) in [
        (Found::Ticket(&todo), &free, RetryStep::Start { attempt: 3 }),
        (Found::Ticket(&todo), &full, later(4, 80, NO_SLOTS)),
        (Found::Ticket(&todo), &own, RetryStep::Release),
        (Found::Ticket(&backlog), &free, RetryStep::Release),
        (Found::Ticket(&ended), &full, RetryStep::Release),
        (Found::Ticket(&waits), &free, RetryStep::Release),
        (Found::Absent, &free, RetryStep::Release),
        (Found::Unknown, &free, later(4, 80, POLL_FAILED)),
        (Found::Unknown, &full, later(4, 80, POLL_FAILED)),
    ] {
        assert_eq!(
            plan_retry(&due(3), found, state, at(100), &rules),
            expected,
            "{found:?}"
        );
    }
    assert_eq!(NO_SLOTS, "no available orchestrator slots");
}

#[test]
fn the_claim_of_a_retry_does_not_keep_its_own_ticket() {
    let mut state = State::default();
    state.retries.insert("1".to_owned(), due(2));
    let todo = ticket("1", "Todo");
    let step = plan_retry(&due(2), Found::Ticket(&todo), &state, at(100), &rules(""));
    assert_eq!(step, RetryStep::Start { attempt: 2 });
}

#[test]
fn a_retry_waits_for_a_slot_of_its_state() {
    let rules = rules("agent: {max_concurrent_agents_by_state: {todo: 1}}");
    let state = running(&[ticket("9", "Todo")]);
    let (todo, other) = (ticket("1", "Todo"), ticket("1", "In Progress"));
    assert!(matches!(
        plan_retry(&due(1), Found::Ticket(&todo), &state, at(0), &rules),
        RetryStep::Later(Retry { attempt: 2, .. })
    ));
    assert_eq!(
        plan_retry(&due(1), Found::Ticket(&other), &state, at(0), &rules),
        RetryStep::Start { attempt: 1 }
    );
}

#[test]
fn refreshed_tickets_stop_update_or_clean_their_runs() {
    let rules = rules("");
    let state = running(&[
        ticket("1", "Todo"),
        ticket("2", "Todo"),
        ticket("3", "Todo"),
        ticket("4", "Todo"),
    ]);
    let moved = ticket("1", " in progress");
    let answer = [
        moved.clone(),
        ticket("2", "Human Review"),
        ticket("3", "DONE"),
        ticket("8", "Done"),
        ticket("1", "Done"),
    ];
    assert_eq!(
        plan_refresh(&state, &answer, &rules),
        [
            ("1".to_owned(), Refresh::Update(Box::new(moved))),
            ("2".to_owned(), Refresh::Stop),
            ("3".to_owned(), Refresh::StopAndClean),
        ]
    );
}

#[test]
fn refreshing_no_runs_does_nothing() {
    assert_eq!(
        plan_refresh(&State::default(), &[ticket("1", "Done")], &rules("")),
        []
    );
    assert_eq!(
        plan_refresh(&running(&[ticket("1", "Todo")]), &[], &rules("")),
        []
    );
}

#[test]
fn silent_runs_stall() {
    let mut state = running(&[
        ticket("1", "Todo"),
        ticket("2", "Todo"),
        ticket("3", "Todo"),
    ]);
    let mut heard = |id: &str, at| state.running.get_mut(id).unwrap().last_event_at = Some(at);
    heard("2", at(1_200));
    heard("3", at(9_000));
    let (on, off) = (
        rules("codex: {stall_timeout_ms: 300000}"),
        rules("codex: {stall_timeout_ms: 0}"),
    );
    for (now, expected) in [
        (1_000, &[][..]),
        (1_300, &[]),
        (1_301, &["1"]),
        (1_500, &["1"]),
        (1_501, &["1", "2"]),
        (9_301, &["1", "2", "3"]),
        (0, &[]),
    ] {
        assert_eq!(stalled(&state, at(now), &on), expected, "{now}");
        assert_eq!(stalled(&state, at(now), &off), [""; 0], "{now}");
    }
}

#[test]
fn turns_go_on_while_the_ticket_is_active() {
    let rules = rules("agent: {max_turns: 3}");
    for (state, turn, expected) in [
        ("In Progress", 1, NextTurn::Continue),
        ("todo", 2, NextTurn::Continue),
        ("Todo", 3, NextTurn::End),
        ("Todo", 4, NextTurn::End),
        ("Human Review", 1, NextTurn::End),
        ("Done", 1, NextTurn::End),
    ] {
        assert_eq!(
            after_turn(&ticket("1", state), turn, &rules),
            expected,
            "{state} {turn}"
        );
    }
}

#[test]
fn workspaces_of_ended_tickets_are_stale() {
    let mut outside = ticket("4", "Done");
    outside.identifier = "../../etc".to_owned();
    let mut none = ticket("5", "Done");
    none.identifier = "..".to_owned();
    let answer = [
        ticket("1", "Done"),
        ticket("2", "Todo"),
        ticket("1", "Closed"),
        outside,
        none,
    ];
    let keys = stale_workspaces(&answer, &rules(""));
    let keys: Vec<&str> = keys
        .iter()
        .map(crate::workspace::WorkspaceKey::as_str)
        .collect();
    assert_eq!(keys, [".._.._etc", "MT-1"]);
}

fn any_ticket() -> impl Strategy<Value = Ticket> {
    let states = prop::sample::select(vec![
        "Todo",
        " todo",
        "In Progress",
        "Rework",
        "Backlog",
        "Done",
        "",
        "Cancelled",
    ]);
    let priority = prop::option::of(-1_i64..7);
    let blockers = prop::collection::vec(
        prop::option::of(prop::sample::select(vec!["Done", "Todo"])),
        0..3,
    );
    (
        0_u8..12,
        states,
        priority,
        prop::option::of(0_i64..5),
        blockers,
    )
        .prop_map(|(id, state, priority, created, blockers)| Ticket {
            priority,
            created_at: created.map(at),
            ..blocked(&id.to_string(), state, &blockers)
        })
}

fn any_state() -> impl Strategy<Value = State> {
    (
        prop::collection::vec(any_ticket(), 0..5),
        prop::collection::btree_set(0_u8..12, 0..4),
    )
        .prop_map(|(tickets, retries)| {
            let mut state = running(&tickets);
            let waiting = retries.into_iter().map(|id| id.to_string());
            state.retries = waiting
                .filter(|id| !state.running.contains_key(id))
                .map(|id| (id, due(1)))
                .collect();
            state
        })
}

proptest! {
    #[test]
    fn a_plan_never_exceeds_a_slot_or_starts_a_ticket_twice(
        tickets in prop::collection::vec(any_ticket(), 0..20), state in any_state(), all in 1_u32..6, todo in 1_u32..4,
    ) {
        let rules = rules(&format!(
            "tracker: {{active_states: [Todo, In Progress, Rework]}}\n\
             agent: {{max_concurrent_agents: {all}, max_concurrent_agents_by_state: {{todo: {todo}}}}}"
        ));
        let plan = plan_dispatch(&tickets, &state, &rules);
        let mut after = state.clone();
        for ticket in &plan.start {
            prop_assert!(!state.retries.contains_key(&ticket.id));
            prop_assert!(after.running.insert(ticket.id.clone(), run(ticket.clone(), None)).is_none());
            prop_assert_eq!(rules.standing(&ticket.state_name()), Standing::Active);
            let count = |name: &StateName| after.running.values().filter(|run| run.ticket.state_name() == *name).count();
            prop_assert!(count(&ticket.state_name()) <= rules.concurrent_max_in(&ticket.state_name()) as usize);
        }
        prop_assert!(plan.start.is_empty() || after.running.len() <= all as usize);
        prop_assert_eq!(plan.start.len() + plan.waiting.len(), tickets.len());
        // nothing more would start at once
        prop_assert_eq!(plan_dispatch(&tickets, &after, &rules).start, vec![]);
    }

    #[test]
    fn a_plan_does_not_depend_on_the_order_of_the_answer(
        tickets in prop::collection::vec(any_ticket(), 0..12), turn in 0_usize..12,
    ) {
        let distinct: BTreeMap<String, Ticket> = tickets.into_iter().map(|ticket| (ticket.id.clone(), ticket)).collect();
        let mut tickets: Vec<Ticket> = distinct.into_values().collect();
        let rules = rules("agent: {max_concurrent_agents: 3}");
        let plan = plan_dispatch(&tickets, &State::default(), &rules);
        let turn = turn.min(tickets.len());
        tickets.rotate_left(turn);
        prop_assert_eq!(plan_dispatch(&tickets, &State::default(), &rules), plan);
    }

    #[test]
    fn a_wait_never_shrinks_and_never_exceeds_its_limit(attempt in 0_u32..70, max in 1_u64..10_000_000) {
        let max = Duration::from_millis(max);
        let (one, next) = (backoff(attempt, max), backoff(attempt + 1, max));
        prop_assert!(one <= next && next <= max);
        prop_assert!(one == max || one >= FIRST_BACKOFF);
    }

    #[test]
    fn every_run_has_at_most_one_step_and_terminal_is_the_only_one_that_cleans(
        state in any_state(), answer in prop::collection::vec(any_ticket(), 0..12),
    ) {
        let rules = rules("");
        let steps = plan_refresh(&state, &answer, &rules);
        let distinct: BTreeMap<&String, &Refresh> = steps.iter().map(|(id, step)| (id, step)).collect();
        prop_assert_eq!(distinct.len(), steps.len());
        for (id, step) in &steps {
            prop_assert!(state.running.contains_key(id));
            let shown = answer.iter().find(|ticket| ticket.id == *id).expect("the step is about the answer");
            let is_terminal = rules.standing(&shown.state_name()) == Standing::Terminal;
            prop_assert_eq!(*step == Refresh::StopAndClean, is_terminal);
        }
    }
}
