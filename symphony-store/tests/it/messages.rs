//! Messages of people to agents: each is read once, by the first run that gets it.

use symphony_core::agent::AgentType;
use symphony_core::id::{IssueId, RunId};
use symphony_core::issue::{Comment, DependentsFate, IssueEvent, Resolution};
use symphony_core::message::{Addressee, MessageRead, UNREAD_BYTES_MAX};
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_store::{IssueEnd, Links, Store, StoreError};

use crate::support::{add, assert_sound, at, by, finish, human, store, system, try_claim, worker};

fn say(store: &mut Store, issue: &IssueId, text: &str) -> Comment {
    store
        .say(&human(2), issue, Addressee::Author, text)
        .unwrap()
}

fn waiting(store: &Store, issue: &IssueId) -> Vec<String> {
    let waiting = store.waiting_messages(issue, Addressee::Author).unwrap();
    waiting.into_iter().map(|message| message.content).collect()
}

fn close(store: &mut Store, issue: &IssueId, second: i64) {
    let reason = "not wanted any more".to_owned();
    let end = IssueEnd {
        event: IssueEvent::Closed {
            resolution: Resolution::Cancelled,
            reason: reason.clone(),
        },
        comment: Some(reason),
        dependents: DependentsFate::Keep,
    };
    store.end_issue(&human(second), issue, &end).unwrap();
}

fn end(store: &mut Store, run: &Run, second: i64) {
    let end = finish(run, RunStatus::Succeeded, None);
    store.finish_run(&system(second), &end).unwrap();
}

#[test]
fn a_message_waits_until_a_run_has_it_and_belongs_to_that_run() {
    let mut store = store();
    let issue = add(&mut store, "One").id;
    let other = add(&mut store, "Two").id;
    let first = say(&mut store, &issue, "Use tabs.");
    let second = say(&mut store, &issue, "And spaces.");
    store
        .say(&human(2), &issue, Addressee::Judge, "Look at the tests.")
        .unwrap();
    store.add_comment(&human(2), &issue, "By the way").unwrap();
    assert_eq!(waiting(&store, &issue), ["Use tabs.", "And spaces."]);
    assert!(waiting(&store, &other).is_empty());

    let run = worker(&mut store, "r1", &issue);
    store
        .messages_read(&by(&run, 4), &run.id, &[first.id])
        .unwrap();
    assert_eq!(waiting(&store, &issue), ["And spaces."]);
    end(&mut store, &run, 5);

    // Another run cannot claim it, and one of another issue reads none of this one.
    let stranger = worker(&mut store, "r2", &other);
    store
        .messages_read(&by(&stranger, 6), &stranger.id, &[first.id, second.id])
        .unwrap();
    assert_eq!(waiting(&store, &issue), ["And spaces."]);
    end(&mut store, &stranger, 7);
    let comments = store.comments(&issue, 10).unwrap();
    let message = comments[0].message.clone().unwrap();
    assert_eq!(message.addressee, Addressee::Author);
    let expected = MessageRead {
        run: run.id.clone(),
        at: at(4),
    };
    assert_eq!(message.read, Some(expected));
    let is_read = |comment: &&Comment| {
        comment
            .message
            .as_ref()
            .is_some_and(|message| message.read.is_some())
    };
    assert_eq!(comments.iter().filter(is_read).count(), 1);
    assert_eq!(comments.iter().filter(|c| c.message.is_some()).count(), 3);
    assert_sound(&mut store);
}

#[test]
fn only_people_write_messages_and_only_while_an_agent_can_read_them() {
    let mut store = store();
    let issue = add(&mut store, "One").id;
    let run = worker(&mut store, "r1", &issue);
    let by_agent = store.say(&by(&run, 3), &issue, Addressee::Judge, "Approve it.");
    assert!(matches!(by_agent, Err(StoreError::OnlyPeople(_))));
    let nothing = store.say(&human(3), &issue, Addressee::Author, " ");
    assert!(matches!(nothing, Err(StoreError::Field(_))));
    let unknown = IssueId::parse("DEM-9").unwrap();
    let nowhere = store.say(&human(3), &unknown, Addressee::Author, "Hello");
    assert!(matches!(nowhere, Err(StoreError::NotFound { .. })));
    end(&mut store, &run, 4);
    close(&mut store, &issue, 5);
    let late = store.say(&human(6), &issue, Addressee::Author, "Hello");
    assert!(matches!(late, Err(StoreError::Issue(_))), "{late:?}");
    assert!(
        store
            .comments(&issue, 10)
            .unwrap()
            .iter()
            .all(|c| c.message.is_none())
    );
    assert_sound(&mut store);
}

#[test]
fn a_retired_run_reads_nothing() {
    let mut store = store();
    let issue = add(&mut store, "One").id;
    let message = say(&mut store, &issue, "Use tabs.");
    let run = worker(&mut store, "r1", &issue);
    end(&mut store, &run, 4);
    let late = store.messages_read(&by(&run, 5), &run.id, &[message.id]);
    assert!(late.is_err());
    assert_eq!(waiting(&store, &issue), ["Use tabs."]);
    let none = RunId::parse("r9").unwrap();
    assert!(
        store
            .messages_read(&system(6), &none, &[message.id])
            .is_err()
    );
}

#[test]
fn an_issue_is_deleted_with_its_messages() {
    let mut store = store();
    let issue = add(&mut store, "One").id;
    let message = say(&mut store, &issue, "Use tabs.");
    let run = try_claim(
        &mut store,
        "r1",
        RunTarget::Issue(issue.clone()),
        AgentType::Worker,
    )
    .unwrap();
    store
        .messages_read(&by(&run, 4), &run.id, &[message.id])
        .unwrap();
    end(&mut store, &run, 5);
    close(&mut store, &issue, 6);
    store
        .delete_issue(&human(7), &issue, Links::Refuse)
        .unwrap();
    assert_sound(&mut store);
}

#[test]
fn a_message_is_withdrawn_while_no_agent_has_read_it() {
    let mut store = store();
    let issue = add(&mut store, "One").id;
    let read = say(&mut store, &issue, "Use tabs.");
    let unread = say(&mut store, &issue, "Use spaces.");
    let plain = store
        .add_comment(&human(2), &issue, "By the way")
        .unwrap()
        .id;
    let run = worker(&mut store, "r1", &issue);
    store
        .messages_read(&by(&run, 4), &run.id, &[read.id])
        .unwrap();
    let refused = |store: &mut Store, id| store.withdraw_message(&human(5), id).unwrap_err();
    let reasons = [refused(&mut store, read.id), refused(&mut store, plain)];
    assert_eq!(
        reasons.map(|error| error.to_string()),
        [
            format!("the agent of run r1 has read message {}", read.id),
            format!("comment {plain} is not a message to an agent"),
        ]
    );
    let agent = store.withdraw_message(&by(&run, 5), unread.id);
    assert!(matches!(agent, Err(StoreError::OnlyPeople(_))), "{agent:?}");
    for second in [6, 7] {
        let withdrawn = store.withdraw_message(&human(second), unread.id).unwrap();
        assert_eq!(withdrawn.message.unwrap().withdrawn, Some(at(6)));
    }
    assert!(waiting(&store, &issue).is_empty());
    assert_eq!(store.unread_messages(&issue).unwrap(), []);
    let texts = |comments: Vec<Comment>| -> Vec<String> {
        comments
            .into_iter()
            .map(|comment| comment.content)
            .collect()
    };
    let given = texts(store.comments_for_agents(&issue, 9).unwrap());
    assert_eq!(given, ["Use tabs.", "By the way"]);
    assert_eq!(store.comments(&issue, 9).unwrap().len(), 3);
    // it was sent before it was withdrawn: what the agent reports is the truth
    store
        .messages_read(&by(&run, 8), &run.id, &[unread.id])
        .unwrap();
    assert_eq!(store.comments_for_agents(&issue, 9).unwrap().len(), 3);
}

#[test]
fn what_waits_for_one_addressee_has_a_limit() {
    let mut store = store();
    let issue = add(&mut store, "One").id;
    let half = "ä".repeat(UNREAD_BYTES_MAX / 4);
    let first = say(&mut store, &issue, &half);
    say(&mut store, &issue, &half);
    let refused = store.say(&human(3), &issue, Addressee::Author, "x");
    assert_eq!(
        refused.unwrap_err().to_string(),
        format!(
            "{UNREAD_BYTES_MAX} bytes of messages to the author of {issue} are unread; with this one, the limit of {UNREAD_BYTES_MAX} would be exceeded"
        )
    );
    store
        .say(&human(3), &issue, Addressee::Judge, &half)
        .expect("another addressee has room");
    store.withdraw_message(&human(4), first.id).unwrap();
    say(&mut store, &issue, "x");
}
