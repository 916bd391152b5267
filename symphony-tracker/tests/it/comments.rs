//! What comments of a tracker mean, rule by rule.

use symphony_core::issue::{BlockedBy, IssueState};
use symphony_core::user::UserName;
use symphony_tracker::change::ChangeId;
use symphony_tracker::command::Command;
use symphony_tracker::comment::{
    Act, Discussion, Incoming, KnownComments, NewComment, WhyIgnored, read_comment, refusal,
};
use symphony_tracker::marker;
use symphony_tracker::remote::{ExternalId, RemoteComment, RemoteUser};

use crate::samples::{at, blocked, github};

const HEAD: &str = "0123456789abcdef0123456789abcdef01234567";

fn ada() -> UserName {
    UserName::parse("ada").unwrap()
}

fn comment(author: &str, body: &str) -> RemoteComment {
    RemoteComment {
        id: ExternalId::new("100"),
        issue: ExternalId::new("12"),
        author: Some(RemoteUser {
            id: ExternalId::new(author),
            login: "ada".into(),
        }),
        body: body.into(),
        is_edited: false,
        created_at: at(10),
        updated_at: at(10),
    }
}

fn read(comment: &RemoteComment, known: &KnownComments, state: &IssueState) -> Incoming {
    read_as("1", comment, known, state)
}

fn read_as(
    own_user: &str,
    comment: &RemoteComment,
    known: &KnownComments,
    state: &IssueState,
) -> Incoming {
    let own_user = ExternalId::new(own_user);
    let issue = Discussion {
        known,
        state,
        state_since: at(5),
        linked_at: at(0),
        pushed_head: Some(HEAD),
        own_user: Some(&own_user),
    };
    read_comment(&github(), comment, &issue)
}

fn new(comment: &RemoteComment, state: &IssueState) -> NewComment {
    match read(comment, &KnownComments::default(), state) {
        Incoming::New(new) => *new,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_command_acts_if_its_author_may_give_it_and_it_is_as_it_was_written() {
    let cancel = Act::Command {
        by: ada(),
        command: Command::Cancel,
    };
    let ignored = |why| Act::Ignored { why };
    let copied = format!(
        "/symphony cancel\n{}",
        marker::with("", &ChangeId::new("x"))
    );
    for (author, body, is_edited, created, expected) in [
        ("7", "/symphony cancel", false, 10, cancel.clone()),
        // the name is ada's, the id is not
        (
            "8",
            "/symphony cancel",
            false,
            10,
            ignored(WhyIgnored::NotAllowed),
        ),
        (
            "7",
            "/symphony cancel",
            true,
            10,
            Act::Refused {
                by: ada(),
                reply: refusal(
                    "It was edited after it was written, and another person may have done that. Write it in a new comment.",
                ),
            },
        ),
        // a stranger gets no reply
        (
            "8",
            "/symphony cancel",
            true,
            10,
            ignored(WhyIgnored::NotAllowed),
        ),
        (
            "7",
            "/symphony cancel",
            false,
            -1,
            ignored(WhyIgnored::TooOld),
        ),
        ("7", &copied, false, 10, ignored(WhyIgnored::Marked)),
        ("7", "> /symphony cancel", false, 10, Act::Nothing),
        ("7", "Let's go", false, 10, Act::Nothing),
        ("8", "Let's go", false, 10, Act::Nothing),
    ] {
        let comment = RemoteComment {
            is_edited,
            created_at: at(created),
            ..comment(author, body)
        };
        let new = new(&comment, &IssueState::Review);
        assert_eq!(new.act, expected, "{author} {body}");
        assert!(!new.text.is_empty());
    }
    let ghost = RemoteComment {
        author: None,
        ..comment("7", "/symphony cancel")
    };
    assert_eq!(
        new(&ghost, &IssueState::Review).act,
        ignored(WhyIgnored::NotAllowed)
    );
    let refused = new(
        &comment("7", "/symphony approve 7654321"),
        &IssueState::Review,
    );
    let Act::Refused { reply, .. } = refused.act else {
        panic!("{refused:?}");
    };
    assert_eq!(
        reply,
        "Symphony did not carry out this command. `7654321` is not the newest commit of the pull request. If you have seen the \
         newest one, write `/symphony approve 0123456789ab`."
    );
}

#[test]
fn a_commanders_comment_answers_what_waits_for_words() {
    for (by, author, body, created, expected) in [
        (BlockedBy::Agent, "7", "Blue.", 10, true),
        (BlockedBy::Question, "7", "Blue.", 10, true),
        (BlockedBy::Human, "7", "Blue.", 5, true),
        (BlockedBy::Gates, "7", "Blue.", 10, true),
        (BlockedBy::Agent, "8", "Blue.", 10, false),
        // written before the question was asked
        (BlockedBy::Agent, "7", "Blue.", 4, false),
        (BlockedBy::Agent, "7", " ", 10, false),
        (BlockedBy::Cap, "7", "Blue.", 10, false),
        (BlockedBy::Tampered, "7", "Blue.", 10, false),
        (BlockedBy::Subtasks, "7", "Blue.", 10, false),
        (BlockedBy::TakenOver, "7", "Blue.", 10, false),
        (BlockedBy::HostsLost, "7", "Blue.", 10, false),
    ] {
        let comment = RemoteComment {
            created_at: at(created),
            ..comment(author, body)
        };
        let expected = if expected {
            Act::Answer { by: ada() }
        } else {
            Act::Nothing
        };
        assert_eq!(new(&comment, &blocked(by)).act, expected, "{by} {author}");
    }
    let edited = RemoteComment {
        is_edited: true,
        ..comment("7", "Blue.")
    };
    // its author hears why it does not count
    let act = new(&edited, &blocked(BlockedBy::Agent)).act;
    let Act::Refused { by, reply } = act else {
        panic!("{act:?}");
    };
    assert_eq!(by, ada());
    assert!(reply.ends_with("Write the answer in a new comment."));
    assert_eq!(
        new(&comment("7", "Blue."), &IssueState::Todo).act,
        Act::Nothing
    );
}

#[test]
fn our_comments_are_recognised_and_copies_of_them_are_not() {
    let change = ChangeId::new("0b7c2a52-7f0e-4a5e-9d61-3c2f1f2a9a11");
    let marked = comment("1", &marker::with("Started.", &change));
    let known = |result: Option<&str>| KnownComments {
        ours: [(change.clone(), result.map(ExternalId::new))].into(),
        ..KnownComments::default()
    };
    let settles = |change: Option<&ChangeId>| Incoming::Ours {
        settles: change.cloned(),
    };
    let todo = IssueState::Todo;
    assert_eq!(read(&marked, &known(None), &todo), settles(Some(&change)));
    assert_eq!(read(&marked, &known(Some("100")), &todo), settles(None));
    let unmarked = comment("1", "edited by someone");
    assert_eq!(read(&unmarked, &known(Some("100")), &todo), settles(None));
    let with_our_id = RemoteComment {
        id: ExternalId::new(change.as_str()),
        ..unmarked.clone()
    };
    assert_eq!(
        read(&with_our_id, &known(None), &todo),
        settles(Some(&change))
    );

    // someone copied it before the result was recorded
    let copied = read_as("2", &marked, &known(None), &todo);
    assert!(matches!(copied, Incoming::New(_)), "{copied:?}");
    let in_the_middle = comment("7", &format!("{}\nNo.", marked.body));
    for (copy, known) in [
        (&marked, known(Some("99"))),
        (&marked, KnownComments::default()),
        (&in_the_middle, known(None)),
        (&unmarked, known(None)),
    ] {
        assert!(
            matches!(read(copy, &known, &todo), Incoming::New(_)),
            "{copy:?}"
        );
    }
}

#[test]
fn a_comment_is_taken_once_and_its_edits_are_noted() {
    let known = KnownComments {
        taken: [(ExternalId::new("100"), at(10))].into(),
        ..KnownComments::default()
    };
    let first = comment("7", "/symphony cancel");
    let edited = RemoteComment {
        updated_at: at(11),
        is_edited: true,
        ..first.clone()
    };
    assert_eq!(read(&first, &known, &IssueState::Todo), Incoming::Known);
    assert_eq!(read(&edited, &known, &IssueState::Todo), Incoming::Edited);
    let empty = new(&comment("7", "\n"), &IssueState::Todo);
    assert_eq!(empty.text, "(no text)");
}
