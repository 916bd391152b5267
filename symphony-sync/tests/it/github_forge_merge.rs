//! Merges, which GitHub makes in a real repository.

use symphony_core::config::ForgeMethod;
use symphony_fakes::{FakeForge, MergeKind, Protection};
use symphony_forge::remote::{MergeAnswer, MergeMethod, PullNumber, RemoteState};
use symphony_sync::Fault;

use crate::forge_harness::{forge, forge_with, wish, with_pull};
use crate::harness::options;

fn history(fake: &FakeForge) -> Vec<String> {
    let lines = fake.git(&["log", "--first-parent", "--format=%s", "main"]);
    lines.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn each_method_makes_its_commits() {
    use MergeMethod::{Merge, Rebase, Squash};
    let table = [
        (
            Merge,
            vec!["Change a (#1)", "Change other.txt", "Change README.md"],
            2,
        ),
        (
            Squash,
            vec!["Change a (#1)", "Change other.txt", "Change README.md"],
            1,
        ),
        (
            Rebase,
            vec![
                "Change src/b.txt",
                "Change src/a.txt",
                "Change other.txt",
                "Change README.md",
            ],
            1,
        ),
    ];
    for (method, expected, parents) in table {
        let (fake, number, _) = with_pull();
        let head = fake.with(|world| {
            // the base moves on meanwhile
            world.push_file(2, "main", "other.txt", "other");
            world.push_file(1, "topic", "src/b.txt", "b")
        });
        let forge = forge(&fake);
        let number = PullNumber::new(number);
        let answer = forge.merge(number, &wish(&head, method)).await.unwrap();
        let commit = fake.git(&["rev-parse", "main"]);
        assert_eq!(
            answer,
            MergeAnswer::Merged {
                commit: commit.clone()
            }
        );
        assert_eq!(history(&fake), expected, "{method:?}");
        let found = fake.git(&["show", "--no-patch", "--format=%P", "main"]);
        assert_eq!(found.split(' ').count(), parents, "{method:?}");
        assert_eq!(fake.git(&["show", "main:src/b.txt"]), "b");
        assert_eq!(fake.git(&["show", "main:other.txt"]), "other");
        let pull = forge.pull(number).await.unwrap();
        let RemoteState::Merged {
            commit: Some(found),
            by: Some(by),
        } = pull.state
        else {
            panic!("{pull:?}")
        };
        assert_eq!((found, by.login.as_str()), (commit, "octocat"));
        assert_eq!(pull.head, head);
    }
}

#[tokio::test]
async fn a_head_that_moved_is_not_merged() {
    let (fake, number, head) = with_pull();
    fake.with(|world| world.push_file(1, "topic", "src/late.txt", "late"));
    let before = fake.git(&["rev-parse", "main"]);
    let number = PullNumber::new(number);
    let answer = forge(&fake)
        .merge(number, &wish(&head, MergeMethod::Merge))
        .await
        .unwrap();
    assert_eq!(answer, MergeAnswer::HeadMoved);
    assert_eq!(fake.git(&["rev-parse", "main"]), before);
}

#[tokio::test]
async fn an_obstacle_is_reported_in_the_words_of_github() {
    let (fake, number, head) = with_pull();
    let forge = forge(&fake);
    let number_there = PullNumber::new(number);
    let wish = wish(&head, MergeMethod::Squash);
    let refused = async |expected: &str| {
        let answer = forge.merge(number_there, &wish).await.unwrap();
        let detail = expected.to_owned();
        assert_eq!(answer, MergeAnswer::NotMergeable { detail });
    };
    fake.with(|world| world.set_draft(number, true));
    refused("Pull Request is still a draft").await;
    fake.with(|world| {
        world.set_draft(number, false);
        world.set_methods(&[MergeKind::Rebase]);
    });
    refused("Squash merges are not allowed on this repository.").await;
    fake.with(|world| {
        world.set_methods(&[MergeKind::Squash]);
        let protection = Protection {
            checks: ["test".to_owned()].into(),
            approvals: 1,
            is_ruleset: false,
        };
        world.protect("main", Some(protection));
    });
    refused("Required status check \"test\" is expected.").await;
    fake.with(|world| world.add_check(&head, "test", Some("failure")));
    refused("Required status check \"test\" is failing.").await;
    fake.with(|world| world.add_check(&head, "test", Some("success")));
    refused("At least 1 approving review is required by reviewers with write access.").await;
    // an approval by someone without a role does not count
    fake.with(|world| world.add_review(2, number, "APPROVED", "", &[]));
    refused("At least 1 approving review is required by reviewers with write access.").await;
    fake.with(|world| world.add_review(1, number, "APPROVED", "", &[]));
    fake.with(|world| world.set_open(number, false));
    refused("Pull Request is not mergeable").await;
    fake.with(|world| world.set_open(number, true));
    let answer = forge.merge(number_there, &wish).await.unwrap();
    assert!(matches!(answer, MergeAnswer::Merged { .. }), "{answer:?}");
}

#[tokio::test]
async fn a_conflict_is_not_merged() {
    for method in [MergeMethod::Merge, MergeMethod::Squash, MergeMethod::Rebase] {
        let (fake, number, head) = with_pull();
        fake.with(|world| world.push_file(2, "main", "src/a.txt", "theirs"));
        let answer = forge(&fake)
            .merge(PullNumber::new(number), &wish(&head, method))
            .await
            .unwrap();
        assert!(
            matches!(answer, MergeAnswer::NotMergeable { .. }),
            "{answer:?}"
        );
        assert_eq!(history(&fake).len(), 2);
    }
}

#[tokio::test]
async fn merges_by_people_are_seen() {
    for kind in [MergeKind::Merge, MergeKind::Squash, MergeKind::Rebase] {
        let (fake, number, head) = with_pull();
        let commit = fake
            .with(|world| world.merge_pull(1, number, kind))
            .unwrap();
        let found = forge(&fake).find("topic", "main").await.unwrap().unwrap();
        assert_eq!(found.head, head);
        let RemoteState::Merged {
            commit: Some(found),
            by: Some(_),
        } = found.state
        else {
            panic!("{found:?}")
        };
        assert_eq!(found, commit, "{kind:?}");
    }
}

#[tokio::test]
async fn a_pull_request_that_does_not_exist_is_not_found() {
    let (fake, _, head) = with_pull();
    let fault = forge(&fake)
        .merge(PullNumber::new(99), &wish(&head, MergeMethod::Merge))
        .await
        .unwrap_err();
    let what = "pull request #99 of acme/web".to_owned();
    assert_eq!(fault, Fault::NotFound { what });
}

#[tokio::test]
async fn a_method_that_the_repository_does_not_allow_is_found_before_a_merge() {
    let fake = FakeForge::start();
    fake.with(|world| world.set_methods(&[MergeKind::Squash, MergeKind::Rebase]));
    let access = forge_with(&fake, ForgeMethod::Merge, &options())
        .check()
        .await
        .unwrap();
    assert_eq!(
        access.problem_texts(),
        [
            "the repository does not allow the merge method `merge`: set `forge.method` to `squash` or `rebase`"
        ]
    );
    let access = forge_with(&fake, ForgeMethod::Squash, &options())
        .check()
        .await
        .unwrap();
    assert_eq!((access.problems, access.can_write), (vec![], Some(true)));
}
