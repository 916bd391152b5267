//! Links, the outbox and comments of trackers, through deaths, deletions and restores.

use std::collections::BTreeSet;

use symphony_core::asker::Verification;
use symphony_core::id::IssueId;
use symphony_core::identity::Seen;
use symphony_core::issue::{CommentAuthor, IssueEvent, Priority};
use symphony_core::log::{LogEvent, TrackerEntry};
use symphony_core::outbox::OutboxState;
use symphony_core::user::{Attribution, Source, UserName};
use symphony_store::{
    Actor, ChangeResult, Context, EventRecord, LinkNews, Links, NewLink, Person, RemoteAct, Store,
    TakenComment, TrackerHold, TrackerLink, TrackerRecord,
};
use symphony_tracker::base::{Base, FilterMatch, LocalFields, Relations, RemoteFields};
use symphony_tracker::change::Change;
use symphony_tracker::fault::Fault;
use symphony_tracker::linked::{Covers, Departing};
use symphony_tracker::remote::{Cursor, ExternalId, RemoteState, StateGroup};

use crate::support::{add, at, human, project, store, system};

/// A base; its time tells it from others.
fn agreed(second: i64) -> Base {
    Base {
        remote: RemoteFields {
            title: "A".into(),
            body: String::new(),
            state: RemoteState {
                name: "open".into(),
                group: StateGroup::Open,
            },
            labels: BTreeSet::new(),
            priority: None,
            parent: None,
            blocked_by: BTreeSet::new(),
        },
        local: LocalFields {
            title: "A".into(),
            description: String::new(),
            labels: BTreeSet::new(),
            priority: Priority::None,
            status: None,
            status_label: None,
        },
        seen: Some(at(second)),
        filter: FilterMatch::Matches,
        relations: Relations::default(),
    }
}

fn tracker(store: &mut Store) -> TrackerRecord {
    store
        .ensure_tracker(&system(1), &project(), ("github", "github:acme/web"), &[])
        .unwrap()
}

fn link(store: &mut Store, number: &str, issue: &IssueId) -> TrackerLink {
    let record = tracker(store);
    store
        .link_issue(
            &system(1),
            &NewLink {
                tracker: (record.id, "github"),
                external: &ExternalId::new(number),
                key: &format!("#{number}"),
                url: &format!("https://github.com/acme/web/issues/{number}"),
                issue,
                base: &agreed(0),
            },
        )
        .unwrap()
}

fn comment(text: &str) -> Departing {
    Departing {
        change: Change::AddComment {
            body: text.to_owned(),
        },
        covers: Covers::Comment,
    }
}

fn settle(store: &mut Store, link: &TrackerLink, send: &[Departing], base: &Base) {
    let news = LinkNews {
        base: Some(base),
        send,
        ..LinkNews::of(link.id)
    };
    store.settle_link(&system(2), &news).unwrap();
}

fn taken<'a>(
    link: &TrackerLink,
    issue: &'a IssueId,
    external: &'a ExternalId,
    content: &'a str,
) -> TakenComment<'a> {
    TakenComment {
        link: link.id,
        issue,
        external,
        updated_at: at(2),
        content,
    }
}

fn entries(store: &Store, issue: &IssueId) -> Vec<TrackerEntry> {
    let events = store.events_of_issue(issue).unwrap();
    let events = events.iter().map(EventRecord::event);
    events
        .filter_map(|event| match event {
            LogEvent::Tracker(entry) => Some(entry),
            _ => None,
        })
        .collect()
}

#[test]
fn a_tracker_is_read_on_from_where_it_was() {
    let mut store = store();
    let record = tracker(&mut store);
    assert_eq!((record.looked_at, record.cursor.as_str()), (None, ""));
    let id = record.id;
    store
        .advance_tracker(&system(5), id, &Cursor::new("page 2"), false)
        .unwrap();
    let record = tracker(&mut store);
    assert_eq!((record.looked_at, record.cursor.as_str()), (None, "page 2"));
    let hold = TrackerHold {
        since: at(6),
        until: at(60),
        fault: Fault::RateLimited { until: None },
    };
    store.hold_tracker(&system(6), id, &hold, 2).unwrap();
    let record = tracker(&mut store);
    assert_eq!((record.hold, record.tries), (Some(hold), 2));
    store
        .advance_tracker(&system(7), id, &Cursor::new("page 3"), true)
        .unwrap();
    let record = tracker(&mut store);
    assert_eq!((record.looked_at, record.tries), (Some(at(7)), 0));
    assert_eq!(record.hold, None, "an answer ends the hold");
    store.rewind_tracker(&system(8), id).unwrap();
    assert_eq!(tracker(&mut store).cursor.as_str(), "");
}

#[test]
fn only_what_happens_after_the_first_look_is_news() {
    let mut store = store();
    let (old, other) = (add(&mut store, "Old").id, add(&mut store, "Other").id);
    let record = tracker(&mut store);
    let has_news = |store: &Store| {
        let record = store.tracker(&project(), "github").unwrap().unwrap();
        store.tracker_has_news(&record, at(9)).unwrap()
    };
    assert!(!has_news(&store));
    store
        .add_comment(&human(2), &other, "not mirrored")
        .unwrap();
    assert!(!has_news(&store));
    let linked = link(&mut store, "12", &old);
    assert!(has_news(&store), "the link itself is in the log");
    let seen = store.log_position().unwrap();
    store.settle_log(&system(3), record.id, &[], seen).unwrap();
    assert!(!has_news(&store));
    settle(&mut store, &linked, &[comment("started")], &agreed(0));
    assert!(has_news(&store), "a change waits");
}

#[test]
fn changes_of_an_issue_are_sent_in_order_and_issues_do_not_wait_for_each_other() {
    let mut store = store();
    let (a, b) = (add(&mut store, "A").id, add(&mut store, "B").id);
    let (first, second) = (link(&mut store, "1", &a), link(&mut store, "2", &b));
    settle(
        &mut store,
        &first,
        &[comment("a1"), comment("a2")],
        &agreed(0),
    );
    settle(&mut store, &second, &[comment("b1")], &agreed(0));
    let texts = |store: &Store| -> Vec<String> {
        let next = store.next_changes(first.tracker, 10).unwrap();
        let changes = next.into_iter().map(|change| change.outgoing.change);
        changes
            .map(|change| match change {
                Change::AddComment { body } => body,
                other => panic!("{other:?}"),
            })
            .collect()
    };
    assert_eq!(texts(&store), ["a1", "b1"]);
    let next = store.next_changes(first.tracker, 10).unwrap();
    assert!(!next[0].outgoing.was_tried);
    store
        .begin_change(&system(3), &next[0].outgoing.id)
        .unwrap();
    let begun = &store.next_changes(first.tracker, 10).unwrap()[0];
    assert!(begun.outgoing.was_tried, "its answer may be lost");
    let late = ChangeResult::PutOff {
        due_at: at(90),
        problem: "the tracker failed",
        counts: true,
    };
    store.end_change(&system(4), begun, &late).unwrap();
    let put_off = &store.next_changes(first.tracker, 10).unwrap()[0];
    assert_eq!((put_off.tries, put_off.due_at), (1, at(90)));
    let created = ExternalId::new("c-7");
    let applied = ChangeResult::Applied {
        created: Some(&created),
        base: &agreed(1),
    };
    store.end_change(&system(5), put_off, &applied).unwrap();
    assert_eq!(texts(&store), ["a2", "b1"]);
    assert_eq!(store.link(first.id).unwrap().base, agreed(1));
    let ours = store.known_comments(first.id).unwrap().ours;
    assert_eq!(ours.into_values().collect::<Vec<_>>().len(), 2);
}

#[test]
fn a_refused_change_is_in_the_log_and_can_be_sent_again() {
    let mut store = store();
    let issue = add(&mut store, "A").id;
    let linked = link(&mut store, "1", &issue);
    settle(&mut store, &linked, &[comment("x")], &agreed(0));
    let change = &store.next_changes(linked.tracker, 1).unwrap()[0];
    let refused = ChangeResult::Refused {
        problem: "the issue is locked",
        base: &agreed(2),
    };
    store.end_change(&system(3), change, &refused).unwrap();
    store.end_change(&system(3), change, &refused).unwrap();
    assert_eq!(store.next_changes(linked.tracker, 1).unwrap(), []);
    let noted = TrackerEntry::Refused {
        tracker: "github".into(),
        text: "the issue is locked".into(),
    };
    assert_eq!(entries(&store, &issue)[1..], [noted], "once");
    let listed = store
        .changes_in(linked.tracker, OutboxState::Refused, 10)
        .unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(store.retry_refused(&human(4), linked.tracker).unwrap(), 1);
    assert_eq!(store.next_changes(linked.tracker, 1).unwrap().len(), 1);
}

#[test]
fn a_link_is_made_once_whoever_comes_second() {
    let mut store = store();
    let (a, b) = (add(&mut store, "A").id, add(&mut store, "B").id);
    let first = link(&mut store, "1", &a);
    let again = link(&mut store, "1", &b);
    assert_eq!(
        again, first,
        "the tracker's issue stays with the one that has it"
    );
    assert_eq!(entries(&store, &a).len(), 1);
    assert_eq!(entries(&store, &b), []);
    assert_eq!(store.links_of_issue(&a).unwrap().len(), 1);
}

#[test]
fn a_comment_of_a_tracker_comes_in_once_under_its_login() {
    let mut store = store();
    let issue = add(&mut store, "A").id;
    let linked = link(&mut store, "1", &issue);
    let context = Context::tracker(Some("octocat".into()), at(3));
    let id = ExternalId::new("c-1");
    let taken = taken(&linked, &issue, &id, "Please hurry");
    let take = |store: &mut Store| store.take_comment(&context, &taken, RemoteAct::None);
    assert!(take(&mut store).unwrap().is_some());
    assert!(take(&mut store).unwrap().is_none());
    let comments = store.comments(&issue, 10).unwrap();
    assert_eq!(comments.len(), 1);
    assert_eq!(comments[0].author, CommentAuthor::Tracker);
    assert_eq!(comments[0].login.as_deref(), Some("octocat"));
    assert_eq!(comments[0].attribution.source, Some(Source::Tracker));
    let known = store.known_comments(linked.id).unwrap();
    assert_eq!(known.taken[&id], at(2));
    store
        .note_edited_comment(&context, linked.id, &id, at(8))
        .unwrap();
    let known = store.known_comments(linked.id).unwrap();
    assert_eq!(known.taken[&id], at(8));
}

#[test]
fn what_a_comment_asks_for_is_done_once_whoever_dies_in_between() {
    let mut store = store();
    let issue = add(&mut store, "A").id;
    let linked = link(&mut store, "1", &issue);
    let ada = UserName::parse("ada").unwrap();
    let context = Context {
        actor: Actor::Human(Person {
            verification: Verification::Unverified("a comment on github".into()),
            attribution: Attribution {
                source: Some(Source::Tracker),
                user: Some(ada.clone()),
            },
        }),
        now: at(3),
    };
    let id = ExternalId::new("c-1");
    let taken = taken(&linked, &issue, &id, "/symphony retry");
    store
        .take_comment(&context, &taken, RemoteAct::Follows)
        .unwrap();
    let is_known = |store: &Store| {
        let known = store.known_comments(linked.id).unwrap();
        known.taken.contains_key(&id)
    };
    assert!(!is_known(&store), "its command is still to be carried out");
    assert!(!store.has_acted(linked.id, &id, &ada).unwrap());
    store.clear_counts(&human(4), &issue).unwrap();
    assert!(
        !store.has_acted(linked.id, &id, &ada).unwrap(),
        "someone else did something"
    );
    store.clear_counts(&context, &issue).unwrap();
    assert!(store.has_acted(linked.id, &id, &ada).unwrap());
    store.end_remote_act(&context, linked.id, &id).unwrap();
    assert!(is_known(&store));
}

#[test]
fn a_deleted_issue_is_not_taken_in_again() {
    let mut store = store();
    let issue = add(&mut store, "A").id;
    let linked = link(&mut store, "1", &issue);
    settle(&mut store, &linked, &[comment("x")], &agreed(0));
    let context = Context::tracker(None, at(3));
    let id = ExternalId::new("c-1");
    let taken = taken(&linked, &issue, &id, "Hello");
    store
        .take_comment(&context, &taken, RemoteAct::None)
        .unwrap();
    store
        .move_issue(&human(4), &issue, &IssueEvent::Cancelled)
        .unwrap();
    store
        .delete_issue(&human(5), &issue, Links::Refuse)
        .unwrap();
    let kept = store
        .link_of_external(linked.tracker, &ExternalId::new("1"))
        .unwrap()
        .unwrap();
    assert_eq!(kept.issue, None);
    assert_eq!(store.next_changes(linked.tracker, 10).unwrap(), []);
    assert_eq!(store.links_count(linked.tracker).unwrap(), 0);
}

#[test]
fn after_a_restore_a_waiting_change_may_have_been_sent() {
    let mut store = store();
    let issue = add(&mut store, "A").id;
    let linked = link(&mut store, "1", &issue);
    settle(&mut store, &linked, &[comment("x")], &agreed(0));
    store
        .record_restore(&human(9), &Seen::default(), &BTreeSet::new())
        .unwrap();
    let change = &store.next_changes(linked.tracker, 1).unwrap()[0];
    assert!(change.outgoing.was_tried);
}

#[test]
fn a_renamed_tracker_keeps_its_links_and_a_second_one_gets_its_own() {
    let mut store = store();
    let issue = add(&mut store, "A").id;
    let linked = link(&mut store, "1", &issue);
    let mut ensure = |name: &str, names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let place = (name, "github:acme/web");
        let record = store.ensure_tracker(&system(2), &project(), place, &names);
        record.unwrap().id
    };
    assert_eq!(ensure("forge", &["forge"]), linked.tracker, "renamed");
    assert_eq!(ensure("forge", &["forge"]), linked.tracker);
    assert_ne!(
        ensure("other", &["forge", "other"]),
        linked.tracker,
        "both are configured"
    );
}
