//! What is read from GitHub.

use std::collections::BTreeSet;

use symphony_fakes::{FakeGithub, Fault as Planned, On, Role};
use symphony_sync::Fault;
use symphony_tracker::remote::{Cursor, ExternalId, StateGroup};

use crate::harness::{github, github_at, look, look_with, options};

fn ids(numbers: impl IntoIterator<Item = u64>) -> BTreeSet<ExternalId> {
    numbers
        .into_iter()
        .map(|number| ExternalId::new(number.to_string()))
        .collect()
}

#[tokio::test]
async fn an_issue_is_read_with_everything_it_has() {
    let fake = FakeGithub::start();
    let (parent, blocker, number) = fake.with(|world| {
        let parent = world.add_issue(1, "Epic", "");
        let blocker = world.add_issue(1, "First", "");
        let closed = world.add_issue(1, "Done before", "");
        world.edit_issue(closed, |issue| {
            issue.is_open = false;
            issue.reason = Some("completed".to_owned());
        });
        let number = world.add_issue(2, "Login fails", "Line 1\r\nLine 2");
        world.edit_issue(number, |issue| {
            issue.labels = ["bug".to_owned(), "area/web 100% 🚀".to_owned()].into();
            issue.assignees = [1].into();
            issue.parent = Some(parent);
            issue.blocked_by = [blocker, closed].into();
        });
        (parent, blocker, number)
    });
    let tracker = github(&fake);
    let found = tracker
        .issues(&[ExternalId::new(number.to_string())])
        .await
        .unwrap();
    let [issue] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(issue.key, "#4");
    assert_eq!(issue.url, "https://github.com/acme/web/issues/4");
    assert_eq!(issue.title, "Login fails");
    assert_eq!(issue.body, "Line 1\nLine 2");
    assert_eq!(
        (issue.state.name.as_str(), issue.state.group),
        ("open", StateGroup::Open)
    );
    assert_eq!(
        issue.labels,
        ["bug".to_owned(), "area/web 100% 🚀".to_owned()].into()
    );
    assert_eq!(issue.priority, None);
    assert_eq!(issue.author.as_ref().unwrap().login, "mallory");
    let assignees: Vec<_> = issue
        .assignees
        .iter()
        .map(|user| user.id.as_str())
        .collect();
    assert_eq!(assignees, ["1"]);
    assert_eq!(issue.parent, Some(ExternalId::new(parent.to_string())));
    assert_eq!(issue.blocked_by, ids([blocker, 3]));
    assert!(issue.created_at < issue.updated_at);
}

#[tokio::test]
async fn states_are_read_with_their_reasons() {
    let fake = FakeGithub::start();
    let table = [
        (true, None, StateGroup::Open),
        (true, Some("reopened"), StateGroup::Open),
        (false, None, StateGroup::Completed),
        (false, Some("completed"), StateGroup::Completed),
        (false, Some("not_planned"), StateGroup::NotPlanned),
        (false, Some("duplicate"), StateGroup::NotPlanned),
    ];
    fake.with(|world| {
        for (is_open, reason, _) in table {
            let number = world.add_issue(1, "One", "");
            world.edit_issue(number, |issue| {
                issue.is_open = is_open;
                issue.reason = reason.map(str::to_owned);
            });
        }
    });
    let look = look(&*github(&fake), &Cursor::default()).await;
    let groups: Vec<_> = look.issues.iter().map(|issue| issue.state.group).collect();
    assert_eq!(groups, table.map(|(_, _, group)| group));
}

#[tokio::test]
async fn pull_requests_and_their_comments_are_left_out() {
    let fake = FakeGithub::start();
    fake.with(|world| {
        let issue = world.add_issue(1, "Issue", "");
        let pull = world.add_pull_request(1, "Change");
        world.add_comment(2, pull, "On the change");
        world.add_comment(2, issue, "On the issue");
    });
    let tracker = github(&fake);
    let look = look(&*tracker, &Cursor::default()).await;
    assert_eq!(look.ids(), ids([1]));
    assert_eq!(look.bodies(), ["On the issue"]);
    assert!(
        tracker
            .issues(&[ExternalId::new("2")])
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn an_idle_look_costs_nothing_and_an_edit_is_seen() {
    let fake = FakeGithub::start();
    let comment = fake.with(|world| {
        let issue = world.add_issue(1, "Issue", "");
        world.add_comment(2, issue, "First")
    });
    let tracker = github(&fake);
    let first = look(&*tracker, &Cursor::default()).await;
    assert_eq!(first.bodies(), ["First"]);
    assert!(!first.comments[0].is_edited);
    // the second look begins a minute before the last change, so its address is a new one
    let second = look(&*tracker, &first.next).await;
    let charged = fake.with(|world| world.charged_requests());
    let third = look(&*tracker, &second.next).await;
    assert_eq!((third.issues.len(), third.comments.len()), (0, 0));
    assert_eq!(third.next, second.next);
    assert_eq!(fake.with(|world| world.charged_requests()), charged);
    fake.with(|world| world.edit_comment(comment, "Second"));
    let fourth = look(&*tracker, &third.next).await;
    assert_eq!(fourth.bodies(), ["Second"]);
    assert!(fourth.comments[0].is_edited);
    assert_eq!(fourth.issues.len(), 0);
}

#[tokio::test]
async fn two_hundred_and_sixty_issues_of_one_second_are_all_read() {
    let fake = FakeGithub::start();
    fake.with(|world| {
        world.clock.set_step_ms(0);
        for number in 1..=260 {
            world.add_issue(1, &format!("Issue {number}"), "");
        }
        for number in 1..=230 {
            world.add_comment(1, number, "Equal");
        }
        world.clock.set_step_ms(1000);
        world.add_issue(1, "Later", "");
    });
    let look = look(&*github(&fake), &Cursor::default()).await;
    assert_eq!(look.ids(), ids(1..=261));
    let comments: BTreeSet<_> = look.comments.iter().map(|comment| &comment.issue).collect();
    assert_eq!(comments.len(), 230);
}

#[tokio::test]
async fn no_issue_is_skipped_when_issues_change_while_pages_are_read() {
    for equal in [true, false] {
        for changed_after in 1..=3 {
            let fake = FakeGithub::start();
            fake.with(|world| {
                world.clock.set_step_ms(if equal { 0 } else { 1000 });
                for number in 1..=350 {
                    world.add_issue(1, &format!("Issue {number}"), "");
                }
                world.clock.set_step_ms(1000);
                // further away than what every look reads again
                world.clock.advance_ms(600_000);
            });
            let look = look_with(&*github(&fake), &Cursor::default(), |page| {
                if page == changed_after {
                    // these move to the end, and what follows moves up
                    fake.with(|world| {
                        for number in 1..=7 {
                            world.edit_issue(number, |issue| issue.title = "Changed".to_owned());
                        }
                        world.edit_issue(150, |issue| issue.title = "Changed".to_owned());
                    });
                }
            })
            .await;
            assert_eq!(look.ids(), ids(1..=350), "{equal} {changed_after}");
            let changed: BTreeSet<_> = look
                .issues
                .iter()
                .filter(|issue| issue.title == "Changed")
                .map(|issue| issue.id.as_str())
                .collect();
            assert_eq!(changed.len(), 8, "{equal} {changed_after}");
        }
    }
}

#[tokio::test]
async fn a_change_that_becomes_visible_late_is_read() {
    let fake = FakeGithub::start();
    fake.with(|world| {
        world.add_issue(1, "First", "");
        world.clock.advance_ms(30_000);
        world.add_issue(1, "Second", "");
    });
    let tracker = github(&fake);
    let first = look(&*tracker, &Cursor::default()).await;
    // as if it had changed before the second issue was made
    fake.with(|world| {
        let before = world.issue(1).updated_at.saturating_add_ms(5000);
        world.edit_quietly(1, |issue| {
            issue.title = "Late".to_owned();
            issue.updated_at = before;
        });
    });
    let second = look(&*tracker, &first.next).await;
    assert!(second.issues.iter().any(|issue| issue.title == "Late"));
}

#[tokio::test]
async fn pages_that_repeat_or_are_reordered_lose_nothing() {
    for planned in [Planned::Duplicated, Planned::Reversed] {
        let fake = FakeGithub::start();
        fake.with(|world| {
            for number in 1..=120 {
                world.add_issue(1, &format!("Issue {number}"), "");
            }
        });
        fake.fail(On::any().times(1), planned.clone());
        let look = look(&*github(&fake), &Cursor::default()).await;
        assert_eq!(look.ids(), ids(1..=120), "{planned:?}");
    }
}

#[tokio::test]
async fn blockers_are_asked_for_only_where_there_are_some() {
    let fake = FakeGithub::start();
    fake.with(|world| {
        for number in 1..=5 {
            world.add_issue(1, &format!("Issue {number}"), "");
        }
        world.edit_issue(2, |issue| issue.blocked_by = [1].into());
    });
    let tracker = github(&fake);
    let found = look(&*tracker, &Cursor::default()).await;
    let asked = fake.take_exchanges();
    let asked = asked
        .iter()
        .filter(|exchange| exchange.target.contains("blocked_by"));
    assert_eq!(asked.count(), 1);
    assert!(
        found
            .issues
            .iter()
            .any(|issue| issue.blocked_by == ids([1]))
    );
    // an older host has the field but not the request
    fake.fail(
        On::any().with("blocked_by"),
        Planned::status(404, "Not Found"),
    );
    let found = tracker.issues(&[ExternalId::new("2")]).await.unwrap();
    assert_eq!(found[0].blocked_by, ids([]));
    fake.with(|world| world.set_relations_known(false, false));
    let found = tracker.issues(&[ExternalId::new("2")]).await.unwrap();
    assert_eq!(found[0].blocked_by, ids([]));
}

#[tokio::test]
async fn a_renamed_repository_is_followed_and_named() {
    let fake = FakeGithub::start();
    fake.with(|world| {
        world.add_issue(1, "Issue", "");
        world.rename_repository("site");
    });
    let tracker = github(&fake);
    assert_eq!(look(&*tracker, &Cursor::default()).await.ids(), ids([1]));
    assert_eq!(
        tracker.issues(&[ExternalId::new("1")]).await.unwrap().len(),
        1
    );
    let access = tracker.check().await.unwrap();
    assert_eq!(access.place, "acme/site");
    assert_eq!(
        access.problem_texts(),
        [
            "the repository acme/web is now called acme/site: change `repository` of the tracker, then run `symphony tracker sync main --moved`"
        ]
    );
}

#[tokio::test]
async fn an_issue_that_was_transferred_or_removed_is_left_out() {
    let fake = FakeGithub::start();
    fake.with(|world| {
        world.add_issue(1, "Here", "");
        world.add_issue(1, "There", "");
        world.transfer_issue(2);
    });
    let tracker = github(&fake);
    let wanted = ["1", "2", "77", "no-number"].map(ExternalId::new);
    let found = tracker.issues(&wanted).await.unwrap();
    let found: Vec<_> = found.iter().map(|issue| issue.title.as_str()).collect();
    assert_eq!(found, ["Here"]);
}

#[tokio::test]
async fn a_check_says_who_the_token_is_and_what_it_may_do() {
    let fake = FakeGithub::start();
    let access = github(&fake).check().await.unwrap();
    assert_eq!(access.user.unwrap().login, "octocat");
    assert_eq!((access.can_write, access.problems), (Some(true), vec![]));
    assert_eq!(
        access.scopes.unwrap(),
        ["read:org".to_owned(), "repo".to_owned()].into()
    );

    let reader = "ghp_mallory0123456789";
    fake.with(|world| world.set_token(reader, 2, Some("gist")));
    let access = github_at(&fake.endpoint(), reader, &options())
        .check()
        .await
        .unwrap();
    assert_eq!(access.can_write, Some(false));
    assert_eq!(access.problems.len(), 2, "{:?}", access.problems);

    fake.with(|world| {
        world.set_repository(true, false, true);
        world.set_role(2, Some(Role::Triage));
    });
    let access = github_at(&fake.endpoint(), reader, &options())
        .check()
        .await
        .unwrap();
    assert_eq!(
        access.problem_texts(),
        ["the token lacks the scope `repo`, without which it cannot write issues"]
    );

    fake.with(|world| world.set_role(2, None));
    let fault = github_at(&fake.endpoint(), reader, &options())
        .check()
        .await
        .unwrap_err();
    let what = "the repository acme/web".to_owned();
    assert_eq!(fault, Fault::NotFound { what });
}

#[tokio::test]
async fn a_cursor_of_another_version_begins_again() {
    let fake = FakeGithub::start();
    fake.with(|world| world.add_issue(1, "Issue", ""));
    for text in ["not json", "[]", r#"{"version": 9}"#] {
        let look = look(&*github(&fake), &Cursor::new(text)).await;
        assert_eq!(look.ids(), ids([1]), "{text}");
    }
}

#[tokio::test]
async fn the_comments_of_one_issue_are_read_from_the_first() {
    let fake = FakeGithub::start();
    fake.with(|world| {
        world.add_issue(1, "One", "");
        world.add_issue(1, "Two", "");
        for number in 1..=130 {
            world.add_comment(2, 1, &format!("Comment {number}"));
            world.add_comment(2, 2, "Elsewhere");
        }
    });
    let tracker = github(&fake);
    let found = tracker.comments(&ExternalId::new("1")).await.unwrap();
    let bodies: Vec<_> = found.iter().map(|comment| comment.body.clone()).collect();
    let expected: Vec<_> = (1..=130)
        .map(|number| format!("Comment {number}"))
        .collect();
    assert_eq!(bodies, expected);
    let fault = tracker.comments(&ExternalId::new("9")).await.unwrap_err();
    assert!(matches!(fault, Fault::NotFound { .. }), "{fault:?}");
}
