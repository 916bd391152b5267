//! Messages that an agent sends, and what Symphony answers.

use symphony_core::session::{SessionForm, SessionId};

use super::super::tests::{letter, opening, said, take};
use super::super::{Protocol, conversation};
use super::*;

fn working(role: AgentRole) -> Box<dyn Conversation> {
    working_with(role, MidTurn::Waits)
}

fn working_with(role: AgentRole, mid_turn: MidTurn) -> Box<dyn Conversation> {
    let mut talk = conversation(opening(Protocol::Acp(mid_turn), role), "Do it.".to_owned());
    let mut out = Outgoing::default();
    talk.begin(&mut out);
    assert_eq!(said(&mut out)[0]["method"], "initialize");
    let new = take(&mut *talk, &json!({"id": "initialize", "result": {}}));
    assert_eq!(new[0]["params"]["mcpServers"][0]["name"], "symphony");
    let prompt = take(
        &mut *talk,
        &json!({"id": "session/new", "result": {"sessionId": "s1"}}),
    );
    assert_eq!(prompt[0]["params"]["sessionId"], "s1");
    assert_eq!(
        prompt[0]["params"]["prompt"][0]["text"],
        "You are a worker.\n\nDo it."
    );
    talk
}

fn permission(kind: &str) -> Value {
    json!({"id": 7, "method": "session/request_permission", "params": {
        "toolCall": {"toolCallId": "c", "kind": kind},
        "options": [
            {"optionId": "x", "kind": "allow_always"}, {"optionId": "y", "kind": "allow_once"},
            {"optionId": "z", "kind": "reject_once"},
        ],
    }})
}

fn ended(prompt: u32, reason: &str) -> Value {
    json!({"id": format!("session/prompt {prompt}"), "result": {"stopReason": reason}})
}

#[test]
fn a_turn_that_ends_is_the_end() {
    let mut talk = working(AgentRole::Author);
    let answer = take(&mut *talk, &permission("edit"));
    assert_eq!(answer[0]["result"]["outcome"]["optionId"], "y");
    assert!(!talk.is_over());
    assert!(take(&mut *talk, &ended(1, "end_turn")).is_empty());
    assert!(talk.is_over());
}

#[test]
fn a_second_prompt_joins_the_first_where_the_agent_takes_it() {
    let mut talk = working_with(AgentRole::Author, MidTurn::Prompt);
    let lines = letter(&mut *talk, 1, "Use tabs.");
    assert_eq!(
        (&lines[0]["id"], &lines[0]["method"]),
        (&json!("message 1"), &json!("session/prompt"))
    );
    assert!(take(&mut *talk, &ended(1, "end_turn")).is_empty());
    assert!(!talk.is_over() && talk.take_read().is_empty());
    take(
        &mut *talk,
        &json!({"id": "message 1", "result": {"stopReason": "end_turn"}}),
    );
    assert_eq!(talk.take_read(), [CommentId::new(1)]);
    assert!(talk.is_over());
}

#[test]
fn a_second_prompt_that_is_refused_begins_the_next_turn() {
    let mut talk = working_with(AgentRole::Author, MidTurn::Prompt);
    letter(&mut *talk, 1, "Use tabs.");
    let refused = json!({"id": "message 1", "error": {"code": -32603, "message": "busy"}});
    assert!(take(&mut *talk, &refused).is_empty());
    let next = take(&mut *talk, &ended(1, "end_turn"));
    assert_eq!(next[0]["id"], "session/prompt 2");
    take(&mut *talk, &ended(2, "end_turn"));
    assert_eq!(talk.take_read(), [CommentId::new(1)]);
    assert!(talk.is_over());
}

#[test]
fn an_agent_that_asks_for_messages_gets_them() {
    let mut talk = working_with(AgentRole::Author, MidTurn::Asks);
    let asks = json!({"id": 5, "method": "craft/drainMidTurnQueue", "params": {}});
    assert_eq!(take(&mut *talk, &asks)[0]["result"]["messages"], json!([]));
    assert!(letter(&mut *talk, 1, "Use tabs.").is_empty());
    let messages = &take(&mut *talk, &asks)[0]["result"]["messages"];
    assert!(messages[0].as_str().unwrap().ends_with("\n\nUse tabs."));
    assert_eq!(talk.take_read(), [CommentId::new(1)]);
    take(&mut *talk, &ended(1, "end_turn"));
    assert!(talk.is_over());
}

#[test]
fn what_an_agent_does_not_take_meanwhile_begins_its_next_turn() {
    for mid_turn in [MidTurn::Waits, MidTurn::Asks] {
        let mut talk = working_with(AgentRole::Author, mid_turn);
        assert!(letter(&mut *talk, 1, "Use tabs.").is_empty());
        let next = take(&mut *talk, &ended(1, "end_turn"));
        assert_eq!(next[0]["id"], "session/prompt 2");
        assert!(talk.take_read().is_empty());
        take(&mut *talk, &ended(2, "end_turn"));
        assert_eq!(talk.take_read(), [CommentId::new(1)]);
        assert!(talk.is_over());
    }
    let mut talk = working(AgentRole::Author);
    letter(&mut *talk, 1, "Use tabs.");
    assert!(take(&mut *talk, &ended(1, "cancelled")).is_empty());
    assert!(
        talk.is_over() && talk.take_read().is_empty(),
        "it waits for the next run"
    );
}

#[test]
fn a_judge_may_not_change_anything_and_is_asked_to_go_on() {
    let mut talk = working(AgentRole::Judge);
    let read = take(&mut *talk, &permission("read"));
    assert_eq!(read[0]["result"]["outcome"]["optionId"], "y");
    for prompt in 1..=GO_ON_MAX {
        for kind in CHANGING {
            let answer = take(&mut *talk, &permission(kind));
            assert_eq!(answer[0]["result"]["outcome"]["optionId"], "z", "{kind}");
        }
        let again = take(&mut *talk, &ended(prompt, "end_turn"));
        assert_eq!(again[0]["id"], format!("session/prompt {}", prompt + 1));
    }
    take(&mut *talk, &permission("execute"));
    assert!(take(&mut *talk, &ended(GO_ON_MAX + 1, "end_turn")).is_empty());
    assert!(talk.is_over(), "not for ever");
}

#[test]
fn a_refused_request_is_the_end_and_what_is_not_offered_is_refused() {
    let mut talk = working(AgentRole::Author);
    let asked = json!({"id": 3, "method": "fs/write_text_file", "params": {"path": "/etc/passwd"}});
    assert_eq!(take(&mut *talk, &asked)[0]["error"]["code"], -32601);
    let line = json!({"id": "session/prompt 1", "error": {"code": -32603, "message": "no"}});
    assert!(take(&mut *talk, &line).is_empty());
    assert!(talk.is_over());
}

#[test]
fn a_session_is_resumed_as_the_agent_can() {
    let resume = json!({"sessionCapabilities": {"resume": {}}, "loadSession": true});
    for (capabilities, expected) in [
        (resume, Some("session/resume")),
        (json!({"loadSession": true}), Some("session/load")),
        (
            json!({"loadSession": false, "sessionCapabilities": {"list": {}}}),
            None,
        ),
    ] {
        let id = SessionId::parse("ses_1", SessionForm::Word).unwrap();
        let mut opening = opening(Protocol::Acp(MidTurn::Waits), AgentRole::Author);
        opening.session = Session::Resume(id);
        let mut talk = conversation(opening, "Go on.".to_owned());
        talk.begin(&mut Outgoing::default());
        let line = json!({"id": "initialize", "result": {"agentCapabilities": capabilities}});
        let asked = take(&mut *talk, &line);
        let Some(method) = expected else {
            assert!(asked.is_empty() && talk.is_over());
            continue;
        };
        assert_eq!(asked[0]["method"], method);
        assert_eq!(asked[0]["params"]["sessionId"], "ses_1");
        let prompt = take(&mut *talk, &json!({"id": asked[0]["id"], "result": {}}));
        assert_eq!(prompt[0]["params"]["sessionId"], "ses_1");
    }
}

#[test]
fn answers_to_nothing_change_nothing() {
    let mut talk = working(AgentRole::Author);
    for id in [
        json!("session/prompt 2"),
        json!("initialize"),
        json!("session/new"),
        json!(1),
        json!(null),
    ] {
        assert!(take(&mut *talk, &json!({"id": id, "result": {}})).is_empty());
        let error = json!({"id": id, "error": {"code": 1, "message": "x"}});
        assert!(take(&mut *talk, &error).is_empty());
        assert!(!talk.is_over(), "{id}");
    }
}
