//! The fake's repository, used by real git over TLS.

use std::fs;

use symphony_fakes::{FakeForge, FakeGithub, GitFault, Protection, Role};
use symphony_forge::remote::{PullNumber, RemoteState};

use crate::forge_harness::{forge, git, git_as, git_trusting, new_pull};

/// Clones, commits a file to a branch, and returns the folder and the commit.
fn clone_with(fake: &FakeForge, branch: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    git(fake, folder.path(), &["clone", "-q", "ADDRESS", "."]);
    git(fake, folder.path(), &["checkout", "-q", "-B", branch]);
    let commit = commit(fake, folder.path(), "one");
    (folder, commit)
}

fn commit(fake: &FakeForge, folder: &std::path::Path, text: &str) -> String {
    fs::write(folder.join("new.txt"), text).expect("a clone can be written");
    git(fake, folder, &["add", "."]);
    git(fake, folder, &["commit", "-q", "-m", text]);
    git(fake, folder, &["rev-parse", "HEAD"])
}

#[tokio::test]
async fn a_pushed_branch_becomes_a_pull_request_and_follows_pushes() {
    let fake = FakeForge::start();
    let (folder, first) = clone_with(&fake, "symphony/x-1");
    git(
        &fake,
        folder.path(),
        &["push", "-q", "ADDRESS", "symphony/x-1"],
    );
    let forge = forge(&fake);
    let pull = forge.open(&new_pull("symphony/x-1")).await.unwrap();
    assert_eq!(pull.head, first);
    let second = commit(&fake, folder.path(), "two");
    git(
        &fake,
        folder.path(),
        &["push", "-q", "ADDRESS", "symphony/x-1"],
    );
    let later = forge.pull(pull.number).await.unwrap();
    assert_eq!(later.head, second);
    assert!(later.updated_at > pull.updated_at);
    let fetched = "refs/pull/1/head:refs/heads/fetched";
    git(&fake, folder.path(), &["fetch", "-q", "ADDRESS", fetched]);
    assert_eq!(git(&fake, folder.path(), &["rev-parse", "fetched"]), second);
    // a rewritten branch is pushed with force
    git(&fake, folder.path(), &["reset", "-q", "--hard", "HEAD~2"]);
    let third = commit(&fake, folder.path(), "three");
    let plain = ["push", "-q", "ADDRESS", "symphony/x-1"];
    let refused = git_as(&fake, Some(FakeGithub::TOKEN), folder.path(), &plain);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("non-fast-forward"));
    let lease = format!("--force-with-lease=symphony/x-1:{second}");
    git(
        &fake,
        folder.path(),
        &["push", "-q", &lease, "ADDRESS", "symphony/x-1"],
    );
    assert_eq!(forge.pull(pull.number).await.unwrap().head, third);
}

#[tokio::test]
async fn only_users_who_may_write_push() {
    let fake = FakeForge::start();
    fake.with(|world| {
        world.set_token("ghp_readerreaderreader", 2, Some("repo"));
        world.set_role(2, Some(Role::Read));
    });
    let (folder, _) = clone_with(&fake, "topic");
    let push = |token| {
        let output = git_as(&fake, token, folder.path(), &["push", "ADDRESS", "topic"]);
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (_, text) = push(None);
    assert!(text.contains("could not read Username"), "{text}");
    let (_, text) = push(Some("ghp_unknownunknown"));
    assert!(text.contains("Authentication failed"), "{text}");
    let (_, text) = push(Some("ghp_readerreaderreader"));
    assert!(text.contains("403"), "{text}");
    assert_eq!(fake.git(&["branch", "--list", "topic"]), "");
    let (pushed, text) = push(Some(FakeGithub::TOKEN));
    assert!(pushed, "{text}");
    let read = |token| {
        let output = git_as(
            &fake,
            token,
            folder.path(),
            &["ls-remote", "ADDRESS", "main"],
        );
        output.status.success()
    };
    assert!(read(None));
    fake.with(|world| world.set_repository(true, false, true));
    assert!(!read(None));
    assert!(read(Some("ghp_readerreaderreader")));
}

#[tokio::test]
async fn a_protected_branch_takes_no_push_and_others_do() {
    let fake = FakeForge::start();
    let (folder, commit) = clone_with(&fake, "main");
    fake.with(|world| world.protect("main", Some(Protection::default())));
    let push = ["push", "ADDRESS", "main", "main:other"];
    let refused = git_as(&fake, Some(FakeGithub::TOKEN), folder.path(), &push);
    let text = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success());
    assert!(
        text.contains("GH006: Protected branch update failed for refs/heads/main"),
        "{text}"
    );
    assert_ne!(fake.git(&["rev-parse", "main"]), commit);
    assert_eq!(fake.git(&["rev-parse", "other"]), commit);
    fake.with(|world| world.protect("main", None));
    git(&fake, folder.path(), &["push", "-q", "ADDRESS", "main"]);
    assert_eq!(fake.git(&["rev-parse", "main"]), commit);
}

#[tokio::test]
async fn a_client_without_the_authority_does_not_trust_the_server() {
    let (fake, other) = (FakeForge::start(), FakeForge::start());
    let folder = tempfile::tempdir().unwrap();
    let line = ["ls-remote", "ADDRESS"];
    let trusting = |authority| git_trusting(&fake, authority, None, folder.path(), &line);
    assert!(trusting(fake.authority()).status.success());
    let refused = trusting(other.authority());
    assert!(!refused.status.success());
    let text = String::from_utf8_lossy(&refused.stderr).to_lowercase();
    assert!(text.contains("certificate"), "{text}");
}

#[tokio::test]
async fn what_is_pushed_to_the_base_is_merged_and_a_deleted_branch_closes() {
    let fake = FakeForge::start();
    let (folder, commit) = clone_with(&fake, "topic");
    git(
        &fake,
        folder.path(),
        &["push", "-q", "ADDRESS", "topic", "topic:gone"],
    );
    let (number, other) = fake.with(|world| {
        let number = world.open_pull(1, "topic", "main", "Change");
        (number, world.open_pull(1, "gone", "topic", "Same"))
    });
    git(&fake, folder.path(), &["push", "-q", "ADDRESS", ":gone"]);
    git(
        &fake,
        folder.path(),
        &["push", "-q", "ADDRESS", "topic:main"],
    );
    let forge = forge(&fake);
    let merged = forge.pull(PullNumber::new(number)).await.unwrap();
    let expected = RemoteState::Merged {
        commit: Some(commit),
        by: None,
    };
    assert_eq!(merged.state, expected);
    let closed = forge.pull(PullNumber::new(other)).await.unwrap();
    assert_eq!(closed.state, RemoteState::Closed);
}

#[tokio::test]
async fn a_push_fails_by_script_before_or_after_it_is_applied() {
    let faults = [
        (GitFault::Status(503), false),
        (GitFault::CutBefore, false),
        (GitFault::CutAfter, true),
    ];
    for (fault, is_applied) in faults {
        let fake = FakeForge::start();
        let (folder, commit) = clone_with(&fake, "topic");
        // git sends a request again if a connection that it kept was cut
        fake.with(|world| world.fail_git(fault, 2));
        let line = ["push", "-q", "ADDRESS", "topic"];
        let output = git_as(&fake, Some(FakeGithub::TOKEN), folder.path(), &line);
        assert!(!output.status.success(), "{fault:?}");
        let found = fake.git(&["for-each-ref", "--format=%(objectname)", "refs/heads/topic"]);
        assert_eq!(found == commit, is_applied, "{fault:?}: {found}");
        fake.with(|world| world.fail_git(fault, 0));
        git(&fake, folder.path(), &line);
        assert_eq!(fake.git(&["rev-parse", "topic"]), commit, "{fault:?}");
    }
}
