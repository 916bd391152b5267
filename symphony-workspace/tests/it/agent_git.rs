//! An agent works with a git folder of its own; what it does comes into the project, and only that.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use symphony_workspace::{
    BaseMerge, BranchFate, CommitId, KnownWork, RemoveRequest, Removed, Repository, StrayWork,
    WorkspaceError, Worktree,
};

use crate::project::{Project, at, branch, commit_file, git, git_in, made, prepare, read, write};

struct Case {
    project: Project,
    repository: Repository,
    worktree: Worktree,
    /// The branches of the project, when the agent began.
    before: String,
}

const REFS: [&str; 3] = ["for-each-ref", "refs/heads", "refs/tags"];

fn case() -> Case {
    given(Project::new())
}

fn given(project: Project) -> Case {
    let repository = project.open();
    let worktree = made(&repository);
    assert!(
        repository
            .give_git_folder(&worktree, &[&branch("main")])
            .unwrap()
    );
    let before = git(&project.root, &REFS);
    Case {
        project,
        repository,
        worktree,
        before,
    }
}

impl Case {
    fn path(&self, below: &str) -> PathBuf {
        self.worktree.path().join(below)
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(self.worktree.path(), arguments)
    }

    fn commit(&self, file: &str) -> CommitId {
        commit_file(self.worktree.path(), file, &format!("{file}\n"))
    }

    fn take(&self) {
        assert!(self.repository.take_git_folder(&self.worktree).unwrap());
        assert!(!self.repository.take_git_folder(&self.worktree).unwrap());
        assert!(self.path(".git").is_file());
    }

    fn tip(&self) -> CommitId {
        self.project.head("symphony/SYM-1")
    }

    /// Looks as exit handling does.
    fn stray(&self) -> StrayWork {
        let known = KnownWork {
            base: Some(&self.project.head("main")),
            rescues: &BTreeSet::new(),
            stash: Some(&[]),
        };
        self.repository
            .auto_commit(&self.worktree, "wip", at(2))
            .unwrap();
        self.repository
            .stray_work(&self.worktree, known, at(3))
            .unwrap()
    }

    fn remove(&self) -> Removed {
        self.repository
            .remove_worktree(&RemoveRequest {
                key: self.worktree.key(),
                branch: self.worktree.branch(),
                base: &branch("main"),
                fate: BranchFate::Keep,
                now: at(9),
            })
            .unwrap()
    }

    fn shows(&self, object: &str) -> String {
        git(&self.project.root, &["cat-file", "-p", object])
    }
}

#[test]
fn commits_come_to_the_branch_and_the_rest_stays_uncommitted() {
    let case = case();
    assert!(case.path(".git").is_dir());
    assert_eq!(case.git(&["status", "--porcelain"]), "");
    assert_eq!(
        case.git(&["symbolic-ref", "HEAD"]),
        "refs/heads/symphony/SYM-1"
    );
    let head = case.commit("work.txt");
    write(case.path("README.md"), "changed\n");
    write(case.path("new.txt"), "new\n");
    case.git(&["add", "new.txt"]);
    assert_eq!(
        git(&case.project.root, &REFS),
        case.before,
        "nothing is seen outside"
    );
    case.take();
    assert_eq!(case.tip(), head);
    assert_eq!(
        case.git(&["status", "--porcelain"]),
        " M README.md\n?? new.txt"
    );
    let done = case
        .repository
        .auto_commit(&case.worktree, "wip", at(2))
        .unwrap();
    assert_eq!(done.head, case.tip());
    assert_eq!(case.shows("symphony/SYM-1:new.txt"), "new");
    assert_eq!(case.shows("symphony/SYM-1~:work.txt"), "work.txt");
    git(&case.project.root, &["fsck", "--full", "--strict"]);
}

#[test]
fn an_agent_without_a_commit_changes_nothing() {
    let case = case();
    write(case.path("README.md"), "changed\n");
    case.take();
    assert_eq!(git(&case.project.root, &REFS), case.before);
    assert_eq!(case.git(&["status", "--porcelain"]), " M README.md");
}

/// Everything that a linked worktree shares with the project.
#[test]
fn what_is_the_projects_is_neither_seen_nor_changed() {
    let project = Project::new();
    git(&project.root, &["branch", "secret"]);
    git(
        &project.root,
        &["remote", "add", "origin", "https://token@example.org/x"],
    );
    git(&project.root, &["config", "alias.x", "!true"]);
    git(&project.root, &["tag", "v1"]);
    let case = given(project);
    let config = read(case.project.root.join(".git/config"));
    assert_eq!(
        case.git(&["branch", "--format=%(refname:short)"]),
        "main\nsymphony/SYM-1"
    );
    assert_eq!(case.git(&["tag"]), "v1");
    assert_eq!(case.git(&["remote"]), "");
    let head = case.commit("work.txt");
    case.git(&["update-ref", "refs/heads/main", head.as_str()]);
    case.git(&["tag", "-d", "v1"]);
    case.git(&["config", "core.hooksPath", "/evil"]);
    case.git(&["config", "core.fsmonitor", "/evil"]);
    write(case.path(".git/hooks/post-checkout"), "evil");
    write(case.path(".git/info/attributes"), "* filter=evil\n");
    case.take();
    let own = format!("{head} commit\trefs/heads/symphony/SYM-1");
    let expected: Vec<String> = case
        .before
        .lines()
        .map(|line| {
            if line.ends_with("SYM-1") {
                own.clone()
            } else {
                line.to_owned()
            }
        })
        .collect();
    assert_eq!(git(&case.project.root, &REFS), expected.join("\n"));
    assert_eq!(read(case.project.root.join(".git/config")), config);
    assert!(!case.project.root.join(".git/hooks/post-checkout").exists());
    // and nothing of it reaches the next agent
    assert!(
        case.repository
            .give_git_folder(&case.worktree, &[])
            .unwrap()
    );
    assert!(!case.path(".git/hooks").exists());
    assert!(!read(case.path(".git/config")).contains("evil"));
}

#[test]
fn a_rewritten_branch_and_what_was_stashed_or_left_on_others_is_found() {
    let case = case();
    case.commit("first.txt");
    case.git(&["commit", "--amend", "-qm", "better"]);
    write(case.path("README.md"), "for later\n");
    case.git(&["stash", "-q"]);
    write(case.path("README.md"), "for much later\n");
    case.git(&["stash", "-q"]);
    case.git(&["checkout", "-qb", "idea"]);
    let idea = case.commit("idea.txt");
    case.git(&["checkout", "-q", "--detach", "symphony/SYM-1"]);
    let lost = case.commit("lost.txt");
    case.git(&["checkout", "-q", "symphony/SYM-1"]);
    let head = CommitId::parse(&case.git(&["rev-parse", "HEAD"])).unwrap();
    case.take();
    assert_eq!(case.tip(), head);
    let stray = case.stray();
    assert!(stray.branches.is_empty(), "{stray:?}");
    let saved: BTreeSet<CommitId> = stray
        .unreferenced
        .into_iter()
        .map(|rescue| rescue.commit)
        .collect();
    assert_eq!(saved, [idea, lost].into());
    let stashed: BTreeSet<String> = stray
        .stashed
        .iter()
        .map(|rescue| case.shows(&format!("{}:README.md", rescue.reference)))
        .collect();
    assert_eq!(
        stashed,
        ["for later".to_owned(), "for much later".to_owned()].into()
    );
    // what was imported is no longer needed
    case.repository
        .forget_imported(case.worktree.key())
        .unwrap();
    assert_eq!(
        git(&case.project.root, &["for-each-ref", "refs/symphony/runs"]),
        ""
    );
    git(&case.project.root, &["gc", "-q", "--prune=now"]);
    assert_eq!(case.stray().stashed, []);
}

#[test]
fn a_head_beside_the_branch_returns_to_it() {
    for (script, is_ahead) in [
        (&["checkout", "-q", "--detach"][..], true),
        (&["checkout", "-qb", "other"], true),
        (&["checkout", "-q", "--orphan", "other"], false),
    ] {
        let case = case();
        case.git(script);
        let commit = case.commit("work.txt");
        case.take();
        let done = case
            .repository
            .auto_commit(&case.worktree, "wip", at(2))
            .unwrap();
        assert_eq!(
            case.git(&["symbolic-ref", "HEAD"]),
            "refs/heads/symphony/SYM-1"
        );
        assert_eq!(done.head == commit, is_ahead, "{script:?} {done:?}");
        let kept = git(
            &case.project.root,
            &["for-each-ref", "--contains", commit.as_str()],
        );
        assert!(!kept.is_empty(), "{script:?}");
    }
}

#[test]
fn an_unfinished_merge_is_joined_and_an_unfinished_rebase_saved() {
    let conflicting = || {
        let case = case();
        commit_file(&case.project.root, "src/a.txt", "theirs\n");
        // what the agent may merge is what it was given
        case.repository.renew_git_folder(&case.worktree).unwrap();
        commit_file(case.worktree.path(), "src/a.txt", "ours\n");
        case
    };
    let case = conflicting();
    assert!(
        !git_in(case.worktree.path(), &["merge", "-q", "main"])
            .status
            .success()
    );
    write(case.path("src/a.txt"), "both\n");
    case.take();
    case.repository
        .auto_commit(&case.worktree, "wip", at(2))
        .unwrap();
    assert_eq!(case.shows("symphony/SYM-1:src/a.txt"), "both");
    assert_eq!(
        case.project.head("symphony/SYM-1^2"),
        case.project.head("main")
    );

    let case = conflicting();
    let own = CommitId::parse(&case.git(&["rev-parse", "HEAD"])).unwrap();
    assert!(
        !git_in(case.worktree.path(), &["rebase", "-q", "main"])
            .status
            .success()
    );
    case.take();
    let done = case
        .repository
        .auto_commit(&case.worktree, "wip", at(2))
        .unwrap();
    assert_eq!(done.head, own, "the branch is where the rebase began");
    assert!(
        !case
            .repository
            .rescues_of(case.worktree.key())
            .unwrap()
            .is_empty()
    );
    assert_eq!(read(case.path("src/a.txt")), "ours\n");
}

#[test]
fn its_tools_see_what_the_agent_did_and_it_sees_what_symphony_did() {
    let case = case();
    let first = case.commit("first.txt");
    let see = |commit: &CommitId| {
        case.repository.read_git_folder(&case.worktree).unwrap();
        assert_eq!(&case.repository.head(&case.worktree).unwrap(), commit);
        assert_eq!(&case.tip(), commit);
        assert!(case.repository.status(&case.worktree).unwrap().is_clean());
    };
    assert_eq!(
        case.repository.head_of_agent(&case.worktree).unwrap(),
        first
    );
    see(&first);
    let second = case.commit("second.txt");
    see(&second);
    case.git(&["reset", "-q", "--hard", "HEAD~1"]);
    see(&first);
    assert!(case.path(".git").is_dir());
    write(case.path("left.txt"), "left\n");
    let done = case
        .repository
        .auto_commit(&case.worktree, "wip", at(2))
        .unwrap();
    case.repository.renew_git_folder(&case.worktree).unwrap();
    assert_eq!(case.git(&["rev-parse", "HEAD"]), done.head.as_str());
    assert_eq!(case.git(&["status", "--porcelain"]), "");
    let last = case.commit("last.txt");
    case.take();
    assert_eq!(case.tip(), last);
    assert_eq!(case.project.head("symphony/SYM-1~"), done.head);
}

#[test]
fn a_branch_that_somebody_else_moved_keeps_both_works() {
    let case = case();
    let agents = case.commit("agent.txt");
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join("clone");
    git(
        folder.path(),
        &[
            "clone",
            "-q",
            "-b",
            "symphony/SYM-1",
            case.project.root.to_str().unwrap(),
            "clone",
        ],
    );
    let persons = commit_file(&clone, "person.txt", "person\n");
    git(
        &case.project.root,
        &[
            "fetch",
            "-q",
            clone.to_str().unwrap(),
            "+HEAD:refs/heads/tmp",
        ],
    );
    git(
        &case.project.root,
        &["update-ref", "refs/heads/symphony/SYM-1", persons.as_str()],
    );
    case.take();
    assert_eq!(case.tip(), persons);
    let kept = git(
        &case.project.root,
        &["for-each-ref", "--contains", agents.as_str()],
    );
    assert!(kept.contains("refs/symphony/"), "{kept}");
}

#[test]
fn a_death_at_any_step_is_repaired_by_the_next_start() {
    let note = |case: &Case| case.worktree.place().git_dir.join("symphony-agent.json");
    let set = |case: &Case, stage: &str| {
        let text = read(note(case));
        let now = text.split('"').nth(3).unwrap().to_owned();
        fs::write(note(case), text.replace(&now, stage)).unwrap();
    };
    let next = |case: &Case| {
        let prepared = prepare(&case.repository, BaseMerge::Leave).unwrap();
        assert!(case.path(".git").is_file());
        assert!(!note(case).exists());
        prepared
    };
    // while the folder was made: no agent has seen it
    let made = case();
    set(&made, "making");
    fs::remove_file(made.path(".git/HEAD")).unwrap();
    next(&made);
    assert_eq!(git(&made.project.root, &REFS), made.before);
    // the same without any folder
    let made = case();
    set(&made, "making");
    fs::remove_dir_all(made.path(".git")).unwrap();
    next(&made);
    // while the agent worked
    let worked = case();
    let head = worked.commit("work.txt");
    let prepared = next(&worked);
    assert_eq!(worked.tip(), head);
    assert!(format!("{:?}", prepared.recovered).contains("GitFolderTaken"));
    // while the folder was removed
    let taken = case();
    let head = taken.commit("work.txt");
    taken.repository.read_git_folder(&taken.worktree).unwrap();
    set(&taken, "taken");
    fs::remove_dir_all(taken.path(".git/objects")).unwrap();
    next(&taken);
    assert_eq!(taken.tip(), head);
    // when the file was written again
    let linked = case();
    let head = linked.commit("work.txt");
    let text = read(note(&linked)).replace("given", "taken");
    linked.take();
    fs::write(note(&linked), text).unwrap();
    next(&linked);
    assert_eq!(linked.tip(), head);
}

#[test]
fn a_folder_that_is_no_git_folder_stops_the_issue_and_is_saved_when_it_goes() {
    for what in ["link", "file", "garbage"] {
        let case = case();
        commit_file(&case.project.root, "later.txt", "later\n");
        write(case.path("work.txt"), "work\n");
        let entry = case.path(".git");
        if what == "garbage" {
            fs::write(entry.join("HEAD"), "garbage").unwrap();
        } else {
            fs::remove_dir_all(&entry).unwrap();
            let to = case.project.root.join(".git");
            if what == "link" {
                symlink(to, &entry).unwrap();
            } else {
                fs::write(&entry, format!("gitdir: {}", to.display())).unwrap();
            }
        }
        let error = case.repository.take_git_folder(&case.worktree).unwrap_err();
        assert!(
            matches!(error, WorkspaceError::Tampered { .. }),
            "{what}: {error}"
        );
        let error = prepare(&case.repository, BaseMerge::Merge).unwrap_err();
        assert!(
            matches!(error, WorkspaceError::Tampered { .. }),
            "{what}: {error}"
        );
        let removed = case.remove();
        let rescue = removed.rescues.first().unwrap();
        assert_eq!(
            case.shows(&format!("{}:work.txt", rescue.reference)),
            "work"
        );
        assert!(!case.worktree.path().exists());
    }
}

#[test]
fn a_git_folder_that_the_agent_removed_costs_only_its_commits() {
    let case = case();
    case.commit("work.txt");
    fs::remove_dir_all(case.path(".git")).unwrap();
    case.take();
    let done = case
        .repository
        .auto_commit(&case.worktree, "wip", at(2))
        .unwrap();
    assert_eq!(case.shows(&format!("{}:work.txt", done.head)), "work.txt");
}

#[test]
fn work_of_a_run_that_never_ended_is_saved_when_its_worktree_goes() {
    let case = case();
    case.git(&["checkout", "-q", "--detach"]);
    let lost = case.commit("work.txt");
    write(case.path("more.txt"), "more\n");
    let removed = case.remove();
    let rescue = removed.rescues.first().unwrap();
    assert_eq!(
        case.shows(&format!("{}:more.txt", rescue.reference)),
        "more"
    );
    git(
        &case.project.root,
        &[
            "merge-base",
            "--is-ancestor",
            lost.as_str(),
            &rescue.reference,
        ],
    );
    assert_eq!(
        git(&case.project.root, &["for-each-ref", "refs/symphony/runs"]),
        ""
    );
}

#[test]
fn a_temporary_worktree_keeps_its_commits() {
    let project = Project::new();
    let repository = project.open();
    let key = symphony_workspace::WorktreeKey::of("_scanner-1");
    let worktree = repository
        .create_temporary(&key, &project.head("main"), at(0))
        .unwrap();
    assert!(repository.give_git_folder(&worktree, &[]).unwrap());
    let commit = commit_file(worktree.path(), "found.txt", "found\n");
    assert!(repository.take_git_folder(&worktree).unwrap());
    let kept = repository.keep_head(&worktree, at(1)).unwrap().unwrap();
    assert_eq!(kept.commit, commit);
}

/// What decides about bytes in the checkout is the same for the agent.
#[test]
fn sparse_split_and_translated_checkouts_look_unchanged() {
    let case = |settings: &[&[&str]]| {
        let project = Project::new();
        for setting in settings {
            git(&project.root, setting);
        }
        let case = given(project);
        assert_eq!(case.git(&["status", "--porcelain"]), "", "{settings:?}");
        let head = case.commit("src/work.txt");
        case.take();
        assert_eq!(case.tip(), head);
        assert_eq!(case.git(&["status", "--porcelain"]), "", "{settings:?}");
        case
    };
    case(&[&["config", "core.autocrlf", "true"]]);
    case(&[
        &["config", "core.splitIndex", "true"],
        &["config", "user.name", "A \"B\" \\"],
    ]);
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    git(
        worktree.path(),
        &["sparse-checkout", "set", "--no-cone", "/src/"],
    );
    assert!(!worktree.path().join("README.md").exists());
    assert!(repository.give_git_folder(&worktree, &[]).unwrap());
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
    let head = commit_file(worktree.path(), "src/work.txt", "work\n");
    repository.take_git_folder(&worktree).unwrap();
    assert_eq!(repository.head(&worktree).unwrap(), head);
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
    assert!(!worktree.path().join("README.md").exists());
}

#[test]
fn submodules_stay_where_they_are() {
    let project = Project::new();
    let library = Project::named("library");
    let url = library.root.to_str().unwrap().to_owned();
    let allow = ["-c", "protocol.file.allow=always"];
    for path in ["lib", "late"] {
        git(
            &project.root,
            &[&allow[..], &["submodule", "add", "-q", &url, path]].concat(),
        );
    }
    git(&project.root, &["commit", "-qm", "submodules"]);
    let repository = project.open();
    let worktree = made(&repository);
    let update = |path: &str| {
        let words = ["submodule", "update", "-q", "--init", path];
        git(worktree.path(), &[&allow[..], &words].concat());
    };
    update("lib");
    repository.give_git_folder(&worktree, &[]).unwrap();
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
    // the agent checks out another one, and commits in both
    update("late");
    for path in ["lib", "late"] {
        commit_file(&worktree.path().join(path), "work.txt", "work\n");
        git(worktree.path(), &["add", path]);
    }
    git(worktree.path(), &["commit", "-qm", "both"]);
    repository.take_git_folder(&worktree).unwrap();
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
    for path in ["lib", "late"] {
        assert_eq!(
            git(&worktree.path().join(path), &["log", "-1", "--format=%s"]),
            "work.txt"
        );
    }
    let removed = repository
        .remove_worktree(&RemoveRequest {
            key: worktree.key(),
            branch: worktree.branch(),
            base: &branch("main"),
            fate: BranchFate::Keep,
            now: at(9),
        })
        .unwrap();
    let saved: BTreeSet<String> = removed
        .submodules
        .into_iter()
        .map(|saved| saved.name)
        .collect();
    assert_eq!(saved, ["lib".to_owned(), "late".to_owned()].into());
}

#[test]
fn a_worktree_that_the_agent_added_in_its_own_is_not_committed() {
    let case = case();
    case.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "side",
        ".claude/worktrees/side",
    ]);
    let side = commit_file(&case.path(".claude/worktrees/side"), "side.txt", "side\n");
    write(case.path(".claude/worktrees/side/half.txt"), "half\n");
    case.git(&[
        "worktree",
        "add",
        "-q",
        "--detach",
        ".claude/worktrees/loose",
    ]);
    let loose = commit_file(
        &case.path(".claude/worktrees/loose"),
        "loose.txt",
        "loose\n",
    );
    let head = case.commit("work.txt");
    case.take();
    for commit in [&side, &loose] {
        let kept = git(
            &case.project.root,
            &["for-each-ref", "--contains", commit.as_str()],
        );
        assert!(!kept.is_empty(), "{commit}");
    }
    let done = case
        .repository
        .auto_commit(&case.worktree, "wip", at(2))
        .unwrap();
    assert_eq!(done.head, head, "{done:?}");
    assert_eq!(
        done.left_out,
        [".claude/worktrees/loose", ".claude/worktrees/side"]
    );
    let left = case.repository.left_behind(&case.worktree, None).unwrap();
    assert_eq!(left.len(), 2, "{left:?}");
    let removed = case.remove();
    let rescue = removed.rescues.first().unwrap();
    let half = format!("{}:.claude/worktrees/side/half.txt", rescue.reference);
    assert_eq!(case.shows(&half), "half");
}

#[test]
fn a_project_that_moved_meanwhile_gets_the_commits() {
    let case = case();
    let head = case.commit("work.txt");
    let old = case.project.root.clone();
    let new = old.with_file_name("moved");
    fs::rename(&old, &new).unwrap();
    let repository =
        Repository::open(&new, symphony_workspace::RepositoryOptions::default()).unwrap();
    repository.follow_move(&old).unwrap();
    let prepared = prepare(&repository, BaseMerge::Leave).unwrap();
    assert_eq!(repository.head(&prepared.worktree).unwrap(), head);
    assert_eq!(
        git(prepared.worktree.path(), &["status", "--porcelain"]),
        ""
    );
}

#[test]
fn an_unfinished_merge_has_no_parent_that_its_agent_was_not_given() {
    let project = Project::new();
    git(&project.root, &["checkout", "-q", "-b", "secret"]);
    let secret = commit_file(&project.root, "secret.txt", "of another branch\n");
    git(&project.root, &["checkout", "-q", "main"]);
    let case = given(project);
    let made = case.commit("own.txt");
    case.git(&["reset", "-q", "--hard", "HEAD~"]);
    for (named, is_kept) in [(&secret, false), (&made, true)] {
        write(case.path(".git/MERGE_HEAD"), &format!("{named}\n"));
        case.repository.read_git_folder(&case.worktree).unwrap();
        let mark = case.worktree.place().git_dir.join("MERGE_HEAD");
        assert_eq!(mark.exists(), is_kept, "{named}");
    }
}

#[test]
fn a_worktree_of_an_agent_is_listed_until_its_folder_is_taken() {
    let case = case();
    let path = case.worktree.path().to_owned();
    assert_eq!(case.repository.worktrees_of_agents(), [path]);
    case.take();
    assert!(case.repository.worktrees_of_agents().is_empty());
}
