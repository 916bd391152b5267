//! Merging into the base: by compare-and-swap, with the checkout that shows it.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use symphony_core::git_lock::{KeepReason, SHARED_LOCK_AGE_MIN};
use symphony_workspace::{
    BranchFate, BranchOutcome, CommitId, MergePlan, MergeStyle, RemoveRequest, Repository,
    WorkspaceError, WorktreeKey,
};

use crate::project::{
    Project, WorktreeResult, ada, at, branch, commit_file, git, made, make_older, merge_into, read,
    write,
};

fn merge(
    repository: &Repository,
    expected: &CommitId,
    head: &CommitId,
    style: MergeStyle,
) -> WorktreeResult<CommitId> {
    merge_into(repository, &branch("main"), expected, head, style)
}

/// Returns what a merge would give, without making it.
fn planned(repository: &Repository, base: &CommitId, head: &CommitId) -> MergePlan {
    repository
        .plan_merge(base, head, MergeStyle::FastForward, "m", &ada())
        .expect("git plans")
}

#[test]
fn a_base_that_moved_gets_a_merge_commit_by_the_human() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let head = commit_file(worktree.path(), "mine.txt", "mine\n");
    let base = commit_file(&project.root, "theirs.txt", "theirs\n");
    let merged = merge(&repository, &base, &head, MergeStyle::FastForward).unwrap();
    assert_ne!(merged, head);
    assert_eq!(project.head("main"), merged);
    assert_eq!(
        git(&project.root, &["log", "-1", "--format=%an|%cn|%s|%P"]),
        format!("Ada Lovelace|Ada Lovelace|Merge SYM-1: a change|{base} {head}")
    );
    assert_eq!(git(&project.root, &["status", "--porcelain"]), "");
    assert_eq!(read(project.root.join("mine.txt")), "mine\n");
    // Repeated (the record of the merge was lost in a crash), it is done already.
    assert_eq!(
        planned(&repository, &merged, &head),
        MergePlan::AlreadyMerged
    );
}

#[test]
fn a_merge_commit_can_be_asked_for() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let base = project.head("main");
    let head = commit_file(worktree.path(), "mine.txt", "mine\n");
    let merged = merge(&repository, &base, &head, MergeStyle::Commit).unwrap();
    assert_ne!(merged, head);
    assert_eq!(
        git(&project.root, &["log", "-1", "--format=%P"]),
        format!("{base} {head}")
    );
}

#[test]
fn many_heads_are_merged_with_a_base_whatever_some_of_them_are() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let clean = commit_file(worktree.path(), "mine.txt", "mine\n");
    let conflicting = commit_file(worktree.path(), "src/a.txt", "mine\n");
    let base = commit_file(&project.root, "src/a.txt", "theirs\n");
    let tree = git(&project.root, &["rev-parse", "HEAD^{tree}"]);
    let unrelated = git(&project.root, &["commit-tree", "-m", "new", &tree]);
    let unrelated = CommitId::parse(&unrelated).unwrap();
    let missing = CommitId::parse("0123456789012345678901234567890123456789").unwrap();
    let MergePlan::Merge(merge) = planned(&repository, &base, &clean) else {
        panic!("it is no merge");
    };
    let merged = git(&project.root, &["rev-parse", &format!("{merge}^{{tree}}")]);
    let merged = CommitId::parse(&merged).unwrap();
    let files = vec!["src/a.txt".to_owned()];
    for heads in [
        vec![],
        vec![&clean],
        vec![&clean, &conflicting, &clean],
        vec![&missing, &conflicting, &clean],
        vec![&clean, &unrelated, &conflicting, &missing, &clean],
        vec![&unrelated],
        // more than one process merges
        vec![&clean; 120],
    ] {
        let expected = heads.iter().map(|head| match *head {
            head if *head == clean => Some(Ok(merged.clone())),
            head if *head == conflicting => Some(Err(files.clone())),
            _ => None,
        });
        let expected: Vec<_> = expected.collect();
        let heads: Vec<CommitId> = heads.into_iter().cloned().collect();
        let found = repository.merges_of_all(&base, &heads).unwrap();
        assert_eq!(found, expected, "{heads:?}");
    }
    let error = repository.merges_of_all(&missing, &[clean]).unwrap_err();
    assert!(
        matches!(error, WorkspaceError::CommitMissing { .. }),
        "{error}"
    );
}

#[test]
fn a_removal_at_leisure_waits_for_no_one() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let request = RemoveRequest {
        key: worktree.key(),
        branch: worktree.branch(),
        base: &branch("main"),
        fate: BranchFate::Delete,
        now: at(100),
    };
    let lock = repository.lock().unwrap();
    let error = repository.remove_worktree_at_leisure(&request).unwrap_err();
    assert!(
        matches!(error, WorkspaceError::LockTimeout { .. }),
        "{error}"
    );
    assert!(worktree.path().is_dir());
    drop(lock);
    // a program that another test starts at this moment has the lock, too, until it is itself
    let begun = Instant::now();
    while let Err(error) = repository.remove_worktree_at_leisure(&request) {
        let is_held = matches!(error, WorkspaceError::LockTimeout { .. });
        assert!(
            is_held && begun.elapsed() < Duration::from_mins(1),
            "{error}"
        );
    }
    assert!(!worktree.path().exists());
}

#[test]
fn a_merge_is_refused_when_anything_is_in_doubt() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let old = project.head("main");
    let head = commit_file(worktree.path(), "src/a.txt", "mine\n");
    let base = commit_file(&project.root, "src/a.txt", "theirs\n");

    let error = merge(&repository, &old, &head, MergeStyle::FastForward).unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::RefMoved { found: Some(found), .. } if *found == base),
        "{error}"
    );
    assert_eq!(
        planned(&repository, &base, &head),
        MergePlan::Conflict(vec!["src/a.txt".to_owned()])
    );
    let fine = commit_file(&project.root, "other.txt", "x\n");
    git(worktree.path(), &["reset", "-q", "--hard", fine.as_str()]);
    let head = commit_file(worktree.path(), "new.txt", "new\n");
    git(worktree.path(), &["rm", "-q", "README.md"]);
    git(worktree.path(), &["commit", "-q", "-m", "no readme"]);
    let without = CommitId::parse(&git(worktree.path(), &["rev-parse", "HEAD"])).unwrap();
    write(project.root.join("README.md"), "edited by hand\n");
    let error = merge(&repository, &fine, &without, MergeStyle::FastForward).unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::CheckoutDirty { files, .. } if files == &["README.md"]),
        "{error}"
    );
    git(&project.root, &["checkout", "-q", "README.md"]);
    write(project.root.join("new.txt"), "untracked, and in the way\n");
    let error = merge(&repository, &fine, &head, MergeStyle::FastForward).unwrap_err();
    // it is known before anybody tries
    let checkout = repository.base_checkout(&branch("main")).unwrap().unwrap();
    assert_eq!(checkout.path(), project.root);
    for change in [&head, &without] {
        let files = repository.in_the_way_of(change, &checkout, &fine);
        assert_eq!(files.unwrap(), ["new.txt"]);
    }
    assert!(
        matches!(&error, WorkspaceError::CheckoutDirty { files, .. } if files == &["new.txt"]),
        "{error}"
    );
    assert_eq!(
        read(project.root.join("new.txt")),
        "untracked, and in the way\n"
    );
    assert_eq!(project.head("main"), fine);
    fs::remove_file(project.root.join("new.txt")).unwrap();
    merge(&repository, &fine, &head, MergeStyle::FastForward).unwrap();
    assert_eq!(project.head("main"), head);
}

/// What an ignored file or folder of a person's has to do with: the path that the branch adds in its place.
#[test]
fn what_a_person_keeps_ignored_is_never_in_a_merges_way_without_a_word() {
    for (kept, added, named) in [
        ("data/own.db", "data", "data/"),
        ("data/deep/er/own.db", "data", "data/"),
        ("secret", "secret/x.txt", "secret"),
        ("secret", "secret/deep/x.txt", "secret"),
        ("own.txt", "own.txt", "own.txt"),
    ] {
        let project = Project::new();
        let repository = project.open();
        let worktree = made(&repository);
        let base = project.head("main");
        write(
            project.root.join(".git/info/exclude"),
            "data\nsecret\nown.txt\n",
        );
        write(project.root.join(kept), "mine\n");
        write(worktree.path().join(added), "theirs\n");
        git(worktree.path(), &["add", "-f", added]);
        git(worktree.path(), &["commit", "-q", "-m", "in the way"]);
        let head = CommitId::parse(&git(worktree.path(), &["rev-parse", "HEAD"])).unwrap();
        let error = merge(&repository, &base, &head, MergeStyle::FastForward).unwrap_err();
        assert!(
            matches!(&error, WorkspaceError::CheckoutDirty { files, .. } if files == &[named]),
            "{kept} {added}: {error}"
        );
        assert_eq!(read(project.root.join(kept)), "mine\n", "{kept}");
        assert_eq!(project.head("main"), base);
    }
}

#[test]
fn an_untracked_link_is_in_the_way_of_a_folder() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let base = project.head("main");
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), project.root.join("data")).unwrap();
    let head = commit_file(worktree.path(), "data/x.txt", "x\n");
    let error = merge(&repository, &base, &head, MergeStyle::FastForward).unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::CheckoutDirty { files, .. } if files == &["data"]),
        "{error}"
    );
    assert!(!elsewhere.path().join("x.txt").exists());
}

#[test]
fn a_tracked_folder_becomes_a_file_and_a_file_a_folder() {
    let project = Project::new();
    commit_file(&project.root, "one/a.txt", "a\n");
    let base = commit_file(&project.root, "two", "b\n");
    let repository = project.open();
    let worktree = made(&repository);
    git(worktree.path(), &["rm", "-rq", "one", "two"]);
    commit_file(worktree.path(), "one", "file\n");
    let head = commit_file(worktree.path(), "two/b.txt", "folder\n");
    fs::create_dir(project.root.join("one/empty")).unwrap();
    merge(&repository, &base, &head, MergeStyle::FastForward).unwrap();
    assert_eq!(read(project.root.join("one")), "file\n");
    assert_eq!(read(project.root.join("two/b.txt")), "folder\n");
    assert_eq!(git(&project.root, &["status", "--porcelain"]), "");
}

#[test]
fn attributes_beside_the_commits_decide_neither_diffs_nor_merges() {
    let project = Project::new();
    let start = commit_file(&project.root, "same.txt", "limit = 1\n");
    let repository = project.open();
    let worktree = made(&repository);
    let head = commit_file(worktree.path(), "same.txt", "limit = 2\n");
    write(
        project.root.join(".git/info/attributes"),
        "* -diff merge=union\n",
    );
    let diff = repository.diff(&start, &head, 10_000).unwrap();
    assert!(
        diff.patch.contains("-limit = 1\n+limit = 2\n"),
        "{}",
        diff.patch
    );
    let counts: Vec<_> = diff
        .files
        .iter()
        .map(|file| (file.insertions, file.deletions, file.binary))
        .collect();
    assert_eq!(counts, [(1, 1, false)]);
    let base = commit_file(&project.root, "same.txt", "limit = 3\n");
    assert_eq!(
        planned(&repository, &base, &head),
        MergePlan::Conflict(vec!["same.txt".to_owned()])
    );
}

#[test]
fn a_base_that_is_checked_out_nowhere_moves_alone() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let base = project.head("main");
    let head = commit_file(worktree.path(), "mine.txt", "mine\n");
    git(&project.root, &["checkout", "-q", "-b", "feature"]);
    write(
        project.root.join("README.md"),
        "dirty, and not our business\n",
    );
    merge(&repository, &base, &head, MergeStyle::FastForward).unwrap();
    assert_eq!(project.head("main"), head);
    assert!(!project.root.join("mine.txt").exists());
    assert_eq!(
        git(&project.root, &["status", "--porcelain"]),
        " M README.md"
    );
}

#[test]
fn gates_can_run_on_the_merge_result_that_becomes_the_base() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let head = commit_file(worktree.path(), "mine.txt", "mine\n");
    let base = commit_file(&project.root, "theirs.txt", "theirs\n");
    let plan = repository
        .plan_merge(&base, &head, MergeStyle::FastForward, "Merge SYM-1", &ada())
        .unwrap();
    let MergePlan::Merge(commit) = plan else {
        panic!("{plan:?}");
    };
    assert_eq!(project.head("main"), base);
    let key = WorktreeKey::of("_merge-SYM-1");
    let gates = repository.create_temporary(&key, &commit, at(1)).unwrap();
    assert_eq!(read(gates.path().join("mine.txt")), "mine\n");
    assert_eq!(read(gates.path().join("theirs.txt")), "theirs\n");
    // A crash, then another merge result under the same key; red gates, and the end of it.
    let again = repository.create_temporary(&key, &base, at(2)).unwrap();
    assert!(!again.path().join("mine.txt").exists());
    repository.create_temporary(&key, &commit, at(3)).unwrap();
    let removed = repository.remove_worktree(&RemoveRequest {
        key: &key,
        branch: None,
        base: &branch("main"),
        fate: BranchFate::Keep,
        now: at(4),
    });
    assert_eq!(removed.unwrap().rescues, vec![]);
    assert_eq!(git(&project.root, &["for-each-ref", "refs/symphony/"]), "");
    repository
        .move_base(&branch("main"), &base, &commit, &ada())
        .unwrap();
    assert_eq!(project.head("main"), commit);
    assert_eq!(read(project.root.join("mine.txt")), "mine\n");
    assert_eq!(git(&project.root, &["status", "--porcelain"]), "");
}

#[test]
fn unrelated_histories_are_named() {
    let project = Project::new();
    let repository = project.open();
    git(&project.root, &["checkout", "-q", "--orphan", "island"]);
    let island = commit_file(&project.root, "island.txt", "x\n");
    git(&project.root, &["checkout", "-q", "main"]);
    let base = project.head("main");
    assert_eq!(planned(&repository, &base, &island), MergePlan::Unrelated);
}

/// Leaves things as a crash between the folder and the ref does.
fn interrupt(project: &Project, base: &CommitId, head: &CommitId) {
    let note = serde_json::json!({
        "base": "main", "from": base.as_str(), "to": head.as_str(), "checkout": project.root,
    });
    write(
        project.root.join(".git/symphony-merge.json"),
        &note.to_string(),
    );
    git(
        &project.root,
        &["read-tree", "-m", "-u", base.as_str(), head.as_str()],
    );
}

#[test]
fn a_merge_cut_off_before_the_ref_moved_is_repeated() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let base = project.head("main");
    commit_file(worktree.path(), "src/a.txt", "mine\n");
    let head = commit_file(worktree.path(), "new.txt", "new\n");
    interrupt(&project, &base, &head);
    assert_ne!(git(&project.root, &["status", "--porcelain"]), "");
    merge(&repository, &base, &head, MergeStyle::FastForward).unwrap();
    assert_eq!(project.head("main"), head);
    assert_eq!(git(&project.root, &["status", "--porcelain"]), "");
    assert!(!project.root.join(".git/symphony-merge.json").exists());

    // A lock and half the files, as a kill inside git leaves them.
    let next = commit_file(worktree.path(), "src/a.txt", "next\n");
    interrupt(&project, &head, &next);
    git(&project.root, &["read-tree", head.as_str()]);
    let lock = project.root.join(".git/index.lock");
    write(&lock, "");
    // the person's git takes this lock too: it is removed when it is old enough
    let error = merge(&repository, &head, &next, MergeStyle::FastForward).unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::GitLocked { lock: found, reason: KeepReason::Young(_), .. } if *found == lock),
        "{error}"
    );
    make_older(&lock, SHARED_LOCK_AGE_MIN);
    merge(&repository, &head, &next, MergeStyle::FastForward).unwrap();
    assert_eq!(read(project.root.join("src/a.txt")), "next\n");
    assert_eq!(git(&project.root, &["status", "--porcelain"]), "");
}

/// Takes the index back to a commit: git writes the files first, so that this is where a kill in its middle leaves things.
fn index_as_before(project: &Project, commit: &CommitId) {
    git(&project.root, &["read-tree", commit.as_str()]);
}

#[test]
fn a_merge_cut_off_before_its_index_is_repeated() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let base = project.head("main");
    symlink("src/a.txt", worktree.path().join("link")).unwrap();
    git(worktree.path(), &["add", "link"]);
    let head = commit_file(worktree.path(), "new.txt", "new\n");
    interrupt(&project, &base, &head);
    index_as_before(&project, &base);
    assert_eq!(
        git(&project.root, &["status", "--porcelain"]),
        "?? link\n?? new.txt"
    );
    merge(&repository, &base, &head, MergeStyle::Readable).unwrap();
    assert_eq!(project.head("main"), head);
    assert_eq!(git(&project.root, &["status", "--porcelain"]), "");
}

#[test]
fn a_file_that_was_half_written_is_written_anew() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let base = project.head("main");
    commit_file(worktree.path(), "empty.txt", "not empty\n");
    commit_file(worktree.path(), "src/a.txt", "the whole line\n");
    let head = commit_file(worktree.path(), "new.txt", "all of it\n");
    interrupt(&project, &base, &head);
    index_as_before(&project, &base);
    write(project.root.join("empty.txt"), "");
    write(project.root.join("src/a.txt"), "the wh");
    write(project.root.join("new.txt"), "all o");
    merge(&repository, &base, &head, MergeStyle::Readable).unwrap();
    assert_eq!(project.head("main"), head);
    assert_eq!(git(&project.root, &["status", "--porcelain"]), "");
}

#[test]
fn a_persons_untracked_file_is_named_before_anything_is_noted() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let base = project.head("main");
    let head = commit_file(worktree.path(), "new.txt", "all of it\n");
    write(project.root.join("new.txt"), "all o");
    let error = merge(&repository, &base, &head, MergeStyle::Readable).unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::CheckoutDirty { files, .. } if files == &["new.txt"]),
        "{error}"
    );
    assert_eq!(read(project.root.join("new.txt")), "all o");
    assert!(!project.root.join(".git/symphony-merge.json").exists());
}

#[test]
fn a_cut_off_merge_never_overwrites_a_later_edit() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let base = project.head("main");
    let head = commit_file(worktree.path(), "src/a.txt", "mine\n");
    interrupt(&project, &base, &head);
    write(project.root.join("src/a.txt"), "edited since\n");
    let error = merge(&repository, &base, &head, MergeStyle::FastForward).unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::CheckoutDirty { files, .. } if files == &["src/a.txt"]),
        "{error}"
    );
    assert_eq!(read(project.root.join("src/a.txt")), "edited since\n");
}

#[test]
fn changes_that_a_merge_does_not_touch_stay_as_they_are() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let base = project.head("main");
    let head = commit_file(worktree.path(), "new.txt", "new\n");
    write(project.root.join("README.md"), "edited by hand\n");
    write(project.root.join("src/a.txt"), "staged by hand\n");
    git(&project.root, &["add", "src/a.txt"]);
    merge(&repository, &base, &head, MergeStyle::Readable).unwrap();
    assert_eq!(project.head("main"), head);
    assert_eq!(
        git(&project.root, &["status", "--porcelain"]),
        " M README.md\nM  src/a.txt"
    );
    assert_eq!(read(project.root.join("README.md")), "edited by hand\n");
    assert_eq!(read(project.root.join("new.txt")), "new\n");
}

#[test]
fn a_merge_cut_off_beside_changes_of_a_person_is_repeated_and_keeps_them() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let base = project.head("main");
    commit_file(worktree.path(), "src/a.txt", "mine\n");
    let head = commit_file(worktree.path(), "new.txt", "new\n");
    write(project.root.join("README.md"), "edited by hand\n");
    interrupt(&project, &base, &head);
    merge(&repository, &base, &head, MergeStyle::Readable).unwrap();
    assert_eq!(project.head("main"), head);
    assert_eq!(read(project.root.join("README.md")), "edited by hand\n");
    assert_eq!(
        git(&project.root, &["status", "--porcelain"]),
        " M README.md"
    );
}

#[test]
fn a_squash_is_one_commit_and_done_once() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    commit_file(worktree.path(), "one.txt", "1\n");
    let head = commit_file(worktree.path(), "two.txt", "2\n");
    let base = commit_file(&project.root, "theirs.txt", "theirs\n");
    let merged = merge(&repository, &base, &head, MergeStyle::Squash).unwrap();
    assert_eq!(
        git(&project.root, &["log", "-1", "--format=%an|%s|%P"]),
        format!("Ada Lovelace|Merge SYM-1: a change|{base}")
    );
    assert!(!repository.is_merged(&head, &merged).unwrap());
    assert!(repository.holds_changes(&merged, &head).unwrap());
    assert!(!repository.holds_changes(&base, &head).unwrap());
    // repeated, since the record of it was lost in a crash
    let plan = repository
        .plan_merge(&merged, &head, MergeStyle::Squash, "m", &ada())
        .unwrap();
    assert_eq!(plan, MergePlan::AlreadyMerged);
    // the base goes on, the squash stays what it was
    let later = commit_file(&project.root, "later.txt", "later\n");
    assert!(repository.holds_changes(&merged, &head).unwrap());
    assert!(repository.is_merged(&merged, &later).unwrap());
}

#[test]
fn the_base_never_gets_a_subject_of_exit_handling() {
    for (subject, has_merge) in [
        ("Add a parser", false),
        ("symphony(SYM-1): work in progress", true),
    ] {
        let project = Project::new();
        let repository = project.open();
        let worktree = made(&repository);
        let base = project.head("main");
        write(worktree.path().join("one.txt"), "1\n");
        git(worktree.path(), &["add", "."]);
        git(worktree.path(), &["commit", "-q", "-m", subject]);
        let head = commit_file(worktree.path(), "two.txt", "2\n");
        let merged = merge(&repository, &base, &head, MergeStyle::Readable).unwrap();
        assert_eq!(merged != head, has_merge, "{subject}");
        let log = git(&project.root, &["log", "--first-parent", "--format=%s"]);
        assert!(!log.contains("work in progress"), "{log}");
        assert!(repository.is_merged(&head, &merged).unwrap());
    }
}

#[test]
fn the_base_stays_the_first_parent_line_when_it_was_merged_into_the_branch() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    commit_file(worktree.path(), "mine.txt", "mine\n");
    let base = commit_file(&project.root, "theirs.txt", "theirs\n");
    git(worktree.path(), &["merge", "-q", "--no-edit", "main"]);
    let head = CommitId::parse(&git(worktree.path(), &["rev-parse", "HEAD"])).unwrap();
    let merged = merge(&repository, &base, &head, MergeStyle::Readable).unwrap();
    assert_eq!(
        git(&project.root, &["log", "-1", "--format=%P"]),
        format!("{base} {head}")
    );
    assert_ne!(merged, head);
}

#[test]
fn a_squashed_branch_is_deleted_because_the_record_says_so() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let base = project.head("main");
    let head = commit_file(worktree.path(), "mine.txt", "mine\n");
    merge(&repository, &base, &head, MergeStyle::Squash).unwrap();
    let remove = |fate: BranchFate<'_>| {
        repository
            .remove_worktree(&RemoveRequest {
                key: worktree.key(),
                branch: worktree.branch(),
                base: &branch("main"),
                fate,
                now: at(4),
            })
            .unwrap()
    };
    let late = commit_file(worktree.path(), "late.txt", "late\n");
    // what came after the recorded head was never merged
    let kept = remove(BranchFate::DeleteIfRecorded(&head));
    assert!(
        matches!(kept.branch, BranchOutcome::Kept { .. }),
        "{kept:?}"
    );
    git(
        &project.root,
        &[
            "branch",
            "-f",
            worktree.branch().unwrap().as_str(),
            head.as_str(),
        ],
    );
    let removed = remove(BranchFate::DeleteIfRecorded(&head));
    assert_eq!(removed.rescues, vec![], "{late}");
    assert_eq!(removed.branch, BranchOutcome::Deleted { head });
}
