//! Replicas: the history up to a commit in a repository of its own, and nothing that came after it.

use symphony_workspace::{BranchName, CommitId, Repository, RepositoryOptions, WorkspaceError};

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
        matches!(&error, WorkspaceError::CommitMissing { commit, .. } if commit == gone.as_str()),
        "{error}"
    );
    assert!(!replica.exists(), "nothing is begun that cannot be done");
}

/// The end of a shallow clone is no damage: git would take its commits for such without the list of them.
#[test]
fn a_replica_of_a_shallow_clone_ends_where_the_clone_does() {
    let project = Project::new();
    let root = project.open().root().to_path_buf();
    for number in 1..=4 {
        commit_file(&root, "a.txt", &format!("{number}\n"));
    }
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join("clone");
    let (from, to) = (
        format!("file://{}", root.display()),
        clone.to_str().unwrap(),
    );
    git(folder.path(), &["clone", "-q", "--depth", "2", &from, to]);
    let repository = Repository::open(&clone, RepositoryOptions::default()).unwrap();
    let branch = BranchName::parse("trunk").unwrap();
    for (name, head, commits) in [("one", "HEAD", "2"), ("two", "HEAD~1", "1")] {
        let head = CommitId::parse(&git(&clone, &["rev-parse", head])).unwrap();
        let replica = folder.path().join(name);
        repository.replicate(&replica, &branch, &head).unwrap();
        assert_eq!(git(&replica, &["rev-list", "--count", "HEAD"]), commits);
        assert_eq!(git(&replica, &["status", "--porcelain"]), "");
        git(&replica, &["fsck", "--full", "--strict"]);
    }
}

#[test]
fn a_replica_of_a_sha256_repository_is_one_too() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("sha256");
    let init = ["init", "-q", "-b", "main", "--object-format=sha256"];
    git(
        folder.path(),
        &[&init[..], &[root.to_str().unwrap()]].concat(),
    );
    let head = commit_file(&root, "a.txt", "one\n");
    let replica = folder.path().join("replica");
    let branch = BranchName::parse("main").unwrap();
    let repository = Repository::open(&root, RepositoryOptions::default()).unwrap();
    repository.replicate(&replica, &branch, &head).unwrap();
    assert_eq!(git(&replica, &["rev-parse", "main"]), head.as_str());
    assert_eq!(read(replica.join("a.txt")), "one\n");
}

#[test]
fn what_a_partial_clone_has_not_fetched_is_named() {
    let project = Project::new();
    let root = project.open().root().to_path_buf();
    git(&root, &["config", "uploadpack.allowFilter", "true"]);
    let first = commit_file(&root, "a.txt", "one\n");
    commit_file(&root, "a.txt", "two\n");
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join("clone");
    let (from, to) = (
        format!("file://{}", root.display()),
        clone.to_str().unwrap(),
    );
    git(
        folder.path(),
        &["clone", "-q", "--filter=blob:none", &from, to],
    );
    let repository = Repository::open(&clone, RepositoryOptions::default()).unwrap();
    let branch = BranchName::parse("main").unwrap();
    let replica = folder.path().join("replica");
    let error = repository.replicate(&replica, &branch, &first).unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::ObjectsNotFetched { .. }),
        "{error:?}"
    );
}
