//! What is read from Linear.

use std::collections::BTreeSet;

use symphony_core::issue::Priority;
use symphony_fakes::FakeLinear;
use symphony_sync::Fault;
use symphony_tracker::remote::{Cursor, ExternalId, StateGroup};

use crate::harness::{linear, linear_with, look, look_with};

fn set(ids: impl IntoIterator<Item = String>) -> BTreeSet<ExternalId> {
    ids.into_iter().map(ExternalId::new).collect()
}

fn add_many(fake: &FakeLinear, count: usize) -> BTreeSet<ExternalId> {
    fake.with(|world| {
        let made = (0..count).map(|n| world.add_issue("ada", "ENG", &format!("Issue {n}"), ""));
        set(made.collect::<Vec<_>>())
    })
}

#[tokio::test]
async fn an_issue_is_read_with_everything_it_has() {
    let fake = FakeLinear::start();
    let (id, parent, blocker) = fake.with(|world| {
        let parent = world.add_issue("ada", "ENG", "Epic", "");
        let blocker = world.add_issue("ada", "OPS", "First", "");
        let id = world.add_issue("mallory", "ENG", "Login fails", "Line 1\r\nLine 2");
        let bug = world.add_label("bug", None);
        let area = world.add_label("area/web 🚀", Some("ENG"));
        let ada = world.user("ada");
        world.block(&blocker, &id);
        world.edit_issue(&id, |issue| {
            issue.labels = [bug, area].into();
            issue.priority = 2;
            issue.assignee = Some(ada);
            issue.parent = Some(parent.clone());
        });
        world.move_issue(&id, "In Review");
        (id, parent, blocker)
    });
    let found = linear(&fake)
        .issues(&[ExternalId::new(id.clone())])
        .await
        .unwrap();
    let [issue] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(
        (issue.id.as_str(), issue.key.as_str()),
        (id.as_str(), "ENG-2")
    );
    assert_eq!(
        (issue.title.as_str(), issue.body.as_str()),
        ("Login fails", "Line 1\nLine 2")
    );
    assert_eq!(
        (issue.state.name.as_str(), issue.state.group),
        ("In Review", StateGroup::Started)
    );
    assert_eq!(
        issue.labels,
        ["bug".to_owned(), "area/web 🚀".to_owned()].into()
    );
    assert_eq!(issue.priority, Some(Priority::High));
    assert_eq!(issue.author.as_ref().unwrap().login, "mallory");
    assert_eq!(issue.assignees.first().unwrap().login, "ada");
    assert_eq!(issue.parent, Some(ExternalId::new(parent)));
    assert_eq!(issue.blocked_by, set([blocker]));
}

#[tokio::test]
async fn states_and_the_bin_have_their_meaning() {
    let fake = FakeLinear::start();
    let table = [
        ("Triage", StateGroup::Open),
        ("Backlog", StateGroup::Open),
        ("Todo", StateGroup::Open),
        ("In Progress", StateGroup::Started),
        ("Done", StateGroup::Completed),
        ("Duplicate", StateGroup::NotPlanned),
        ("Canceled", StateGroup::NotPlanned),
    ];
    fake.with(|world| {
        for (state, _) in table {
            let id = world.add_issue("ada", "ENG", state, "");
            world.move_issue(&id, state);
        }
        let id = world.add_issue("ada", "ENG", "Thrown away", "");
        world.edit_issue(&id, |issue| issue.is_trashed = true);
        let id = world.add_issue("ada", "ENG", "In the archive", "");
        world.move_issue(&id, "Done");
        world.edit_issue(&id, |issue| issue.is_archived = true);
    });
    let look = look(&*linear(&fake), &Cursor::default()).await;
    let groups: Vec<_> = look.issues.iter().map(|issue| issue.state.group).collect();
    let mut expected: Vec<_> = table.iter().map(|(_, group)| *group).collect();
    expected.extend([StateGroup::NotPlanned, StateGroup::Completed]);
    assert_eq!(groups, expected);
}

#[tokio::test]
async fn only_the_team_and_its_project_are_read() {
    let fake = FakeLinear::start();
    let (inside, outside) = fake.with(|world| {
        let project = world.project();
        let other = world.add_issue("ada", "OPS", "Other team", "");
        world.edit_issue(&other, |issue| issue.project = Some(project.clone()));
        world.add_comment("ada", &other, "There");
        let inside = world.add_issue("ada", "ENG", "In the project", "");
        world.edit_issue(&inside, |issue| issue.project = Some(project));
        let outside = world.add_issue("ada", "ENG", "Without a project", "");
        world.add_comment("ada", &inside, "Inside");
        world.add_comment("ada", &outside, "Outside");
        world.add_comment_elsewhere("On a project");
        (inside, outside)
    });
    let found = look(&*linear(&fake), &Cursor::default()).await;
    assert_eq!(found.ids(), set([inside.clone(), outside.clone()]));
    assert_eq!(found.bodies(), ["Inside", "Outside"]);
    let tracker = linear_with(&fake, Some("web-1a2b3c"), FakeLinear::TOKEN);
    let found = look(&*tracker, &Cursor::default()).await;
    assert_eq!(found.ids(), set([inside.clone()]));
    assert_eq!(found.bodies(), ["Inside"]);
    // the ones that moved elsewhere are left out of those asked for
    let ids = [inside.clone(), outside].map(ExternalId::new);
    let found = tracker.issues(&ids).await.unwrap();
    assert_eq!(
        found
            .iter()
            .map(|issue| issue.id.as_str())
            .collect::<Vec<_>>(),
        [inside]
    );
}

#[tokio::test]
async fn two_hundred_and_sixty_issues_of_one_moment_are_all_read() {
    let fake = FakeLinear::start();
    fake.with(|world| world.clock.set_step_ms(0));
    let all = add_many(&fake, 260);
    fake.with(|world| {
        for id in &all {
            world.add_comment("ada", id.as_str(), "Equal");
        }
    });
    let found = look(&*linear(&fake), &Cursor::default()).await;
    assert_eq!(found.ids(), all);
    assert_eq!(found.comments.len(), 260);
}

#[tokio::test]
async fn no_issue_is_skipped_when_issues_change_while_pages_are_read() {
    for step_ms in [0, 1000] {
        for changed_after in 1..=3 {
            let fake = FakeLinear::start();
            fake.with(|world| world.clock.set_step_ms(step_ms));
            let all = add_many(&fake, 170);
            fake.with(|world| {
                world.clock.set_step_ms(1000);
                // further away than what every look reads again
                world.clock.advance_ms(600_000);
            });
            let tracker = linear(&fake);
            let first = look_with(&*tracker, &Cursor::default(), |page| {
                if page == changed_after {
                    fake.with(|world| {
                        let ids: Vec<String> =
                            all.iter().map(|id| id.as_str().to_owned()).collect();
                        for id in ids.iter().step_by(7) {
                            world.edit_issue(id, |issue| issue.title = "Changed".to_owned());
                        }
                    });
                }
            })
            .await;
            let second = look(&*tracker, &first.next).await;
            let mut read = first.ids();
            read.extend(second.ids());
            assert_eq!(read, all, "{step_ms} {changed_after}");
            let changed: BTreeSet<_> = first
                .issues
                .iter()
                .chain(&second.issues)
                .filter(|issue| issue.title == "Changed")
                .map(|issue| issue.id.clone())
                .collect();
            assert_eq!(changed.len(), 25, "{step_ms} {changed_after}");
        }
    }
}

#[tokio::test]
async fn a_walk_whose_place_is_gone_begins_again() {
    let fake = FakeLinear::start();
    let all = add_many(&fake, 120);
    let tracker = linear(&fake);
    let first = tracker.changed(&Cursor::default()).await.unwrap();
    assert!(first.has_more);
    // the page ended with the oldest of its issues
    let gone = first.issues.first().unwrap().id.clone();
    fake.with(|world| world.remove_issue(gone.as_str()));
    let found = look(&*tracker, &first.next).await;
    let expected: BTreeSet<_> = all.into_iter().filter(|id| *id != gone).collect();
    assert_eq!(found.ids(), expected);
}

#[tokio::test]
async fn an_idle_look_is_one_small_query_and_an_edit_is_seen() {
    let fake = FakeLinear::start();
    let (issue, comment) = fake.with(|world| {
        let issue = world.add_issue("ada", "ENG", "Issue", "");
        let comment = world.add_comment("mallory", &issue, "First");
        (issue, comment)
    });
    let tracker = linear(&fake);
    let first = look(&*tracker, &Cursor::default()).await;
    assert!(!first.comments[0].is_edited);
    // a change can become visible late: everything of the last minute is read twice
    let second = look(&*tracker, &first.next).await;
    fake.take_exchanges();
    let third = look(&*tracker, &second.next).await;
    let asked = fake.take_exchanges();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].body.contains("SymphonyNewest"));
    assert_eq!((third.issues.len(), third.comments.len()), (0, 0));
    fake.with(|world| world.edit_comment(&comment, "Second"));
    let fourth = look(&*tracker, &third.next).await;
    assert_eq!(fourth.bodies(), ["Second"]);
    assert!(fourth.comments[0].is_edited);
    fake.with(|world| world.move_issue(&issue, "Done"));
    let fifth = look(&*tracker, &fourth.next).await;
    assert_eq!(fifth.issues[0].state.group, StateGroup::Completed);
}

#[tokio::test]
async fn labels_and_blockers_beyond_a_page_are_read_too() {
    let fake = FakeLinear::start();
    let id = fake.with(|world| {
        let id = world.add_issue("ada", "ENG", "Many", "");
        let labels: BTreeSet<String> = (0..60)
            .map(|n| world.add_label(&format!("label {n}"), None))
            .collect();
        world.edit_issue(&id, |issue| issue.labels = labels);
        for n in 0..30 {
            let blocker = world.add_issue("ada", "ENG", &format!("Blocker {n}"), "");
            world.block(&blocker, &id);
        }
        id
    });
    let tracker = linear(&fake);
    let found = tracker
        .issues(&[ExternalId::new(id.clone())])
        .await
        .unwrap();
    assert_eq!((found[0].labels.len(), found[0].blocked_by.len()), (60, 30));
    let look = look(&*tracker, &Cursor::default()).await;
    let many = look
        .issues
        .iter()
        .find(|issue| issue.id.as_str() == id)
        .unwrap();
    assert_eq!((many.labels.len(), many.blocked_by.len()), (60, 30));
}

#[tokio::test]
async fn a_check_says_who_the_token_is_and_what_is_missing() {
    let fake = FakeLinear::start();
    let access = linear(&fake).check().await.unwrap();
    assert_eq!(access.user.unwrap().login, "ada");
    assert_eq!(access.place, "Engineering (ENG)");
    let tracker = linear_with(&fake, Some("web-1a2b3c"), FakeLinear::TOKEN);
    assert_eq!(
        tracker.check().await.unwrap().place,
        "Engineering (ENG), project Web"
    );
    let fault = linear_with(&fake, Some("gone"), FakeLinear::TOKEN)
        .check()
        .await
        .unwrap_err();
    let what = "the project gone in the team ENG".to_owned();
    assert_eq!(fault, Fault::NotFound { what });
}

#[tokio::test]
async fn the_comments_of_one_issue_are_read_from_the_first() {
    let fake = FakeLinear::start();
    let id = fake.with(|world| {
        let id = world.add_issue("ada", "ENG", "One", "");
        let other = world.add_issue("ada", "ENG", "Two", "");
        for number in 1..=130 {
            world.add_comment("ada", &id, &format!("Comment {number}"));
            world.add_comment("ada", &other, "Elsewhere");
        }
        id
    });
    let found = linear(&fake).comments(&ExternalId::new(id)).await.unwrap();
    let bodies: Vec<_> = found.iter().map(|comment| comment.body.clone()).collect();
    let expected: Vec<_> = (1..=130)
        .map(|number| format!("Comment {number}"))
        .collect();
    assert_eq!(bodies, expected);
}
