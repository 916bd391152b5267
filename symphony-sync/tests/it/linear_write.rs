//! What is changed at Linear.

use std::collections::BTreeSet;

use symphony_core::issue::Priority;
use symphony_fakes::{FakeLinear, Fault as Planned, On};
use symphony_sync::Fault;
use symphony_tracker::change::{Change, Created};
use symphony_tracker::remote::{ExternalId, RemoteState, StateGroup};

use crate::harness::{ID, again, comment, labels, linear, outgoing, part};

fn with_one_issue() -> (FakeLinear, String) {
    let fake = FakeLinear::start();
    let id = fake.with(|world| world.add_issue("ada", "ENG", "Issue", "Text"));
    (fake, id)
}

fn state(name: &str, group: StateGroup) -> Change {
    let name = name.to_owned();
    Change::SetState {
        state: RemoteState { name, group },
    }
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[tokio::test]
async fn texts_and_priority_are_set_and_the_answer_has_the_issue() {
    let (fake, id) = with_one_issue();
    let tracker = linear(&fake);
    let title = "Büro \"A\" 🚀".to_owned();
    let applied = tracker
        .apply(&outgoing(
            &id,
            Change::SetTitle {
                title: title.clone(),
            },
        ))
        .await
        .unwrap();
    assert_eq!(applied.issue.unwrap().title, title);
    let body = "New\ntext".to_owned();
    let applied = tracker
        .apply(&outgoing(&id, Change::SetBody { body }))
        .await
        .unwrap();
    assert_eq!(applied.issue.unwrap().body, "New\ntext");
    let table = [
        (Priority::Urgent, 1),
        (Priority::High, 2),
        (Priority::Medium, 3),
        (Priority::Low, 4),
        (Priority::None, 0),
    ];
    for (priority, number) in table {
        let applied = tracker
            .apply(&outgoing(&id, Change::SetPriority { priority }))
            .await
            .unwrap();
        assert_eq!(applied.issue.unwrap().priority, Some(priority));
        assert_eq!(fake.with(|world| world.issue(&id).priority), number);
    }
}

#[tokio::test]
async fn a_state_is_chosen_by_name_or_by_what_it_means() {
    let (fake, id) = with_one_issue();
    let tracker = linear(&fake);
    let table = [
        (state("In Review", StateGroup::Started), "In Review"),
        (state("in progress", StateGroup::Started), "In Progress"),
        (state("", StateGroup::Completed), "Done"),
        (state("", StateGroup::Open), "Todo"),
        (state("", StateGroup::Started), "In Progress"),
        (state("", StateGroup::NotPlanned), "Canceled"),
    ];
    for (change, expected) in table {
        let applied = tracker.apply(&outgoing(&id, change)).await.unwrap();
        assert_eq!(applied.issue.unwrap().state.name, expected);
        assert_eq!(fake.with(|world| world.state_name(&id)), expected);
    }
    let fault = tracker
        .apply(&outgoing(&id, state("Shipped", StateGroup::Completed)))
        .await
        .unwrap_err();
    let Fault::Refused { detail } = fault else {
        panic!("{fault:?}")
    };
    assert!(
        detail.starts_with("the team ENG has no state `Shipped`; it has `"),
        "{detail}"
    );
}

#[tokio::test]
async fn labels_are_found_made_and_removed() {
    let (fake, id) = with_one_issue();
    let tracker = linear(&fake);
    fake.with(|world| {
        let kept = world.add_label("kept", None);
        world.add_label("both", None);
        world.add_label("both", Some("ENG"));
        world.add_label("other team", Some("OPS"));
        world.edit_issue(&id, |issue| _ = issue.labels.insert(kept));
    });
    let change = labels(
        &["kept", "both", "other team", "a/b 100% 🚀"],
        &["not there"],
    );
    let applied = tracker.apply(&outgoing(&id, change)).await.unwrap();
    let all = names(&["kept", "both", "other team", "a/b 100% 🚀"]);
    assert_eq!(applied.issue.unwrap().labels, all);
    let applied = tracker
        .apply(&outgoing(&id, labels(&["kept"], &["not there"])))
        .await
        .unwrap();
    assert_eq!(applied.issue, None);
    let change = labels(&[], &["both", "other team", "a/b 100% 🚀"]);
    tracker.apply(&outgoing(&id, change)).await.unwrap();
    assert_eq!(fake.with(|world| world.label_names(&id)), names(&["kept"]));
}

#[tokio::test]
async fn a_comment_whose_answer_was_lost_is_written_once() {
    let (fake, id) = with_one_issue();
    let tracker = linear(&fake);
    let first = outgoing(&id, comment("Started."));
    fake.fail(On::any().with("commentCreate").times(1), Planned::CutAfter);
    tracker.apply(&first).await.unwrap_err();
    // with and without the knowledge that it was tried
    for outgoing in [again(&first), first] {
        let applied = tracker.apply(&outgoing).await.unwrap();
        assert_eq!(applied.created, Some(Created::Comment(ExternalId::new(ID))));
    }
    let comments = fake.with(|world| world.comments(&id));
    assert_eq!(comments.len(), 1);
    // its id is the change's, so that people there read no marker
    assert_eq!(comments[0].body, "Started.");
}

#[tokio::test]
async fn a_refused_comment_stays_refused() {
    let (fake, id) = with_one_issue();
    let planned = r#"{"errors": [{"message": "no", "extensions": {"code": "INVALID_INPUT"}}]}"#;
    fake.fail(
        On::any().with("commentCreate"),
        Planned::Answer {
            status: 400,
            headers: vec![],
            body: planned.to_owned(),
        },
    );
    let fault = linear(&fake)
        .apply(&again(&outgoing(&id, comment("x"))))
        .await
        .unwrap_err();
    assert_eq!(
        fault,
        Fault::Refused {
            detail: "no".to_owned()
        }
    );
}

#[tokio::test]
async fn an_id_that_another_issue_has_is_not_ours() {
    let (fake, id) = with_one_issue();
    let other = fake.with(|world| world.add_issue("ada", "ENG", "Other", ""));
    let tracker = linear(&fake);
    tracker
        .apply(&outgoing(&other, comment("On the other")))
        .await
        .unwrap();
    let fault = tracker
        .apply(&outgoing(&id, comment("Here")))
        .await
        .unwrap_err();
    assert!(matches!(fault, Fault::Refused { .. }), "{fault:?}");
}

#[tokio::test]
async fn a_part_whose_answer_was_lost_is_made_once() {
    let (fake, id) = with_one_issue();
    let tracker = linear(&fake);
    let first = outgoing(&id, part("Part", &["area/web"]));
    fake.fail(On::any().with("issueCreate").times(1), Planned::CutAfter);
    tracker.apply(&first).await.unwrap_err();
    let applied = tracker.apply(&again(&first)).await.unwrap();
    let Some(Created::Issue(made)) = applied.created else {
        panic!("an issue was made")
    };
    assert_eq!((made.id.as_str(), made.title.as_str()), (ID, "Part"));
    assert_eq!(made.parent, Some(ExternalId::new(id)));
    assert_eq!(made.labels, names(&["area/web"]));
    assert!(!made.body.contains("<!--"), "{}", made.body);
    assert_eq!(fake.with(|world| world.issues().len()), 2);
}

#[tokio::test]
async fn a_target_that_is_gone_is_named() {
    let fake = FakeLinear::start();
    let tracker = linear(&fake);
    let title = "x".to_owned();
    let changes = [
        Change::SetTitle { title },
        state("Done", StateGroup::Completed),
        labels(&["a"], &[]),
        comment("x"),
        part("x", &[]),
    ];
    for change in changes {
        let fault = tracker.apply(&outgoing("gone", change)).await.unwrap_err();
        assert_eq!(
            fault,
            Fault::NotFound {
                what: "issue gone".to_owned()
            }
        );
    }
}
