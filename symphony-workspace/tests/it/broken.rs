//! Worktrees in every broken state: mended or refused, and never a lost commit.

use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use symphony_workspace::{
    BaseMerge, BranchFate, ListedWorktree, MergeOfBase, Recovery, RemoveRequest, RepositoryOptions,
    WorkspaceError, WorktreeKey, WorktreeState,
};

use crate::project::{
    Project, at, commit_file, cut_off_creation, git, git_in, made, prepare, prepare_issue, read,
    write,
};

#[test]
fn a_registration_without_its_folder_is_removed() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let head = commit_file(worktree.path(), "x.txt", "x\n");
    fs::remove_dir_all(worktree.path()).unwrap();
    let prepared = prepare(&repository, BaseMerge::Merge).unwrap();
    assert!(prepared.created);
    assert_eq!(
        prepared.recovered,
        vec![Recovery::StaleRegistration { rescue: None }]
    );
    assert_eq!(repository.head(&prepared.worktree).unwrap(), head);
    assert_eq!(read(prepared.worktree.path().join("x.txt")), "x\n");
}

#[test]
fn a_detached_commit_and_a_staged_file_survive_the_loss_of_the_folder() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    git(worktree.path(), &["checkout", "-q", "--detach"]);
    let lost = commit_file(worktree.path(), "x.txt", "x\n");
    write(worktree.path().join("staged.txt"), "staged\n");
    git(worktree.path(), &["add", "staged.txt"]);
    fs::remove_dir_all(worktree.path()).unwrap();
    let prepared = prepare(&repository, BaseMerge::Merge).unwrap();
    let [
        Recovery::StaleRegistration {
            rescue: Some(rescue),
        },
    ] = prepared.recovered.as_slice()
    else {
        panic!("{:?}", prepared.recovered);
    };
    let parent = git(
        &project.root,
        &["rev-parse", &format!("{}^1", rescue.reference)],
    );
    assert_eq!(parent, lost.as_str());
    let staged = git(
        &project.root,
        &["show", &format!("{}:staged.txt", rescue.reference)],
    );
    assert_eq!(staged, "staged");
}

#[test]
fn a_folder_that_nothing_knows_is_moved_away() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    write(worktree.path().join("work.txt"), "work\n");
    // As `git worktree prune` of a wrong moment leaves it.
    fs::remove_dir_all(project.root.join(".git/worktrees")).unwrap();
    let prepared = prepare(&repository, BaseMerge::Merge).unwrap();
    let [Recovery::LeftoverMoved(to)] = prepared.recovered.as_slice() else {
        panic!("{:?}", prepared.recovered);
    };
    assert_eq!(read(to.join("work.txt")), "work\n");
    assert_eq!(
        *to,
        project
            .root
            .join(".symphony-workspaces/.leftover/SYM-1-20270115T080000Z")
    );
    assert!(!prepared.worktree.path().join("work.txt").exists());
}

#[test]
fn an_interrupted_creation_is_completed() {
    let project = Project::new();
    let repository = project.open();
    let path = project.root.join(".symphony-workspaces/SYM-1");
    for reason in ["symphony: being made", "initializing"] {
        git(
            &project.root,
            &[
                "worktree",
                "add",
                "-q",
                "--detach",
                "--no-checkout",
                "--lock",
                "--reason",
                reason,
                path.to_str().unwrap(),
                "main",
            ],
        );
        write(project.root.join(".git/worktrees/SYM-1/index.lock"), "");
        write(path.join("src/a.txt"), "half writ");
        // the exit handling of the run that was killed finds nothing to commit: what is missing was never written
        let opened = repository.worktree(&WorktreeKey::of("SYM-1"), None);
        assert!(
            matches!(opened, Err(WorkspaceError::WorktreeMissing { .. })),
            "{opened:?}"
        );
        let prepared = prepare(&repository, BaseMerge::Merge).unwrap();
        assert!(prepared.created);
        assert_eq!(
            prepared.recovered.last(),
            Some(&Recovery::CreationCompleted)
        );
        assert_eq!(read(path.join("src/a.txt")), "one\ntwo\nthree\n");
        assert!(repository.status(&prepared.worktree).unwrap().is_clean());
        assert!(!git(&project.root, &["worktree", "list", "--porcelain"]).contains("locked"));
        assert_eq!(git(&path, &["branch", "--show-current"]), "symphony/SYM-1");
        git(
            &project.root,
            &["worktree", "remove", "--force", path.to_str().unwrap()],
        );
    }
}

#[test]
fn a_creation_that_git_itself_did_not_get_far_with_is_taken_back() {
    let project = Project::new();
    let repository = project.open();
    let cuts = (1..=5).flat_map(|written| [(written, "whole"), (written, "empty")]);
    // whose an empty lock is cannot be told: it may be of a git of the user's that is at work
    for (written, last) in cuts.filter(|cut| *cut != (1, "empty")) {
        cut_off_creation(&project, written, last);
        let prepared = prepare(&repository, BaseMerge::Merge).unwrap();
        assert!(prepared.created, "{written} {last}");
        assert_eq!(
            read(prepared.worktree.path().join("src/a.txt")),
            "one\ntwo\nthree\n"
        );
        assert!(repository.status(&prepared.worktree).unwrap().is_clean());
        let request = RemoveRequest {
            key: &WorktreeKey::of("SYM-1"),
            branch: prepared.worktree.branch(),
            base: &repository.base().unwrap().branch,
            fate: BranchFate::Delete,
            now: at(0),
        };
        assert!(repository.remove_worktree(&request).unwrap().worktree);
        // an issue that ends before a run of it got further
        cut_off_creation(&project, written, last);
        repository.remove_worktree(&request).unwrap();
        assert!(!prepared.worktree.path().exists(), "{written} {last}");
        prepare(&repository, BaseMerge::Merge).unwrap();
        repository.remove_worktree(&request).unwrap();
        let left = fs::read_dir(project.root.join(".git/worktrees")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{written} {last}");
        assert!(
            !project.root.join(".symphony-workspaces/.leftover").exists(),
            "{written} {last}"
        );
    }
}

#[test]
fn a_lock_of_a_dead_git_is_removed_and_one_in_use_is_not() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let lock = worktree.place().git_dir.join("index.lock");
    // Another process, since the ones that other tests start inherit this one's files for a moment.
    #[expect(clippy::disallowed_methods, reason = "the test plays a git at work")]
    let mut holder = Command::new("/bin/sh")
        .args(["-c", "exec 3>\"$1\"; echo ready; read wait", "sh"])
        .arg(&lock)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = [0; 6];
    holder
        .stdout
        .take()
        .unwrap()
        .read_exact(&mut ready)
        .unwrap();
    let error = prepare(&repository, BaseMerge::Merge).unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::GitLocked { pids, .. } if pids == &[holder.id()]),
        "{error}"
    );
    drop(holder.stdin.take());
    holder.wait().unwrap();
    let prepared = prepare(&repository, BaseMerge::Merge).unwrap();
    assert_eq!(
        prepared.recovered,
        vec![Recovery::LockRemoved(lock.clone())]
    );
    write(&lock, "");
    write(worktree.path().join("x"), "x\n");
    let done = repository.auto_commit(&worktree, "x", at(1)).unwrap();
    assert!(done.commit.is_some());
}

#[test]
fn a_branch_that_is_checked_out_elsewhere_is_refused() {
    let project = Project::new();
    let repository = project.open();
    git(&project.root, &["checkout", "-q", "-b", "symphony/SYM-1"]);
    let error = prepare(&repository, BaseMerge::Merge).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the branch `symphony/SYM-1` is already checked out at {}",
            project.root.display()
        )
    );
    git(&project.root, &["checkout", "-q", "main"]);
    assert!(prepare(&repository, BaseMerge::Merge).unwrap().created);
}

#[test]
fn a_branch_called_symphony_is_refused_with_its_name() {
    let project = Project::new();
    let repository = project.open();
    git(&project.root, &["branch", "symphony"]);
    let error = prepare(&repository, BaseMerge::Merge).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the branch `symphony/SYM-1` cannot be created: the branch `symphony` is in the way, because git cannot have a branch and a folder of branches with the same name"
    );
    assert_eq!(git(&project.root, &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn commits_made_off_the_branch_move_it_or_are_saved() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    git(worktree.path(), &["checkout", "-q", "--detach"]);
    let ahead = commit_file(worktree.path(), "x.txt", "x\n");
    let prepared = prepare(&repository, BaseMerge::Leave).unwrap();
    assert_eq!(
        prepared.recovered,
        vec![Recovery::HeadReturned { rescue: None }]
    );
    assert_eq!(project.head("symphony/SYM-1"), ahead);

    git(worktree.path(), &["checkout", "-q", "--detach", "main"]);
    let beside = commit_file(worktree.path(), "beside.txt", "beside\n");
    write(worktree.path().join("dirty.txt"), "dirty\n");
    let prepared = prepare(&repository, BaseMerge::Leave).unwrap();
    let [
        Recovery::HeadReturned {
            rescue: Some(rescue),
        },
    ] = prepared.recovered.as_slice()
    else {
        panic!("{:?}", prepared.recovered);
    };
    let parent = git(
        &project.root,
        &["rev-parse", &format!("{}^1", rescue.reference)],
    );
    assert_eq!(parent, beside.as_str());
    let dirty = git(
        &project.root,
        &["show", &format!("{}:dirty.txt", rescue.reference)],
    );
    assert_eq!(dirty, "dirty");
    assert_eq!(repository.head(&worktree).unwrap(), ahead);
    assert_eq!(
        git(worktree.path(), &["branch", "--show-current"]),
        "symphony/SYM-1"
    );
}

#[test]
fn a_deleted_branch_comes_back_at_its_last_commit() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let head = commit_file(worktree.path(), "x.txt", "x\n");
    write(worktree.path().join("y.txt"), "y\n");
    git(
        &project.root,
        &["update-ref", "-d", "refs/heads/symphony/SYM-1"],
    );
    let prepared = prepare(&repository, BaseMerge::Merge).unwrap();
    assert_eq!(
        prepared.recovered,
        vec![Recovery::BranchRestored(head.clone())]
    );
    assert_eq!(repository.head(&worktree).unwrap(), head);
    assert_eq!(read(worktree.path().join("y.txt")), "y\n");
}

#[test]
fn a_rewritten_base_is_merged_or_called_unrelated() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    commit_file(worktree.path(), "x.txt", "x\n");
    git(
        &project.root,
        &["commit", "-q", "--amend", "-m", "rewritten"],
    );
    let prepared = prepare(&repository, BaseMerge::Merge).unwrap();
    assert_eq!(prepared.base, MergeOfBase::Unrelated);
    assert_eq!(read(worktree.path().join("x.txt")), "x\n");
}

#[test]
fn a_link_in_place_of_the_folder_is_refused() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let elsewhere = project.root.with_file_name("elsewhere");
    fs::rename(worktree.path(), &elsewhere).unwrap();
    symlink(&elsewhere, worktree.path()).unwrap();
    let error = repository.auto_commit(&worktree, "x", at(1)).unwrap_err();
    assert!(matches!(error, WorkspaceError::Link { .. }), "{error}");
    let error = prepare(&repository, BaseMerge::Merge).unwrap_err();
    assert!(matches!(error, WorkspaceError::Link { .. }), "{error}");

    fs::remove_file(worktree.path()).unwrap();
    fs::rename(&elsewhere, worktree.path()).unwrap();
    let folder = project.root.join(".symphony-workspaces");
    fs::rename(&folder, &elsewhere).unwrap();
    symlink(&elsewhere, &folder).unwrap();
    let error = prepare(&repository, BaseMerge::Merge).unwrap_err();
    assert!(
        matches!(error, WorkspaceError::NoWorktreesFolder { .. }),
        "{error}"
    );
    // as the program names it, and below a link or a file
    fs::write(project.root.join("plain"), "x").unwrap();
    for (above, configured) in [
        (&folder, folder.clone()),
        (&folder, folder.join("trees")),
        (
            &project.root.join("plain"),
            project.root.join("plain/trees"),
        ),
    ] {
        let repository = project.open_with(RepositoryOptions {
            workspaces_dir: configured,
            ..RepositoryOptions::default()
        });
        match repository.require_worktrees_folder() {
            Err(WorkspaceError::NoWorktreesFolder { path }) => assert_eq!(path, *above),
            other => panic!("{other:?}"),
        }
    }
    assert!(!elsewhere.join("trees").exists());
}

#[test]
fn a_git_file_is_restored_when_gone_and_refused_when_replaced() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let before = repository.fingerprint(&worktree).unwrap();
    let git_file = worktree.path().join(".git");
    fs::remove_file(&git_file).unwrap();
    assert_eq!(
        repository
            .fingerprint(&worktree)
            .unwrap()
            .changes_since(&before),
        vec![".git"]
    );
    let prepared = prepare(&repository, BaseMerge::Merge).unwrap();
    assert_eq!(prepared.recovered, vec![Recovery::GitFileRestored]);
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
    assert_eq!(repository.fingerprint(&worktree).unwrap(), before);

    fs::remove_file(&git_file).unwrap();
    git(worktree.path(), &["init", "-q"]);
    let error = prepare(&repository, BaseMerge::Merge).unwrap_err();
    assert!(matches!(error, WorkspaceError::Tampered { .. }), "{error}");
}

#[test]
fn eight_threads_make_worktrees_at_once() {
    let project = Project::new();
    let repository = project.open();
    std::thread::scope(|scope| {
        for number in 0..8 {
            // Each with its own handle, as eight processes would have.
            let repository = project.open();
            scope.spawn(move || {
                let issue = format!("SYM-{number}");
                let prepared = prepare_issue(&repository, &issue, BaseMerge::Merge).unwrap();
                assert!(prepared.created, "{issue}");
                assert_eq!(prepared.recovered, vec![], "{issue}");
            });
        }
    });
    assert_eq!(repository.registrations().unwrap().len(), 9);
    assert_eq!(
        git(&project.root, &["worktree", "prune", "--dry-run", "-v"]),
        ""
    );
    for number in 0..8 {
        let path = project
            .root
            .join(format!(".symphony-workspaces/SYM-{number}"));
        assert_eq!(
            git(&path, &["branch", "--show-current"]),
            format!("symphony/SYM-{number}")
        );
        assert!(git_in(&path, &["diff", "--quiet", "HEAD"]).status.success());
    }
}

#[test]
fn the_lock_is_held_by_one_at_a_time() {
    let project = Project::new();
    let repository = project.open();
    let held = repository.lock().unwrap();
    let error = project
        .open_unlocked()
        .lock_within(std::time::Duration::ZERO)
        .unwrap_err();
    assert!(
        matches!(error, WorkspaceError::LockTimeout { .. }),
        "{error}"
    );
    drop(held);
    // Not at once: a process that another test starts holds the descriptor until it executes.
    let patience = std::time::Duration::from_secs(20);
    assert!(repository.lock_within(patience).is_ok());
}

#[test]
fn all_worktrees_are_listed_and_only_ours() {
    let project = Project::new();
    let repository = project.open();
    assert_eq!(repository.list_worktrees().unwrap(), vec![]);
    let folder = project.root.join(".symphony-workspaces");
    for issue in ["SYM-1", "SYM-2", "SYM-3"] {
        prepare_issue(&repository, issue, BaseMerge::Merge).unwrap();
    }
    git(
        &project.root,
        &[
            "worktree",
            "lock",
            "--reason",
            "mine",
            ".symphony-workspaces/SYM-2",
        ],
    );
    fs::remove_dir_all(folder.join("SYM-3")).unwrap();
    write(folder.join("SYM-4/left.txt"), "left\n");
    // A user's worktree on a disk that is away.
    git(&project.root, &["worktree", "add", "-q", "../away"]);
    fs::remove_dir_all(project.root.with_file_name("away")).unwrap();
    let listed = |name: &str, branch: bool, state| ListedWorktree {
        name: name.into(),
        path: folder.join(name),
        branch: branch.then(|| format!("symphony/{name}")),
        state,
    };
    let expected = vec![
        listed("SYM-1", true, WorktreeState::Whole),
        listed("SYM-2", true, WorktreeState::Locked("mine".into())),
        listed("SYM-3", true, WorktreeState::FolderGone),
        listed("SYM-4", false, WorktreeState::NotRegistered),
    ];
    assert_eq!(repository.list_worktrees().unwrap(), expected);
}

#[test]
fn a_removal_that_was_cut_off_is_ended() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    fs::remove_file(worktree.path().join(".git")).unwrap();
    fs::remove_dir_all(worktree.path().join("src")).unwrap();
    let request = RemoveRequest {
        key: worktree.key(),
        branch: worktree.branch(),
        base: &crate::project::branch("main"),
        fate: BranchFate::DeleteIfMerged,
        now: at(1),
    };
    assert!(repository.remove_worktree(&request).unwrap().worktree);
    assert!(!worktree.path().exists());
    // a git that dies after it deleted the branch leaves the branch's lock
    let lock = project
        .root
        .join(".git")
        .join(format!("{}.lock", worktree.branch().unwrap().reference()));
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    fs::write(&lock, "").unwrap();
    assert!(!repository.remove_worktree(&request).unwrap().worktree);
    assert!(!lock.exists());
}
