//! Nothing is lost: rescue refs, return to the recorded head, removal.

use std::fs;
use std::process::{Command, Stdio};

use symphony_workspace::{
    BranchFate, BranchOutcome, Recovery, RemoveRequest, Removed, Repository, RescueRef,
    WorkspaceError, Worktree, WorktreeKey,
};

use crate::project::{Project, WorktreeResult, at, branch, commit_file, git, made, read, write};

fn remove(
    repository: &Repository,
    worktree: &Worktree,
    fate: BranchFate,
) -> WorktreeResult<Removed> {
    repository.remove_worktree(&RemoveRequest {
        key: worktree.key(),
        branch: worktree.branch(),
        base: &branch("main"),
        fate,
        now: at(9),
    })
}

fn show(project: &Project, rescue: &RescueRef, path: &str) -> String {
    git(
        &project.root,
        &["show", &format!("{}:{path}", rescue.reference)],
    )
}

#[test]
fn a_removal_saves_what_is_uncommitted_and_keeps_an_unmerged_branch() {
    let project = Project::new();
    write(project.root.join(".env"), "KEY=abcdefgh\n");
    let repository = project.open();
    let worktree = made(&repository);
    repository.copy_config_files(&worktree).unwrap();
    let head = commit_file(worktree.path(), "done.txt", "done\n");
    write(worktree.path().join("src/a.txt"), "staged\n");
    git(worktree.path(), &["add", "src/a.txt"]);
    write(worktree.path().join("src/a.txt"), "in the folder\n");
    write(worktree.path().join("new/untracked.txt"), "untracked\n");

    let removed = remove(&repository, &worktree, BranchFate::DeleteIfMerged).unwrap();
    assert!(removed.worktree);
    assert_eq!(removed.branch, BranchOutcome::Kept { unmerged: 1 });
    let [rescue] = removed.rescues.as_slice() else {
        panic!("{removed:?}");
    };
    assert_eq!(
        rescue.reference,
        "refs/symphony/rescue/SYM-1/20270115T080009Z"
    );
    assert_eq!(show(&project, rescue, "src/a.txt"), "in the folder");
    assert_eq!(show(&project, rescue, "new/untracked.txt"), "untracked");
    let index = git(
        &project.root,
        &["show", &format!("{}^2:src/a.txt", rescue.reference)],
    );
    assert_eq!(index, "staged");
    let parent = git(
        &project.root,
        &["rev-parse", &format!("{}^1", rescue.reference)],
    );
    assert_eq!(parent, head.as_str());
    let files = git(
        &project.root,
        &["ls-tree", "-r", "--name-only", &rescue.reference],
    );
    assert!(!files.contains(".env"), "{files}");
    assert!(!worktree.path().exists());

    let again = remove(&repository, &worktree, BranchFate::DeleteIfMerged).unwrap();
    assert_eq!(
        (again.worktree, again.rescues.len(), again.branch),
        (false, 0, BranchOutcome::Kept { unmerged: 1 })
    );
    let forced = remove(&repository, &worktree, BranchFate::Delete).unwrap();
    assert_eq!(forced.branch, BranchOutcome::Deleted { head: head.clone() });
    assert_eq!(
        forced.rescues.first().map(|rescue| &rescue.commit),
        Some(&head)
    );
}

#[test]
fn a_removal_is_refused_on_doubt() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let fate = BranchFate::Delete;

    #[expect(clippy::disallowed_methods, reason = "the test plays a left shell")]
    let mut shell = Command::new("cat")
        .current_dir(worktree.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let error = remove(&repository, &worktree, fate).unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::Busy { pids, .. } if pids == &[shell.id()]),
        "{error}"
    );
    drop(shell.stdin.take());
    shell.wait().unwrap();

    // any agent can lock its own: that keeps nothing here
    git(
        &project.root,
        &[
            "worktree",
            "lock",
            "--reason",
            "mine",
            worktree.path().to_str().unwrap(),
        ],
    );

    fs::create_dir(worktree.path().join("inner")).unwrap();
    git(&worktree.path().join("inner"), &["init", "-q"]);
    commit_file(&worktree.path().join("inner"), "x", "only here\n");
    let error = remove(&repository, &worktree, fate).unwrap_err();
    assert_eq!(
        std::error::Error::source(&error).unwrap().to_string(),
        format!(
            "the work in {} cannot be saved: it contains other repositories (inner)",
            worktree.path().display()
        )
    );
    assert_eq!(read(worktree.path().join("inner/x")), "only here\n");
    assert_eq!(
        git(worktree.path(), &["branch", "--show-current"]),
        "symphony/SYM-1"
    );

    fs::remove_dir_all(worktree.path().join("inner")).unwrap();
    assert!(remove(&repository, &worktree, fate).unwrap().worktree);
}

#[test]
fn a_detached_head_is_saved_before_a_removal() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    git(worktree.path(), &["checkout", "-q", "--detach"]);
    let lost = commit_file(worktree.path(), "x.txt", "x\n");
    let removed = remove(&repository, &worktree, BranchFate::Delete).unwrap();
    assert_eq!(
        removed.rescues.first().map(|rescue| &rescue.commit),
        Some(&lost)
    );
}

#[test]
fn work_after_the_recorded_head_goes_to_a_rescue_ref() {
    let project = Project::new();
    write(project.root.join(".env"), "KEY=abcdefgh\n");
    let repository = project.open();
    let worktree = made(&repository);
    repository.copy_config_files(&worktree).unwrap();
    let recorded = commit_file(worktree.path(), "pr.txt", "pr\n");
    let nothing = repository.reset_to(&worktree, &recorded, at(1)).unwrap();
    assert_eq!(nothing.rescue, None);

    let later = commit_file(worktree.path(), "later.txt", "later\n");
    write(worktree.path().join("pr.txt"), "changed\n");
    write(worktree.path().join("u/untracked.txt"), "untracked\n");
    let reset = repository.reset_to(&worktree, &recorded, at(2)).unwrap();
    let rescue = reset.rescue.unwrap();
    assert_eq!(show(&project, &rescue, "later.txt"), "later");
    assert_eq!(show(&project, &rescue, "pr.txt"), "changed");
    assert_eq!(show(&project, &rescue, "u/untracked.txt"), "untracked");
    let parent = git(
        &project.root,
        &["rev-parse", &format!("{}^1", rescue.reference)],
    );
    assert_eq!(parent, later.as_str());
    assert_eq!(project.head("symphony/SYM-1"), recorded);
    assert!(repository.status(&worktree).unwrap().is_clean());
    assert_eq!(read(worktree.path().join("pr.txt")), "pr\n");
    assert!(!worktree.path().join("u").exists());
    assert!(worktree.path().join(".env").exists());
}

#[test]
fn only_later_commits_are_kept_by_their_own_name() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let recorded = commit_file(worktree.path(), "pr.txt", "pr\n");
    let later = commit_file(worktree.path(), "later.txt", "later\n");
    let rescue = repository
        .reset_to(&worktree, &recorded, at(2))
        .unwrap()
        .rescue
        .unwrap();
    assert_eq!(rescue.commit, later);
    // The agent rewrote the recorded commit, and left the branch.
    git(worktree.path(), &["commit", "-q", "--amend", "-m", "other"]);
    let amended = repository.head(&worktree).unwrap();
    git(worktree.path(), &["checkout", "-q", "-b", "elsewhere"]);
    let elsewhere = commit_file(worktree.path(), "e.txt", "e\n");
    let rescue = repository
        .reset_to(&worktree, &recorded, at(3))
        .unwrap()
        .rescue
        .unwrap();
    assert_eq!(rescue.commit, elsewhere);
    let kept = git(
        &project.root,
        &["for-each-ref", "--format=%(objectname)", "refs/symphony/"],
    );
    assert!(kept.contains(amended.as_str()), "{kept}");
    assert_eq!(project.head("symphony/SYM-1"), recorded);
    assert_eq!(
        git(worktree.path(), &["branch", "--show-current"]),
        "symphony/SYM-1"
    );
    assert_eq!(project.head("elsewhere"), elsewhere);
}

#[test]
fn two_rescues_of_one_second_have_two_names() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    write(worktree.path().join("a"), "1\n");
    let first = repository.rescue(&worktree, at(1)).unwrap().unwrap();
    write(worktree.path().join("a"), "2\n");
    let second = repository.rescue(&worktree, at(1)).unwrap().unwrap();
    assert_eq!(second.reference, format!("{}-2", first.reference));
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "?? a");
}

#[test]
fn a_temporary_worktree_is_detached_and_leaves_nothing() {
    let project = Project::new();
    let repository = project.open();
    let key = WorktreeKey::of("_scanner-01");
    let commit = project.head("main");
    let worktree = repository.create_temporary(&key, &commit, at(1)).unwrap();
    assert_eq!(worktree.branch(), None);
    assert_eq!(read(worktree.path().join("README.md")), "hello\n");
    assert_eq!(git(worktree.path(), &["branch", "--show-current"]), "");
    // A crash left it: it is used again, clean.
    write(worktree.path().join("README.md"), "scribble\n");
    let again = repository.create_temporary(&key, &commit, at(2)).unwrap();
    assert_eq!(read(again.path().join("README.md")), "hello\n");
    let removed = remove(&repository, &again, BranchFate::Keep).unwrap();
    assert_eq!(
        (removed.worktree, removed.branch),
        (true, BranchOutcome::Absent)
    );
    assert_eq!(git(&project.root, &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn an_unfinished_merge_is_joined_and_its_marks_are_committed() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    commit_file(worktree.path(), "src/a.txt", "mine\n");
    let theirs = commit_file(&project.root, "src/a.txt", "theirs\n");
    crate::project::git_in(worktree.path(), &["merge", "main"]);
    assert_eq!(
        repository.status(&worktree).unwrap().conflicted,
        vec![std::path::PathBuf::from("src/a.txt")]
    );
    let rescue = repository.rescue(&worktree, at(1)).unwrap().unwrap();
    assert!(show(&project, &rescue, "src/a.txt").contains("<<<<<<<"));
    let done = repository.auto_commit(&worktree, "wip", at(2)).unwrap();
    let parents = git(
        &project.root,
        &["log", "-1", "--format=%P", done.head.as_str()],
    );
    assert!(parents.ends_with(theirs.as_str()), "{parents}");
    assert!(repository.status(&worktree).unwrap().is_clean());
    assert_eq!(
        git(worktree.path(), &["status", "--porcelain=v2", "--branch"])
            .lines()
            .count(),
        2
    );
}

#[test]
fn an_unfinished_rebase_is_saved_and_the_branch_comes_back() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let mine = commit_file(worktree.path(), "src/a.txt", "mine\n");
    commit_file(&project.root, "src/a.txt", "theirs\n");
    crate::project::git_in(worktree.path(), &["rebase", "main"]);
    write(worktree.path().join("notes.txt"), "notes\n");
    let done = repository.auto_commit(&worktree, "wip", at(2)).unwrap();
    let [
        Recovery::HeadReturned {
            rescue: Some(rescue),
        },
    ] = done.recovered.as_slice()
    else {
        panic!("{done:?}");
    };
    assert!(show(&project, rescue, "src/a.txt").contains("<<<<<<<"));
    assert_eq!(show(&project, rescue, "notes.txt"), "notes");
    assert_eq!(read(worktree.path().join("src/a.txt")), "mine\n");
    assert_eq!(
        git(
            &project.root,
            &["merge-base", mine.as_str(), "symphony/SYM-1"]
        ),
        mine.as_str()
    );
    assert!(!git(worktree.path(), &["status"]).contains("rebase"));
}

#[test]
fn a_worktree_that_is_deeper_than_any_path_is_removed_unless_a_file_is_down_there() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let fate = BranchFate::DeleteIfMerged;
    let levels = |count: usize| vec!["d"; count].join("/");
    let (upper, lower) = (
        worktree.path().join(levels(1_500)),
        project.root.with_file_name("lower"),
    );
    fs::create_dir_all(&upper).unwrap();
    fs::create_dir_all(lower.join(levels(1_500))).unwrap();
    let file = lower.join(levels(1_500)).join("file.txt");
    fs::write(&file, "only here\n").unwrap();
    fs::rename(&lower, upper.join("lower")).unwrap();
    let error = remove(&repository, &worktree, fate).unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::OutOfReach { depth: 3_002, .. }),
        "{error}"
    );
    fs::rename(upper.join("lower"), &lower).unwrap();
    fs::remove_file(&file).unwrap();
    fs::rename(&lower, upper.join("lower")).unwrap();
    assert!(remove(&repository, &worktree, fate).unwrap().worktree);
    assert!(!worktree.path().exists());
}
