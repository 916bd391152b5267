//! What is changed at GitHub.

use symphony_core::issue::Priority;
use symphony_fakes::{FakeGithub, Fault as Planned, GithubIssue, On};
use symphony_sync::Fault;
use symphony_tracker::change::{Change, Created};
use symphony_tracker::remote::{ExternalId, RemoteState, StateGroup};

use crate::harness::{ID, again, comment, github, labels, outgoing, part, targets};

fn state(group: StateGroup) -> Change {
    Change::SetState {
        state: RemoteState {
            name: String::new(),
            group,
        },
    }
}

fn with_one_issue() -> FakeGithub {
    let fake = FakeGithub::start();
    fake.with(|world| world.add_issue(1, "Issue", "Text"));
    fake
}

fn issue(fake: &FakeGithub) -> GithubIssue {
    fake.with(|world| world.issue(1))
}

#[tokio::test]
async fn texts_are_set_and_the_answer_has_the_issue() {
    let fake = with_one_issue();
    let tracker = github(&fake);
    let title = "Büro \"A\" & 🚀".to_owned();
    let change = Change::SetTitle {
        title: title.clone(),
    };
    let applied = tracker.apply(&outgoing("1", change)).await.unwrap();
    assert_eq!(applied.issue.unwrap().title, title);
    let body = "New\ntext".to_owned();
    let applied = tracker
        .apply(&outgoing("1", Change::SetBody { body }))
        .await
        .unwrap();
    assert_eq!(applied.issue.unwrap().body, "New\ntext");
    assert_eq!(
        (issue(&fake).title, issue(&fake).body),
        (title, Some("New\ntext".to_owned()))
    );
    assert_eq!(applied.created, None);
}

#[tokio::test]
async fn each_state_is_set_with_its_reason() {
    let fake = with_one_issue();
    let tracker = github(&fake);
    let table = [
        (StateGroup::Completed, false, Some("completed")),
        (StateGroup::Started, true, Some("reopened")),
        (StateGroup::NotPlanned, false, Some("not_planned")),
        (StateGroup::Open, true, Some("reopened")),
    ];
    for (group, is_open, reason) in table {
        let applied = tracker.apply(&outgoing("1", state(group))).await.unwrap();
        assert_eq!(applied.issue.unwrap().state.group.has_ended(), !is_open);
        let issue = issue(&fake);
        assert_eq!((issue.is_open, issue.reason.as_deref()), (is_open, reason));
    }
}

#[tokio::test]
async fn labels_with_every_kind_of_character_are_added_and_removed() {
    let fake = with_one_issue();
    let tracker = github(&fake);
    let names = [
        "a/b",
        "100%",
        "%2F",
        "two words",
        "plus+",
        "🚀",
        "#1?x=y&z",
        "ümlaut",
        "..a",
    ];
    fake.with(|world| world.edit_issue(1, |issue| _ = issue.labels.insert("kept".to_owned())));
    tracker
        .apply(&outgoing("1", labels(&names, &[])))
        .await
        .unwrap();
    assert_eq!(issue(&fake).labels.len(), names.len() + 1);
    tracker
        .apply(&outgoing("1", labels(&[], &names)))
        .await
        .unwrap();
    assert_eq!(issue(&fake).labels, ["kept".to_owned()].into());
    // a second time: they are gone already
    tracker
        .apply(&outgoing("1", labels(&[], &names)))
        .await
        .unwrap();
    assert_eq!(issue(&fake).labels, ["kept".to_owned()].into());
}

#[tokio::test]
async fn a_label_that_an_address_cannot_name_removes_no_others() {
    let fake = with_one_issue();
    fake.with(|world| world.edit_issue(1, |issue| _ = issue.labels.insert("kept".to_owned())));
    for name in [".", "..", ""] {
        let fault = github(&fake)
            .apply(&outgoing("1", labels(&[], &[name])))
            .await
            .unwrap_err();
        assert!(matches!(fault, Fault::Refused { .. }), "{fault:?}");
    }
    assert_eq!(issue(&fake).labels, ["kept".to_owned()].into());
    assert_eq!(targets(&fake.take_exchanges()), [""; 0]);
}

#[tokio::test]
async fn a_comment_has_its_marker_on_the_last_line() {
    let fake = with_one_issue();
    let applied = github(&fake)
        .apply(&outgoing("1", comment("Started.")))
        .await
        .unwrap();
    let comments = fake.with(|world| world.comments(1));
    assert_eq!(
        comments[0].body,
        format!("Started.\n\n<!-- symphony:change={ID} -->")
    );
    let id = ExternalId::new(comments[0].id.to_string());
    assert_eq!(applied.created, Some(Created::Comment(id)));
}

#[tokio::test]
async fn a_comment_whose_answer_was_lost_is_written_once() {
    let fake = with_one_issue();
    let tracker = github(&fake);
    let first = outgoing("1", comment("Started."));
    fake.fail(On::method("POST").times(1), Planned::CutAfter);
    let fault = tracker.apply(&first).await.unwrap_err();
    assert!(matches!(fault, Fault::Unreachable { .. }), "{fault:?}");
    // others write in the meantime, and the page keeps `\r\n`
    fake.with(|world| {
        let ours = world.comments(1)[0].clone();
        world.edit_comment(ours.id, &ours.body.replace('\n', "\r\n"));
        for _ in 0..130 {
            world.add_comment(2, 1, "Something else");
        }
        world.add_comment(2, 1, &format!("> {}", ours.body));
    });
    let applied = tracker.apply(&again(&first)).await.unwrap();
    let comments = fake.with(|world| world.comments(1));
    assert_eq!(comments.len(), 132);
    let id = ExternalId::new(comments[0].id.to_string());
    assert_eq!(applied.created, Some(Created::Comment(id)));
}

#[tokio::test]
async fn a_comment_that_never_arrived_is_written_at_the_second_attempt() {
    let fake = with_one_issue();
    let tracker = github(&fake);
    let first = outgoing("1", comment("Started."));
    fake.fail(On::method("POST").times(1), Planned::CutBefore);
    tracker.apply(&first).await.unwrap_err();
    tracker.apply(&again(&first)).await.unwrap();
    assert_eq!(fake.with(|world| world.comments(1)).len(), 1);
}

#[tokio::test]
async fn a_part_is_made_once_wherever_the_answers_were_lost() {
    for lost in ["nothing", "POST issues", "POST sub_issues", "both"] {
        let fake = with_one_issue();
        let tracker = github(&fake);
        let first = outgoing("1", part("Part", &["area/web"]));
        match lost {
            "POST issues" => fake.fail(On::method("POST").times(1), Planned::CutAfter),
            "POST sub_issues" => {
                fake.fail(
                    On::method("POST").with("sub_issues").times(1),
                    Planned::CutAfter,
                );
            }
            "both" => fake.fail(
                On::method("POST").with("sub_issues").times(1),
                Planned::CutBefore,
            ),
            _ => {}
        }
        let mut applied = tracker.apply(&first).await;
        assert_eq!(applied.is_ok(), lost == "nothing", "{lost}: {applied:?}");
        if applied.is_err() {
            applied = tracker.apply(&again(&first)).await;
        }
        let Some(Created::Issue(made)) = applied.unwrap().created else {
            panic!("{lost}: an issue was made")
        };
        assert_eq!(made.parent, Some(ExternalId::new("1")), "{lost}");
        assert_eq!(made.title, "Part");
        let issues = fake.with(|world| world.issues());
        assert_eq!(issues.len(), 2, "{lost}");
        assert_eq!(issues[1].labels, ["area/web".to_owned()].into());
        assert_eq!(issues[1].parent, Some(1), "{lost}");
    }
}

#[tokio::test]
async fn a_host_without_sub_issues_makes_an_issue_alone() {
    let fake = with_one_issue();
    fake.with(|world| world.set_relations_known(false, false));
    let applied = github(&fake)
        .apply(&outgoing("1", part("Part", &[])))
        .await
        .unwrap();
    let Some(Created::Issue(made)) = applied.created else {
        panic!("an issue was made")
    };
    assert_eq!(made.parent, None);
}

#[tokio::test]
async fn a_target_that_is_gone_is_named() {
    let fake = with_one_issue();
    let tracker = github(&fake);
    let changes = [
        state(StateGroup::Completed),
        labels(&["a"], &[]),
        labels(&[], &["a"]),
        comment("x"),
    ];
    for change in changes {
        let fault = tracker.apply(&outgoing("9", change)).await.unwrap_err();
        let what = "issue 9 of acme/web".to_owned();
        assert_eq!(fault, Fault::NotFound { what });
    }
    fake.with(|world| world.transfer_issue(1));
    let fault = tracker
        .apply(&outgoing("1", state(StateGroup::Completed)))
        .await
        .unwrap_err();
    assert!(matches!(fault, Fault::NotFound { .. }), "{fault:?}");
}

#[tokio::test]
async fn a_renamed_repository_takes_changes() {
    let fake = with_one_issue();
    fake.with(|world| world.rename_repository("site"));
    let tracker = github(&fake);
    tracker
        .apply(&outgoing("1", comment("Here")))
        .await
        .unwrap();
    tracker
        .apply(&outgoing("1", labels(&["a b"], &[])))
        .await
        .unwrap();
    tracker
        .apply(&outgoing("1", state(StateGroup::NotPlanned)))
        .await
        .unwrap();
    assert_eq!(fake.with(|world| world.comments(1)).len(), 1);
    assert!(!issue(&fake).is_open);
}

#[tokio::test]
async fn what_github_has_not_or_refuses_is_said_once_and_for_all() {
    let fake = with_one_issue();
    let tracker = github(&fake);
    let priority = Change::SetPriority {
        priority: Priority::High,
    };
    let fault = tracker.apply(&outgoing("1", priority)).await.unwrap_err();
    assert!(matches!(fault, Fault::Refused { .. }), "{fault:?}");
    let title = "x".repeat(300);
    let fault = tracker
        .apply(&outgoing("1", Change::SetTitle { title }))
        .await
        .unwrap_err();
    let detail = "Validation Failed; title is too long (maximum is 256 characters)".to_owned();
    assert_eq!(fault, Fault::Refused { detail });
}

#[tokio::test]
async fn an_issue_that_was_closed_for_another_reason_gets_the_right_one() {
    let fake = with_one_issue();
    let tracker = github(&fake);
    for (group, reason) in [
        (StateGroup::NotPlanned, "not_planned"),
        (StateGroup::Completed, "completed"),
    ] {
        let applied = tracker
            .apply(&outgoing("1", state(group)))
            .await
            .unwrap()
            .issue
            .unwrap();
        assert_eq!(applied.state.group, group);
        let found = issue(&fake);
        assert_eq!(
            (found.is_open, found.reason.as_deref()),
            (false, Some(reason))
        );
    }
}

/// Somebody may have edited the marker away since, so that no search would find it.
#[tokio::test]
async fn a_part_that_is_known_is_put_below_and_not_made_again() {
    let fake = with_one_issue();
    let tracker = github(&fake);
    let known = fake.with(|world| world.add_issue(1, "Part", "without a marker"));
    let mut change = again(&outgoing("1", part("Part", &[])));
    change.made = Some(ExternalId::new(known.to_string()));
    let applied = tracker.apply(&change).await.unwrap();
    let Some(Created::Issue(found)) = applied.created else {
        panic!("{applied:?}")
    };
    assert_eq!(found.parent, Some(ExternalId::new("1")));
    assert_eq!(fake.with(|world| world.issues().len()), 2);
}

/// As after a restore, which takes away the note that it was tried.
#[tokio::test]
async fn a_part_that_is_there_is_found_even_if_it_was_never_tried() {
    let fake = with_one_issue();
    let tracker = github(&fake);
    let change = outgoing("1", part("Part", &[]));
    // A year between the clocks changes nothing.
    fake.with(|world| world.clock.advance_ms(-365 * 24 * 3_600_000));
    for _ in 0..2 {
        tracker.apply(&change).await.unwrap();
    }
    assert_eq!(fake.with(|world| world.issues().len()), 2);
}
