//! The main job: a worktree, its commit, its diff, its merge, its removal.

use symphony_workspace::{
    BaseMerge, BranchFate, BranchOutcome, ChangeKind, FileChange, MergeOfBase, MergeStyle,
    RemoveRequest, Removed, work_in_progress,
};

use crate::project::{
    Project, at, branch, commit_file, git, made, merge_into, prepare, read, write,
};

#[test]
fn an_issue_goes_from_worktree_to_merged_base() {
    let project = Project::named("with space ünï");
    let repository = project.open();
    let prepared = prepare(&repository, BaseMerge::Merge).unwrap();
    assert!(prepared.created);
    assert_eq!(
        (prepared.base, prepared.recovered),
        (MergeOfBase::NotAsked, vec![])
    );
    let worktree = prepared.worktree;
    assert_eq!(
        worktree.path(),
        project.root.join(".symphony-workspaces/SYM-1")
    );
    assert_eq!(read(worktree.path().join("src/a.txt")), "one\ntwo\nthree\n");
    assert_eq!(
        git(worktree.path(), &["branch", "--show-current"]),
        "symphony/SYM-1"
    );
    assert_eq!(git(&project.root, &["status", "--porcelain"]), "");
    assert!(!git(&project.root, &["config", "--list"]).contains("branch.symphony"));

    write(worktree.path().join("src/a.txt"), "one\n2\nthree\nfour\n");
    write(worktree.path().join("new ä.txt"), "new\n");
    std::fs::remove_file(worktree.path().join("README.md")).unwrap();
    let done = repository
        .auto_commit(&worktree, &work_in_progress("SYM-1"), at(1))
        .unwrap();
    let head = done.commit.clone().unwrap();
    assert_eq!(done.head, head);
    assert_eq!(
        git(
            &project.root,
            &["log", "-1", "--format=%s|%an <%ae>", "symphony/SYM-1"]
        ),
        "symphony(SYM-1): work in progress|Symphony <symphony@localhost>"
    );
    assert!(repository.status(&worktree).unwrap().is_clean());
    let again = repository.auto_commit(&worktree, "nothing", at(2)).unwrap();
    assert_eq!((again.commit, again.head), (None, head.clone()));

    let base = repository.base().unwrap();
    assert_eq!(base.branch, branch("main"));
    let diff = repository.diff(&base.commit, &head, 1 << 20).unwrap();
    let file = |path: &str, kind, insertions, deletions| FileChange {
        path: path.into(),
        old_path: None,
        kind,
        insertions,
        deletions,
        binary: false,
    };
    assert_eq!(
        diff.files,
        vec![
            file("README.md", ChangeKind::Deleted, 0, 1),
            file("new ä.txt", ChangeKind::Added, 1, 0),
            file("src/a.txt", ChangeKind::Modified, 2, 1),
        ]
    );
    assert!(!diff.patch_cut);
    assert!(
        diff.patch.contains("-two\n+2\n three\n+four\n"),
        "{}",
        diff.patch
    );
    assert_eq!(repository.commits_ahead(&base.commit, &head).unwrap(), 1);

    let (main, at_first) = (&base.branch, &base.commit);
    merge_into(&repository, main, at_first, &head, MergeStyle::FastForward).unwrap();
    assert_eq!(project.head("main"), head);
    assert_eq!(read(project.root.join("new ä.txt")), "new\n");
    assert!(!project.root.join("README.md").exists());
    assert_eq!(git(&project.root, &["status", "--porcelain"]), "");

    let removed = repository
        .remove_worktree(&RemoveRequest {
            key: worktree.key(),
            branch: worktree.branch(),
            base: &base.branch,
            fate: BranchFate::DeleteIfMerged,
            now: at(3),
        })
        .unwrap();
    assert_eq!(
        removed,
        Removed {
            worktree: true,
            rescues: vec![],
            submodules: vec![],
            branch: BranchOutcome::Deleted { head }
        }
    );
    assert!(!worktree.path().exists());
    assert_eq!(
        git(&project.root, &["for-each-ref", "--format=%(refname)"]),
        "refs/heads/main"
    );
}

#[test]
fn a_reused_worktree_gets_the_latest_base() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    commit_file(worktree.path(), "mine.txt", "mine\n");
    let again = prepare(&repository, BaseMerge::Merge).unwrap();
    assert!(!again.created);
    assert_eq!(again.base, MergeOfBase::UpToDate);

    commit_file(&project.root, "theirs.txt", "theirs\n");
    write(worktree.path().join("uncommitted.txt"), "still here\n");
    let left = prepare(&repository, BaseMerge::Leave).unwrap();
    assert_eq!(left.base, MergeOfBase::NotAsked);
    assert!(!worktree.path().join("theirs.txt").exists());
    let merged = prepare(&repository, BaseMerge::Merge).unwrap();
    let head = repository.head(&worktree).unwrap();
    assert_eq!(merged.base, MergeOfBase::Merged(head));
    assert_eq!(read(worktree.path().join("theirs.txt")), "theirs\n");
    assert_eq!(
        read(worktree.path().join("uncommitted.txt")),
        "still here\n"
    );
    assert_eq!(
        repository.status(&worktree).unwrap().untracked,
        vec![std::path::PathBuf::from("uncommitted.txt")]
    );
}

#[test]
fn a_conflict_with_the_base_changes_nothing_and_names_the_files() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let mine = commit_file(worktree.path(), "src/a.txt", "mine\n");
    commit_file(&project.root, "src/a.txt", "theirs\n");
    commit_file(&project.root, "fine.txt", "fine\n");
    let prepared = prepare(&repository, BaseMerge::Merge).unwrap();
    assert_eq!(
        prepared.base,
        MergeOfBase::Conflict(vec!["src/a.txt".into()])
    );
    assert_eq!(repository.head(&worktree).unwrap(), mine);
    assert!(repository.status(&worktree).unwrap().is_clean());
    assert!(!worktree.path().join("fine.txt").exists());
}

#[test]
fn uncommitted_changes_in_the_way_of_the_base_are_kept() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    commit_file(&project.root, "src/a.txt", "theirs\n");
    write(worktree.path().join("src/a.txt"), "mine\n");
    let prepared = prepare(&repository, BaseMerge::Merge).unwrap();
    assert_eq!(
        prepared.base,
        MergeOfBase::BlockedByChanges(vec!["src/a.txt".into()])
    );
    assert_eq!(read(worktree.path().join("src/a.txt")), "mine\n");
}

#[test]
fn a_new_worktree_of_an_older_branch_gets_the_latest_base() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    commit_file(worktree.path(), "mine.txt", "mine\n");
    let remove = RemoveRequest {
        key: worktree.key(),
        branch: worktree.branch(),
        base: &branch("main"),
        fate: BranchFate::DeleteIfMerged,
        now: at(1),
    };
    repository.remove_worktree(&remove).unwrap();
    commit_file(&project.root, "theirs.txt", "theirs\n");
    let prepared = prepare(&repository, BaseMerge::Merge).unwrap();
    assert!(prepared.created);
    assert!(
        matches!(prepared.base, MergeOfBase::Merged(_)),
        "{prepared:?}"
    );
    assert_eq!(read(worktree.path().join("mine.txt")), "mine\n");
    assert_eq!(read(worktree.path().join("theirs.txt")), "theirs\n");
}

#[test]
fn changed_paths_are_all_that_differ_from_the_base() {
    let project = Project::named("scope");
    let repository = project.open();
    let worktree = prepare(&repository, BaseMerge::Merge).unwrap().worktree;
    let main = branch("main");
    let changed = || repository.changed_paths(&worktree, &main).unwrap();
    assert_eq!(changed(), [""; 0]);
    // committed: a new file, and one that got another name
    write(worktree.path().join("docs/new.md"), "new\n");
    git(worktree.path(), &["mv", "src/a.txt", "src/b.txt"]);
    repository.auto_commit(&worktree, "one", at(1)).unwrap();
    // what the base gained meanwhile is none of it
    commit_file(&project.root, "elsewhere.txt", "x\n");
    // not committed: changed, removed, unknown
    write(worktree.path().join("docs/new.md"), "newer\n");
    std::fs::remove_file(worktree.path().join("README.md")).unwrap();
    write(worktree.path().join("untracked ä.txt"), "u\n");
    assert_eq!(
        changed(),
        [
            "README.md",
            "docs/new.md",
            "src/a.txt",
            "src/b.txt",
            "untracked ä.txt"
        ]
    );
    // taken back in the folder, and not committed
    git(worktree.path(), &["mv", "src/b.txt", "src/a.txt"]);
    std::fs::remove_file(worktree.path().join("docs/new.md")).unwrap();
    git(worktree.path(), &["checkout", "-q", "README.md"]);
    assert_eq!(changed(), ["untracked ä.txt"]);
}
