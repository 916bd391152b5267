//! Replicas: the history up to a commit in a repository of its own, and nothing that came after it.

use symphony_workspace::{BranchName, CommitId, WorkspaceError};

use crate::project::{Project, commit_file, git, git_in, read, write};

#[test]
fn a_replica_ends_at_its_commit_and_shares_nothing() {
    let project = Project::new();
    let repository = project.open();
    let root = repository.root().to_path_buf();
    git(&root, &["config", "user.name", "Ada of the replica"]);
    let base = commit_file(&root, "a.txt", "before\n");
    write(root.join(".env"), "TOKEN=1\n");
    let later = commit_file(&root, "a.txt", "the solution\n");
    git(&root, &["tag", "after"]);

    let folder = tempfile::tempdir().unwrap();
    let replica = folder.path().join("replica");
    let branch = BranchName::parse("trunk").unwrap();
    let copied = repository.replicate(&replica, &branch, &base).unwrap();
    assert_eq!(copied.copied, [std::path::PathBuf::from(".env")]);
    assert_eq!(read(replica.join("a.txt")), "before\n");
    assert_eq!(
        git(&replica, &["for-each-ref", "--format=%(refname)"]).trim(),
        "refs/heads/trunk"
    );
    assert_eq!(git(&replica, &["rev-parse", "HEAD"]).trim(), base.as_str());
    assert_eq!(git(&replica, &["status", "--porcelain", "-uno"]), "");
    assert_eq!(
        git(&replica, &["config", "user.name"]).trim(),
        "Ada of the replica"
    );
    git(&replica, &["fsck", "--full", "--strict"]);
    let solution = git_in(&replica, &["cat-file", "-e", later.as_str()]);
    assert!(!solution.status.success(), "the later commit is in it");
}

#[test]
fn a_commit_that_is_gone_is_named() {
    let project = Project::new();
    let folder = tempfile::tempdir().unwrap();
    let gone = CommitId::parse("0123456789abcdef0123456789abcdef01234567").unwrap();
    let branch = BranchName::parse("main").unwrap();
    let replica = folder.path().join("replica");
    let error = project
        .open()
        .replicate(&replica, &branch, &gone)
        .unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::Replica { commit, .. } if *commit == gone),
        "{error}"
    );
    assert!(!replica.exists(), "nothing is begun that cannot be done");
}
