//! A session as the service sees it: what it says, and how it ends.

use std::path::Path;

use symphony_workflow::config::Place;
use symphony_workflow::{Config, Source, Ticket};

use super::*;

/// Returns a session that works on its first turn. It lists `linear_graphql` if its settings have a token.
fn working(api_key: &str) -> Session {
    let text =
        format!("---\ntracker:\n  kind: linear\n  project_slug: web\n{api_key}---\nDo it.\n");
    let place = Place {
        variable: &|_| None,
        home: None,
        temporary: Path::new("/tmp"),
        current: Path::new("/"),
    };
    let config = Config::read(&Source::parse(&text).unwrap(), &place).config;
    let opening = Opening::new(&config, &Ticket::default(), Path::new("/w"));
    let mut session = Session::new(opening, "Do it.".to_owned());
    session.begin();
    take(&mut session, &json!({"id": 1, "result": {}}));
    take(
        &mut session,
        &json!({"id": 2, "result": {"thread": {"id": "t"}}}),
    );
    assert_eq!(session.waiting(), Waiting::Answer(3));
    session
}

fn take(session: &mut Session, line: &Value) -> Vec<Step> {
    session.take(line.to_string().as_bytes())
}

fn ended(turn: &str) -> Value {
    json!({"method": "turn/completed", "params": {"threadId": "t", "turn": {"id": turn, "status": "completed"}}})
}

#[test]
fn only_the_own_turn_of_the_own_thread_ends_a_turn() {
    let mut session = working("");
    take(
        &mut session,
        &json!({"id": 3, "result": {"turn": {"id": "u"}}}),
    );
    for (thread, turn) in [("helper", "u"), ("t", "v"), ("helper", "v")] {
        let end =
            json!({"method": "turn/failed", "params": {"threadId": thread, "turn": {"id": turn}}});
        let steps = take(&mut session, &end);
        assert!(
            matches!(steps[..], [Step::Report(EventKind::Notification, _)]),
            "{steps:?}"
        );
    }
    assert_eq!(session.waiting(), Waiting::Turn(1));
    assert_eq!(
        take(&mut session, &ended("u")).last(),
        Some(&Step::TurnEnded)
    );
    assert_eq!(session.waiting(), Waiting::Nothing);
    let again = take(&mut session, &ended("u"));
    assert!(!again.contains(&Step::TurnEnded), "{again:?}");
}

#[test]
fn the_late_end_of_a_turn_does_not_end_the_next() {
    let mut session = working("");
    take(
        &mut session,
        &json!({"id": 3, "result": {"turn": {"id": "u"}}}),
    );
    take(&mut session, &ended("u"));
    session.start_turn("Go on.");
    assert!(!take(&mut session, &ended("u")).contains(&Step::TurnEnded));
    assert_eq!(session.waiting(), Waiting::Answer(4));
}

#[test]
fn an_end_that_overtakes_the_answer_is_an_end() {
    let mut session = working("");
    let steps = take(&mut session, &ended("u"));
    assert!(matches!(
        steps[0],
        Step::Report(EventKind::SessionStarted, _)
    ));
    assert_eq!(steps.last(), Some(&Step::TurnEnded));
    let late = take(
        &mut session,
        &json!({"id": 3, "result": {"turn": {"id": "u"}}}),
    );
    assert!(matches!(
        late[..],
        [Step::Report(EventKind::OtherMessage, _)]
    ));
}

#[test]
fn without_a_token_the_tool_fails_in_words() {
    let mut session = working("");
    let call = json!({"id": 9, "method": "item/tool/call", "params": {"tool": "linear_graphql", "arguments": "{ a }"}});
    let steps = take(&mut session, &call);
    let Step::Say(answer) = &steps[0] else {
        panic!("{steps:?}");
    };
    assert_eq!(answer["result"]["error"], "missing_tracker_api_key");
    assert!(matches!(
        steps[1],
        Step::Report(EventKind::ToolCallFailed, _)
    ));
}

#[test]
fn calls_at_once_are_limited() {
    let mut session = working("  api_key: lin_api_1234567890\n");
    let call = |id: usize| json!({"id": id, "method": "item/tool/call", "params": {"name": "linear_graphql", "input": {"query": "{ a }"}}});
    for id in 0..CALLS_MAX {
        assert!(matches!(take(&mut session, &call(id))[..], [Step::Ask(..)]));
    }
    let refused = take(&mut session, &call(99));
    assert!(
        matches!(&refused[0], Step::Say(answer) if answer["result"]["error"] == "too_many_calls")
    );
    session.called(&json!(0), &ToolAnswer::refusal(&CallFault::MissingToken));
    assert!(matches!(
        take(&mut session, &call(100))[..],
        [Step::Ask(..)]
    ));
}
