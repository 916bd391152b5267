//! Locks that a dead git left: a run's own are removed when its processes are gone, a person's only when nobody needs them.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use symphony_core::Timestamp;
use symphony_core::git_lock::{KeepReason, SHARED_LOCK_AGE_MIN};
use symphony_workspace::{
    BaseMerge, BranchFate, BranchOutcome, Identity, MergeStyle, Recovery, RemoveRequest,
    Repository, WorkspaceError, WorktreeKey,
};

use crate::project::{
    Project, at, branch, commit_file, git, git_locks, made, make_older, merge_into, prepare, write,
};

/// The locks of a worktree that an agent's git takes, as a git that is killed leaves them.
const OF_A_RUN: &[&str] = &[
    "worktrees/SYM-1/index.lock",
    "worktrees/SYM-1/HEAD.lock",
    "worktrees/SYM-1/ORIG_HEAD.lock",
    "worktrees/SYM-1/config.worktree.lock",
    "worktrees/SYM-1/refs/worktree/x.lock",
    "refs/heads/symphony/SYM-1.lock",
    "refs/symphony/rescue/SYM-1/20270115T080000Z.lock",
];

fn lock(project: &Project, name: &str) -> PathBuf {
    let path = project.root.join(".git").join(name);
    write(&path, "");
    path
}

/// Every step of a run's life gets past every lock of a run, and none is left.
#[test]
fn locks_of_a_run_whose_processes_are_gone_stop_no_step() {
    for name in OF_A_RUN {
        let project = Project::new();
        let repository = project.open();
        let worktree = made(&repository);

        lock(&project, name);
        let prepared = prepare(&repository, BaseMerge::Merge).unwrap();
        assert_eq!(prepared.recovered.len(), 1, "{name}");
        assert!(
            matches!(&prepared.recovered[0], Recovery::LockRemoved(path) if path.ends_with(name))
        );
        // the agent's own git finds nothing in its way
        let first = commit_file(worktree.path(), "first.txt", "first\n");

        lock(&project, name);
        write(worktree.path().join("left.txt"), "left\n");
        let done = repository.auto_commit(&worktree, "left", at(1)).unwrap();
        assert!(done.commit.is_some(), "{name}");

        lock(&project, name);
        write(worktree.path().join("later.txt"), "later\n");
        let reset = repository.reset_to(&worktree, &first, at(2)).unwrap();
        assert!(reset.rescue.is_some(), "{name}");

        lock(&project, name);
        write(worktree.path().join("last.txt"), "last\n");
        let key = WorktreeKey::of("SYM-1");
        let removed = repository
            .remove_worktree(&RemoveRequest {
                key: &key,
                branch: Some(&branch("symphony/SYM-1")),
                base: &branch("main"),
                fate: BranchFate::Delete,
                now: at(3),
            })
            .unwrap();
        assert_eq!(removed.rescues.len(), 2, "{name}");
        assert_eq!(git_locks(&project.root), [""; 0], "{name}");
    }
}

/// Git deletes a branch before it removes its lock; one that is killed earlier leaves both.
#[test]
fn the_lock_of_a_deleted_branch_is_removed_whether_the_branch_is_gone_or_not() {
    for is_gone in [true, false] {
        let project = Project::new();
        let repository = project.open();
        made(&repository);
        let key = WorktreeKey::of("SYM-1");
        let own = branch("symphony/SYM-1");
        let remove = |fate| {
            repository.remove_worktree(&RemoveRequest {
                key: &key,
                branch: Some(&own),
                base: &branch("main"),
                fate,
                now: at(3),
            })
        };
        remove(BranchFate::Keep).unwrap();
        if is_gone {
            git(&project.root, &["branch", "-D", own.as_str()]);
        }
        lock(&project, "refs/heads/symphony/SYM-1.lock");
        let removed = remove(BranchFate::Delete).unwrap();
        let deleted = matches!(removed.branch, BranchOutcome::Deleted { .. });
        assert_eq!(deleted, !is_gone);
        assert_eq!(repository.branch_head(&own).unwrap(), None);
        assert_eq!(git_locks(&project.root), [""; 0], "{is_gone}");
    }
}

/// No step changes a branch that is gone: its lock is found by looking for it.
#[test]
fn locks_of_deleted_branches_are_found_and_removed_when_they_are_old() {
    let project = Project::new();
    let repository = project.open();
    made(&repository);
    let begun = Timestamp::now();
    let gone = lock(&project, "refs/heads/symphony/SYM-7.lock");
    let of_plan = lock(&project, "refs/heads/symphony/plan-a/base.lock");
    let packed = lock(&project, "packed-refs.lock");
    // not of a branch that is gone, and not Symphony's
    let kept = [
        lock(&project, "refs/heads/symphony/SYM-1.lock"),
        lock(&project, "refs/heads/symphony/notes.lock"),
        lock(&project, "refs/heads/theirs.lock"),
    ];
    let left = || -> Vec<(PathBuf, Option<String>)> {
        let left = repository.left_locks().unwrap().into_iter();
        left.map(|lock| (lock.path, lock.branch)).collect()
    };
    let of_gone = [
        (gone.clone(), Some("symphony/SYM-7".to_owned())),
        (of_plan.clone(), Some("symphony/plan-a/base".to_owned())),
    ];
    assert_eq!(left(), of_gone);
    // git may be about to make the branch
    drop(repository.lock().unwrap());
    assert!(gone.exists() && of_plan.exists());
    // a person's, until it is known that it appeared while Symphony was at work
    make_older(&packed, SHARED_LOCK_AGE_MIN);
    assert_eq!(left(), of_gone);
    Repository::note_locks_since(&project.root, begun).unwrap();
    assert_eq!(left().last(), Some(&(packed.clone(), None)));

    make_older(&gone, SHARED_LOCK_AGE_MIN);
    drop(repository.lock().unwrap());
    assert!(!gone.exists() && !packed.exists() && of_plan.exists());
    let removed = repository.clear_left_locks().unwrap();
    assert_eq!(removed.len(), 1);
    assert!(!of_plan.exists());
    for lock in &kept {
        assert!(lock.exists(), "{}", lock.display());
    }
}

/// A plan's base has no worktree: the merge meets its lock.
#[test]
fn the_lock_of_a_plans_branch_stops_no_merge() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let head = commit_file(worktree.path(), "mine.txt", "mine\n");
    let base = project.head("main");
    let of_plan = branch("symphony/plan-a/base");
    repository.create_branch(&of_plan, &base).unwrap();
    lock(&project, "refs/heads/symphony/plan-a/base.lock");
    let merged = merge_into(&repository, &of_plan, &base, &head, MergeStyle::FastForward);
    assert_eq!(merged.unwrap(), head);
    assert_eq!(git_locks(&project.root), [""; 0]);
}

/// Locks that a person's git takes too, each with a step that meets it.
const SHARED: &[&str] = &["refs/heads/main.lock", "index.lock", "packed-refs.lock"];

#[test]
fn a_lock_that_is_shared_with_a_person_goes_only_when_nobody_needs_it() {
    for name in SHARED {
        let project = Project::new();
        let repository = project.open();
        let worktree = made(&repository);
        let head = commit_file(worktree.path(), "mine.txt", "mine\n");
        let base = project.head("main");
        let key = WorktreeKey::of("SYM-1");
        // the base moves, then the branch is deleted
        let step = || -> Result<(), WorkspaceError> {
            repository.move_base(&branch("main"), &base, &head, &Identity::symphony())?;
            repository
                .remove_worktree(&RemoveRequest {
                    key: &key,
                    branch: Some(&branch("symphony/SYM-1")),
                    base: &branch("main"),
                    fate: BranchFate::DeleteIfMerged,
                    now: at(3),
                })
                .map(drop)
        };
        let reason = |error: WorkspaceError| match error {
            WorkspaceError::GitLocked { lock, reason, .. } if lock.ends_with(name) => reason,
            other => panic!("{name}: {other}"),
        };

        // a person's, however old
        let path = lock(&project, name);
        make_older(&path, SHARED_LOCK_AGE_MIN * 10);
        assert_eq!(reason(step().unwrap_err()), KeepReason::NotOfARun, "{name}");
        fs::remove_file(&path).unwrap();

        // one that appeared during a run is left alone for ten minutes
        let begun = Timestamp::now();
        let path = lock(&project, name);
        Repository::note_locks_since(&project.root, begun).unwrap();
        assert!(
            matches!(reason(step().unwrap_err()), KeepReason::Young(_)),
            "{name}"
        );
        make_older(&path, Duration::from_mins(9));
        let error = step().unwrap_err().to_string();
        let words = format!(
            "git's lock file {} is in the way: it was made 9 min ago; Symphony removes it in 1 min unless git uses it: wait, or remove it if no git command is running",
            path.display()
        );
        assert_eq!(error, words);
        make_older(&path, Duration::from_mins(2));
        step().unwrap();
        assert_eq!(project.head("main"), head, "{name}");
        assert_eq!(git(&project.root, &["status", "--porcelain"]), "", "{name}");
        assert_eq!(git_locks(&project.root), [""; 0], "{name}");
    }
}

/// A lock in the place of one that was noted is another lock.
#[test]
fn a_lock_that_only_has_the_name_of_a_noted_one_is_a_persons() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let head = commit_file(worktree.path(), "mine.txt", "mine\n");
    let base = project.head("main");
    let begun = Timestamp::now();
    let path = lock(&project, "refs/heads/main.lock");
    Repository::note_locks_since(&project.root, begun).unwrap();
    // held, so that the next file gets another inode
    let held = fs::File::open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let path = lock(&project, "refs/heads/main.lock");
    make_older(&path, SHARED_LOCK_AGE_MIN * 2);
    drop(held);
    let error = repository
        .move_base(&branch("main"), &base, &head, &Identity::symphony())
        .unwrap_err();
    assert!(
        matches!(
            error,
            WorkspaceError::GitLocked {
                reason: KeepReason::NotOfARun,
                ..
            }
        ),
        "{error}"
    );
    assert!(path.exists());
    assert_eq!(git(&project.root, &["status", "--porcelain"]), "");
}

/// Whoever takes the repository's lock after a death notes what the git of the dead may have left.
#[test]
fn what_appeared_while_a_dead_merge_held_the_repository_is_noted() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let head = commit_file(worktree.path(), "mine.txt", "mine\n");
    let base = project.head("main");
    // as one that was killed leaves it
    let begun = Timestamp::now();
    write(
        project.root.join(".git/symphony.lock"),
        &format!("{begun}\n"),
    );
    let path = lock(&project, "refs/heads/main.lock");
    make_older(&path, SHARED_LOCK_AGE_MIN);
    repository
        .move_base(&branch("main"), &base, &head, &Identity::symphony())
        .unwrap();
    assert_eq!(project.head("main"), head);
    let note = fs::read_to_string(project.root.join(".git/symphony.lock"));
    assert_eq!(note.unwrap(), "");
}
